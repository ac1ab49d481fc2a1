"""Where a file's head begins and ends, in bytes."""

from __future__ import annotations

import codecs
import re

from vault_tool.files.frontmatter.values import MAX_HEAD_BYTES, HeadFault
from vault_tool.util.structs import Struct

_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_SAVE_AS_UTF8 = "save the file as UTF-8"

# Possessive (`*+`): a megabyte of blank lines must not be remembered line by line.
_OPENING = re.compile(rb"((?:[ \t]*\r?\n)*+)---[ \t]*(\r?\n)")
_CLOSING = re.compile(rb"\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\r?\Z)")
_KEY_LINE = re.compile(
    rb"""(?:"[^"\n]*"|'[^'\n]*'|[^\s#\[\]{}&*!|>@`"'-][^\n]{0,120}?)[ \t]*:(?:[ \t\r\n]|\Z)""",
)
_ANY_KEY_LINE = re.compile(rb"^" + _KEY_LINE.pattern, re.MULTILINE)
_BLANK_LINE = re.compile(rb"[ \t]*\r?\n")
_BLANK_AFTER = re.compile(rb"\n[ \t]*\r?\n")
_BLANKS_AND_COMMENTS = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\r?\n)*+")


class Parts(Struct):
    """A file cut in head and body; offsets are bytes, the head's text is `data[start:end]`, between the fences.

    Without a head `start` and `end` are where one would go (after a byte order mark) and `body_start` is the same.
    """

    has_head: bool
    bom: bool
    newline: str
    start: int
    end: int
    body_start: int
    first_line: int = 2
    fault: HeadFault | None = None


def split(data: bytes) -> Parts:
    """Find the head of a file.

    A head opens with a line `---` at the top of the file (a byte order mark and blank lines may precede it) and closes
    with the next line `---` or `...`, as in YAML, Jekyll and pandoc; spaces and tabs may follow a fence, nothing else.
    Only `\\n` ends a line. A `---` that opens prose is a thematic break, and the file has no head.
    """
    bom = data.startswith(codecs.BOM_UTF8)
    top = len(codecs.BOM_UTF8) if bom else 0
    foreign = _not_text(data)
    if foreign is not None:
        return Parts(False, bom, "\n", top, top, top, fault=foreign)
    opening = _OPENING.match(data, top)
    if opening is None:
        return _page(data, bom, top)
    start = opening.end()
    newline = opening[2].decode("ascii")
    first_line = data.count(b"\n", 0, start) + 1
    # The newline that ends the opening fence may be the one that starts the closing one: an empty head.
    closing = _CLOSING.search(data, start - 1)
    if closing is None:
        if opening[1] or not _KEY_LINE.match(data, _first_content(data, start)) or _BLANK_LINE.match(data, start):
            return _page(data, bom, top)
        unclosed = HeadFault(first_line - 1, "unclosed-head", "the head is never closed", "add a line `---` after its last field")
        # Its fields end at the first blank line, as far as anybody can tell: what follows is read as the text.
        blank = _BLANK_AFTER.search(data, start)
        rest = blank.end() if blank else len(data)
        return Parts(True, bom, newline, start, rest, rest, first_line, unclosed)
    end, body_start = closing.start() + 1, closing.end()
    if _is_prose(data, start, end, after_blank=bool(opening[1])):
        return _page(data, bom, top)
    fault = None
    if end - start > MAX_HEAD_BYTES:
        message = f"the head is {end - start:,} bytes long, the limit is {MAX_HEAD_BYTES:,}"
        fault = HeadFault(first_line - 1, "head-too-large", message, "move the text below the closing `---`")
    elif opening[1]:
        fault = HeadFault(first_line - 1, "head-after-blank", "blank lines come before the head", "delete them", fatal=False)
    return Parts(True, bom, newline, start, end, body_start, first_line, fault)


def _page(data: bytes, bom: bool, top: int) -> Parts:
    first = data.find(b"\n", top)
    newline = "\r\n" if first > top and data[first - 1 : first] == b"\r" else "\n"
    return Parts(False, bom, newline, top, top, top)


def _not_text(data: bytes) -> HeadFault | None:
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            return HeadFault(1, "not-text", f"the file is {name}, not UTF-8", _SAVE_AS_UTF8)
    nul = data.find(b"\0")
    if nul < 0:
        return None
    return HeadFault(data.count(b"\n", 0, nul) + 1, "not-text", f"a NUL character at byte {nul}: this is no text", _SAVE_AS_UTF8)


def _first_content(data: bytes, at: int) -> int:
    skipped = _BLANKS_AND_COMMENTS.match(data, at)
    return skipped.end() if skipped else at


def _is_prose(data: bytes, start: int, end: int, *, after_blank: bool) -> bool:
    """Whether two thematic breaks, and not fences, enclose `data[start:end]`.

    As in pandoc, a blank line after `---` makes it a break, but only when no line inside looks like a field: people do
    leave blank lines in heads. After blank lines a head must begin with a field.
    """
    first = _first_content(data, start)
    if after_blank:
        return not _KEY_LINE.match(data, first, end)
    return first < end and bool(_BLANK_LINE.match(data, start)) and not _ANY_KEY_LINE.search(data, start, end)


def undecodable(error: UnicodeDecodeError, data: bytes, offset: int) -> HeadFault:
    """The fault of bytes that are not UTF-8; `offset` is where in `data` the decoded part began."""
    at = offset + error.start
    message = f"byte {at} (0x{data[at]:02x}) is not UTF-8"
    return HeadFault(data.count(b"\n", 0, at) + 1, "not-text", message, _SAVE_AS_UTF8)
