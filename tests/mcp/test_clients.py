"""Clients that others wrote, with VAULT_CLIENTS=1: the protocol's own inspector and its conformance suite, both on the PATH.

How they are installed, and what was seen with which versions, is in docs/mcp.md.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.served import Serving, serving
from vault_tool import Vault
from vault_tool.mcp.tools import listed

SCENARIOS = {
    "2026-07-28": ("server-stateless", "tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found", "caching",
                   "dns-rebinding-protection", "server-sse-multiple-streams", "http-header-validation"),
    "2025-11-25": ("server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "dns-rebinding-protection"),
}  # fmt: skip
"""Those that ask for no diagnostic tool of their own."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("clients") / "lab"
    Vault.init(found, name="Lab", no_git=True)
    with Vault.open(found) as vault:
        vault.remember("The pump hums at night.", ["Pump"])
    return found


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Serving]:
    with serving("--no-token", "--preset", "full", cwd=root) as found:
        yield found


@pytest.mark.parametrize(("revision", "scenario"), [(one, name) for one, names in SCENARIOS.items() for name in names])
def test_the_conformance_suite_finds_no_fault(server: Serving, tmp_path: Path, revision: str, scenario: str) -> None:
    command = [
        "conformance",
        "server",
        "--url",
        server.url,
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "-o",
        str(tmp_path),
    ]
    subprocess.run(command, check=False, capture_output=True, timeout=120)
    checks = [one for file in tmp_path.rglob("checks.json") for one in json.loads(file.read_text())]
    assert any(one["status"] == "SUCCESS" for one in checks), scenario
    # What would need tools made for the suite says so, and is not ours to answer.
    faults = [one for one in checks if one["status"] == "FAILURE" and not (one.get("details") or {}).get("untestable")]
    assert not faults, json.dumps(faults, indent=1)


def inspected(root: Path, *arguments: str) -> Any:
    vt = str(Path(sys.executable).with_name("vt"))
    command = ["mcp-inspector", "--cli", vt, "mcp", "--preset", "full", *arguments]
    found = subprocess.run(command, cwd=root, check=True, capture_output=True, timeout=120)
    return json.loads(found.stdout)


def test_the_inspector_lists_and_calls(root: Path) -> None:
    assert [one["name"] for one in inspected(root, "--method", "tools/list")["tools"]] == [one["name"] for one in listed("full")]
    found = inspected(root, "--method", "tools/call", "--tool-name", "recall", "--tool-arg", "query=what hums at night?")
    assert found["structuredContent"]["results"][0]["content"] == "The pump hums at night."
    assert inspected(root, "--method", "resources/read", "--uri", "vault://core")["contents"][0]["text"].startswith("# Memory")
    assert len(inspected(root, "--method", "prompts/list")["prompts"]) == 3
