"""A database of another tool's, read from a private copy: nothing of its schema runs, and no query goes on without end."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from vault_tool.errors import Refused
from vault_tool.util.text import one_line

HEADER = b"SQLite format 3\x00"
LARGEST_FILE = 4 * 2**30
LONGEST_VALUE = 10 * 2**20
# So many thousand steps of SQLite's machine a query may take for each row that it gives.
_STEPS = 2_000


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A copy of a database and its log, open for reading alone. Refused for what is none, or too large."""
    parts = [
        Path(f"{path}{end}") for end in ("", "-wal") if Path(f"{path}{end}").is_file() and not Path(f"{path}{end}").is_symlink()
    ]
    if sum(part.stat().st_size for part in parts) > LARGEST_FILE:
        raise Refused(f"{one_line(path.name, 100)} is larger than {LARGEST_FILE // 2**30} GiB", "export a part of it")
    with tempfile.TemporaryDirectory(prefix="vt-import-") as folder:
        copy = Path(folder) / "copy.db"
        for part in parts:
            shutil.copyfile(part, f"{copy}{part.name[len(path.name) :]}")
        try:
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                for pragma in ("trusted_schema = OFF", "query_only = ON", "mmap_size = 0", "cell_size_check = ON"):
                    connection.execute(f"PRAGMA {pragma}")
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
                connection.row_factory = sqlite3.Row
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                yield connection
        except (sqlite3.Error, OverflowError, ValueError) as fault:
            raise Refused(f"{one_line(path.name, 100)} cannot be read: {one_line(str(fault), 100)}", "is it whole?") from fault


def tables(connection: sqlite3.Connection) -> frozenset[str]:
    """The names of its tables; views, whose queries are its own, are none."""
    return frozenset(
        row[0]
        for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
    )


def rows(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """All rows of a table, of these columns those that it has; computed columns are left out."""
    # Hidden or computed ones are 1, 2 and 3 there.
    present = {row[1] for row in connection.execute(f'PRAGMA table_xinfo("{table}")') if row[6] == 0}
    taken = [column for column in columns if column in present]
    if not taken:
        raise Refused(f"its table {table} has none of the columns that are known", "its form is a newer or older one")
    steps = 0

    def too_many() -> int:
        nonlocal steps
        steps += 1
        return int(steps > _STEPS)

    connection.set_progress_handler(too_many, 10_000)
    try:
        for row in connection.execute(f'SELECT {", ".join(taken)} FROM "{table}" NOT INDEXED'):
            steps = 0
            yield dict(row)
    except (sqlite3.Error, OverflowError, ValueError) as fault:
        raise Refused(f"its table {table} cannot be read to its end: {one_line(str(fault), 100)}") from fault
    finally:
        with suppress(sqlite3.Error):
            connection.set_progress_handler(None, 0)
