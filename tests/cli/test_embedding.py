"""`vt embed` and `vt config --provider ...` as they are typed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE
from tests.cli.typed import VT, vt
from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import FakeOllama
from tests.fakes.openai_server import FakeOpenAI
from tests.founding import found_at
from tests.terminal import let_commands_answer
from vault_tool.cli.main import main
from vault_tool.errors import Exit
from vault_tool.features.embedding.embedding import Embedding

SECRET = "sk-proj-0123456789abcdef0123456789abcdef"


class Typed:
    """Commands typed in a vault, in this process: what each prints, and its exit code."""

    def __init__(self, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._capsys = capsys

    def __call__(self, *arguments: str, code: Exit = Exit.DONE) -> str:
        """Both streams of one command that must end with `code`."""
        assert main(arguments) == code
        shown = self._capsys.readouterr()
        assert "Traceback" not in shown.err
        return shown.out + shown.err

    def json(self, *arguments: str, code: Exit = Exit.DONE) -> Any:
        """What a program gets."""
        assert main([*arguments, "--json"]) == code
        return json.loads(self._capsys.readouterr().out)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    root = found_at(tmp_path / "v", git=True)
    let_commands_answer(root)
    monkeypatch.chdir(root)
    return Typed(root, capsys)


def test_embed_from_the_first_to_the_last(typed: Typed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OLLAMA_HOST")
    with FakeOllama() as server:
        typed("config", "--provider", "ollama", "--ollama-host", server.url)
        part = typed.json("embed", "--limit", "1", code=Exit.ATTENTION)
        assert part.keys() == set(Embedding.__struct_fields__)
        assert (part["complete"], part["embedded"]) == (False, 1)
        rest = typed("embed")
        assert "embedded in" in rest
        assert "ollama nomic-embed-text" in rest
        assert "nothing was left to embed" in typed("embed")
        assert "embeddings:      ollama nomic-embed-text (_config.json says ollama)" in typed("status")
        server.mode = Mode.ERROR
        typed("remember", "Later.", "-k", "fact")
        assert "ended early" in typed("embed", code=Exit.ATTENTION)


def test_a_dead_server_is_one_line(typed: Typed) -> None:
    shown = typed("embed", "--provider", "ollama", code=Exit.IO)
    assert shown.count("\n") == 1
    assert "nobody answers" in shown


def test_nothing_is_fetched_unasked(typed: Typed) -> None:
    assert "vt embed --download" in typed("embed", code=Exit.IO)


@pytest.mark.skipif(os.name == "nt", reason="makes a POSIX terminal")
def test_a_terminal_is_asked_and_no_is_no(typed: Typed) -> None:
    import pty  # only where there are terminals

    outer, inner = pty.openpty()
    os.write(outer, b"n\n")
    done = subprocess.run([*VT, "embed"], stdin=inner, stdout=inner, stderr=inner, timeout=PATIENCE, check=False)
    shown = os.read(outer, 65536).decode()
    os.close(inner)
    os.close(outer)
    assert done.returncode == Exit.IO
    assert "Fetch all-MiniLM-L6-v2" in shown


def test_the_key_from_standard_input_is_in_one_file_that_only_its_owner_reads(typed: Typed) -> None:
    with FakeOpenAI(key=SECRET) as server:
        done = vt("config", "--provider", "openai", "--openai-url", server.base_url, "--openai-key", "-", input=f"{SECRET}\n")
        assert done.returncode == Exit.DONE
        assert stat.S_IMODE((typed.root / "_config.json").stat().st_mode) == 0o600
        shown = [done.stdout, done.stderr]
        shown += [typed(*line) for line in (("config",), ("config", "--json"), ("config", "openai_key"), ("status", "--json"))]
        assert typed.json("embed")["complete"] is True
        server.key = "another"
        typed("remember", "Later.", "-k", "fact")
        refused = typed("embed", "--debug", code=Exit.ATTENTION)
        assert "refuses the key" in refused
        assert SECRET not in "".join([*shown, refused])
        assert "_config.json" not in typed("diff")


def test_settings_of_this_machine_are_checked_together(typed: Typed) -> None:
    shown = typed("config", "--openai-url", "ftp://x", "--vectors", "fast", code=Exit.USAGE)
    assert "--openai-url" in shown
    assert "--vectors" in shown
    assert json.loads((typed.root / "_config.json").read_text()) == {"unattended": True}
    typed("config", "--provider", "bert", code=Exit.USAGE)
    typed("config", "--model", "")
