"""Nothing leaves the machine: every process of the server and of the hooks is listened to for whom it calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.bounds import CAMPAIGN
from tests.index.embedding.models import AT_HAND, MODELS
from tests.mcp.served import client_of_process, client_over_http, serving
from vault_tool import Vault
from vault_tool.hooks.clients import EVENTS

EAR = """
import os, sys

def heard(event, given):
    if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.connect"):
        place = given[-1] if event in ("socket.connect", "socket.sendto") else given[0]
        host = place[0] if isinstance(place, tuple) else place
        local = ("127.0.0.1", "::1", "localhost", None) if event != "socket.connect" else ("127.0.0.1", "::1")
        if host not in local and not (event in ("socket.connect", "socket.sendto") and isinstance(place, (str, bytes))):
            with open(os.environ["HEARD"], "a") as file:
                file.write(f"{event} {given} {sys.argv}\\n")

sys.addaudithook(heard)
with open(os.environ["HEARD"] + ".processes", "a") as file:
    file.write(f"{os.getpid()}\\n")
"""


@pytest.fixture
def heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where each process writes whom it called beyond this machine."""
    (tmp_path / "ear").mkdir()
    (tmp_path / "ear" / "sitecustomize.py").write_text(EAR)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "ear"))
    monkeypatch.setenv("HEARD", str(tmp_path / "heard"))
    return tmp_path / "heard"


def processes(heard: Path) -> int:
    return len(heard.with_name("heard.processes").read_text().split())


def test_server_and_hooks_call_nobody_beyond_this_machine(root: Path, heard: Path) -> None:
    if AT_HAND and CAMPAIGN:  # else `verbs/test_embedding.py` alone listens to the model
        (root / "_config.json").write_text(json.dumps({"models": str(MODELS), "provider": "local"}))

    async def talk() -> None:
        async with client_of_process("--vault", str(root), era="auto", cwd=root.parent, env=dict(os.environ)) as client:
            assert not (await client.call_tool("remember", {"content": "The pump hums.", "subject_names": ["Pump"]})).is_error
            assert not (await client.call_tool("recall", {"query": "what hums?"})).is_error
        with serving(cwd=root) as server:
            async with client_over_http(server, "auto") as client:
                assert not (await client.call_tool("orient", {})).is_error
                assert not (await client.call_tool("recall", {"query": "what hums?"})).is_error

    anyio.run(talk)
    served = processes(heard)
    assert served >= 2
    for event in EVENTS:
        told = json.dumps({"session_id": "s1", "cwd": str(root), "source": "startup", "prompt": "what does the pump do?"})
        command = [sys.executable, "-m", "vault_tool", "hook", event, "--client", "codex"]
        environ = {**os.environ, "VAULT_HOOK_SECONDS": "200"}
        done = subprocess.run(command, input=told, cwd=root, env=environ, capture_output=True, text=True, check=True)
        assert ("pump hums" in done.stdout) is (event in EVENTS[:2])
    assert processes(heard) >= served + len(EVENTS)
    assert not heard.exists(), heard.read_text()
    with Vault.open(root) as vault:
        assert vault.search("pump").results


def test_the_ear_of_that_test_hears(heard: Path) -> None:
    program = (
        "import socket; s = socket.socket(); s.settimeout(0); s.connect_ex(('192.0.2.1', 9)); s.connect_ex(('127.0.0.1', 9))"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert "192.0.2.1" in heard.read_text() and "127.0.0.1" not in heard.read_text()
