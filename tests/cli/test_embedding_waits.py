"""`vt embed` before a server that takes a request and does not answer: said while it lasts, given up, nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from tests.bounds import PATIENCE
from tests.cli.typed import VT, vt
from tests.fakes.loopback import Mode, Reply, Request
from tests.fakes.ollama_server import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from tests.founding import found_at
from vault_tool.errors import Exit
from vault_tool.index.embedding import ollama
from vault_tool.index.embedding.served import Limits

# For which a server holds an answer when nobody is told that it does: the test fails then, and does not hang.
HELD = 30.0


@dataclass
class Slow(FakeOllama):
    """Answers what models it has at once, and holds the answer to `held` until somebody was told to wait."""

    held: str = "/api/embed"
    told: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: Request, reply: Reply) -> None:
        if request.path == self.held:
            self.told.wait(HELD)
        super().answer(request, reply)


@dataclass
class SlowOpenAI(FakeOpenAI):
    """The same of OpenAI's protocol."""

    told: threading.Event = field(default_factory=threading.Event)

    def answer(self, request: Request, reply: Reply) -> None:
        self.told.wait(HELD)
        super().answer(request, reply)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = found_at(tmp_path / "v", git=True)
    assert vt("remember", "The kiln is fired on Thursdays.", "-k", "fact", cwd=root).returncode == 0
    return root


def _embedded(root: Path, told: threading.Event, *options: str, **environ: str) -> tuple[int, str, str]:
    """`vt embed` in a process of its own: its code and both texts; `told` is set by the first word on standard error."""
    process = subprocess.Popen(
        [*VT, "embed", *options],
        cwd=root,
        env=os.environ | environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said: list[str] = []
    assert process.stdout is not None
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        told.set()
    out = process.stdout.read()
    return process.wait(PATIENCE), out, "".join(said)


@pytest.mark.parametrize("held", ["/api/embed", "/api/pull"])
def test_it_says_whom_it_waits_for_and_goes_on_when_that_answers(root: Path, held: str) -> None:
    with Slow(held=held) as server:
        if held == "/api/pull":
            server.models.clear()
        code, out, said = _embedded(root, server.told, "--provider", "ollama", "--json", OLLAMA_HOST=server.url)
    assert code == 0, said
    assert json.loads(out)["embedded"] > 0
    first = said.splitlines()[0]
    assert f"waiting for Ollama at {server.url}: no answer for 3 s" in first
    assert "given up after 300 s" in first


def test_of_a_server_of_openais_protocol_as_well(root: Path) -> None:
    with SlowOpenAI() as server:
        environ = {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "k"}
        code, _, said = _embedded(root, server.told, "--provider", "openai", **environ)
    assert "waiting for OpenAI at" in said
    assert code == 0, said


def test_it_gives_up_with_one_line_and_the_next_run_does_all(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "Limits", partial(Limits, first=0.5, batch=0.5))
    with FakeOllama(mode=Mode.HANG) as server:
        environ = {"OLLAMA_HOST": server.url}
        done = vt("embed", "--provider", "ollama", cwd=root, env=environ)
        assert done.returncode == Exit.ATTENTION
        lines = [line for line in done.stderr.splitlines() if "did not answer" in line]
        assert len(lines) == 1
        assert server.url in lines[0]
        assert "within 0.5 s" in lines[0]
        assert "`vt embed` goes on" in lines[0]
        server.mode = Mode.WELL
        monkeypatch.undo()
        monkeypatch.setenv("OLLAMA_HOST", server.url)
        assert vt("embed", "--provider", "ollama", cwd=root).returncode == 0
        assert _notes_behind(root) == 0


def test_a_pull_that_hangs_is_given_up_with_one_line(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ollama, "Limits", partial(Limits, idle=0.5))
    with Slow(held="/api/pull", models={}) as server:
        done = vt("embed", "--provider", "ollama", cwd=root, env={"OLLAMA_HOST": server.url})
        server.told.set()
    assert done.returncode != 0
    assert f"Ollama at {server.url} did not answer in time" in done.stderr
    assert done.stderr.count("\n") == 1


def _notes_behind(root: Path) -> int:
    found = json.loads(vt("status", "--json", cwd=root).stdout)["embeddings"]["vectors"]
    return int(found["behind"])
