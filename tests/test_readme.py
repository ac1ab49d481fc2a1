"""The README keeps its word: its first day runs as written, and its documents are there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent.parent
README = (HERE / "README.md").read_text(encoding="utf-8")


def _block(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```sh\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no block {mark}"
    return found[1]


def test_it_begins_with_what_a_first_session_needs(tmp_path: Path) -> None:
    """The lines between installing and the client, in an empty home: what they put there then answers as the client calls it."""
    install, *lines, session = _block("start").strip().split("\n")
    assert README.index("<!-- start -->") < README.index("\n## ") and len(lines) == 2
    assert install.startswith("pipx install .") and session.startswith('claude "')
    programs = f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin"
    env = {**os.environ, "HOME": str(tmp_path), "PATH": programs, "VAULT_HOOK_SECONDS": "200", "VAULT_OWNER": "off"}
    done = subprocess.run(["bash", "-euc", "\n".join(lines)], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    hooks = json.loads((tmp_path / ".claude" / "settings.json").read_text())["hooks"]
    told = json.dumps({"session_id": "s1", "cwd": str(tmp_path), "source": "startup"})
    command = hooks["SessionStart"][0]["hooks"][0]["command"]
    said = subprocess.run(["bash", "-c", command], cwd=tmp_path, env=env, input=told, capture_output=True, text=True)
    assert json.loads(said.stdout)["hookSpecificOutput"]["additionalContext"].startswith("# Memory")
    server = json.loads((tmp_path / ".claude.json").read_text())["mcpServers"]["vault"]
    assert server["args"][-1] == "mcp" and str(tmp_path / "memory") in server["args"]


def test_the_first_day_runs_as_written(tmp_path: Path) -> None:
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", _block("story")], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "Keepalive for Redis" in done.stdout
    assert "## Critical Solutions (" in done.stdout
    status = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path / "notes", capture_output=True, text=True, check=True)
    assert status.stdout == ""


def test_set_up_is_two_commands() -> None:
    assert all(len(_block(mark).strip().split("\n")) == 1 for mark in ("run", "test"))


def test_every_document_is_there() -> None:
    linked = re.findall(r"\]\(([^)#]+\.md)[^)]*\)", README)
    assert linked
    assert [path for path in linked if not (HERE / path).is_file()] == []


def test_nothing_names_a_registry_or_a_machine() -> None:
    pins = (HERE / "constraints.txt").read_text(encoding="utf-8")
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[A-Za-z0-9.]+", line) for line in pins.split())
