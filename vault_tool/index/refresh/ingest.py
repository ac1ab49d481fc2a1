"""How what was read gets into the catalogue: difference by difference, or all of it at once into a new one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
from msgspec import field
from msgspec.structs import asdict

from vault_tool.files.reader import Listing, Stat
from vault_tool.index import graves, schema
from vault_tool.index.authorship import ADD, HistoryDelta, row_of
from vault_tool.index.catalog import Catalog
from vault_tool.index.refresh.reading import Seen
from vault_tool.index.schema import (
    entry_of,
    entry_row,
    links_of,
    memberships_of,
    names_of,
    problem_rows,
    relations_of,
    signal_row,
    titles_of,
)  # fmt: skip
from vault_tool.index.since import highest
from vault_tool.model.problems import Problem
from vault_tool.model.snapshot import Entry
from vault_tool.util.structs import Struct

_BATCH = 2000
_ENTRY_MARKS = ",".join("?" * (1 + len(schema.ENTRY.split(","))))
_ADD_ENTRY = f"INSERT INTO entries VALUES ({_ENTRY_MARKS})"
_ADD_PROBLEM = "INSERT INTO problems VALUES (?,?,?,?,?,?,?)"
_ADD_SIGNAL = "INSERT INTO signals (rowid, path, at, id, target, data) VALUES (?,?,?,?,?,?)"
_ADD_PAGE = "INSERT INTO pages VALUES (?,?,?)"
_ADD_FILE = "INSERT OR REPLACE INTO files VALUES (?,?,?,?)"
_ADD_FACT = "INSERT OR REPLACE INTO meta VALUES (?,?)"
_ADD_FOLDER = "INSERT OR REPLACE INTO folders VALUES (?,?,?)"
# The tables of normalised names, each with what an entry has in it.
_NAMES: Mapping[str, Callable[[Entry], Iterable[str]]] = MappingProxyType(
    {"names": names_of, "memberships": memberships_of, "titles": titles_of, "links": links_of}
)

# The facts that say which number was given last to a record, and to a line of a journal.
_NUMBERED, _LINES = "numbered", "lines numbered"

_WAIT = "INSERT OR REPLACE INTO lexical_pending VALUES (?,?,?)"


_UNMOVED = HistoryDelta()


class IndexDifference(Struct):
    """The changes to apply: files seen anew, files whose content is as known under a new stat, and files that are gone.

    `stats` is what to remember of each file that is there. `faults` are the walk's own findings (None: as they were).
    """

    seen: tuple[Seen, ...] = ()
    stats: Mapping[str, Stat] = field(default_factory=dict)
    touched: Mapping[str, Stat] = field(default_factory=dict)
    gone: tuple[str, ...] = ()
    faults: tuple[Problem, ...] | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    history: HistoryDelta = _UNMOVED


def apply(catalog: Catalog, difference: IndexDifference) -> None:
    """Bring the catalogue up to date in one transaction."""
    connection = catalog.connection
    with catalog.transaction():
        seq = int(catalog.meta("seq") or 0) + 1
        # Those who follow changes take what has a higher number for new: the number of a record that went is given to none.
        number = max(highest(catalog), int(catalog.meta(_NUMBERED) or 0))
        lines = count(max(_last_line(catalog), int(catalog.meta(_LINES) or 0)) + 1)
        had = catalog.files([*(file.path for file in difference.seen), *difference.gone])
        for path in difference.gone:
            _take_out(connection, path)
            # In the transaction of the entries: after a kill the two stores may differ, but the catalogue knows in what.
            if path in had and had[path].kind in _SEARCHED:
                connection.execute(_WAIT, (path, None, seq))
        for file in difference.seen:
            number += 1
            if not file.grown_from:
                _take_out(connection, file.path)
            _add(connection, number, lines, file)
            if file.text is not None or (file.path in had and had[file.path].kind in _SEARCHED):
                text = orjson.dumps(file.text, default=asdict) if file.text is not None else None
                connection.execute(_WAIT, (file.path, text, seq))
        for path, stat in difference.touched.items():
            connection.execute("UPDATE entries SET mtime_ns = ? WHERE path = ?", (stat[1], path))
        if difference.faults is not None:
            connection.execute("DELETE FROM problems WHERE scan = 1")
            connection.executemany(_ADD_PROBLEM, problem_rows(difference.faults, scan=True))
        difference.history.apply(catalog)
        # Last, and in the same transaction: what is remembered of a file must never be newer than what was taken from it.
        known = _relist(catalog, difference)
        dropped = difference.gone or difference.touched or any(file.entry is None for file in difference.seen)
        facts = {**difference.facts, "seq": str(seq), _NUMBERED: str(number), _LINES: str(next(lines) - 1)}
        facts |= {schema.DROPPED: str(seq)} if dropped else {}
        connection.executemany(_ADD_FACT, facts.items())
    catalog.adopt_known(str(seq), known)


def changes_of(catalog: Catalog, difference: IndexDifference) -> list[tuple[str, Entry | None, Entry | None]]:
    """The changes of memories by a difference, before it is applied: the id of each, its state now and afterwards."""
    before, after = dict[str, Entry](), dict[str, Entry]()
    for path in (*difference.gone, *(file.path for file in difference.seen)):
        if (entry := catalog.by_path(path)) is not None:
            before[entry.id] = entry
    after = {file.entry.id: file.entry for file in difference.seen if file.entry is not None}
    return [(identity, before.get(identity), after.get(identity)) for identity in dict.fromkeys((*before, *after))]


_SEARCHED = frozenset({"record", "page", "unreadable"})


def _take_out(connection: sqlite3.Connection, path: str) -> None:
    for number, *row in connection.execute(f"SELECT n, {schema.ENTRY} FROM entries WHERE path = ?", (path,)).fetchall():
        old = entry_of(row)
        # By the names that the old row had: these trees are keyed by name, and finding a number in them reads them whole.
        for table, of in _NAMES.items():
            rows = ((name, number) for name in of(old))
            connection.executemany(f"DELETE FROM {table} WHERE normal = ? AND n = ?", rows)
        connection.executemany(
            "DELETE FROM relations WHERE target = ? AND field = ? AND n = ?", ((*pair, number) for pair in relations_of(old))
        )
        connection.execute("DELETE FROM entries WHERE n = ?", (number,))
    for table in ("pages", "files", "signals"):
        connection.execute(f"DELETE FROM {table} WHERE path = ?", (path,))
    connection.execute("DELETE FROM problems WHERE path = ? AND scan = 0", (path,))


def _last_line(catalog: Catalog) -> int:
    return int(catalog.rows("SELECT coalesce(max(rowid), 0) FROM signals")[0][0])


def _add(connection: sqlite3.Connection, number: int, lines: Iterator[int], file: Seen) -> None:
    if file.entry is not None:
        connection.execute(_ADD_ENTRY, entry_row(number, file.entry))
        for table, rows in _links(number, file.entry):
            connection.executemany(f"INSERT INTO {table} VALUES ({'?,' * (len(rows[0]) - 1)}?)", rows)
    if file.page is not None:
        connection.execute(_ADD_PAGE, (file.page.path, file.page.title, file.page.preview))
    connection.execute(_ADD_FILE, (file.path, file.kind, file.size, file.hash))
    connection.executemany(_ADD_SIGNAL, ((next(lines), *signal_row(file.path, signal)) for signal in file.signals))
    connection.executemany(_ADD_PROBLEM, problem_rows(file.problems))


def _links(number: int, entry: Entry) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    for table, of in _NAMES.items():
        if names := [(name, number) for name in of(entry)]:
            yield table, names
    if relations := [(target, field_name, number) for target, field_name in relations_of(entry)]:
        yield "relations", relations


def _relist(catalog: Catalog, difference: IndexDifference) -> dict[str, Listing]:
    """Write the listings of the folders in which something changed; returns all of them."""
    known = dict(catalog.known())
    changed: dict[str, Listing] = {}

    def listing(path: str) -> tuple[Listing, str]:
        folder, _, name = path.rpartition("/")
        if folder not in changed:
            changed[folder] = dict(known.get(folder, {}))
        return changed[folder], name

    for path in difference.gone:
        names, name = listing(path)
        names.pop(name, None)
    for path, stat in difference.stats.items():
        names, name = listing(path)
        names[name] = stat
    for folder, names in changed.items():
        if names:
            catalog.connection.execute(_ADD_FOLDER, schema.listing_row(folder, names))
            known[folder] = names
        else:
            catalog.connection.execute("DELETE FROM folders WHERE path = ?", (folder,))
            known.pop(folder, None)
    return known


class Bulk:
    """A new catalogue being filled beside the old one; it is not read before it is finished."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        # Nothing to protect: a build that fails or is killed is thrown away whole.
        for pragma in ("journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -65536"):
            self._connection.execute(f"PRAGMA {pragma}")
        schema.make(self._connection)
        self._connection.execute("BEGIN")
        self._number = 0
        self._rows: dict[str, list[tuple[Any, ...]]] = {"entries": [], "files": []}
        self._late: dict[str, list[tuple[Any, ...]]] = {table: [] for table in (*_NAMES, "relations")}

    def add(self, file: Seen) -> None:
        """Take one file."""
        self._rows["files"].append((file.path, file.kind, file.size, file.hash))
        if file.entry is not None:
            self._number += 1
            self._rows["entries"].append(entry_row(self._number, file.entry))
            for table, rows in _links(self._number, file.entry):
                self._late[table].extend(rows)
        if file.page is not None:
            self._connection.execute(_ADD_PAGE, (file.page.path, file.page.title, file.page.preview))
        if file.signals:
            self._connection.executemany(_ADD_SIGNAL, ((None, *signal_row(file.path, signal)) for signal in file.signals))
        if file.problems:
            self._connection.executemany(_ADD_PROBLEM, problem_rows(file.problems))
        if len(self._rows["files"]) >= _BATCH:
            self._flush(self._rows)

    def finish(
        self, listings: Mapping[str, Listing], faults: Iterable[Problem], facts: Mapping[str, str], history: HistoryDelta
    ) -> None:
        """Write the rest and the search trees."""
        self._connection.executemany(ADD, sorted(map(row_of, history.came)))
        if history.graves:
            self._connection.executemany(graves.ADD, map(graves.row_of, history.graves))
        self._flush(self._rows)
        # In the order of their keys a search tree grows at its end alone, which is several times faster.
        for rows in self._late.values():
            rows.sort()
        self._flush(self._late)
        self._connection.executemany(_ADD_FOLDER, (schema.listing_row(*listing) for listing in listings.items()))
        self._connection.executemany(_ADD_PROBLEM, problem_rows(faults, scan=True))
        self._connection.executemany(_ADD_FACT, facts.items())
        for statement in filter(None, map(str.strip, schema.INDEXES.split(";"))):
            self._connection.execute(statement)
        self._connection.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file; what was not finished is of no use."""
        self._connection.close()

    def _flush(self, rows: dict[str, list[tuple[Any, ...]]]) -> None:
        for table, rows_of_table in rows.items():
            if rows_of_table:
                self._connection.executemany(f"INSERT INTO {table} VALUES ({'?,' * (len(rows_of_table[0]) - 1)}?)", rows_of_table)
                rows_of_table.clear()
