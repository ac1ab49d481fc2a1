"""The vectors' folder stays small: what no note has had for long goes, what a branch may bring back stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.index.vaults import make, note
from tests.index.vectors.made import Words, agrees, brute_force, vectors_of
from vault_tool.index.vectors import maintenance, sets
from vault_tool.index.vectors.service import Vectors
from vault_tool.index.vectors.vector_set import VectorSet

DAY = 86400.0


def _many(root: Path, count: int) -> None:
    for number in range(count):
        write(root, f"vault/many/{number}.md", note(3000 + number, f"word{number} kelp"))


def _set(vectors: Vectors, root: Path) -> VectorSet:
    folder, model, size = sets.folders(root / "_cache")[0]
    return VectorSet(folder, model, size, 5)


def test_texts_retired_long_ago_leave_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maintenance, "_FEW_DEAD", 10)
    root, words = make(tmp_path / "v", 20), Words()
    _many(root, 30)
    vectors = vectors_of(root, words)
    vectors.catch_up()
    before = _set(vectors, root).ledger().partitions()[""]
    assert before.rows == 54
    for number in range(30):
        (root / f"vault/many/{number}.md").unlink()
    vectors.refresh()
    one = _set(vectors, root)
    now = one.ledger().retired()[0][1]
    maintenance.compact_if_due(one, now + maintenance.KEEP - DAY)
    assert one.ledger().partitions()[""].file == before.file
    maintenance.compact_if_due(one, now + maintenance.KEEP + DAY)
    after = one.ledger().partitions()[""]
    assert (after.rows, after.file == before.file) == (24, False)
    assert not (one.folder / before.file).exists()
    assert agrees(vectors.search(vectors.query("kelp"), 10), brute_force(root, words, "kelp"))
    assert one.ledger().retired() == []


def test_a_reader_of_the_old_file_goes_on(tmp_path: Path) -> None:
    root, words = make(tmp_path / "v", 20), Words()
    vectors = vectors_of(root, words)
    vectors.catch_up()
    held = vectors.similarities(vectors.query("kelp"))
    one = _set(vectors, root)
    keys = [key for key, _ in one.ledger().every_row(0)]
    one.compact("", frozenset(keys[:5]))
    truth = brute_force(root, words, "kelp")
    assert agrees(held.top(30), truth)
    assert held.of(truth) == pytest.approx({path: truth[path] for path in held.of(truth)}, abs=1e-5)
    # What was taken out of the rows is wanted again, for its notes are there.
    assert vectors.catch_up().embedded == 5
    assert agrees(vectors.search(vectors.query("kelp"), 30), truth)


def test_sets_of_other_models_go_after_a_month(tmp_path: Path) -> None:
    root = make(tmp_path / "v")
    for name in ("words:old", "words:new"):
        vectors = vectors_of(root, Words(name=name))
        vectors.catch_up()
        vectors.close()
    assert len(sets.folders(root / "_cache")) == 2
    old = next(folder for folder, model, _ in sets.folders(root / "_cache") if model == "words:old")
    for file in old.iterdir():
        os.utime(file, (1e9, 1e9))
    vectors_of(root, Words(name="words:new")).catch_up()
    assert [model for _, model, _ in sets.folders(root / "_cache")] == ["words:new"]


_CHILD = """
import sys
from pathlib import Path
from tests.index.vectors.made import Words, vectors_of
vectors = vectors_of(Path(sys.argv[1]), Words(), store=sys.argv[2])
while not (done := vectors.catch_up(limit=9)).whole:
    pass
print(len(vectors.search(vectors.query("kelp"), 5)))
"""


@pytest.mark.parametrize("store", ["exact", pytest.param("chroma", marks=pytest.mark.chroma)])
def test_several_processes_fill_one_set(tmp_path: Path, store: str) -> None:
    root, words = make(tmp_path / "v", 60), Words()
    here = Path(__file__).parents[3]
    vectors = vectors_of(root, words, store=store)
    running = [
        subprocess.Popen([sys.executable, "-c", _CHILD, str(root), store], stdout=subprocess.PIPE, cwd=here, text=True)
        for _ in range(3)
    ]
    assert [child.communicate(timeout=120)[0].strip() for child in running] == ["5"] * 3
    assert vectors.catch_up().embedded == 0
    assert _set(vectors, root).ledger().partitions()[""].rows == 64
    vectors.mirror()
    assert agrees(vectors.search(vectors.query("kelp"), 20), brute_force(root, words, "kelp"))
