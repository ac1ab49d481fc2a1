"""Whatever becomes of the vectors' files, this process lives, no wrong vector answers, and what is whole is kept."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.git_repos import write
from tests.index import spoiling
from tests.index.vaults import make, note, path_of
from tests.index.vectors.made import Words, agrees, brute_force, vectors_of
from vault_tool.index.vectors import rows
from vault_tool.index.vectors.hits import StoreUnavailable
from vault_tool.index.vectors.maintenance import erase
from vault_tool.index.vectors.service import Vectors


def _newer(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b'"version":1', b'"version":2'))


FAULTS: dict[str, Callable[[Path], None]] = {**spoiling.FAULTS, "of a newer version": _newer}
FILES = ("_embeddings.json", "_cache/embeddings.seal", "rows-*.vec", "ledger-*.sqlite3", "ledger.seal", "write.lock", "fill.lock")
FOLDERS = ("_cache/vectors/*", "_cache/vectors", "_cache")


@pytest.mark.parametrize(
    ("target", "fault", "live"),
    spoiling.trials(
        [*FILES, *FOLDERS], FAULTS, "rows-*.vec", lambda target, fault: target not in FOLDERS or fault in spoiling.WHOLE
    ),
)
def test_spoilt_files(tmp_path: Path, target: str, fault: str, live: bool) -> None:
    folder = target in FOLDERS
    root = make(tmp_path / "v", 40)
    words = Words()
    vectors = vectors_of(root, words)
    vectors.catch_up()
    exported = orjson.loads((root / "_embeddings.json").read_bytes())
    if not live:
        vectors.close()
        vectors = vectors_of(root, words)
    FAULTS[fault](next(iter(root.glob(target if "_" in target else f"_cache/vectors/*/{target}"))))
    calls = len(words.calls)
    truth = brute_force(root, Words(), "amber and basalt")
    _answers_with_no_wrong_vector(vectors, truth)
    done = vectors.catch_up()
    assert (done.whole, done.refused) == (True, 0), done
    assert agrees(vectors.search(vectors.query("amber and basalt"), 10), truth)
    assert orjson.loads((root / "_embeddings.json").read_bytes())["entries"].keys() == exported["entries"].keys()
    if not folder and not target.startswith(("rows", "ledger")):
        assert not [text for text in words.calls[calls:] if text != "amber and basalt"], "embedded again"
    vectors.close()


def _answers_with_no_wrong_vector(vectors: Vectors, truth: dict[str, float]) -> int:
    """Ask, and compare what comes with the truth; how much came."""
    try:
        hits = vectors.search(vectors.query("amber and basalt"), 100)
    except StoreUnavailable:
        return 0
    assert all(truth[hit.path] == pytest.approx(hit.cosine, abs=1e-5) for hit in hits)
    return len(hits)


def _flip(file: Path, row: int) -> None:
    with file.open("r+b") as data:
        for number in (3, 17):
            data.seek(rows.HEADER_BYTES + number * row + 50)
            data.write(b"xyz")


def _exchange(file: Path, row: int) -> None:
    data = bytearray(file.read_bytes())
    first, second = (slice(rows.HEADER_BYTES + n * row, rows.HEADER_BYTES + (n + 1) * row) for n in (4, 5))
    data[first], data[second] = data[second], data[first]
    file.write_bytes(data)


def _leave_more(file: Path, row: int) -> None:
    with file.open("ab") as data:
        data.write(b"x" * (2 * row + 5))


def _touch(file: Path, _: int) -> None:
    os.utime(file, (1_000_000_000, 1_000_000_000))


@pytest.mark.parametrize(
    ("change", "kept"),
    [(_flip, False), (_exchange, False), (_touch, True), (_leave_more, True)],
    ids=["flipped", "exchanged", "touched", "longer"],
)
def test_a_file_that_is_not_as_it_was_left_is_kept_where_all_that_counts_is_whole_and_else_dropped(
    tmp_path: Path, change: Callable[[Path, int], None], kept: bool
) -> None:
    root = make(tmp_path / "v", 40)
    words = Words()
    vectors = vectors_of(root, words)
    embedded = vectors.catch_up().embedded
    vectors.close()
    file = next((root / "_cache").glob("vectors/*/rows-*.vec"))
    row = (file.stat().st_size - rows.HEADER_BYTES) // embedded
    change(file, row)
    again = vectors_of(root, words)
    assert (again.missing_count() == 0) is kept and file.exists() is kept
    assert again.catch_up().embedded == (0 if kept else embedded)
    assert agrees(again.search(again.query("amber"), 10), brute_force(root, words, "amber"))


def test_a_ledger_that_begins_anew_leaves_a_later_versions_file_alone_and_none_of_its_own(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 5)
    vectors = vectors_of(root, Words())
    embedded = vectors.catch_up().embedded
    folder = next((root / "_cache").glob("vectors/*/"))
    [file] = folder.glob("rows-*.vec")
    later = [folder / "rows-2-abcd-1234.vec", folder / f"rows-{rows.VERSION}-abcd-1234.vec"]
    later[0].write_bytes(b"of another time")
    later[1].write_bytes(file.read_bytes().replace(b'"version":1', b'"version":2'))
    (folder / "ledger.seal").unlink()
    assert vectors.catch_up().embedded == embedded
    assert all(one.exists() for one in later) and not file.exists()


def test_what_a_kill_left_of_a_compaction_goes_with_the_next_one(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 5)
    vectors = vectors_of(root, Words())
    vectors.catch_up()
    folder = next((root / "_cache").glob("vectors/*/"))
    [file] = folder.glob("rows-*.vec")
    left = folder / f"rows-{rows.VERSION}-abcd-1234.vec"
    left.write_bytes(file.read_bytes())
    (root / path_of(3)).unlink()
    erase(root / "_cache", [path_of(3)], 1.0)
    assert not left.exists() and len([*folder.glob("rows-*.vec")]) == 1


def test_a_large_file_that_is_cut_while_it_is_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_SMALL_BYTES", 0)
    root = make(tmp_path / "v", 40)
    words = Words()
    vectors = vectors_of(root, words)
    vectors.catch_up()
    held = vectors.similarities(vectors.query("amber"))
    file = next((root / "_cache").glob("vectors/*/rows-*.vec"))
    os.truncate(file, 5000)
    with pytest.raises(StoreUnavailable):
        held.top(3)
    vectors.search(vectors.query("amber"), 3)
    assert vectors.catch_up().embedded > 30
    assert agrees(vectors.search(vectors.query("amber"), 10), brute_force(root, words, "amber"))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 10)
    vectors = vectors_of(root, Words())
    vectors.catch_up()
    write(root, "vault/more.md", note(70))
    (root / "_cache/vectors").rename(root / "_cache/kept")
    (root / "_cache/vectors").write_text("in the way")
    assert vectors.catch_up().whole


_CHILD = """
import sys, time
from pathlib import Path
from tests.index.vectors.made import Words, vectors_of
vectors = vectors_of(Path(sys.argv[1]), Words(before=lambda: time.sleep(0.001)))
print("begun", flush=True)
while not vectors.catch_up(limit=7).whole:
    pass
vectors.catch_up()
print("done", flush=True)
time.sleep(600)
"""


def test_a_kill_costs_a_batch_at_most(tmp_path: Path) -> None:
    root = make(tmp_path / "v", 60)
    chance = random.Random(4)
    words = Words()
    kept = 0
    for kill in range(8):
        child = subprocess.Popen(
            [sys.executable, "-c", _CHILD, str(root)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[3], text=True
        )
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(chance.uniform(0, 0.06))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        vectors = vectors_of(root, words)
        truth = brute_force(root, Words(), "amber and basalt")
        found = _answers_with_no_wrong_vector(vectors, truth)
        assert found >= kept, "what was kept is lost"
        kept = found
        vectors.close()
        if kill % 4 == 3:
            (root / path_of(kill)).write_text(note(kill, f"New words {kill} amber."))
            kept -= 1
    vectors = vectors_of(root, words)
    assert vectors.catch_up().whole
    assert agrees(vectors.search(vectors.query("amber"), 20), brute_force(root, words, "amber"))


@pytest.mark.parametrize("what", ["*", "*/*.vec", "*/ledger*"])
def test_what_is_taken_away_while_notes_are_embedded_is_said_and_made_again(tmp_path: Path, what: str) -> None:
    root = make(tmp_path / "v")
    words = Words()
    vectors = vectors_of(root, words)
    taken: list[str] = []

    def refuses(text: str) -> str:
        if not taken:
            for path in (root / "_cache/vectors").glob(what):
                taken.append(path.name)
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        return ""

    words.refuses = refuses
    first = vectors.catch_up()
    assert taken
    done = vectors.catch_up()
    assert (done.stopped, done.behind) == ("", 0), first
    assert vectors.search(vectors.query("basalt"), 3)
    vectors.close()
