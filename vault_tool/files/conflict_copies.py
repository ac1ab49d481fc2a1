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

# Names that say themselves what they are: Syncthing's, Obsidian's, Dropbox's and Nextcloud's, our own, ownCloud's, Seafile's,
# Synology's, Resilio's and Unison's.
_SAYS_SO = deferred_pattern(
    r"(?P<stem>.+?)(?:\.sync-conflict-\d{8}-\d{6}-\w+| \([^/]*conflicted copy[^/]*\)|\.conflict-\d{8}T\d{6}Z-[^/]+"
    r"|_conflict-\d{8}-\d{6}| \((?:SFConflict|copy: conflict) [^/]*\)|_[^_/]+_[a-z]{3}-\d\d-\d{6}-\d{4}_conflict|\.conflict\d*)",
    re.IGNORECASE | re.DOTALL,
)
# Names that people give as well: iCloud's and those of browsers and shells.
_NUMBERED = deferred_pattern(r"(?P<stem>.+?)(?: [2-9]| \(\d{1,2}\)|\(\d{1,2}\))", re.DOTALL)
# Names of which an equal id alone makes copies: those of a syncer that speaks another language, of more than nine copies, and
# those that a desktop gives what a person doubles.
_ANYTHING = deferred_pattern(
    r"(?P<stem>.+?)(?: \d{2}| ?\([^/()]*\)| \[[^/\[\]]*\]| (?:- )?copy(?: \d{1,2}| \(\d{1,2}\))?)", re.IGNORECASE | re.DOTALL
)
# The beginning of an id, with which our own names end.
_OWN = deferred_pattern(r"-[0-9a-f]{6,32}(?![0-9A-Za-z])")
# OneDrive puts the machine's name, which may have dashes itself, after a dash.
_DASHES = 3


class Form(Enum):
    """The forms of a copy's name, by what must be equal beside it for a file to be one."""

    SAYS_SO = "says so"
    """An id, or most lines."""
    USUAL = "usual"
    """An id, or the text."""
    ANY = "any"
    """An id, and nothing else does."""


class Judgement(Enum):
    """The kinds of file that a file with the name of a copy can be."""

    COPY = "copy"
    NOTE = "note"
    ALONE = "alone"
    """There is no note that it could be a copy of."""


def originals(path: str) -> Iterator[tuple[str, Form]]:
    """The notes that a file may be a copy of by its name, and the form of that name."""
    folder, _, name = path.rpartition("/")
    stem = name[:-3] if name.lower().endswith(".md") else name
    below = f"{folder}/" if folder else ""
    if match := _SAYS_SO.fullmatch(stem):
        yield f"{below}{match['stem']}.md", Form.SAYS_SO
        # A copy of a copy.
        further = originals(f"{below}{match['stem']}.md") if _SAYS_SO.fullmatch(match["stem"]) else ()
        yield from ((path, Form.SAYS_SO) for path, form in further if form is Form.SAYS_SO)
        return
    if not may_be_copy(path):
        return
    if match := _NUMBERED.fullmatch(stem):
        yield f"{below}{match['stem']}.md", Form.USUAL
    else:
        beginning = stem
        for _ in range(_DASHES):
            beginning, dash, _ = beginning.rpartition("-")
            if not (dash and beginning):
                break
            yield f"{below}{beginning}.md", Form.USUAL
    if match := _ANYTHING.fullmatch(stem):
        yield f"{below}{match['stem']}.md", Form.ANY
    yield from ((f"{below}{stem[: part.end()]}.md", Form.ANY) for part in _OWN.finditer(stem) if part.end() < len(stem))


def says_so(path: str) -> bool:
    """Whether a file's name says by itself that it is a copy, whatever lies beside it."""
    return "onflict" in path and _SAYS_SO.fullmatch(path.rpartition("/")[2][:-3]) is not None


def judged(path: str, data: bytes, read: Read) -> tuple[Judgement, str]:
    """The kind of a file whose name has the form of a copy's, and the note that it is a copy of.

    `read` gives the bytes of another file, or raises OSError or Refused. An id decides: an equal one makes it a copy,
    whatever it says; another one a note. Without, a name that says so makes one of what is mostly the same text, and a
    usual one of the same text alone: "Chapter 2" beside "Chapter" is a note.
    """
    note = ""
    for original, form in originals(path):
        try:
            beside = read(original)
        except (OSError, Refused):
            continue
        if _is_copy(data, beside, form):
            return Judgement.COPY, original
        note = note or original
    if note:
        return Judgement.NOTE, note
    return (Judgement.COPY if file_kind(path) is FileKind.CONFLICT else Judgement.ALONE), ""


def _is_copy(data: bytes, beside: bytes, form: Form) -> bool:
    ours, theirs = _named(data), _named(beside)
    if ours[0] and theirs[0]:
        return ours[0] == theirs[0]
    if form is Form.ANY or (ours[1] and theirs[1] and ours[1] != theirs[1]):
        return False
    if form is Form.USUAL:
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
