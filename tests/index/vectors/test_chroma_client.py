"""Chroma may break in every way it knows: this process lives, the exact store answers and says so, and it is made anew."""

from __future__ import annotations

import os
import random
import shutil
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bounds import CAMPAIGN
from tests.git_repos import write
from tests.index.spoiling import flip
from tests.index.vaults import make, note
from tests.index.vectors.made import Words, agrees, brute_force, vectors_of
from vault_tool.errors import Busy
from vault_tool.index.seals import lock
from vault_tool.index.vectors import chroma, chroma_client
from vault_tool.index.vectors.hits import StoreUnavailable
from vault_tool.index.vectors.service import Vectors


def _segment_files(root: Path) -> list[Path]:
    return [file for file in (root / "_cache/chroma").rglob("*.bin") if file.is_file()]


def _each(change: Callable[[Path], object]) -> Callable[[Path], None]:
    def do(root: Path) -> None:
        for file in _segment_files(root):
            change(file)

    return do


FAULTS: dict[str, Callable[[Path], object]] = {
    "index files halved": _each(lambda file: os.truncate(file, file.stat().st_size // 2)),
    "index files emptied": _each(lambda file: os.truncate(file, 0)),
    "index files with flipped bits": _each(flip),
    "index files of random bytes": _each(lambda file: file.write_bytes(random.Random(1).randbytes(4000))),
    "database halved": lambda root: os.truncate(root / "_cache/chroma/chroma.sqlite3", 40_000),
    "database of random bytes": lambda root: (root / "_cache/chroma/chroma.sqlite3").write_bytes(b"no database" * 500),
    "database deleted": lambda root: (root / "_cache/chroma/chroma.sqlite3").unlink(),
    "folder deleted": lambda root: shutil.rmtree(root / "_cache/chroma"),
    "folder a file": lambda root: _to_file(root / "_cache/chroma"),
    "seal deleted": lambda root: (root / "_cache/chroma.seal").unlink(),
    "collections dropped": lambda root: _drop(root),
}


TWINS = ("index files halved", "index files emptied", "database halved", "folder deleted")
"""Faults that are met where another one of the list is met: tried in campaigns."""


def _to_file(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("x")


def _drop(root: Path) -> None:
    with sqlite3.connect(root / "_cache/chroma/chroma.sqlite3") as database:
        database.execute("DELETE FROM collections")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A vault with enough texts that Chroma writes its index files; each test leaves it whole."""
    made = make(tmp_path_factory.mktemp("filled") / "v", 10)
    for number in range(1100):
        write(made, f"vault/many/{number}.md", note(2000 + number, f"word{number} word{number % 7}"))
    vectors = vectors_of(made, Words(), store="chroma")
    vectors.catch_up()
    return made


@pytest.fixture
def vectors(root: Path) -> Iterator[Vectors]:
    """Opened and equal."""
    found = vectors_of(root, Words(), store="chroma")
    found.mirror()
    assert _segment_files(root), "Chroma keeps its index in memory alone: the faults would hit nothing"
    yield found
    found.close()


@pytest.mark.chroma
@pytest.mark.parametrize(
    ("fault", "live"),
    [
        (fault, live)
        for n, fault in enumerate(FAULTS)
        for live in (False, True)
        if CAMPAIGN or (fault not in TWINS and bool(n % 2) is live)
    ],
)
def test_what_breaks_is_made_anew(root: Path, vectors: Vectors, truth: dict[str, float], fault: str, live: bool) -> None:
    if live:
        assert agrees(vectors.search(vectors.query("word3"), 5), truth)
        assert vectors.fault == ""
    FAULTS[fault](root)
    assert agrees(vectors.search(vectors.query("word3"), 5), truth)
    vectors.mirror()
    assert agrees(vectors.search(vectors.query("word3"), 5), truth)
    assert vectors.fault == ""
    assert len(list((root / "_cache").glob("chroma.broken-*"))) <= 1


@pytest.fixture(scope="module")
def truth(root: Path) -> dict[str, float]:
    """What the files say."""
    return brute_force(root, Words(), "word3")


@pytest.mark.chroma
def test_a_broken_index_is_not_opened_in_this_process(root: Path, vectors: Vectors) -> None:
    FAULTS["index files halved"](root)
    vectors.search(vectors.query("word3"), 5)
    assert "set aside" in vectors.fault
    assert not (root / "_cache/chroma").exists()
    assert list((root / "_cache").glob("chroma.broken-*"))


@pytest.mark.chroma
def test_one_writer(root: Path, vectors: Vectors) -> None:
    write(root, "vault/many/1.md", note(2001, "word word"))
    vectors.catch_up()
    folder = next((root / "_cache/vectors").iterdir())
    with lock(folder / "chroma.lock", 1, "it"), pytest.raises(Busy):
        vectors.mirror()


@pytest.mark.chroma
def test_a_probe_in_a_child_survives_what_is_sound(root: Path, vectors: Vectors, tmp_path: Path) -> None:
    assert not vectors.fault
    shutil.copytree(root / "_cache/chroma", tmp_path / "chroma")
    chroma_client.InFolder(tmp_path / "chroma").check(chroma_client.PROBE_SECONDS)
    assert (tmp_path / "chroma.seal").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no system with named pipes")
def test_a_folder_that_hangs_keeps_one_question_waiting_for_a_while_and_is_made_anew(
    root: Path, vectors: Vectors, truth: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chroma, "OPENING_SECONDS", 3.0)
    for saved in (root / "_cache/chroma").rglob("index_metadata.pickle"):
        saved.unlink()
        os.mkfifo(saved)  # whoever opens it to read waits for somebody to write
    assert agrees(vectors.search(vectors.query("word3"), 5), truth)
    assert "did not open within 3 s" in vectors.fault
    monkeypatch.setattr(chroma, "OPENING_SECONDS", 10_000.0)  # were it waited for again, this test would meet its limit
    assert agrees(vectors.search(vectors.query("word3"), 5), truth)
    assert "does not open" in vectors.fault
    monkeypatch.undo()
    monkeypatch.setattr(chroma, "PROBE_SECONDS", 3.0)
    monkeypatch.setattr(chroma_client, "PROBE_SECONDS", 3.0)
    vectors.mirror()
    assert agrees(vectors.search(vectors.query("word3"), 5), truth)
    assert vectors.fault == ""


@pytest.fixture
def silent() -> Iterator[str]:
    """A server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        held: list[socket.socket] = []
        threading.Thread(target=lambda: _hold(listening, held), daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        for one in held:
            one.close()


def _hold(listening: socket.socket, held: list[socket.socket]) -> None:
    try:
        while True:
            held.append(listening.accept()[0])
    except OSError:
        return


def test_a_server_that_is_not_there_or_hangs(tmp_path: Path, silent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "QUERY_SECONDS", 0.5)
    root, words = make(tmp_path / "v"), Words()
    for url in ("http://127.0.0.1:9", silent):
        vectors = vectors_of(root, words, store=url)
        vectors.catch_up()
        hits = vectors.search(vectors.query("amber"), 5)
        assert url in vectors.fault
        with pytest.raises(StoreUnavailable):
            vectors.mirror()
        assert agrees(hits, brute_force(root, words, "amber"))
        vectors.close()
