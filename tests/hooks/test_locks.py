"""A hook gives its words in time whatever another process holds; what was shown is then not kept."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.founding import found_at
from vault_tool import Vault
from vault_tool.hooks import answers
from vault_tool.hooks.clients import PROMPT, START
from vault_tool.hooks.running import LATE, answered

IDLE = "Redis drops idle connections after 300 s because of the firewall."

BY_FILE = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""

BY_DATABASE = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN EXCLUSIVE")
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def _held(path: Path, script: str) -> Iterator[None]:
    """Another process holds a lock for as long as this lasts."""
    path.parent.mkdir(exist_ok=True)
    held = subprocess.Popen([sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert held.stdout is not None
    try:
        assert held.stdout.readline() == b"held\n"
        yield
    finally:
        held.communicate()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "v"
    found_at(found, git=False)
    with Vault.open(found, session="s0") as vault:
        vault.remember(IDLE, ["Redis"], kind="problem")
        vault.search("redis")
    return found


@pytest.mark.parametrize(
    ("lock", "script"),
    [
        ("_local/sessions.lock", BY_FILE),
        ("_local/write.lock", BY_FILE),
        ("_cache/catalog.lock", BY_DATABASE),
        ("_cache/build.lock", BY_DATABASE),
        ("_cache/state.lock", BY_DATABASE),
    ],
)
@pytest.mark.parametrize("event", [PROMPT, START])
def test_the_words_come_though_another_holds_a_lock(
    root: Path, lock: str, script: str, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_OWNER", "off")
    # The time that a client gives is not asserted: `main` ends the process after so many seconds, and says nothing then.
    monkeypatch.setenv("VAULT_HOOK_SECONDS", "90")
    told = {"session_id": "s1", "cwd": str(root), "prompt": "why does redis drop idle connections?", "source": "startup"}
    with _held(root / lock, script):
        command = [sys.executable, "-m", "vault_tool", "hook", event, "--client", "claude-code"]
        done = subprocess.run(command, cwd=root, input=json.dumps(told).encode(), capture_output=True, check=True)
    assert done.stderr == b""
    assert IDLE in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("event", [PROMPT, START])
def test_the_words_come_as_of_the_last_look_where_there_is_no_time_for_another(
    root: Path, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = next((root / "vault" / "observations").rglob("*.md"))
    path = note.relative_to(root).as_posix()
    note.write_text(note.read_text() + "\nMore of it.\n")
    for seconds, more in ((-1.0, False), (60.0, True)):
        monkeypatch.setattr(answers, "LOCK_SECONDS", seconds)
        with Vault.open(root, session=f"s{seconds}") as vault:
            text = answers.answer(vault, event, "why does redis drop idle connections?", "startup")
            known = vault.index.catalog.by_path(path)
            assert known is not None and known.preview.endswith("More of it.") is more
        assert IDLE in text


def test_a_start_without_an_index_and_without_time_says_that_there_is_a_memory(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(root / "_cache")
    monkeypatch.setattr(answers, "LOCK_SECONDS", -1.0)
    told = json.dumps({"session_id": "s1", "cwd": str(root), "prompt": "why does redis drop idle connections?"}).encode()
    assert LATE[:40].encode() in answered(START, "claude-code", told, {})
    assert answered(PROMPT, "claude-code", told, {}) == b""


def test_the_words_come_though_a_changed_note_cannot_be_taken_in(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_HOOK_SECONDS", "90")
    note = next((root / "vault" / "observations").rglob("*.md"))
    note.write_text(note.read_text() + "\nMore of it.\n")
    told = {"session_id": "s1", "cwd": str(root), "prompt": "why does redis drop idle connections?"}
    with _held(root / "_cache" / "catalog.lock", BY_DATABASE):
        command = [sys.executable, "-m", "vault_tool", "hook", PROMPT, "--client", "claude-code"]
        done = subprocess.run(command, cwd=root, input=json.dumps(told).encode(), capture_output=True, check=True)
    assert b"Redis drops idle" in done.stdout
