"""`vt web`: it serves, shows a link for once, and a second one leads to the first."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.terminal import let_commands_answer
from vault_tool import Vault


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Vault.init(tmp_path / "lab", name="Lab", no_git=True)
    return let_commands_answer(tmp_path / "lab")


def _vt(root: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "vault_tool", "web", "--vault", str(root), "--no-open", "--json", *arguments]


@contextmanager
def _running(root: Path) -> Iterator[tuple[subprocess.Popen[bytes], dict[str, Any]]]:
    process = subprocess.Popen(_vt(root, "--port", "0"), stdout=subprocess.PIPE)
    assert process.stdout is not None
    text = b""
    while not text.rstrip().endswith(b"}"):
        text += process.stdout.readline()
    try:
        yield process, json.loads(text)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()


def _come_in(link: str) -> int:
    address, _, code = link.partition("/#t=")
    with httpx.Client(base_url=address, headers={"origin": address}, follow_redirects=True, trust_env=False) as client:
        return client.post("/start", data={"code": code}).status_code


def test_it_serves_and_a_second_one_shows_another_link_to_it(root: Path) -> None:
    with _running(root) as (process, first):
        assert first["running"] is False and _come_in(first["url"]) == 200
        assert _come_in(first["url"]) == 403
        private = root / "_local" / "page-server.json"
        assert os.name == "nt" or stat.S_IMODE(private.stat().st_mode) == 0o600
        second = json.loads(subprocess.run(_vt(root), capture_output=True, check=True).stdout)
        assert second["running"] is True and second["url"].split("#")[0] == first["url"].split("#")[0]
        assert _come_in(second["url"]) == 200
    assert process.returncode == 0 and not private.exists()


def test_after_a_kill_another_one_serves(root: Path) -> None:
    with _running(root) as (process, first):
        process.kill()
        process.wait()
        with _running(root) as (_, second):
            assert second["running"] is False and second["url"] != first["url"] and _come_in(second["url"]) == 200


@pytest.mark.parametrize("arguments", [("--user", "ann"), ("--origin", "agent")])
def test_it_is_its_owners_alone(root: Path, arguments: tuple[str, ...]) -> None:
    found = subprocess.run(_vt(root, *arguments), capture_output=True, text=True, check=False)
    assert found.returncode == 2 and "page is" in found.stderr + found.stdout
