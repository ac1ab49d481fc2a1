"""What was recorded before and after a memory in the same session."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any

import orjson

from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import SESSION
from vault_tool.model.types import RecordClass

# Of a longer session only the first so many records are put in order.
_MOST = 5000

_NUMBER = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Session:
    """The paths of one session's records in their order, and the place of each in it."""

    order: tuple[str, ...]
    places: Mapping[str, int]

    def around(self, path: str, reach: int) -> tuple[str, ...]:
        """The paths recorded just before and just after one, at most `reach` each."""
        at = self.places.get(path)
        return () if at is None else self.order[max(0, at - reach) : at] + self.order[at + 1 : at + 1 + reach]


class SessionOrder:
    """The order of records in each session, looked up when first asked for and kept until the catalogue changes."""

    def __init__(self) -> None:
        self._seq = ""
        self._sessions: dict[str, Session] = {}

    def drop_stale(self, catalog: Catalog) -> None:
        """Forget what was looked up before the catalogue last changed: once before each answer."""
        seq = catalog.seq()
        if seq != self._seq:
            self._seq, self._sessions = seq, {}

    def look_up(self, catalog: Catalog, sessions: Collection[str]) -> dict[str, Session]:
        """Several sessions by their names."""
        missing = [name for name in sessions if name not in self._sessions]
        if missing:
            self._sessions.update(_sessions(catalog, missing))
        return {name: self._sessions[name] for name in sessions}


def _sessions(catalog: Catalog, names: Sequence[str]) -> dict[str, Session]:
    kept = catalog.cached_of_sessions(names)
    if kept is None:
        return _looked_up(catalog, names)
    observations = {name: (one for one in some if one.record_class is RecordClass.OBSERVATION) for name, some in kept.items()}
    rows = {name: [_row(one.path, one.head, one.mtime_ns) for one in islice(some, _MOST)] for name, some in observations.items()}
    return {name: _session(some) for name, some in rows.items()}


def _looked_up(catalog: Catalog, names: Sequence[str]) -> dict[str, Session]:
    # As the partial index has it (`<> ''`), and not by the class, which most records share (the plus).
    where = f"{SESSION} IN ({','.join('?' * len(names))}) AND {SESSION} <> '' AND +class = 'observation'"
    # The heads as they are: to take four values out of each takes SQLite longer than reading it takes here.
    rows = catalog.rows(f"SELECT path, head, mtime_ns FROM entries WHERE {where} LIMIT {_MOST}", names)
    if len(rows) == _MOST and len(names) > 1:
        # One of them is longer than all may be together: each for itself.
        return {name: session for one in names for name, session in _looked_up(catalog, [one]).items()}
    of: dict[str, list[Any]] = {name: [] for name in names}
    for path, said, mtime_ns in rows:
        head = orjson.loads(said)
        of[head["session"]].append(_row(path, head, mtime_ns))
    return {name: _session(some) for name, some in of.items()}


def _row(path: str, head: Mapping[str, Any], mtime_ns: int) -> tuple[Any, ...]:
    """What orders a record of a session: its path, turn, the times it says, and its file's."""
    return path, head.get("turn"), head.get("observed"), head.get("created"), mtime_ns


def _session(rows: Iterable[Any]) -> Session:
    order = tuple(row[0] for row in _in_order(rows))
    return Session(order, {path: place for place, path in enumerate(order)})


def _in_order(rows: Iterable[Any]) -> list[Any]:
    """By turn where all say one, else by when it was observed or written; files of one moment in the order they were written."""
    listed = list(rows)
    if all(row[1] for row in listed):
        return _sorted(listed, lambda row: (_natural(row[1]), row[2] or row[3] or ""))
    return _sorted(listed, lambda row: (row[2] or row[3] or "", row[3] or "", row[4]))


def _sorted(rows: Sequence[Any], key: Callable[[Any], Any]) -> list[Any]:
    """In the order of the keys, and those of one key in the order of their paths; most sessions need no path for it."""
    keys = [key(row) for row in rows]
    if len(set(keys)) < len(keys):
        keys = [(found, _natural(row[0])) for found, row in zip(keys, rows, strict=True)]
    return [row for _, row in sorted(zip(keys, rows, strict=True), key=itemgetter(0))]


def _natural(text: object) -> tuple[tuple[int, str], ...]:
    """A text with numbers in it, so that 10 comes after 9."""
    if isinstance(text, str) and text.isdecimal():
        return ((0, ""), (int(text), ""), (0, ""))
    return tuple((int(part), "") if part.isdecimal() else (0, part) for part in _NUMBER.split(str(text)))
