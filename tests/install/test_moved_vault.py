"""A vault that is not where a client's settings have it: its sessions are told so, and `vt doctor --client` names the place."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.cli.typed import VT, vt
from vault_tool import Vault
from vault_tool.errors import Exit
from vault_tool.hooks.clients import NATIVE, PROMPT, START
from vault_tool.hooks.running import answered


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose client was told of a vault by a name that means it in one folder alone."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("VAULT_HOOK_SECONDS", "200")
    Vault.init(tmp_path / "memory", no_git=True)
    with Vault.open(tmp_path / "memory") as vault:
        vault.remember("Redis drops idle connections after 300 s.", ["Redis"], kind="problem")
    (tmp_path / "src" / "project").mkdir(parents=True)
    done = vt("install", "claude-code", "--vault", "memory", cwd=tmp_path)
    assert done.returncode == Exit.DONE, done.stderr
    return tmp_path


def _command(home: Path, event: str) -> list[str]:
    settings = json.loads((home / ".claude" / "settings.json").read_text())
    return shlex.split(settings["hooks"][NATIVE["claude-code"][event]][0]["hooks"][0]["command"])


def _hook(home: Path, event: str, **told: str) -> str:
    """What the hook of an event says in a project's folder, run as the client runs it."""
    folder = home / "src" / "project"
    words = [*VT, *_command(home, event)[_command(home, event).index("hook") :]]
    data = json.dumps({"session_id": "s1", "cwd": str(folder), "source": "startup", **told})
    done = subprocess.run(words, cwd=folder, input=data, capture_output=True, text=True, env=dict(os.environ), check=True)
    return str(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]) if done.stdout else ""


def test_a_client_is_told_of_the_vault_by_its_whole_path(home: Path) -> None:
    assert str(home / "memory") in _command(home, START)
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["vault"]
    assert server["args"][server["args"].index("--vault") + 1] == str(home / "memory")
    assert _hook(home, START).startswith("# Memory")


@pytest.mark.parametrize("how", ["moved", "emptied"])
def test_a_session_that_starts_is_told_in_one_line_and_a_prompt_nothing(how: str, home: Path) -> None:
    if how == "moved":
        (home / "memory").rename(home / "elsewhere")
    else:
        (home / "memory" / "vault.toml").unlink()
    said = _hook(home, START)
    assert said.startswith(f"Memory: no vault is at {home / 'memory'} any more") and said.count("\n") == 1
    assert "vt doctor --client claude-code" in said
    assert _hook(home, PROMPT, prompt="why does redis drop idle connections?") == ""


@pytest.mark.parametrize("client", ["codex", "gemini", "cursor"])
def test_every_client_is_told(client: str, tmp_path: Path) -> None:
    told = json.dumps({"session_id": "s1", "cwd": str(tmp_path), "source": "startup"}).encode()
    assert str(tmp_path / "gone") in answered(START, client, told, {}, vault=str(tmp_path / "gone")).decode()
    assert str(tmp_path / "gone") in answered(START, client, told, {"VAULT_ROOT": str(tmp_path / "gone")}).decode()


def test_where_no_vault_was_named_nothing_is_missed(tmp_path: Path) -> None:
    told = json.dumps({"session_id": "s1", "cwd": str(tmp_path), "source": "startup"}).encode()
    assert answered(START, "claude-code", told, {}) == b""


def test_the_doctor_names_the_folder_and_what_to_type(home: Path) -> None:
    (home / "memory").rename(home / "elsewhere")
    done = vt("doctor", "--client", "claude-code", "--json", cwd=home / "src" / "project")
    assert done.returncode == Exit.FINDINGS
    checks = {one["what"]: one for one in json.loads(done.stdout)["checks"]}
    assert checks["vault"]["ok"] is False and "server" not in checks
    assert str(home / "memory") in checks["vault"]["said"]
    assert "`vt install claude-code --vault DIR`" in checks["vault"]["said"]
    again = vt("install", "claude-code", "--vault", str(home / "elsewhere"), cwd=home)
    assert again.returncode == Exit.DONE, again.stderr
    assert _hook(home, START).startswith("# Memory")


def test_a_tool_says_where_none_is(home: Path) -> None:
    (home / "memory").rename(home / "elsewhere")
    done = vt("--vault", str(home / "memory"), "search", "redis")
    assert done.returncode == Exit.USAGE and "name the folder where it is now" in done.stderr
    assert not (home / "memory").exists()
