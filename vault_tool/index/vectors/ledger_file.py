"""The file that a ledger is in: its tables, how it is opened, and that each change to it is whole."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from vault_tool.index.catalog import failure

FORMAT = 1

_BUSY_SECONDS = 5.0
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lanes (lane INTEGER PRIMARY KEY, instruction TEXT NOT NULL UNIQUE, file TEXT NOT NULL, rows INTEGER NOT NULL,
    print BLOB NOT NULL, background BLOB);
CREATE TABLE vectors (lane INTEGER NOT NULL, key BLOB NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (lane, key)) WITHOUT ROWID;
CREATE TABLE notes (path TEXT PRIMARY KEY, id TEXT NOT NULL, hash TEXT NOT NULL, keys BLOB NOT NULL, class TEXT NOT NULL,
    type TEXT NOT NULL, project TEXT NOT NULL, at TEXT NOT NULL, subjects TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE owners (key BLOB NOT NULL, path TEXT NOT NULL, passage INTEGER NOT NULL,
    PRIMARY KEY (key, path, passage)) WITHOUT ROWID;
CREATE TABLE wanted (lane INTEGER NOT NULL, key BLOB NOT NULL, PRIMARY KEY (lane, key)) WITHOUT ROWID;
CREATE TABLE refused (lane INTEGER NOT NULL, key BLOB NOT NULL, reason TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (lane, key)) WITHOUT ROWID;
CREATE TABLE mirrored (store TEXT NOT NULL, lane INTEGER NOT NULL, path TEXT NOT NULL, hash TEXT NOT NULL,
    passages INTEGER NOT NULL, PRIMARY KEY (store, lane, path)) WITHOUT ROWID;
CREATE TABLE retired (key BLOB PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
"""


class LedgerFile:
    """One open ledger's file; every write is a transaction of the caller's, under the lock of its set."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, path: Path, *, new: bool = False) -> Self:
        """Open a ledger, or make one; raises sqlite3.DatabaseError for what is none."""
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            # A seal says until when unsynced pages may be trusted, and what is lost is read back from the files of rows.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA journal_mode = TRUNCATE")
            connection.execute("PRAGMA mmap_size = 0")
            # A path tells of what a note said: what is erased must not stay in a page that is free.
            connection.execute("PRAGMA secure_delete = ON")
            if new:
                connection.executescript(_TABLES)
            connection.execute("SELECT count(*) FROM meta").fetchone()
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return cls(connection)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def sound(self) -> bool:
        """Whether SQLite finds nothing wrong."""
        try:
            return bool(self._connection.execute("PRAGMA quick_check").fetchall() == [("ok",)])
        except sqlite3.DatabaseError:
            return False

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; raises Busy or StorageError, never an error of SQLite's."""
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("UPDATE meta SET value = value + 1 WHERE key = 'seq'")
            self._connection.execute("COMMIT")
        except sqlite3.DatabaseError as fault:
            raise failure(fault) from fault
        finally:
            if self._connection.in_transaction:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")

    def meta(self, key: str) -> str:
        """One of the ledger's own facts, or the empty string."""
        found = self._rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0][0]) if found else ""

    def say(self, **facts: str) -> None:
        """Keep facts."""
        self._many("INSERT OR REPLACE INTO meta VALUES (?,?)", facts.items())

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as fault:
            raise failure(fault) from fault

    def _many(self, query: str, values: Iterable[Sequence[Any]]) -> None:
        try:
            self._connection.executemany(query, values)
        except sqlite3.DatabaseError as fault:
            raise failure(fault) from fault
