"""What the watcher has done for search by meaning: behind every change, beside its own work, and again when it could not be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import FakeOllama
from tests.git_repos import write
from tests.index.vaults import identity, note
from tests.watch.watched import Watched, eventually, path_of, vault
from vault_tool import Vault
from vault_tool.vault.context import Context
from vault_tool.watch import jobs
from vault_tool.watch.jobs import VECTORS_QUIET, Jobs
from vault_tool.watch.worker import Remaining


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        yield server


def _behind(root: Path) -> tuple[int, int]:
    """Notes without vectors, and notes that Chroma does not have, as another process sees it."""
    with Vault.open(root) as other:
        other.fresh()
        status = other.embedding.vectors.status()
        return status.behind, status.mirror_behind


def _asked(server: FakeOllama) -> int:
    return len(server.asked("/api/embed"))


def test_vectors_and_chroma_follow_the_notes(tmp_path: Path, ollama: FakeOllama, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_VECTORS", "chroma")
    root = vault(tmp_path)
    with Watched(root):
        eventually(lambda: _exported(root))
        write(root, path_of(3), note(3, "Kelp dries on the harbor wall."))
        asked = _asked(ollama)
        eventually(lambda: _asked(ollama) > asked)
        eventually(lambda: _behind(root) == (0, 0))
        assert (root / "_cache/chroma").is_dir()
        (root / "_embeddings.json").write_text("{")
        eventually(lambda: _exported(root))


def _exported(root: Path) -> bool:
    try:
        return identity(3) in json.loads((root / "_embeddings.json").read_text())["entries"]
    except (OSError, ValueError):
        return False


def test_nothing_is_started_while_nothing_changes(tmp_path: Path, ollama: FakeOllama) -> None:
    root = vault(tmp_path)
    with Context.open(root) as opened:
        opened.fresh()
        some = Jobs(_silent)
        some.now(opened)
        asked, listed = _asked(ollama), len(ollama.requests)
        assert asked
        for _ in range(3):
            some.when_quiet(opened, VECTORS_QUIET)
            some.stop()
        assert len(ollama.requests) == listed
        write(root, path_of(3), note(3, "Kelp dries on the harbor wall."))
        opened.fresh()
        some.now(opened)
        assert _asked(ollama) > asked


def test_somebody_who_embeds_is_noticed_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault(tmp_path)
    monkeypatch.setattr(jobs, "VECTORS_AGAIN", {Remaining.MORE: 0.0, Remaining.RETRY_LATER: 60.0, Remaining.NO_EMBEDDER: 0.2})
    with Context.open(root) as opened:
        opened.fresh()
        some = Jobs(_silent)
        try:
            some.when_quiet(opened, VECTORS_QUIET)
            with FakeOllama() as server:
                monkeypatch.setenv("OLLAMA_HOST", server.url)

                def embedded() -> bool:
                    some.when_quiet(opened, VECTORS_QUIET)
                    return _asked(server) > 0

                eventually(embedded)
                eventually(lambda: _behind(root) == (0, 0))
        finally:
            some.stop()


def test_a_server_that_fails_is_told_of_and_asked_again(tmp_path: Path, ollama: FakeOllama) -> None:
    root = vault(tmp_path)
    said: list[str] = []
    with Context.open(root) as opened:
        opened.fresh()
        some = Jobs(said.append)
        ollama.mode = Mode.ERROR
        some.now(opened)
        assert [remark.partition(":")[0] for remark in said if "CORE" not in remark] == ["search by meaning is not up to date"]
        ollama.mode = Mode.WELL
        asked = len(ollama.requests)
        some.now(opened)
        assert len(ollama.requests) == asked  # not yet: it was asked just now
        (root / "_config.json").write_text('{"provider": "ollama"}')
        some.now(opened)
        assert _behind(root) == (0, 0)


def _silent(said: str) -> None:
    """Nobody listens."""
