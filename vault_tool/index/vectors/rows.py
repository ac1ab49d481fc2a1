"""One packed file of vectors: a header that says of which model, then rows that each carry their key and a checksum."""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson
from msgspec import to_builtins

from vault_tool.errors import StorageError
from vault_tool.files import reader
from vault_tool.index.vectors.hits import Matrix
from vault_tool.util.atomic import storage
from vault_tool.util.deferred import numpy as np
from vault_tool.util.folder import write_all
from vault_tool.util.structs import Struct

VERSION = 1
KEY_BYTES = 16
# The bit of a key's last byte that is set for all passages of a note but its first: who looks for first ones alone need ask
# nobody which those are. A text that is the first of one note and a later one of another has two keys.
LATER = 1
HEADER_BYTES = 4096

_MAGIC = b"vault vectors\n"
_ROW_HEAD = 32
_SMALL_BYTES = 16 << 20
_CHUNK_ROWS = 4096
# With a row that is looked at the system takes in up to 64 kB around it: a file is let go of after so many rows, and one that
# is no larger than what these may take in stays, for to take in the same pages again and again is a tenth of a warm answer.
_MOST_TAKEN_IN = 1024
_MOST_KEPT = _MOST_TAKEN_IN << 16
_LONGEST = 1 << 16

_ROOM = 17, 16

Fingerprint = list[int]

# Numbers of rows.
Numbers: TypeAlias = "np.ndarray[Any, np.dtype[np.intp]]"


class Header(Struct):
    """The header of a file of vectors: the model's name, their length, and the instruction put before each text."""

    model: str
    dimensions: int
    instruction: str = ""
    version: int = VERSION


class Order(NamedTuple):
    """The keys of the first rows of a file in order: which row is where in it, the first halves of their keys so, and the keys
    themselves by row, for to look at one in the file is to have a page of vectors in memory.
    """

    rows: np.ndarray[Any, Any]
    halves: np.ndarray[Any, Any]
    keys: np.ndarray[Any, Any]


class Mapped(NamedTuple):
    """Copies on disk of what a large file of rows is asked for: the open files with the size that each must have, the vectors of
    its first passages, the rows of those that are in `order`, and its keys in order.
    """

    files: tuple[tuple[int, int], ...]
    vectors: Matrix
    firsts: Numbers
    order: Order


class Rows:
    """Rows as they were when they were opened. `vectors` is not to be read before `sound` said so."""

    def __init__(
        self, name: str, array: np.ndarray[Any, Any], descriptor: int | None, need: int, copies: Mapped | None = None
    ) -> None:
        self.name = name
        """The file's name: another name is other rows."""

        self._array = array
        # Without the class of mapped arrays, which does more at each step than the step takes.
        self._vectors: Matrix = np.asarray(array["vector"])
        self._files: tuple[tuple[int, int], ...] = ((descriptor, need),) if descriptor is not None else ()
        self._order: Order | None = None
        self._heads: FirstPassages | None = None
        self._first_passage_requests = 0
        self._taken_in = 0
        self._late: dict[bytes, int] | None = None
        self.has_copies = copies is not None
        if copies is not None:
            self._files += copies.files
            self._order = copies.order
            numbers = np.concatenate([copies.firsts, self.first_passages(len(copies.order.rows))])
            self._heads = FirstPassages(len(array), numbers, copies.vectors, copies.vectors)

    def __len__(self) -> int:
        return len(self._array)

    @property
    def vectors(self) -> Matrix:
        """One vector a row."""
        return self._vectors

    def sound(self) -> bool:
        """Whether the files still have every row: reading a map of one that was cut meanwhile would end the process."""
        return all(os.fstat(descriptor).st_size >= need for descriptor, need in self._files)

    def vectors_at(self, numbers: Sequence[int] | Numbers) -> Matrix:
        """The vectors of some rows; of a large file what the system took in around them is let go of now and then."""
        vectors: Matrix = self._vectors[numbers]
        self._taken_in += len(numbers)
        if self._taken_in > _MOST_TAKEN_IN and self._array.nbytes > _MOST_KEPT:
            self._taken_in = 0
            self.release_pages()
        return vectors

    def keys(self, numbers: Sequence[int]) -> list[bytes]:
        """The keys of some rows."""
        ordered = len(self._order.keys) if self._order is not None else 0
        if self._order is not None and all(number < ordered for number in numbers):
            return [key.tobytes() for key in self._order.keys[list(numbers)]]
        return [bytes(key) for key in self._array["key"][list(numbers)]]

    @property
    def ordered(self) -> bool:
        """Whether the keys are in order, so that to look up many of them costs little."""
        return self._order is not None

    def first_passages(self, start: int = 0) -> Numbers:
        """The rows from `start` on that are the first passage of a note."""
        last_bytes = self._array[start:].getfield("u1", KEY_BYTES - 1)
        return start + np.flatnonzero(last_bytes & LATER == 0)

    def heads(self) -> FirstPassages | None:
        """The first passages side by side; the rows must be `sound`.

        None to the first who asks where there is no copy of them: gathering them takes as long as several products with every
        row.
        """
        self._first_passage_requests += 1
        if self._first_passage_requests > 1 and (self._heads is None or self._heads.seen < len(self)):
            self._heads = gathered(self, self._heads)
            self.release_pages()
        return self._heads

    def release_pages(self) -> None:
        """Count as little of a mapped file as this process's memory as it needs from now on; the system keeps it in its own."""
        mapped: object = self._array.base
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)

    def follow(self, before: Rows) -> None:
        """Take over what was gathered of the same file when it had fewer rows."""
        # What is mapped may have been cut meanwhile, and is mapped again for each state.
        mapped = self.has_copies or before.has_copies
        if not mapped and before.name == self.name and len(before) <= len(self):
            self._heads, self._first_passage_requests, self._order = before._heads, before._first_passage_requests, before._order

    def numbers(self, joined: bytes) -> list[int]:
        """The row of each key of several that are joined, -1 for one that is not there.

        The first time the keys are put in order, which takes 100 ms a million.
        """
        if not len(self) or not self.sound():
            return [-1] * (len(joined) // KEY_BYTES)
        if self._order is None or len(self) - len(self._order.rows) > _CHUNK_ROWS:
            self._order = in_order(np.ascontiguousarray(self._array["key"]).view("<u8").reshape(-1, 2))
            self.release_pages()
        order, halves, keys = self._order
        wanted_keys = np.frombuffer(joined, "<u8").reshape(-1, 2)
        at = order[np.minimum(np.searchsorted(halves, wanted_keys[:, 0]), len(order) - 1)].astype(np.intp)
        numbers_of_rows: list[int] = np.where((keys[at] == wanted_keys).all(axis=1), at, -1).tolist()
        if len(order) < len(self):
            late = self._since(len(order))
            for n, row in enumerate(numbers_of_rows):
                if row < 0:
                    numbers_of_rows[n] = late.get(joined[n * KEY_BYTES : (n + 1) * KEY_BYTES], -1)
        return numbers_of_rows

    def _since(self, start: int) -> dict[bytes, int]:
        """The rows that came after the others were put in order, by key."""
        if self._late is None:
            self._late = {key: start + n for n, key in enumerate(self.keys(range(start, len(self))))}
        return self._late

    def close(self) -> None:
        """Let go of the files."""
        files, self._files = self._files, ()
        for descriptor, _ in files:
            os.close(descriptor)

    def __del__(self) -> None:
        self.close()


class FirstPassages(Struct):
    """The first passages of a file's first `seen` rows: `vectors[n]` is a copy of that of row `numbers[n]`.

    A few milliseconds of a product are spent on reaching rows; in a vault of long notes most of these are later passages.
    """

    seen: int
    numbers: Numbers
    vectors: Matrix
    room: Matrix
    """Where `vectors` are, with room for those to come: a copy of all for each new note would take longer than the product."""


def gathered(rows: Rows, before: FirstPassages | None) -> FirstPassages:
    """The first passages of all rows; `before` has those of the first of them."""
    new = rows.first_passages(before.seen if before else 0)
    known = len(before.numbers) if before else 0
    room = before.room if before else None
    if room is None or len(room) < known + len(new):
        room = np.empty(((known + len(new)) * _ROOM[0] // _ROOM[1] + _CHUNK_ROWS, rows.vectors.shape[1]), np.float32)
        room[:known] = before.vectors if before else 0
    for at in range(0, len(new), _CHUNK_ROWS):
        chunk = new[at : at + _CHUNK_ROWS]
        room[known + at : known + at + len(chunk)] = rows.vectors[chunk]
    numbers = np.concatenate([before.numbers, new]) if before else new
    return FirstPassages(len(rows), numbers, room[: len(numbers)], room)


def in_order(keys: np.ndarray[Any, Any]) -> Order:
    """Keys, each as two numbers, put in order."""
    # Keys are hashes, so that the first 8 bytes sort well; a lookup compares all 16.
    order = np.argsort(keys[:, 0])
    return Order(order, keys[order, 0], keys)


def create(path: Path, header: Header) -> None:
    """Begin an empty file; raises StorageError."""
    header_line = _MAGIC + orjson.dumps(to_builtins(header)) + b"\n"
    with storage(path.name):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644)
        try:
            write_all(descriptor, header_line.ljust(HEADER_BYTES))
        finally:
            os.close(descriptor)


def header(path: Path) -> Header | None:
    """The header of a file of vectors, also of a later version; None for another kind of file."""
    try:
        with path.open("rb") as file:
            magic, header_line = file.readline(HEADER_BYTES), file.readline(HEADER_BYTES)
        known_header = Header(**orjson.loads(header_line)) if magic == _MAGIC else None
    except (OSError, ValueError, TypeError):
        return None
    if known_header is None or not all(isinstance(value, int) for value in (known_header.dimensions, known_header.version)):
        return None
    return known_header if 0 < known_header.dimensions < _LONGEST and isinstance(known_header.model, str) else None


def append(path: Path, dimensions: int, at: int, keys: Sequence[bytes], vectors: Matrix) -> None:
    """Put rows after the first `at`, over whatever a killed process left there, and wait for the disk."""
    rows = np.zeros(len(keys), dtype=_layout(dimensions))
    rows["key"] = np.frombuffer(b"".join(keys), dtype=f"V{KEY_BYTES}")
    rows["vector"] = vectors
    rows["check"] = [_check(row["key"], row["vector"]) for row in rows]
    data = rows.tobytes()
    with storage(path.name, len(data)):
        descriptor = os.open(path, os.O_WRONLY | getattr(os, "O_BINARY", 0))
        try:
            os.lseek(descriptor, HEADER_BYTES + at * rows.itemsize, os.SEEK_SET)
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def is_large(dimensions: int, count: int) -> bool:
    """Whether a file of so many rows is mapped, and not read whole."""
    return HEADER_BYTES + count * (_ROW_HEAD + 4 * dimensions) > _SMALL_BYTES


def read(path: Path, dimensions: int, start: int, end: int) -> Iterator[np.ndarray[Any, Any]]:
    """The rows from `start` to `end` with their keys, some at a time and never mapped; raises StorageError for fewer."""
    layout = _layout(dimensions)
    with storage(path.name), path.open("rb") as file:
        file.seek(HEADER_BYTES + start * layout.itemsize)
        for at in range(start, end, _CHUNK_ROWS):
            chunk = np.fromfile(file, layout, min(_CHUNK_ROWS, end - at))
            if len(chunk) < min(_CHUNK_ROWS, end - at):
                raise StorageError(f"{path.name} was cut short", "run it again: what is missing is embedded again")
            yield chunk


def opened(path: Path, dimensions: int, count: int, copies: Mapped | None = None) -> Rows | None:
    """The first `count` rows: small files read whole, large ones mapped. None for a file that has fewer."""
    layout = _layout(dimensions)
    need = HEADER_BYTES + count * layout.itemsize
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_size < need:
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            if not is_large(dimensions, count):
                file.seek(HEADER_BYTES)
                data = file.read(count * layout.itemsize)
                return Rows(path.name, np.frombuffer(data, layout), None, need) if len(data) == count * layout.itemsize else None
            array = np.memmap(file, layout, "r", HEADER_BYTES, (count,))
        handed_on, descriptor = descriptor, -1
        return Rows(path.name, array, handed_on, need, copies)
    except (OSError, ValueError):
        return None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def are_whole(path: Path, dimensions: int, count: int, numbers: Mapping[bytes, int]) -> bool:
    """Whether the first `count` rows of a file are as they were written, and each key in the row that `numbers` says."""
    if len(numbers) != count:
        return False
    at = 0
    try:
        for chunk in read(path, dimensions, 0, count):
            for number, row in enumerate(chunk, at):
                if _check(row["key"], row["vector"]) != int(row["check"]) or numbers.get(bytes(row["key"])) != number:
                    return False
            at += len(chunk)
    except (OSError, StorageError):
        return False
    return True


def fingerprint(path: Path) -> Fingerprint:
    """A value that differs after the file was written to, cut or replaced; empty if there is no file."""
    try:
        return list(reader.fingerprint(path.stat()))
    except OSError:
        return []


def _check(key: Any, vector: Any) -> int:
    # Never 0, or a hole in the file would be a row.
    return zlib.crc32(vector.tobytes(), zlib.crc32(bytes(key))) or 1


def _layout(dimensions: int) -> np.dtype[Any]:
    pad = _ROW_HEAD - KEY_BYTES - 4
    return np.dtype([("key", f"V{KEY_BYTES}"), ("check", "<u4"), ("pad", f"V{pad}"), ("vector", "<f4", (dimensions,))])
