"""Several processes on one Chroma: one writes it, all see every note at once, and it does not grow without end."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.ollama_server import FakeOllama
from tests.watch.watched import CAMPAIGN, Watched, eventually, vault
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.index.vectors.maintenance import mirror_bytes

NOTES = 100 if CAMPAIGN else 5

_WORDS = (
    "amber",
    "basil",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "heron",
    "inlet",
    "jetty",
    "kelp",
    "larch",
    "maple",
    "otter",
)


@pytest.fixture
def ollama(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOllama]:
    with FakeOllama() as server:
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        monkeypatch.setenv("VAULT_VECTORS", "chroma")
        yield server


class Commands(threading.Thread):
    """`vt recall` again and again: asks for the newest note that was written before it began, until it is told to stop."""

    def __init__(self, root: Path) -> None:
        super().__init__(daemon=True)
        self.root = root
        self.newest = ""
        self.stop = threading.Event()
        self.asked = 0
        self.missed: list[str] = []
        self.said: set[str] = set()

    def run(self) -> None:
        while not self.stop.is_set():
            wanted = self.newest
            if not wanted or (self.asked > 2 and not CAMPAIGN):
                time.sleep(0.05)
                continue
            command = [sys.executable, "-m", "vault_tool", "recall", wanted, "--json", "--vault", str(self.root)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            found: dict[str, Any] = {"results": [], "degraded": [done.stderr]}
            if done.returncode == 0:
                found = json.loads(done.stdout)
            self.asked += 1
            self.said.update(found["degraded"])
            if not any(wanted in one["content"] for one in found["results"]):
                self.missed.append(wanted)


@pytest.mark.chroma
def test_a_watcher_commands_and_a_long_lived_reader_share_one(tmp_path: Path, ollama: FakeOllama) -> None:
    root = vault(tmp_path)
    # A model that the machine is too busy for is another test's.
    (root / "vault.toml").write_text("embedding_wait = 60\n")
    with Watched(root, "--reconcile", "5"), Vault.open(root) as reader:
        eventually(lambda: (root / "_cache/chroma.seal").exists())
        commands = Commands(root)
        commands.start()
        number = 0
        said: set[str] = set()
        while number < NOTES or commands.asked < 2:
            name, beside = _WORDS[number % len(_WORDS)], _WORDS[number // len(_WORDS) % len(_WORDS)]
            text = f"{name} {beside} number {number}"
            with Vault.open(root) as writer:
                writer.remember(f"The {text} was counted.", subject_names=["Harbor"])
            commands.newest = text

            def seen(text: str = text) -> bool:
                found = reader.recall(text)
                assert isinstance(found, Bundle)
                said.update(found.degraded)
                return any(text in one.content and "meaning" in str(one.why) for one in found.results)

            eventually(seen)
            number += 1
        commands.stop.set()
        commands.join()
        grown = mirror_bytes(root / "_cache")
        eventually(lambda: _whole(root))
    assert commands.missed == []
    assert commands.asked > 0
    # Another process may be embedding, or writing to Chroma, where the exact store answers; nothing else may go wrong.
    busy = "exact search instead of chroma: the Chroma collection is being brought up to date"
    fine = ("approximate (chroma)", busy, "not embedded yet")
    assert {one for one in said | commands.said if not one.startswith(fine)} == set()
    _made_anew(root)
    assert grown < 2 * mirror_bytes(root / "_cache") + 2_000_000
    assert not list((root / "_cache").glob("chroma.broken-*"))


def _whole(root: Path) -> bool:
    with Vault.open(root) as other:
        other.fresh()
        status = other.embedding.vectors.status()
        return (status.behind, status.mirror_behind) == (0, 0)


def _made_anew(root: Path) -> None:
    """Chroma as it is when everything is written to it in one go."""
    (root / "_cache/chroma").rename(root.parent / "before")
    with Vault.open(root) as other:
        done = other.embed()
        assert done.mirrored > 0
