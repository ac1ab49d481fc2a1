"""The title of a page, or of a note of another tool: from its head, its first heading, or its file's name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from vault_tool.files.additions import says
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line, plain_line, prose_lines

LONGEST = 200

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t\r]*")
_UNDERLINE = re.compile(r" {0,3}=+[ \t\r]*")
_ANCHOR = re.compile(r"\s*\{[#:.][^}]*\}\s*$")
# A line that may stand above a title: a rule, a quote, a picture, a badge, a link, tags, a comment, a field, or nothing.
_BEFORE_A_TITLE = re.compile(
    r"[ \t\r]*(?:[-*_][-*_ \t]*|>.*|<.*|!\[.*|\[!\[.*|\[\[.*|#[^\s#].*|%%.*|\S.*%%|[\w -]{1,30}::? .*|\{[%{].*"
    r"|import .*|export .*)?[ \t\r]*"
)

_SAYS_NOTHING = frozenset({"index", "readme", "_index", "untitled", "default"})
_FILLED_IN_LATER = ("<%", "{{", "{%")


def title_of(path: str, head: Mapping[str, object], prose: str) -> str:
    """The title of the note at `path` (in its own folder): never empty, one line.

    A heading of the first level at the top counts before the file's name; any other (a footer is one, too) only where the
    name says nothing (`index`, `README`); one that a template was to fill in counts for nothing.
    """
    named = head.get("title")
    if isinstance(named, str) and says(named) and one_line(named):
        return one_line(named, LONGEST)
    stem = one_line(PurePosixPath(path).stem) or "untitled"
    headings = list(_headings(prose))
    if headings and headings[0].level == 1 and headings[0].on_top:
        return headings[0].text
    if stem.lower() not in _SAYS_NOTHING:
        return stem
    folder = one_line(PurePosixPath(path).parent.name)
    best = next((heading for heading in headings if heading.level == 1), headings[0] if headings else None)
    return (best.text if best else "") or folder or stem


class _Heading(Struct):
    """A heading's level and text, and whether nothing of the note's own text stands above it."""

    level: int
    text: str
    on_top: bool


def _headings(prose: str) -> Iterator[_Heading]:
    """The headings of both styles, code aside."""
    before, on_top = "", True
    for _, line in prose_lines(prose):
        match = _HEADING.fullmatch(line)
        level, text = (len(match[1]), match[2]) if match else (1, before) if _UNDERLINE.fullmatch(line) else (0, "")
        title = one_line(plain_line(_ANCHOR.sub("", text)), LONGEST) if level else ""
        if title and not any(mark in title for mark in _FILLED_IN_LATER):
            yield _Heading(level, title, on_top)
        # An underline makes a heading of the line above it, which therefore is judged a line later.
        on_top = on_top and bool(_BEFORE_A_TITLE.fullmatch(before))
        before = "" if level else line
