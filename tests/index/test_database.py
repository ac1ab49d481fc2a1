"""A derived file of SQLite's: any number of values in a question, changes all or not at all, errors as people are told them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from vault_tool.errors import Busy, StorageError
from vault_tool.index.database import Database, identity

TABLES = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL); CREATE TABLE numbers (kind TEXT, n INTEGER);"


@pytest.fixture
def made(tmp_path: Path) -> Database:
    """A file with some thousand numbers of two kinds."""
    made = Database.open(tmp_path / "made.sqlite3", tables=TABLES)
    with made.transaction():
        made.many("INSERT INTO numbers VALUES (?, ?)", (("even" if n % 2 == 0 else "odd", n) for n in range(5000)))
    return made


def test_more_values_than_one_query_takes(made: Database) -> None:
    asked = "SELECT n FROM numbers WHERE kind = ? AND n IN ({})"
    assert sorted(row[0] for row in made.rows_in(asked, range(4000), "odd")) == list(range(1, 4000, 2))
    assert list(made.rows_in(asked, (), "odd")) == []


def test_a_change_that_fails_is_none(made: Database) -> None:
    with pytest.raises(StorageError, match="cannot be used"), made.transaction():
        made.many("DELETE FROM numbers WHERE n = ?", [(1,)])
        made.rows("SELECT nothing FROM nowhere")
    assert made.rows("SELECT count(*) FROM numbers") == [(5000,)]
    with pytest.raises(ValueError, match="half"), made.transaction():
        made.many("DELETE FROM numbers WHERE n = ?", [(1,)])
        raise ValueError("half")
    assert made.rows("SELECT count(*) FROM numbers") == [(5000,)]


def test_another_process_at_it_is_busy(made: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vault_tool.index.database._BUSY_SECONDS", 0.01)
    other = Database.open(made.path)
    with made.transaction(), pytest.raises(Busy), other.transaction():
        pass


def test_what_is_no_database_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"nothing of ours" * 1000)
    with pytest.raises(sqlite3.DatabaseError):
        Database.open(tmp_path / "other")


def test_a_torn_file_is_not_sound(made: Database) -> None:
    assert made.sound()
    made.close()
    data = bytearray(made.path.read_bytes())
    data[5 * 4096 : 8 * 4096] = b"\xff" * (3 * 4096)
    made.path.write_bytes(data)
    assert not Database.open(made.path).sound()


def test_a_file_in_the_place_of_another_is_another(made: Database, tmp_path: Path) -> None:
    before = identity(made.path)
    Database.open(tmp_path / "new.sqlite3", tables=TABLES).close()
    (tmp_path / "new.sqlite3").replace(made.path)
    assert before is not None and identity(made.path) not in (before, None)
    assert identity(tmp_path / "new.sqlite3") is None
