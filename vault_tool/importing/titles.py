"""What a foreign note is called: by its head, its first heading, or its file's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from vault_tool.util.text import one_line, plain_line, prose_lines

LONGEST = 200

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t\r]*")
_UNDERLINE = re.compile(r" {0,3}=+[ \t\r]*")
_ANCHOR = re.compile(r"\s*\{[#:.][^}]*\}\s*$")
_SAYS_NOTHING = frozenset({"index", "readme", "_index", "untitled", "default"})
_FILLED_IN_LATER = ("<%", "{{", "{%")


def title_of(path: str, head: Mapping[str, object], prose: str) -> str:
    """The title of the note at `path` (in its own folder): never empty, one line.

    A heading of the first level counts before the file's name, one of another level only where the name says nothing
    (`index`, `README`); one that a template was to fill in counts for nothing.
    """
    named = head.get("title")
    if isinstance(named, str) and one_line(named):
        return one_line(named, LONGEST)
    stem = one_line(PurePosixPath(path).stem) or "untitled"
    found = list(_headings(prose))
    first = next((text for level, text in found if level == 1), "")
    if first:
        return first
    if stem.lower() not in _SAYS_NOTHING:
        return stem
    folder = one_line(PurePosixPath(path).parent.name)
    return next((text for _, text in found), "") or folder or stem


def _headings(prose: str) -> Iterator[tuple[int, str]]:
    """Headings with their level, code aside, of both styles."""
    before = ""
    for _, line in prose_lines(prose):
        found = _HEADING.fullmatch(line)
        level, text = (len(found[1]), found[2]) if found else (1, before) if _UNDERLINE.fullmatch(line) else (0, "")
        title = one_line(plain_line(_ANCHOR.sub("", text)), LONGEST) if level else ""
        if title and not any(mark in title for mark in _FILLED_IN_LATER):
            yield level, title
        before = line
