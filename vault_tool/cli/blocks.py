"""The parts of an answer to a person (lines, tables, texts), and how they look as plain text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Protocol, TypeAlias

from vault_tool.cli import wording
from vault_tool.model.details import Details, in_lines, in_words
from vault_tool.model.snapshot import from_trusted, is_trusted
from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.hints import MARK
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.util.vault_names import HERE, vaults_in_words

if TYPE_CHECKING:
    from vault_tool.vault.answers import HasStatus


class Located(Protocol):
    """A result of an answer that may be of several vaults."""

    @property
    def scope(self) -> str:
        """The vault that it is from: `repo` for the one that was asked."""

    @property
    def vaults(self) -> tuple[str, ...]:
        """All vaults that hold it, where several were asked."""


# Characters that a terminal obeys or that are invisible; a joiner only where it joins nothing.
_UNSAFE = deferred_pattern(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff]"
    r"|(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
)

# So wide are tables and fields where no terminal says how wide it is.
COLUMNS = 100

_LONGEST_NAME = 40
_NARROWEST = 10
_BESIDE_A_PATH = 20

# The columns that hold paths.
PATHS = frozenset({"path", "where", "file"})

_GAP = "  "

# What stands before each line of a note's text.
BAR = "|"


class Heading(Struct):
    """A line that names what follows."""

    text: str


class Body(Struct):
    """A note's text: each of its lines behind a bar, so that none can pass for a line of ours."""

    text: str


class Printed(Struct):
    """A text of several lines that the tool made itself, as it is."""

    text: str


class Diff(Struct):
    """A text in git's diff format."""

    text: str


class Fields(Struct):
    """Names with their values, one a line; empty values are left out."""

    pairs: tuple[tuple[str, str], ...]


class Table(Struct):
    """Rows under column names; `right` are the columns of numbers. Without rows the line `empty` stands instead."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[str] = frozenset()
    empty: str = "nothing"


# One part of an answer; a plain string is one line.
Block: TypeAlias = str | Heading | Body | Printed | Diff | Fields | Table


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = (), empty: str = "nothing") -> Table:
    """A table whose cells are one line each, whatever was in them."""
    return Table(tuple(columns), tuple(tuple(one_line(worded(cell)) for cell in row) for row in rows), frozenset(right), empty)


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


def detail_fields(details: Details, short: Callable[[str], str], *, but: str = "") -> Fields:
    """The details of a memory beside its text, a line each, without the field `but`."""
    return fields(*in_lines(details, short, but=but))


def in_a_cell(content: str, details: Details, short: Callable[[str], str], width: int | None = None) -> str:
    """A memory's text with what it says beside it, on one line."""
    words = in_words(details, short)
    return one_line(f"{content} ({words})" if words else content, width)


def status_lines(name: str, statuses: HasStatus, short: Callable[[str], str]) -> Iterator[str]:
    """The statuses that make a memory less than current, a line each."""
    for words in statuses.status_words(short):
        yield f"{name} is {words}"


def with_status(title: str, statuses: HasStatus) -> str:
    """A title in a table, with what makes the memory less than current in a word."""
    return f"{title} ({statuses.in_a_word})" if statuses.in_a_word else title


def source(origin: str, *rest: str, reviewed: bool = False) -> str:
    """Where a memory comes from, and that no person vouches for it, where none does."""
    if is_trusted(origin):
        return ", ".join(part for part in (from_trusted(origin), *rest) if part)
    described = ", ".join(part for part in (origin, *rest) if part)
    return described if reviewed or origin in ("", "owner") else f"{described} (not reviewed)"


def named(memory: Located, short: Callable[[str], str], identity: str) -> str:
    """The id of a result as it can be typed: of another vault that was asked by name, with that name; whole, but for ours."""
    if memory.scope == HERE:
        return short(identity)
    return f"{memory.scope}:{identity}" if memory.vaults else identity


def where(memory: Located) -> str:
    """The vaults that hold a result, where several were asked."""
    return f"in {vaults_in_words(memory.vaults)}" if memory.vaults else ""


def degraded(reasons: Sequence[str]) -> Iterator[str]:
    """The line that says what an answer had to do without; no line where it had everything."""
    if reasons:
        yield f"degraded: {'; '.join(reasons)}"


def printable(text: str) -> str:
    """`text` with every control, escape and direction-changing character spelt out, so that no note can drive a terminal."""
    return _UNSAFE.sub(_escape_character, worded(text).replace("\r\n", "\n"))


def worded(text: str) -> str:
    """`text` with the steps of its hints as they are typed."""
    return wording.in_words(text) if MARK in text else text


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
            yield from (f"{BAR} {line}".rstrip() for line in printable(text).split("\n"))
        case Printed(text) | Diff(text):
            yield from printable(text).split("\n")
        case Fields(pairs):
            broad = max((width(name) for name, _ in pairs), default=0) + 3
            for name, value in pairs:
                yield from _hanging(f"{name}:".ljust(broad), printable(value))
        case Table(rows=rows, empty=empty):
            yield from aligned(block) if rows else [empty]
        case str():
            yield _line(block)


def _line(text: str) -> str:
    return printable(text).replace("\n", " ")


def _hanging(name: str, value: str) -> Iterator[str]:
    """A name with its value, broken between words where it is long; what follows stands below its beginning.

    Within a word nothing is broken: paths and addresses are there to be copied.
    """
    for line in _folded(value, COLUMNS - width(name), whole=True):
        yield f"{name}{line}".rstrip()
        name = " " * width(name)


def aligned(block: Table, broad: int = COLUMNS) -> Iterator[str]:
    """The lines of a table that is at most so `broad`: long texts are folded, and what does not fit beside them stands alone.

    That is what names a row, above it, and a path, below it: both are there to be copied, and are never broken.
    """
    rows = [tuple(map(printable, row)) for row in block.rows]
    paths = [index for index, name in enumerate(block.columns) if index and name in PATHS]
    beside = _fitted(block, rows, paths, broad)
    shown = [index for index in range(len(block.columns)) if beside is not None or index not in paths]
    widths = beside or _fitted(block, [tuple(row[index] for index in shown) for row in rows], (), broad, shown) or []
    for row in (block.columns, *rows):
        name = row[0] if width(row[0]) > _LONGEST_NAME else ""
        yield from [name] if name else []
        cells = [
            ["" if name else row[0]] if index == 0 else [row[index]] if index in paths else _folded(row[index], widths[place])
            for place, index in enumerate(shown)
        ]
        for line in zip_longest(*cells, fillvalue=""):
            padded = (_padded(cell, widths[n], block.columns[shown[n]] in block.right) for n, cell in enumerate(line))
            yield _GAP.join(padded).rstrip()
        if beside is None and row is not block.columns:
            yield from (f"{' ' * widths[0]}{_GAP}{row[index]}" for index in paths if row[index])


def _fitted(
    block: Table, rows: Sequence[Sequence[str]], whole: Sequence[int], broad: int, shown: Sequence[int] = ()
) -> list[int] | None:
    """How wide each column is, with texts narrowed until all fit; None where the `whole` ones leave too little for that."""
    columns = [block.columns[index] for index in shown or range(len(block.columns))]
    named = [("", *row[1:]) if width(row[0]) > _LONGEST_NAME else row for row in rows]
    widths = [max(map(width, column)) for column in zip(columns, *named, strict=True)]
    widths = [width if index in whole else min(broad, width) for index, width in enumerate(widths)]
    texts = [index for index in range(1, len(widths)) if index not in whole and columns[index] not in block.right]
    least = _BESIDE_A_PATH if whole else _NARROWEST
    while sum(widths) + len(_GAP) * (len(widths) - 1) > broad:
        widest = max(texts, key=widths.__getitem__, default=0)
        if not texts or widths[widest] <= least:
            return None if whole else widths
        widths[widest] -= 1
    return widths


def _folded(text: str, columns: int, whole: bool = False) -> list[str]:
    """A text as lines of at most so many columns, broken between words; within a longer word too, unless it holds a path.

    With `whole` words stay whole whatever they are.
    """
    if width(text) <= columns:
        return [text]
    lines, room = [""], columns
    for word in text.split():
        taken = width(word)
        if lines[-1] and taken < room:
            lines[-1] += f" {word}"
            room -= taken + 1
            continue
        for piece in [word] if whole or "/" in word else _pieces(word, columns):
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


def _escape_character(match: re.Match[str]) -> str:
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
