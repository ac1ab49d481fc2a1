"""Derived copies of a large file of rows: the vectors of first passages side by side, and all keys with their order."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Any, Self, TypeAlias

import orjson
from msgspec import to_builtins

from vault_tool.index.seals import discard
from vault_tool.index.vectors import rows
from vault_tool.index.vectors.rows import KEY_BYTES, LATER, Fingerprint, Mapped, Numbers, Order
from vault_tool.util.atomic import storage
from vault_tool.util.deferred import numpy as np
from vault_tool.util.folder import write_all
from vault_tool.util.structs import Struct

# What the names of the two files begin with.
VECTORS, KEYS = "first-1-", "keys-1-"

_BINARY = getattr(os, "O_BINARY", 0)
# So many rows may come after the keys were put in order.
_LATE = 4096

_Array: TypeAlias = "np.ndarray[Any, Any]"


class Copies(Struct):
    """Which copies there are of a file of rows, with the stat that they had after our last write; a ledger keeps it."""

    of: str
    """The name of the file of rows;"""
    seen: int
    """how many of its rows were copied;"""
    vectors: str
    count: int
    """and how many of these are first passages."""
    vectors_print: Fingerprint
    keys: str
    ordered: int
    """Of how many rows the keys are in order."""
    keys_print: Fingerprint

    @classmethod
    def read(cls, text: str) -> Self | None:
        """The copies that a ledger has; None if it has none."""
        return cls(**orjson.loads(text)) if text else None

    def as_text(self) -> str:
        """The same for the ledger."""
        return orjson.dumps(to_builtins(self)).decode()

    def intact(self, folder: Path) -> bool:
        """Whether the copies were not written to, cut or replaced."""
        copies = ((self.vectors, self.vectors_print), (self.keys, self.keys_print))
        return all(rows.fingerprint(folder / name) == seen for name, seen in copies)


def updated(file: Path, dimensions: int, count: int, before: Copies | None) -> Copies:
    """Copy what the first `count` rows have more than `before`, which is intact, or all of them; the caller holds the lock.

    Raises StorageError. Both files are on disk when this returns.
    """
    folder = file.parent
    if before is None or before.of != file.name or before.seen > count:
        remove(folder, file.name)
        before = Copies(file.name, 0, _new_name(VECTORS, file), 0, [], "", 0, [])
    added = 0
    with storage(before.vectors):
        descriptor = os.open(folder / before.vectors, os.O_WRONLY | os.O_CREAT | _BINARY, 0o644)
        try:
            # Over what a killed process left there.
            os.lseek(descriptor, before.count * dimensions * 4, os.SEEK_SET)
            for chunk in rows.read(file, dimensions, before.seen, count):
                firsts = chunk["vector"][_is_first(chunk["key"])]
                write_all(descriptor, firsts.tobytes())
                added += len(firsts)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    keys, ordered = before.keys, before.ordered
    if not keys or count - ordered > _LATE:
        keys, ordered = _put_in_order(file, dimensions, count, before), count
    prints = [rows.fingerprint(folder / name) for name in (before.vectors, keys)]
    return Copies(file.name, count, before.vectors, before.count + added, prints[0], keys, ordered, prints[1])


def mapped(folder: Path, dimensions: int, copies: Copies, count: int) -> Mapped | None:
    """The copies of the first `count` rows, mapped; None where they are not as they were left, or are of other rows."""
    if copies.seen != count or not copies.intact(folder):
        return None
    descriptors: list[int] = []
    try:
        descriptors.extend(os.open(folder / name, os.O_RDONLY | _BINARY) for name in (copies.vectors, copies.keys))
        vectors = _map(descriptors[0], np.dtype("<f4"), 0, (copies.count, dimensions))
        keys = _map(descriptors[1], np.dtype("<u8"), 0, (copies.ordered, 2))
        halves = _map(descriptors[1], np.dtype("<u8"), keys.nbytes, (copies.ordered,))
        order = _map(descriptors[1], np.dtype("<u4"), keys.nbytes + halves.nbytes, (copies.ordered,))
    except (OSError, ValueError):
        for descriptor in descriptors:
            os.close(descriptor)
        return None
    needs = (vectors.nbytes, keys.nbytes + halves.nbytes + order.nbytes)
    return Mapped(tuple(zip(descriptors, needs, strict=True)), vectors, _firsts(keys), Order(order, halves, keys))


def remove(folder: Path, name: str) -> None:
    """Remove all copies of a file of rows."""
    for prefix in (VECTORS, KEYS):
        for file in folder.glob(f"{prefix}{_stem(name)}-*"):
            discard(file)


def _put_in_order(file: Path, dimensions: int, count: int, before: Copies) -> str:
    """Write the keys of the first `count` rows and their order to a new file, and remove the one before; its name."""
    folder, name = file.parent, _new_name(KEYS, file)
    keys = np.empty((count, 2), "<u8")
    at = before.ordered if before.keys else 0
    if at:
        keys[:at] = np.fromfile(folder / before.keys, "<u8", at * 2).reshape(-1, 2)
    for chunk in rows.read(file, dimensions, at, count):
        keys[at : at + len(chunk)] = np.frombuffer(chunk["key"].tobytes(), "<u8").reshape(-1, 2)
        at += len(chunk)
    order = rows.in_order(keys)
    with storage(name):
        descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | _BINARY, 0o644)
        try:
            for part in (keys, order.halves.astype("<u8"), order.rows.astype("<u4")):
                write_all(descriptor, part.tobytes())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    # A new name each time: who has the old file mapped goes on reading it.
    if before.keys:
        discard(folder / before.keys)
    return name


def _is_first(keys: _Array) -> _Array:
    is_first: _Array = keys.getfield("u1", KEY_BYTES - 1) & LATER == 0
    return is_first


def _firsts(keys: _Array) -> Numbers:
    """The rows of first passages among those whose keys these are."""
    return np.flatnonzero(keys.view("u1").reshape(-1, KEY_BYTES)[:, -1] & LATER == 0)


def _map(descriptor: int, kind: np.dtype[Any], offset: int, shape: tuple[int, ...]) -> _Array:
    with os.fdopen(os.dup(descriptor), "rb") as file:
        return np.asarray(np.memmap(file, kind, "r", offset, shape))


def _stem(name: str) -> str:
    return Path(name).stem.removeprefix(f"rows-{rows.VERSION}-")


def _new_name(prefix: str, file: Path) -> str:
    return f"{prefix}{_stem(file.name)}-{secrets.token_hex(4)}.bin"
