"""In which rows each note's passages are, kept in memory for who asks again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import islice

from vault_tool.index.derived import Derived
from vault_tool.index.vectors.rows import KEY_BYTES, Rows
from vault_tool.index.vectors.vector_ledger import VectorLedger

# Of so few notes the rows of all are taken at once: 30 ms and 5 MB for 10,000. Of more it would take a third of a second and
# 60 MB, and to look up those that are asked for takes a millisecond or two of each answer; of so many it keeps the rows.
_FEW = 20_000

# Of more changes at once it begins anew.
_MANY = 500

# From the second time on it is worth it to put the keys of all rows in order;
_AGAIN = 2
# and whoever asked so often for notes that were not here yet is one who stays: an answer asks three times at most.
_OFTEN = 6
_MOST_OFTEN = 100

_State = tuple[object, ...]


class RowMap:
    """The places of notes in one file of rows, by path; of a small vault those of all, as soon as it is worth it."""

    def __init__(self) -> None:
        self._current = Derived()
        self._position = 0
        self._known: dict[str, tuple[int, ...]] = {}
        self._lacking: set[str] = set()
        self._whole = False
        self._heads: dict[int, tuple[str, ...]] = {}
        self._asked = 0
        self._often = _OFTEN

    def of(self, ledger: VectorLedger, partition: int, rows: Rows, paths: Collection[str]) -> dict[str, tuple[int, ...]]:
        """The rows of several notes, -1 for a passage without a vector; nothing for a note without texts."""
        known = self._known
        rows_of = {path: known[path] for path in paths if path in known}
        missing = [path for path in paths if path not in known] if len(rows_of) < len(paths) else []
        if missing:
            self._asked += 1
            if not self._whole and self._asked >= self._often and ledger.count_notes() <= _FEW:
                self._take_all(ledger, rows)
                missing = [path for path in missing if path not in known]
            self._make_room(paths, len(missing))
            if self._whole:
                for path in missing:
                    self._know(path, ())
            elif self._asked < _AGAIN and not rows.ordered and ledger.file_of(partition) == rows.name:
                self._learn_of_ledger(ledger, partition, rows, missing)
            else:
                # Those who ask again, or where another process may have written the rows anew, are told by the rows themselves.
                keys = ledger.joined_keys(missing)
                self._learn(rows, {path: keys.get(path, b"") for path in missing})
            rows_of = {path: known[path] for path in paths}
        return rows_of

    def headings(self) -> Mapping[int, tuple[str, ...]] | None:
        """By row the notes whose first passage it is; None where that is not in memory."""
        return self._heads if self._whole else None

    def drop_stale(self, ledger: VectorLedger, rows: Rows) -> None:
        """Forget what changed since the last question: all of it, where another process may have changed anything.

        Once before all that one answer asks: what is told until the next time belongs together.
        """
        token, version, changes = ledger.state()
        state = (token, version, rows.name, len(rows), changes)

        def follow(_: bool, before: _State) -> bool:
            self._follow(ledger, rows, before, state)
            return True

        self._current.of(state, "places", lambda: follow(True, ()), follow)

    def _follow(self, ledger: VectorLedger, rows: Rows, before: _State, state: _State) -> None:
        """Take in what changed between two states; the empty one is of nothing."""
        same = before[:3] == state[:3]
        position, touched = ledger.touched(self._position if same else 0)
        again = {*touched, *(self._lacking if same and before[3] != len(rows) else ())}
        if same and len(again) <= _MANY:
            self._look_again(ledger, rows, again)
        else:
            if self._whole:
                # Where that happens again and again, reading all anew must not become the better part of the work.
                self._often = min(2 * self._often, _MOST_OFTEN)
            self._known, self._lacking, self._whole, self._heads = {}, set(), False, {}
            self._asked = min(self._asked, _AGAIN)
        self._position = position

    def _look_again(self, ledger: VectorLedger, rows: Rows, paths: set[str]) -> None:
        before = {path: numbers for path in paths if (numbers := self._known.pop(path, ()))}
        self._lacking -= paths
        if self._whole:
            for path, (row, *_) in before.items():
                left = tuple(other for other in self._heads.pop(row, ()) if other != path)
                self._heads.update({row: left} if left else {})
            now = ledger.joined_keys(paths)
            self._learn(rows, now)
            self._head(now)

    def _take_all(self, ledger: VectorLedger, rows: Rows) -> None:
        self._whole = True
        keys = ledger.joined_keys()
        self._learn(rows, keys)
        self._head(keys)

    def _head(self, paths: Iterable[str]) -> None:
        """Note which notes begin with which rows."""
        for path in paths:
            for row in self._known[path][:1]:
                if row >= 0:
                    self._heads[row] = (*self._heads.get(row, ()), path)

    def _make_room(self, paths: Collection[str], count: int) -> None:
        """Forget what is not asked for now, where it would be too many with `count` more."""
        if not self._whole and len(self._known) + count > _FEW:
            asked = {path: self._known[path] for path in paths if path in self._known}
            self._known.clear()
            self._known.update(asked)
            self._lacking &= asked.keys()

    def _learn(self, rows: Rows, keys: Mapping[str, bytes]) -> None:
        numbers = iter(rows.numbers(b"".join(keys.values())))
        for path, joined in keys.items():
            self._know(path, tuple(islice(numbers, len(joined) // KEY_BYTES)))

    def _learn_of_ledger(self, ledger: VectorLedger, partition: int, rows: Rows, paths: Collection[str]) -> None:
        keys_of = ledger.note_keys(paths)
        numbers = ledger.row_numbers(partition, {key for keys in keys_of.values() for key in keys})
        at = {key: row for key, row in numbers.items() if row < len(rows)}
        for path in paths:
            self._know(path, tuple([at.get(key, -1) for key in keys_of.get(path, ())]))

    def _know(self, path: str, rows: tuple[int, ...]) -> None:
        self._known[path] = rows
        if -1 in rows:
            self._lacking.add(path)
