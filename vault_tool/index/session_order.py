"""What was recorded before and after a memory in the same session."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import SESSION

_MOST = 5000
"""Of a longer session only the first so many records are put in order."""

_ROWS = ", ".join(
    ["path", *(f"json_extract(CAST(head AS TEXT), '$.{field}')" for field in ("turn", "observed", "created")), "mtime_ns"]
)
_NUMBER = re.compile(r"(\d+)")


class SessionOrder:
    """The order of records in each session, looked up when first asked for and kept until the catalogue changes."""

    def __init__(self) -> None:
        self._seq = ""
        self._orders: dict[str, tuple[tuple[str, ...], dict[str, int]]] = {}

    def settle(self, catalog: Catalog) -> None:
        """Forget what was looked up before the catalogue last changed: once before each answer."""
        seq = catalog.seq()
        if seq != self._seq:
            self._seq, self._orders = seq, {}

    def around(self, catalog: Catalog, session: str, path: str, reach: int = 2) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The paths recorded just before and just after one, nearest first, at most `reach` each."""
        if not session:
            return (), ()
        order, places = self._order(catalog, session)
        at = places.get(path)
        if at is None:
            return (), ()
        return order[max(0, at - reach) : at][::-1], order[at + 1 : at + 1 + reach]

    def of(self, catalog: Catalog, session: str) -> tuple[str, ...]:
        """All paths of one session, in order."""
        return self._order(catalog, session)[0]

    def _order(self, catalog: Catalog, session: str) -> tuple[tuple[str, ...], dict[str, int]]:
        if session not in self._orders:
            # As the partial index has it (`<> ''`), and not by the class, which most records share (the plus).
            where = f"{SESSION} = ? AND {SESSION} <> '' AND +class = 'observation'"
            rows = catalog.rows(f"SELECT {_ROWS} FROM entries WHERE {where} LIMIT {_MOST}", (session,))
            order = tuple(row[0] for row in _in_order(rows))
            self._orders[session] = order, {path: place for place, path in enumerate(order)}
        return self._orders[session]


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
