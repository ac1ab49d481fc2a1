"""What an answer to a person is made of (lines, tables, texts), and how it looks as plain text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from vault_tool.util.text import one_line

_UNSAFE = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)
"""What a terminal obeys or nobody sees; a joiner only where it joins nothing."""

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


def fields(*pairs: tuple[str, object]) -> Fields:
    """Names with values; `None` and empty ones are dropped, lists are joined."""
    return Fields(tuple((name, text) for name, value in pairs if (text := _as_text(value))))


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
            yield from _aligned([(f"{name}:", value) for name, value in pairs], frozenset())
        case Table(columns, rows, right, empty):
            numbers = frozenset(index for index, name in enumerate(columns) if name in right)
            yield from _aligned([columns, *rows], numbers) if rows else [empty]
        case str():
            yield _line(block)


def _line(text: str) -> str:
    return visible(text).replace("\n", " ")


def _aligned(rows: Sequence[Sequence[str]], right: frozenset[int]) -> Iterator[str]:
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)] if rows else []
    for row in rows:
        cells = (_padded(cell, widths[index], index in right) for index, cell in enumerate(row))
        yield "  ".join(cells).rstrip()


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
