"""Whether a client passes the memory on: what is tried, and what is said where it fails.

The stand-in for a client is a program of its own that does what the real one does: it reads its settings, runs the hooks it
finds there, and asks the model. The real ones are tried where VAULT_CLIENTS names the folder of their programs.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.errors import Exit, UsageError
from vault_tool.install.clients import UserMachine
from vault_tool.install.delivery import Delivery, _command, _delivered, prove
from vault_tool.install.installing import install
from vault_tool.install.stub import ANSWER, listening

CLIENTS = os.environ.get("VAULT_CLIENTS", "")

CLIENT = """
import json, os, pathlib, subprocess, sys, urllib.request
told = {"session_id": "s-client", "cwd": os.getcwd(), "source": "startup", "prompt": sys.argv[-1]}
given = []
settings = json.loads((pathlib.Path.home() / ".claude" / "settings.json").read_text())
for event in ("SessionStart", "UserPromptSubmit") if LISTENS else ():
    for item in settings["hooks"][event]:
        for hook in item["hooks"]:
            done = subprocess.run(hook["command"], shell=True, input=json.dumps(told).encode(), capture_output=True)
            given.append(json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else "")
data = json.dumps({"model": "m", "stream": True, "messages": [*given, sys.argv[-1]]}).encode()
urllib.request.urlopen(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", data).read()
"""


@pytest.fixture
def place(tmp_path: Path) -> UserMachine:
    """A machine with a vault that Claude Code was told of."""
    root = tmp_path / "v"
    Vault.init(root, name="Lab", no_git=True)
    with Vault.open(root) as vault:
        vault.remember("Redis drops idle connections after 300 s.", ["Redis"], kind="problem")
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "bin").mkdir()
    here = UserMachine({**os.environ, "VAULT_HOOK_SECONDS": "200", "HOME": str(tmp_path / "home"), "PATH": str(tmp_path / "bin")})
    install("claude-code", program(tmp_path), here)
    return here


def program(tmp_path: Path) -> list[str]:
    return [sys.executable, "-m", "vault_tool", "--vault", str(tmp_path / "v")]


def client(tmp_path: Path, *, listens: bool) -> None:
    """Put a client on the PATH."""
    script = tmp_path / "bin" / "claude"
    script.write_text(f"#!{sys.executable}\nLISTENS = {listens}\n{CLIENT}")
    script.chmod(0o755)


def tried(found: Delivery) -> dict[str, bool | None]:
    return {one.what: one.ok for one in found.checks}


@pytest.mark.skipif(os.name == "nt", reason="the stand-in is a script with a first line for Unix")
def test_what_reaches_the_model_is_proven_and_what_does_not_is_named(place: UserMachine, tmp_path: Path) -> None:
    client(tmp_path, listens=True)
    good = {"settings": True, "server": True, "hooks": True, "delivery of the page": True, "delivery of the reminders": True}
    found = prove("claude-code", place, tmp_path)
    assert tried(found) == good and found.delivered
    assert "end_session" in found.checks[1].said
    client(tmp_path, listens=False)
    missed = list(_delivered("claude-code", "# Memory, today\n- a1b2c3 Redis drops idle connections", place, tmp_path))
    assert {one.what: one.ok for one in missed} == dict.fromkeys(list(good)[3:], False)
    assert "is not in what the model is sent" in missed[0].said


def test_each_step_that_fails_says_what_to_type(place: UserMachine, tmp_path: Path) -> None:
    assert tried(prove("cursor", place, tmp_path)) == {"settings": False}
    assert "`vt install cursor`" in prove("cursor", place, tmp_path).checks[0].said
    install("cursor", [str(tmp_path / "vt")], place)
    found = prove("cursor", place, tmp_path)
    assert tried(found) == {"settings": True, "server": False, "hooks": False}
    assert "does not start" in found.checks[1].said and "says nothing" in found.checks[2].said
    install("opencode", [str(tmp_path / "vt")], place)
    assert tried(prove("opencode", place, tmp_path)) == {"settings": True, "server": False, "hooks": None}
    with pytest.raises(UsageError, match="there is no client"):
        prove("emacs", place, tmp_path)


def test_the_stand_in_for_a_model_answers_both_apis_and_keeps_what_it_was_asked() -> None:
    with listening() as stub:
        for path, asked in (("v1/messages", '{"stream": true}'), ("v1/messages", "{}"), ("v1/responses", '{"stream": true}')):
            with urllib.request.urlopen(f"{stub.url}/{path}?beta=true", asked.encode()) as answer:
                assert ANSWER in answer.read().decode()
        with urllib.request.urlopen(f"{stub.url}/v1/models") as answer:
            assert json.loads(answer.read()) == {"data": [], "models": []}
        assert stub.asked == ['{"stream": true}', "{}", '{"stream": true}']


def test_the_command_says_it_by_its_exit_code(tmp_path: Path) -> None:
    done = vt("doctor", "--client", "zed", cwd=tmp_path)
    assert done.returncode == Exit.FINDINGS and "`vt install zed`" in done.stdout.replace("\n", " ").replace("  ", " ")


LISTS = {
    "claude-code": ("claude mcp list", "Connected"),
    "codex": ("codex mcp list", "enabled"),
    "gemini": ("gemini mcp list", "vault"),
    "opencode": ("opencode mcp list", "connected"),
    "copilot": ("copilot mcp list", "vault"),
    "openclaw": ("openclaw mcp list", "vault"),
}
"""What a client says of the servers that it knows, by which command."""

real = pytest.mark.skipif(not CLIENTS, reason="VAULT_CLIENTS names no folder of real clients")


@real
@pytest.mark.parametrize("name", LISTS)
def test_real_clients_are_told_and_pass_the_memory_on(name: str, place: UserMachine, tmp_path: Path) -> None:
    here = UserMachine({**place.environ, "PATH": f"{CLIENTS}:{os.environ['PATH']}"})
    install(name, program(tmp_path), here)
    command, word = LISTS[name]
    listed = subprocess.run(command.split(), cwd=tmp_path, env=dict(here.environ), capture_output=True, text=True, timeout=200)
    assert word in listed.stdout + listed.stderr
    found = tried(prove(name, here, tmp_path / "v"))
    assert found["settings"] and found["server"] and found.get("hooks") is not False
    if name == "claude-code":
        assert found["delivery of the page"] and found["delivery of the reminders"]
    install(name, program(tmp_path), here, uninstall=True)
    assert tried(prove(name, here, tmp_path)) == {"settings": False}


@real
def test_codex_passes_the_memory_on_once_its_hooks_are_trusted(place: UserMachine, tmp_path: Path) -> None:
    here = UserMachine({**place.environ, "PATH": f"{CLIENTS}:{os.environ['PATH']}"})
    install("codex", program(tmp_path), here)
    with listening() as stub:
        words = [word.replace("URL", stub.url) for word in _command("codex")]
        called = [*words, "--dangerously-bypass-hook-trust", "why does redis drop idle connections?"]
        environ = {**here.environ, "VAULT_STUB_KEY": "nobodys"}
        subprocess.run(called, cwd=tmp_path / "v", env=environ, stdin=subprocess.DEVNULL, capture_output=True, timeout=200)
        asked = "\n".join(stub.asked)
    assert "# Memory" in asked and "Memory: notes of earlier sessions" in asked
    assert "| Redis drops idle connections after 300 s." in asked
