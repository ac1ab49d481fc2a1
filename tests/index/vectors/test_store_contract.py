"""What every store of vectors must do, run over the exact one, Chroma in a folder, and a Chroma server on loopback."""

from __future__ import annotations

import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.index.vaults import WORDS, make, note, path_of
from tests.index.vectors.made import Words, agrees, brute_force, nearly_agrees, vectors_of
from vault_tool.config import PERSPECTIVES
from vault_tool.index.vectors.service import Vectors

KINDS = ("exact", pytest.param("chroma", marks=pytest.mark.chroma), pytest.param("server", marks=pytest.mark.chroma))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real Chroma server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).parent / "chroma"), "run", "--host", "127.0.0.1", "--port", str(port)]
    where = tmp_path_factory.mktemp("chroma")
    running = subprocess.Popen([*command, "--path", str(where)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        _wait_for(port, running)
        yield f"http://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()


def _wait_for(port: int, running: subprocess.Popen[bytes]) -> None:
    for _ in range(300):
        assert running.poll() is None, "the server ended"
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server does not answer")


@dataclass
class Trial:
    """A vault under one store; `open` opens it anew, as another process would."""

    root: Path
    words: Words
    open: Callable[[], Vectors]

    def kept(self) -> Vectors:
        """Opened, embedded, and equal."""
        vectors = self.open()
        vectors.catch_up()
        vectors.mirror()
        return vectors


@pytest.fixture(params=KINDS)
def trial(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Trial]:
    """A vault of forty notes and what asks it."""
    store = request.getfixturevalue("server") if request.param == "server" else request.param
    root, words, opened = make(tmp_path / "v", 40), Words(), list[Vectors]()

    def open_() -> Vectors:
        opened.append(vectors_of(root, words, store=store))
        return opened[-1]

    yield Trial(root, words, open_)
    for vectors in opened:
        vectors.close()


def test_the_best_come_first(trial: Trial) -> None:
    vectors = trial.kept()
    for question in (*WORDS[:5], "stone lasts"):
        hits = vectors.search(vectors.query(question), 8)
        assert agrees(hits, brute_force(trial.root, trial.words, question))
        assert vectors.similarities(vectors.query(question)).top(8) == hits
        assert vectors.fault == ""


def test_chroma_answers_as_the_exact_store_does(tmp_path: Path) -> None:
    root, words = make(tmp_path / "v", 12), Words()
    vectors = vectors_of(root, words, store="chroma")
    vectors.catch_up()
    assert vectors.mirror() > 0
    assert agrees(vectors.search(vectors.query("amber"), 5), brute_force(root, words, "amber"))
    assert vectors.approximate and vectors.fault == ""
    vectors.close()


def test_each_file_once_by_its_best_passage(trial: Trial) -> None:
    write(trial.root, "vault/long.md", note(300, " ".join([*["kelp"] * 90, *["lichen"] * 90])))
    vectors = trial.kept()
    hits = vectors.search(vectors.query("lichen"), 60)
    assert len({hit.path for hit in hits}) == len(hits)
    assert next(hit for hit in hits if hit.path == "vault/long.md").passage > 0


def test_limits(trial: Trial) -> None:
    vectors = trial.kept()
    assert [len(vectors.search(vectors.query("amber"), limit)) for limit in (0, 1, 10, 1000)] == [0, 1, 10, 44]


def test_changes_are_seen_before_and_after_the_store_has_them(trial: Trial) -> None:
    chance = random.Random(5)
    vectors = trial.kept()
    reader = trial.open()
    for turn in range(4):
        (trial.root / path_of(turn)).unlink()
        (trial.root / path_of(turn + 10)).write_text(note(turn + 10, " ".join(chance.choices(WORDS, k=60))))
        write(trial.root, f"vault/new-{turn}.md", note(500 + turn, "Amber, only amber."))
        vectors.catch_up()
        truth = brute_force(trial.root, trial.words, "amber")
        for one in (vectors, reader):
            assert agrees(one.search(one.query("amber"), 6), truth)
        vectors.mirror()
        for one in (vectors, reader):
            # Chroma's graph loses a node after deletions, about once in a hundred of these histories.
            assert nearly_agrees(one.search(one.query("amber"), 6), truth, missed=1 if one.approximate else 0)
            assert one.status().mirror_behind == 0


def test_nothing_is_written_twice(trial: Trial) -> None:
    vectors = trial.kept()
    assert vectors.mirror() == 0
    write(trial.root, "vault/new.md", note(500))
    vectors.catch_up()
    assert vectors.mirror() == (1 if vectors.approximate else 0)
    assert trial.open().mirror() == 0


def test_two_perspectives(trial: Trial) -> None:
    trial.words.follows_instructions = True
    vectors = trial.kept()
    hits = vectors.search(vectors.query("amber"), 8)
    assert vectors.fault == ""
    assert agrees(hits, brute_force(trial.root, trial.words, "amber", PERSPECTIVES))


def test_an_empty_vault(tmp_path: Path) -> None:
    (tmp_path / "v/vault").mkdir(parents=True)
    for store in ("exact", "chroma"):
        vectors = vectors_of(tmp_path / "v", Words(), store=store)
        assert vectors.catch_up().whole
        assert vectors.mirror() == 0
        assert vectors.search(vectors.query("amber"), 5) == []
