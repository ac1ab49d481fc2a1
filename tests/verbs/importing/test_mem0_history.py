"""mem0's `history.db`: what a memory said before, as evidence that the later text changed."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.verbs.importing.exports import put
from vault_tool import Vault
from vault_tool.errors import UsageError
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass

pytestmark = pytest.mark.without_git

ANN = {"results": [{"id": "m-1", "memory": "Lives in Kiel", "user_id": "ann", "created_at": "2026-01-02T03:04:05Z"}]}
ROWS = [
    ("m-1", None, "Lives in Bonn", "ADD", "2026-01-01T08:00:00", None, 0),
    ("m-1", "Lives in Bonn", "Lives in Ulm", "UPDATE", "2026-01-01T08:00:00", "2026-02-01T08:00:00", 0),
    ("m-1", "Lives in Ulm", "Lives in Kiel", "UPDATE", "2026-01-01T08:00:00", "2026-03-01T08:00:00", 0),
    ("m-2", None, "Was told in error", "ADD", "2026-01-01T08:00:00", None, 0),
    ("m-2", "Was told in error", None, "DELETE", "2026-01-01T08:00:00", "2026-01-02T08:00:00", 1),
    ("m-3", None, "Likes tea", "ADD", "2026-01-01T08:00:00", None, 0),
    ("m-3", "Likes tea", "Likes coffee", "UPDATE", "2026-01-01T08:00:00", "2026-01-03T08:00:00", 0),
    ("m-3", "Likes coffee", "Likes tea", "UPDATE", "2026-01-01T08:00:00", "2026-01-04T08:00:00", 0),
]


def _history(path: Path, rows: Sequence[tuple[object, ...]] = ROWS) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,"
            " created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
        )
        for number, row in enumerate(rows):
            connection.execute("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', '')", (str(number), *row))
    return path


def _facts(vault: Vault) -> dict[str, Entry]:
    vault.fresh()
    return {entry.title.rstrip("."): entry for entry in vault.index.catalog.of_class(RecordClass.OBSERVATION)}


def _changes(vault: Vault) -> set[tuple[str, str]]:
    titles = {entry.id: title for title, entry in _facts(vault).items()}
    edges = vault.index.catalog.of_class(RecordClass.EDGE, "CHANGES")
    return {(titles[edge.text("from_id")], titles[edge.text("to_id")]) for edge in edges}


CHAIN = {("Lives in Kiel", "Lives in Ulm"), ("Lives in Ulm", "Lives in Bonn"), ("Likes tea", "Likes coffee")}


def test_earlier_texts_are_evidence_that_the_later_one_changed(vault: Vault, tmp_path: Path) -> None:
    done = vault.import_from(_history(tmp_path / "history.db"))
    assert (done.form, done.imported, done.skipped) == ("mem0's memories", 5, {"deleted": 1})
    assert set(_facts(vault)) == {"Lives in Bonn", "Lives in Ulm", "Lives in Kiel", "Likes tea", "Likes coffee"}
    assert _changes(vault) == CHAIN
    assert _facts(vault)["Lives in Ulm"].observed.startswith("2026-02-01")
    assert {result.title for result in vault.recall("Lives in which town?").results if result.answers} == {"Lives in Kiel"}  # type: ignore[union-attr]
    again = vault.import_from(tmp_path / "history.db", kind="mem0")
    assert (again.imported, again.updated, again.edges) == (0, 0, 0) and len(_facts(vault)) == 5


def test_they_are_of_the_user_of_whom_the_memory_is(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(put(tmp_path / "all", {"mem0.json": ANN}))
    vault.import_from(_history(tmp_path / "history.db"))
    facts = _facts(vault)
    assert {title: facts[title].text("user") for title in facts if "Lives" in title} == dict.fromkeys(
        ("Lives in Bonn", "Lives in Ulm", "Lives in Kiel"), "ann"
    )
    assert _changes(vault) == CHAIN
    assert vault.import_from(put(tmp_path / "all", {"mem0.json": ANN})).imported == 0
    assert _facts(vault)["Lives in Kiel"].text("user") == "ann"


def test_taken_in_before_the_memories_they_follow_them_at_the_next_run(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(_history(tmp_path / "history.db"))
    vault.import_from(put(tmp_path / "all", {"mem0.json": ANN}))
    vault.import_from(tmp_path / "history.db")
    facts = _facts(vault)
    assert len(facts) == 5 and {facts[title].text("user") for title in facts if "Lives" in title} == {"ann"}


def test_of_a_forgotten_memory_no_earlier_text_comes(vault: Vault, tmp_path: Path) -> None:
    vault.import_from(put(tmp_path / "all", {"mem0.json": ANN}))
    with Vault.open(vault.root, person=True, clock=vault.clock) as keeper:
        keeper.forget(_facts(vault)["Lives in Kiel"].id)
    vault.import_from(_history(tmp_path / "history.db"))
    assert not [title for title in _facts(vault) if "Lives" in title]


def test_odd_rows_are_named_and_stop_nothing(vault: Vault, tmp_path: Path) -> None:
    rows: list[tuple[object, ...]] = [
        (None, None, "x", "ADD", None, None, 0),
        ("m-9", None, None, "UPDATE", None, None, 0),
        ("../m", 7, "Up\x00 there", "add", "no date", "9999999999999", 0),
        ("m-8", "a", "a", "UPDATE", None, None, None),
    ]
    done = vault.import_from(_history(tmp_path / "history.db", rows))
    assert done.skipped["bad-record"] == 2 and [problem.line for problem in done.problems] == [1, 2]
    assert done.imported == 3


def test_another_database_is_refused_by_name(vault: Vault, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection, connection:
        connection.execute("CREATE TABLE other (id TEXT)")
    with pytest.raises(Exception, match="no table `history`"):
        vault.import_from(tmp_path / "x.db", kind="mem0")
    with pytest.raises(UsageError):
        vault.import_from(tmp_path / "x.db", kind="claude")
