"""JSON of any length read piece by piece: a list's items, an object's members, or one object a line.

Of a file only one piece is held at a time. What is no JSON is told with its number, and what follows is read on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

import orjson

from vault_tool.util.json_text import MOST_LEVELS
from vault_tool.util.structs import Struct

# So much is read at once, and a piece that is longer is passed over.
CHUNK = 2**20
LONGEST_PIECE = 64 * 2**20
LONGEST_LINE = 16 * 2**20
LONGEST_NUMBER = 2**16

_BOM = b"\xef\xbb\xbf"
_NO_SPACE = re.compile(rb"[^ \t\r\n]")
_NO_COMMA = re.compile(rb"[^ \t\r\n,]")
_CUT = "the file ends in the middle"
_MARKS = re.compile(rb'\\.|["{}\[\]]', re.DOTALL)
_QUOTES = re.compile(rb'\\.|"', re.DOTALL)
_SCALAR_ENDS = re.compile(rb"[\s,\]}]")
_NOT_A_VALUE = re.compile(rb'[{\["\]}\-0-9tfn]')
_HALVES = re.compile("[\ud800-\udfff]")
_AN_OBJECT = re.compile(r'\{\s*"')
# So often one spoilt line is tried again from a later brace.
_TRIES = 50


class Piece(Struct):
    """One value of a stream, or a fault: its number, and the `key` of it or of its list in an outer object."""

    number: int
    key: str = ""
    value: Any = None
    fault: str = ""


def value_of(data: bytes) -> Any:
    """The value of a whole text of JSON; ValueError for none. Half a character is replaced, control characters are let be."""
    try:
        return orjson.loads(data)
    except ValueError:
        try:
            value = json.loads(data.decode("utf-8", "replace"), strict=False)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
    return _mended(value, 0)


def _mended(value: Any, level: int) -> Any:
    if level > MOST_LEVELS:
        raise ValueError("it is nested too deeply")
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, list):
        return [_mended(element, level + 1) for element in value]
    if isinstance(value, dict):
        return {_HALVES.sub("\ufffd", key): _mended(element, level + 1) for key, element in value.items()}
    return value


def pieces(stream: BinaryIO) -> Iterator[Piece]:
    """The items of a list, the members of an object (each element of a member that is a list), or the objects of lines."""
    tape = _Tape(stream)
    first = tape.peek()
    if first == b"[":
        tape.at += 1
        yield from _numbered(tape, _items(tape, ""))
    elif first == b"{" and not tape.is_of_lines():
        tape.at += 1
        yield from _numbered(tape, _members(tape))
    elif first:
        yield from _lines(tape)


def _numbered(tape: _Tape, values: Iterator[tuple[str, bytes | str]]) -> Iterator[Piece]:
    number = 0
    for number, (key, data) in enumerate(values, 1):
        if isinstance(data, str):
            yield Piece(number, key, fault=data)
            continue
        try:
            yield Piece(number, key, value_of(data))
        except ValueError as fault:
            yield Piece(number, key, fault=f"it is no JSON: {fault}")
    if tape.peek():
        yield Piece(number + 1, fault="what follows the end is not read")


def _items(tape: _Tape, key: str) -> Iterator[tuple[str, bytes | str]]:
    while True:
        passed = tape.skip_to_value()
        if passed:
            yield key, "what stands there is no value"
        first = tape.peek()
        if first in (b"", b"]", b"}"):
            if not first:
                yield key, _CUT
            tape.at += bool(first)
            return
        value = tape.value()
        yield key, value
        if value is _CUT:
            return


def _members(tape: _Tape) -> Iterator[tuple[str, bytes | str]]:
    while True:
        tape.skip(_NO_COMMA)
        first = tape.peek()
        if first in (b"", b"}"):
            if not first:
                yield "", _CUT
            tape.at += bool(first)
            return
        name = tape.value() if first == b'"' else "it has a member without a name"
        if isinstance(name, str) or tape.peek() != b":":
            yield "", name if isinstance(name, str) else "it has a member without a value"
            tape.at = tape.pass_over()
            return
        tape.at += 1
        try:
            key = str(value_of(name))
        except ValueError as fault:
            key = ""
            yield "", f"its name is no JSON: {fault}"
        if tape.peek() == b"[":
            tape.at += 1
            yield from _items(tape, key)
        elif (value := tape.value()) is _CUT:
            yield key, value
            tape.at = tape.pass_over()
            return
        else:
            yield key, value


def _lines(tape: _Tape) -> Iterator[Piece]:
    for number, line in enumerate(tape.lines(), 1):
        if line is None:
            yield Piece(number, fault=f"the line is longer than {LONGEST_LINE // 2**20} MiB")
        elif line.strip():
            yield from _of_line(number, line)


def _of_line(number: int, line: bytes) -> Iterator[Piece]:
    """The value of a line; of one that is torn, or that several writers joined, each whole object that stands in it."""
    try:
        yield Piece(number, value=value_of(line))
        return
    except ValueError as fault:
        reason = f"it is no JSON: {fault}"
    text, at, whole = line.decode("utf-8", "replace"), 0, json.JSONDecoder(strict=False)
    lost = False
    for _ in range(_TRIES):
        start = _AN_OBJECT.search(text, at)
        if start is None:
            break
        lost = lost or bool(text[at : start.start()].strip(" \t\r\n,"))
        try:
            value, at = whole.raw_decode(text, start.start())
            yield Piece(number, value=_mended(value, 0))
        except (ValueError, RecursionError):
            lost, at = True, start.start() + 1
    if lost or text[at:].strip(" \t\r\n,") or not at:
        yield Piece(number, fault=reason)


class _Tape:
    """A stream with a place in it: what was passed is forgotten."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._buffer = bytearray()
        self.at = 0
        self._ended = False
        if self.peek() == _BOM[:1] and self._ahead(len(_BOM)) == _BOM:
            self.at += len(_BOM)

    def peek(self) -> bytes:
        """The next byte that is no space; empty at the end. Spaces are passed."""
        self.skip(_NO_SPACE)
        return bytes(self._buffer[self.at : self.at + 1])

    def skip(self, until: re.Pattern[bytes]) -> bool:
        """Pass all bytes before the first that fits; whether there was any."""
        begun = False
        while (match := until.search(self._buffer, self.at)) is None:
            begun = begun or self.at < len(self._buffer)
            self.at = len(self._buffer)
            if not self._more():
                return begun
        begun = begun or match.start() > self.at
        self.at = match.start()
        return begun

    def skip_to_value(self) -> bool:
        """Pass commas and spaces, and whatever cannot begin a value; whether anything else was passed."""
        self.skip(_NO_COMMA)
        return self.skip(_NOT_A_VALUE)

    def pass_over(self) -> int:
        """Pass all that is left; where the end is."""
        self.at = len(self._buffer)
        while self._more():
            self.at = len(self._buffer)
        return self.at

    def value(self) -> bytes | str:
        """The bytes of the value that begins here, or why it cannot be read; it is passed in any case."""
        first = bytes(self._buffer[self.at : self.at + 1])
        if first in (b"{", b"["):
            return self._to_end(nested=True)
        if first == b'"':
            return self._to_end(nested=False)
        return self._scalar()

    def is_of_lines(self) -> bool:
        """Whether the first line is a whole object, and another begins on a later line."""
        while (end := self._buffer.find(b"\n", self.at)) < 0 and len(self._buffer) - self.at < LONGEST_LINE and self._more():
            pass
        line = bytes(self._buffer[self.at : end if end >= 0 else None])
        try:
            orjson.loads(line)
        except ValueError:
            # Torn or joined lines: then what follows begins as one of them does.
            following = bytes(self._buffer[end + 1 : end + 3]) if end >= 0 else b""
            return bool(following.startswith(b'{"') or re.match(rb'\{.*\}\s*\{\s*"', line))
        following = bytes(self._buffer[end + 1 : end + 1 + CHUNK]).strip() if end >= 0 else b""
        return bool(following) or (b'"' in line[:4] and _is_one_of_lines(line))

    def lines(self) -> Iterator[bytes | None]:
        """The lines from here on; None for one that is too long."""
        while True:
            dropped = False
            while (end := self._buffer.find(b"\n", self.at)) < 0:
                if len(self._buffer) - self.at > LONGEST_LINE:
                    dropped, self.at = True, len(self._buffer)
                if not self._more():
                    break
            line = bytes(self._buffer[self.at : end if end >= 0 else None])
            self.at = end + 1 if end >= 0 else len(self._buffer)
            if line or dropped or end >= 0:
                yield None if dropped or len(line) > LONGEST_LINE else line
            if end < 0:
                return

    def _to_end(self, *, nested: bool) -> bytes | str:
        start, scan, depth, quoted, dropped = self.at, self.at, 0, False, False
        while True:
            pattern = _QUOTES if quoted else _MARKS
            match = pattern.search(self._buffer, scan)
            if match is None:
                # A backslash at the end escapes what comes next, unless it was escaped itself.
                scan = max(scan, len(self._buffer) - (self._buffer[-1:] == b"\\"))
                dropped = dropped or scan - start > LONGEST_PIECE
                if dropped:
                    self.at = start = scan
                moved = self._more_at()
                if moved is None:
                    self.at = len(self._buffer)
                    return _CUT
                start, scan = start - moved, scan - moved
                continue
            scan = match.end()
            mark = match.group()
            if mark == b'"':
                quoted = not quoted
                if not quoted and not nested:
                    break
            elif quoted or len(mark) > 1:
                continue
            elif mark in b"{[":
                depth += 1
            else:
                depth -= 1
                if depth == 0:
                    break
        self.at = scan
        if dropped or scan - start > LONGEST_PIECE:
            return f"it is longer than {LONGEST_PIECE // 2**20} MiB"
        return bytes(self._buffer[start:scan])

    def _scalar(self) -> bytes | str:
        while (match := _SCALAR_ENDS.search(self._buffer, self.at + 1)) is None:
            if len(self._buffer) - self.at > LONGEST_NUMBER:
                self.at = len(self._buffer)
                return "it is no value"
            if not self._more():
                break
        end = match.start() if match else len(self._buffer)
        data = bytes(self._buffer[self.at : end])
        self.at = end
        return data

    def _ahead(self, count: int) -> bytes:
        while len(self._buffer) - self.at < count and self._more():
            pass
        return bytes(self._buffer[self.at : self.at + count])

    def _more(self) -> bool:
        return self._more_at() is not None

    def _more_at(self) -> int | None:
        """Read on; by how much what is held has moved to the left, None at the end."""
        data = b"" if self._ended else self._stream.read(CHUNK)
        if not data:
            self._ended = True
            return None
        moved = self.at if self.at > CHUNK or self.at == len(self._buffer) else 0
        del self._buffer[:moved]
        self.at -= moved
        self._buffer += data
        return moved


def _is_one_of_lines(line: bytes) -> bool:
    """Whether a file of one line is a single record, not a document: it has no member that is a list of objects."""
    value = orjson.loads(line)
    return (
        isinstance(value, dict)
        and "type" in value
        and not any(isinstance(member, list) and member and isinstance(member[0], dict) for member in value.values())
    )
