"""A derived file of SQLite's: how it is opened, asked and changed, and what its errors mean to a person."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, Self

from vault_tool.errors import Busy, StorageError
from vault_tool.index.seals import MORE_ROOM, is_busy, is_full
from vault_tool.util.hints import step

_BUSY_SECONDS = 5.0
# So many values fit into one query of any SQLite.
_MANY = 900


class Database:
    """One open file with a table of facts (`meta`). What fails is Busy or StorageError, never an error of SQLite's."""

    pragmas: ClassVar[tuple[str, ...]] = ()
    """What else is set when it is opened."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path

    @classmethod
    def open(cls, path: Path, *, tables: str = "") -> Self:
        """Open an existing file, or make one of these `tables`; raises sqlite3.DatabaseError for what is none."""
        connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            # A seal says until when unsynced pages may be trusted; a process that dies leaves the journal to roll back.
            # A file that another program cuts under a memory map kills the process that reads it.
            for pragma in ("synchronous = OFF", "journal_mode = TRUNCATE", "mmap_size = 0", *cls.pragmas):
                connection.execute(f"PRAGMA {pragma}")
            connection.executescript(tables)
            connection.execute("SELECT count(*) FROM meta").fetchone()
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return cls(connection, path)

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def sound(self) -> bool:
        """Whether SQLite, having rolled back what was half done, finds nothing wrong; all of it is read."""
        try:
            return self.rows("PRAGMA quick_check") == [("ok",)]
        except StorageError:
            return False

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query."""
        try:
            return self.connection.execute(query, values).fetchall()
        except sqlite3.DatabaseError as fault:
            raise failure(fault) from fault

    def each(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """The same one by one, where they are as many as the vault's notes: to be read to the end at once, for until then no
        process can write.
        """
        try:
            yield from self.connection.execute(query, values)
        except sqlite3.DatabaseError as fault:
            raise failure(fault) from fault

    def rows_in(self, query: str, items: Iterable[Any], *before: Any) -> Iterator[Any]:
        """The rows of a query for any number of values, some at a time: `{}` in it stands for their question marks.

        `before` are the values of the question marks that come before these.
        """
        listed = list(items)
        for start in range(0, len(listed), _MANY):
            batch = listed[start : start + _MANY]
            yield from self.rows(query.format(marks(batch)), [*before, *batch])

    def many(self, statement: str, values: Iterable[Sequence[Any]]) -> None:
        """Do a statement for each of several rows of values, in a transaction of the caller's."""
        try:
            self.connection.executemany(statement, values)
        except sqlite3.DatabaseError as fault:
            raise failure(fault) from fault

    def meta(self, key: str) -> str:
        """One of the file's own facts, or the empty string."""
        rows = self.rows("SELECT value FROM meta WHERE key = ?", (key,))
        return str(rows[0][0]) if rows else ""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            yield
            self.connection.execute("COMMIT")
        except sqlite3.DatabaseError as fault:
            raise failure(fault) from fault
        finally:
            if self.connection.in_transaction:
                with suppress(sqlite3.Error):
                    self.connection.execute("ROLLBACK")


def identity(path: Path) -> tuple[int, int] | None:
    """Which file is there: of another one that is renamed into its place an open database knows nothing."""
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


def marks(items: Collection[Any]) -> str:
    """The question marks for several values."""
    return ",".join("?" * len(items))


def failure(fault: sqlite3.Error) -> Busy | StorageError:
    """The meaning of an SQLite error for a person."""
    if is_busy(fault):
        return Busy("another process is writing the index", "try again in a moment")
    # Made again on a full disk it would fail alike.
    hint = MORE_ROOM if is_full(fault) else f"it is derived: {step('reindex', full=True)} makes it again"
    return StorageError(f"the index cannot be used: {fault}", hint)
