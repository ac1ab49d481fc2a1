"""The copies that sync tools put beside a note where two machines wrote it: told by their names and by what is in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from enum import Enum

from vault_tool.errors import Refused
from vault_tool.files import frontmatter
from vault_tool.files.layout import FileKind, file_kind, may_be_copy
from vault_tool.model.ids import canonical
from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.text import normal_body

ALIKE = 0.8
"""How much of a copy without an id must stand in the note beside it."""

Read = Callable[[str], bytes]

# Names that say themselves what they are: Syncthing's, Obsidian's and Dropbox's, and our own.
_SAYS_SO = deferred_pattern(
    r"(?P<stem>.+?)(?:\.sync-conflict-\d{8}-\d{6}-\w+| \([^/]*conflicted copy[^/]*\)|\.conflict-\d{8}T\d{6}Z-[^/]+)",
    re.IGNORECASE | re.DOTALL,
)
# Names that people give as well: iCloud's and those of browsers and shells.
_NUMBERED = deferred_pattern(r"(?P<stem>.+?)(?: [2-9]| \(\d{1,2}\)|\(\d{1,2}\))", re.DOTALL)
# OneDrive puts the machine's name, which may have dashes itself, after a dash.
_DASHES = 3


class Judgement(Enum):
    """The kinds of file that a file with the name of a copy can be."""

    COPY = "copy"
    NOTE = "note"
    ALONE = "alone"
    """There is no note that it could be a copy of."""


def originals(path: str) -> Iterator[tuple[str, bool]]:
    """The notes that a file may be a copy of by its name, and whether the name says so itself."""
    folder, _, name = path.rpartition("/")
    stem = name[:-3] if name.lower().endswith(".md") else name
    below = f"{folder}/" if folder else ""
    if match := _SAYS_SO.fullmatch(stem):
        yield f"{below}{match['stem']}.md", True
        # A copy of a copy.
        yield from ((path, True) for path, _ in originals(f"{below}{match['stem']}.md") if _SAYS_SO.fullmatch(match["stem"]))
    elif match := _NUMBERED.fullmatch(stem):
        yield f"{below}{match['stem']}.md", False
    elif may_be_copy(path):
        for _ in range(_DASHES):
            stem, dash, _ = stem.rpartition("-")
            if not (dash and stem):
                return
            yield f"{below}{stem}.md", False


def judged(path: str, data: bytes, read: Read) -> tuple[Judgement, str]:
    """The kind of a file whose name has the form of a copy's, and the note that it is a copy of.

    `read` gives the bytes of another file, or raises OSError or Refused. An id decides: an equal one makes it a copy,
    whatever it says; another one a note. Without, a name that says so makes one of what is mostly the same text, and any
    other name of the same text alone: "Chapter 2" beside "Chapter" is a note.
    """
    for original, says_so in originals(path):
        try:
            beside = read(original)
        except (OSError, Refused):
            continue
        return (Judgement.COPY if _is_copy(data, beside, says_so=says_so) else Judgement.NOTE), original
    return (Judgement.COPY if file_kind(path) is FileKind.CONFLICT else Judgement.ALONE), ""


def _is_copy(data: bytes, beside: bytes, *, says_so: bool) -> bool:
    ours, theirs = _named(data), _named(beside)
    if ours[0] and theirs[0]:
        return ours[0] == theirs[0]
    if ours[1] and theirs[1] and ours[1] != theirs[1]:
        return False
    if not says_so:
        return _text(data) == _text(beside)
    lines, known = _lines(data), _lines(beside)
    return bool(lines) and (lines & known).total() >= ALIKE * lines.total()


def _named(data: bytes) -> tuple[str, str]:
    """A note's id and type, as its head has them."""
    head, _, _ = frontmatter.read(data)
    values = head.values if head else {}
    return canonical(str(values.get("id") or "")) or "", str(values.get("type") or "")


def _text(data: bytes) -> str:
    return normal_body(data.decode("utf-8", "replace"))


def _lines(data: bytes) -> Counter[str]:
    return Counter(line.strip() for line in data.decode("utf-8", "replace").splitlines() if line.strip())
