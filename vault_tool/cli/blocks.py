"""What an answer to a person is made of (lines, tables, texts), and how it looks as plain text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TypeAlias

from vault_tool.model.details import Details, in_lines, in_words
from vault_tool.util.text import one_line

_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
"""What a terminal obeys or nobody sees; a joiner only where it joins nothing."""

COLUMNS = 100
"""So wide are tables and fields where no terminal says how wide it is."""

_LONGEST_NAME = 40
_NARROWEST = 10
_GAP = "  "

BAR = "|"
"""What stands before each line of a note's text."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A line that names what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Body:
    """A note's text: each of its lines behind a bar, so that none can pass for a line of ours."""

    text: str


@dataclass(frozen=True, slots=True)
class Printed:
    """A text of several lines that the tool made itself, as it is."""

    text: str


@dataclass(frozen=True, slots=True)
class Diff:
    """A text in git's diff format."""

    text: str


@dataclass(frozen=True, slots=True)
class Fields:
    """Names with their values, one a line; empty values are left out."""

    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names; `right` are the columns of numbers. Without rows the line `empty` stands instead."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()
    empty: str = "nothing"


Block: TypeAlias = str | Heading | Body | Printed | Diff | Fields | Table
"""One part of an answer; a plain string is one line."""


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = (), empty: str = "nothing") -> Table:
    """A table whose cells are one line each, whatever was in them."""
    return Table(tuple(columns), tuple(tuple(map(one_line, row)) for row in rows), frozenset(right), empty)


def sourced(columns: Sequence[str], rows: Sequence[Sequence[str]], *, right: Iterable[str] = (), empty: str) -> Iterator[Block]:
    """A table of memories with a column `from`; where all are from one source that is said once, below."""
    place = list(columns).index("from")
    sources = {row[place] for row in rows}
    if len(rows) < 2 or len(sources) > 1:
        yield table(columns, rows, right=right, empty=empty)
        return
    without = [[*row[:place], *row[place + 1 :]] for row in (columns, *rows)]
    yield table(without[0], without[1:], right=right, empty=empty)
    yield f"from: {sources.pop()}"


def fields(*pairs: tuple[str, object]) -> Fields:
    """Names with values; `None` and empty ones are dropped, lists are joined."""
    return Fields(tuple((name, text) for name, value in pairs if (text := _as_text(value))))


def beside(details: Details, short: Callable[[str], str], *, but: str = "") -> Fields:
    """What a memory says beside its text, a line each, the field `but` aside."""
    return fields(*in_lines(details, short, but=but))


def in_a_cell(content: str, details: Details, short: Callable[[str], str], width: int | None = None) -> str:
    """A memory's text with what it says beside it, on one line."""
    said = in_words(details, short)
    return one_line(f"{content} ({said})" if said else content, width)


def source(origin: str, *rest: str, reviewed: bool = False) -> str:
    """Where a memory comes from, and that no person vouches for it, where none does."""
    said = ", ".join(part for part in (origin, *rest) if part)
    return said if reviewed or origin in ("", "owner") else f"{said} (not reviewed)"


def degraded(reasons: Sequence[str]) -> Iterator[str]:
    """The line that says what an answer had to do without; no line where it had everything."""
    if reasons:
        yield f"degraded: {'; '.join(reasons)}"


def visible(text: str) -> str:
    """`text` with every control, escape and direction-changing character spelt out, so that no note can drive a terminal."""
    return _UNSAFE.sub(_spelt, text.replace("\r\n", "\n"))


def width(text: str) -> int:
    """How many columns a terminal gives `text`: wide East Asian characters and emoji take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def plain(blocks: Iterable[Block]) -> Iterator[str]:
    """The lines of an answer without colour, as pipes, files and dumb terminals get them."""
    for block in blocks:
        yield from plain_block(block)


def plain_block(block: Block) -> Iterator[str]:
    """The lines of one part of an answer."""
    match block:
        case Heading(text):
            yield _line(text)
        case Body(text):
            yield from (f"{BAR} {line}".rstrip() for line in visible(text).split("\n"))
        case Printed(text) | Diff(text):
            yield from visible(text).split("\n")
        case Fields(pairs):
            broad = max((width(name) for name, _ in pairs), default=0) + 3
            for name, value in pairs:
                yield from _hanging(f"{name}:".ljust(broad), visible(value))
        case Table(columns, rows, right, empty):
            numbers = frozenset(index for index, name in enumerate(columns) if name in right)
            yield from _aligned(columns, [tuple(map(visible, row)) for row in rows], numbers) if rows else [empty]
        case str():
            yield _line(block)


def _line(text: str) -> str:
    return visible(text).replace("\n", " ")


def _hanging(name: str, value: str) -> Iterator[str]:
    """A name with its value, broken between words where it is long; what follows stands below its beginning.

    Within a word nothing is broken: paths and addresses are there to be copied.
    """
    for line in _folded(value, COLUMNS - width(name), whole=True):
        yield f"{name}{line}".rstrip()
        name = " " * width(name)


def _aligned(columns: Sequence[str], rows: Sequence[Sequence[str]], right: frozenset[int]) -> Iterator[str]:
    """The lines of a table that fits COLUMNS: long texts are folded; what names a row stands alone where it is long."""
    named = [(row[0], ("", *row[1:])) if width(row[0]) > _LONGEST_NAME else ("", row) for row in rows]
    widths = [min(COLUMNS, max(map(width, column))) for column in zip(columns, *(row for _, row in named), strict=True)]
    texts = [index for index in range(1, len(widths)) if index not in right]
    while texts and sum(widths) + len(_GAP) * (len(widths) - 1) > COLUMNS:
        widest = max(texts, key=widths.__getitem__)
        if widths[widest] <= _NARROWEST:
            break
        widths[widest] -= 1
    for name, row in [("", columns), *named]:
        if name:
            yield name
        cells = [[cell] if index == 0 else _folded(cell, widths[index]) for index, cell in enumerate(row)]
        for line in zip_longest(*cells, fillvalue=""):
            padded = (_padded(cell, widths[index], index in right) for index, cell in enumerate(line))
            yield _GAP.join(padded).rstrip()


def _folded(text: str, columns: int, whole: bool = False) -> list[str]:
    """A text as lines of at most so many columns, broken between words; within a longer word too, unless words stay `whole`."""
    if width(text) <= columns:
        return [text]
    lines, room = [""], columns
    for word in text.split():
        taken = width(word)
        if lines[-1] and taken < room:
            lines[-1] += f" {word}"
            room -= taken + 1
            continue
        for piece in [word] if whole else _pieces(word, columns):
            lines.append(piece)
            room = columns - width(piece)
    return lines[1:]


def _pieces(word: str, columns: int) -> Iterator[str]:
    """A word, in pieces of at most so many columns."""
    start, room = 0, columns
    for end, character in enumerate(word):
        room -= width(character)
        if room < 0:
            yield word[start:end]
            start, room = end, columns - width(character)
    yield word[start:]


def _padded(cell: str, columns: int, right: bool) -> str:
    space = " " * (columns - width(cell))
    return space + cell if right else cell + space


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _spelt(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _as_text(value: object) -> str:
    if value is None or value == {}:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}"
    if isinstance(value, (list, tuple)):
        return one_line(", ".join(map(str, value)))
    return one_line(str(value))
