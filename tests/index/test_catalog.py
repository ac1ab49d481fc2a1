"""Lookups by id, prefix, name, body, tag and relation; what `_index.json` says of them."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tests.git_repos import write
from tests.index.vaults import identity, make, note, opened, path_of, subject
from vault_tool.errors import StorageError
from vault_tool.index.schema import listing_of, listing_row
from vault_tool.index.vault_index import Index
from vault_tool.model.ids import shortest_unambiguous
from vault_tool.model.signals import SignalKind
from vault_tool.model.types import RecordClass
from vault_tool.util.text import body_hash


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    root = make(tmp_path)
    write(root, "vault/pass.md", f"---\nid: {identity(930)}\ntype: consolidation\n---\nledger\n")
    write(root, "vault/next.md", f"---\nid: {identity(931)}\ntype: consolidation\nparents: [{identity(930)}]\n---\nledger\n")
    index = opened(root)
    index.refresh()
    yield index
    index.close()


def test_by_id_prefix_and_neighbours(index: Index) -> None:
    catalog = index.catalog
    assert [entry.path for entry in catalog.get(identity(3))] == [path_of(3)]
    assert catalog.get("no such id") == ()
    assert [entry.id for entry in catalog.by_prefix("0000000")][:3] == [identity(0), identity(1), identity(2)]
    assert [entry.id for entry in catalog.by_prefix("00000003")] == [identity(3)]
    assert len(catalog.by_prefix("0", limit=4)) == 4
    assert catalog.by_prefix("f") == ()
    assert catalog.neighbours(identity(3)) == (identity(2), identity(4))
    assert shortest_unambiguous(identity(3), catalog.neighbours(identity(3))) == "00000003"
    assert catalog.by_path(path_of(3)) == catalog.get(identity(3))[0]
    assert catalog.by_path("vault/readme.md") is None
    assert catalog.by_paths([path_of(1), path_of(2), "vault/none.md"]).keys() == {path_of(1), path_of(2)}


def test_by_body_and_class(index: Index) -> None:
    catalog = index.catalog
    assert [entry.path for entry in catalog.by_body(body_hash("Of  basalt\nand nothing else."))] == [path_of(1)]
    assert catalog.by_body("") == ()
    assert len(catalog.of_class(RecordClass.OBSERVATION)) == 12
    assert {entry.type for entry in catalog.of_class(RecordClass.OBSERVATION, "fact", "insight")} == {"fact", "insight"}
    assert catalog.generation() == 2


def test_names_tags_and_relations(index: Index) -> None:
    catalog = index.catalog
    assert [entry.id for entry in catalog.subject_named("rock")] == [identity(900)]
    assert catalog.subject_named("paper") == ()
    assert catalog.subject_names() == {"rock": (identity(900),), "stone": (identity(900),), "wood": (identity(901),)}
    assert len(catalog.tagged(["stone", "wood"])) == 12
    assert len(catalog.tagged(["stone"])) == 13
    assert len(catalog.tagged([("rock", "stone"), "wood"])) == 12
    assert catalog.tagged([]) == catalog.tagged(["paper"]) == catalog.tagged([()]) == ()
    assert len(catalog.tagged(["wood"])) == 12
    pointing = [(field, entry.id) for field, entry in catalog.pointing_at(identity(1))]
    assert pointing == [("from_id", identity(920)), ("sources", identity(910))]
    assert [field for field, _ in catalog.pointing_at(identity(1), ["sources"])] == ["sources"]


def test_any_number_of_ids_is_asked_for_at_once(index: Index) -> None:
    catalog = index.catalog
    # So few question marks has a query where SQLite is built as it was for long.
    catalog.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)
    many = [identity(number) for number in range(2000)]
    assert [entry.path for entry in catalog.of_ids(many)] == sorted(entry.path for one in many for entry in catalog.get(one))
    each = {one: list(catalog.pointing_at(one, ("from_id", "sources"))) for one in many}
    assert catalog.pointing_at_each(many, ("from_id", "sources")) == {one: found for one, found in each.items() if found}


def test_two_subjects_of_one_name_are_both_given(tmp_path: Path, index: Index) -> None:
    write(tmp_path, "vault/subjects/stone-2.md", subject(902, "STONE"))
    index.refresh()
    assert [entry.id for entry in index.catalog.subject_named("stone")] == [identity(902), identity(900)]


def test_signals_come_in_order_each_id_once(tmp_path: Path, index: Index) -> None:
    line = '{{"id": "{}", "at": "2026-11-{}T10:00:00+00:00", "target": "' + identity(1) + '", "kind": "use", "value": 3}}\n'
    write(tmp_path, "vault/signals/2026-11.other.jsonl", line.format(identity(930), 20) + line.format(identity(931), 19) + "torn")
    index.refresh()
    signals = index.catalog.signals(identity(1))
    assert [(signal.id, signal.at[8:10]) for signal in signals] == [(identity(931), "19"), (identity(930), "20")]
    assert signals[0].kind is SignalKind.USE
    assert index.catalog.signals() == signals
    assert index.catalog.signals("nobody") == []
    assert [(problem.path, problem.line) for problem in index.catalog.problems()] == [("vault/signals/2026-11.other.jsonl", 3)]


def test_a_journal_that_grew_is_read_from_where_it_ended(tmp_path: Path, index: Index) -> None:
    journal = tmp_path / "vault/signals/2026-11.abc.jsonl"
    for number in range(3):
        with journal.open("a") as file:
            said = f'{{"id": "{identity(number)}", "target": "{identity(50)}", "at": "2026-11-21T10:00:00+00:00", "kind": "use"}}'
            file.write(f"{said}\nbad\n")
        index.refresh()
    assert [signal.id for signal in index.catalog.signals(identity(50))] == [identity(number) for number in range(3)]
    assert [problem.line for problem in index.catalog.problems()] == [3, 5, 7]
    journal.write_text("")
    index.refresh()
    assert (index.catalog.signals(), index.catalog.problems()) == ([], ())


def test_index_json_says_heads_and_relations_both_ways(tmp_path: Path, index: Index) -> None:
    write(tmp_path, "vault/z-copy.md", note(1))
    index.refresh()
    index.export_if_due()
    said = orjson.loads((tmp_path / "_index.json").read_bytes())
    assert (said["version"], said["count"]) == (2, len(said["entries"]))
    entry = said["entries"][identity(1)]
    assert entry["path"] == path_of(1)
    assert entry["copies"] == [path_of(1), "vault/z-copy.md"]
    assert entry["head"]["subjects"] == ["Stone", "Wood"]
    assert entry["referenced_by"] == {"from_id": [identity(920)], "sources": [identity(910)]}
    assert said["entries"][identity(910)]["references"] == {"sources": [identity(1)]}
    assert said["edges"][identity(920)]["to_id"] == identity(2)
    assert entry["mtime"] == pytest.approx((tmp_path / path_of(1)).stat().st_mtime)


def test_index_json_of_a_large_vault_waits_for_enough_changes(tmp_path: Path) -> None:
    root = tmp_path / "large"
    for number in range(2100):
        write(root, f"vault/n{number}.md", note(number))
    index = opened(root)
    index.refresh()
    index.export_if_due()
    file = root / "_index.json"
    first = file.read_bytes()
    write(root, "vault/n1.md", note(1, "changed"))
    index.refresh()
    index.export_if_due()
    assert file.read_bytes() == first
    for number in range(200):
        write(root, f"vault/n{number}.md", note(number, "changed"))
    index.refresh()
    index.export_if_due()
    assert file.read_bytes() != first
    second = file.read_bytes()
    write(root, "vault/n2.md", note(2, "again"))
    index.wrote(["vault/n2.md"])
    index.export_if_due()
    assert file.read_bytes() == second
    index.export()
    third, written = file.read_bytes(), file.stat()
    assert third != second
    index.export()
    assert file.stat() == written, "what stands as it is to be is not written again"
    file.write_bytes(third[:-10])
    index.export()
    assert len(file.read_bytes()) == len(third), "a cut one is"
    os.utime(root / "vault/n3.md", (1, 1))
    index.refresh()
    index.export()
    assert orjson.loads(file.read_bytes())["entries"][identity(3)]["mtime"] == 1.0
    index.close()


def test_a_snapshot_is_kept_until_something_changes(tmp_path: Path, index: Index) -> None:
    catalog = index.catalog
    one = catalog.snapshot()
    assert catalog.snapshot() is one
    other = opened(tmp_path)
    write(tmp_path, path_of(1), note(1, "by another process"))
    other.refresh()
    other.close()
    assert index.catalog.snapshot() is not one
    assert "another process" in index.catalog.get(identity(1))[0].preview


def test_sqlites_faults_are_sentences(index: Index) -> None:
    with pytest.raises(StorageError, match="the index cannot be used: no such table"):
        index.catalog.rows("SELECT * FROM nowhere")
    with pytest.raises(sqlite3.ProgrammingError):
        index.catalog.connection.execute("SELECT ?")


def test_a_listing_survives_its_row() -> None:
    listing = {"a.md": (1, -2, 3, 2**63 - 1), "b c.md": (0, 0, 0, 0)}
    path, names, stats = listing_row("vault", listing)
    assert (path, listing_of(names, stats)) == ("vault", listing)
    assert listing_of(names, stats[:-1]) == {}
    assert listing_of("a.md", stats) == {}
