"""In which rows each note's passages are, kept in memory for who asks again while the ledger is the same."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice

from vault_tool.index.vectors.ledger import Ledger
from vault_tool.index.vectors.rows import KEY_BYTES, Rows

_MOST = 20_000
"""So many notes take about 10 MB."""

_AGAIN = 2
"""From the second time on it is worth it to put the keys of all rows in order;"""
_OFTEN = 6
"""and whoever asked so often for notes that were not here yet is one who stays: an answer asks three times at most."""


class Places:
    """The places of notes in one file of rows, by path; of a small vault those of all, as soon as it is worth it."""

    def __init__(self) -> None:
        self._state: tuple[object, ...] = ()
        self._known: dict[str, tuple[int, ...]] = {}
        self._heads: dict[int, list[str]] | None = None
        self._asked = 0

    def of(self, ledger: Ledger, lane: int, rows: Rows, paths: Collection[str]) -> dict[str, tuple[int, ...]]:
        """The rows of several notes, -1 for a passage without a vector; nothing for a note without texts."""
        self._settle(ledger, rows)
        known = self._known
        missing = [path for path in paths if path not in known] if self._heads is None else []
        if missing:
            self._asked += 1
            if self._asked < _AGAIN and ledger.file_of(lane) == rows.name:
                self._by_ledger(ledger, lane, rows, missing)
            elif self._asked < _OFTEN or ledger.count_notes() > _MOST:
                # Those who ask again, or where another process may have written the rows anew, are told by the rows themselves.
                self._by_keys(rows, ledger.joined_keys(missing))
                known.update((path, ()) for path in missing if path not in known)
            else:
                self._take_all(ledger, rows)
        return {path: known.get(path, ()) for path in paths}

    def headings(self, ledger: Ledger, rows: Rows) -> Mapping[int, Sequence[str]] | None:
        """By row the notes whose first passage it is; None where that is not in memory."""
        self._settle(ledger, rows)
        return self._heads

    def _settle(self, ledger: Ledger, rows: Rows) -> None:
        state = (*ledger.state(), rows.name, len(rows))
        if state != self._state:
            self._state, self._known, self._heads = state, {}, None

    def _take_all(self, ledger: Ledger, rows: Rows) -> None:
        self._by_keys(rows, ledger.joined_keys())
        self._heads = {}
        for path, numbers in self._known.items():
            if numbers:
                self._heads.setdefault(numbers[0], []).append(path)

    def follow(self, before: Places) -> None:
        """Who asked another for an earlier state of the same rows asks again."""
        self._asked = before._asked

    def _by_ledger(self, ledger: Ledger, lane: int, rows: Rows, paths: Collection[str]) -> None:
        keys_of = ledger.note_keys(paths)
        said = ledger.row_numbers(lane, {key for keys in keys_of.values() for key in keys})
        at = {key: row for key, row in said.items() if row < len(rows)}
        self._known.update((path, tuple([at.get(key, -1) for key in keys_of.get(path, ())])) for path in paths)

    def _by_keys(self, rows: Rows, joined: dict[str, bytes]) -> None:
        numbers = iter(rows.numbers(b"".join(joined.values())))
        self._known.update((path, tuple(islice(numbers, len(keys) // KEY_BYTES))) for path, keys in joined.items())
