from __future__ import annotations

import json
import os
import pty
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.bounds import PATIENCE
from tests.cli.typed import VT, vt
from tests.founding import found_at
from tests.git_repos import git
from tests.terminal import called_at_terminal, let_commands_answer
from vault_tool import Vault
from vault_tool.errors import Exit

REMEMBERED = ("The zebra crossed at noon.", "The okapi slept till dusk.", "The heron left at dawn.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault in which an agent's writing waits, and in which three observations do."""
    root = tmp_path / "notes"
    found_at(root, git=True)
    (root / "vault.toml").write_text('write_policy = "review"\n')
    with Vault.open(root) as vault:
        for text in REMEMBERED:
            assert vault.remember(text, ["Zoo"]).pending_review
    return root


def gets(root: Path, *arguments: str, code: Exit = Exit.DONE) -> Any:
    done = vt(*arguments, "--json", cwd=root)
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


def test_an_agent_is_told_that_its_memory_waits(root: Path) -> None:
    done = vt("remember", "A fourth one.", cwd=root)
    assert done.returncode == Exit.DONE
    assert done.stderr == "warning: waits for a person's review: `vt review` at a terminal\n"
    assert gets(root, "remember", "A fifth one.")["pending_review"] is True


def test_a_script_on_a_machine_that_answers_for_its_owner(root: Path) -> None:
    let_commands_answer(root)
    listed = gets(root, "review")
    assert {one["content"] for one in listed["results"]} == set(REMEMBERED)
    first, second, third = (one["id"] for one in listed["results"])
    done = gets(root, "review", "--accept", first, "--refuse", second)
    assert [one["id"] for one in done["accepted"]] == [first] and done["refused"] == [second]
    assert [one["id"] for one in done["results"]] == [third] and done["committed"]
    assert len(gets(root, "review", "--all")["accepted"]) == 1
    assert "nothing waits" in vt("review", cwd=root).stdout


@pytest.mark.parametrize("arguments", [["review"], ["review", "--all"], ["forget", "aaaa", "--yes"]])
def test_an_agent_is_refused(arguments: list[str], root: Path) -> None:
    done = vt(*arguments, cwd=root)
    assert done.returncode == Exit.REFUSED
    assert "only a person" in done.stderr and "zebra" not in done.stdout + done.stderr


def test_an_editor_opens_what_waits(root: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i.bak s/noon/midnight/ "$1"\n')
    editor.chmod(0o755)
    let_commands_answer(root)
    zebra = next(one for one in gets(root, "review")["results"] if "zebra" in one["content"])
    done = vt("review", "--edit", zebra["id"], cwd=root, env={**os.environ, "EDITOR": str(editor)})
    assert "midnight" in done.stdout
    gets(root, "review", "--accept", zebra["id"])
    assert "midnight" in vt("search", "zebra", cwd=root).stdout


@pytest.mark.skipif(os.name == "nt", reason="a terminal is made by pty")
def test_single_keys_decide_in_a_terminal(root: Path) -> None:
    with Keyboard(root, "review") as typed:
        for key in "ars":
            typed.key(key)
    assert "1 of 3" in typed.shown and "waits because" in typed.shown
    with Vault.open(root, person=True) as vault:
        assert len(vault.review().results) == 1
        assert len(vault.search("zebra okapi heron").results) == 1
    assert git(root, "log", "-1", "--format=%s").startswith("review: ")


@pytest.mark.skipif(os.name == "nt", reason="a terminal is made by pty")
def test_forgetting_asks_first(root: Path) -> None:
    assert "accepted" in called_at_terminal("review", "--all", cwd=root).stdout
    zebra = gets(root, "search", "zebra")["results"][0]["id"]
    assert vt("forget", zebra, cwd=root).returncode == Exit.REFUSED
    with Keyboard(root, "forget", zebra) as typed:
        typed.key("n\r")
    assert "nothing was erased" in typed.shown and "interrupted" not in typed.shown
    assert " (The zebra" in typed.shown, "who erases sees what"
    assert len(gets(root, "search", "zebra")["results"]) == 1
    with Keyboard(root, "forget", zebra) as typed:
        typed.key("y\r")
    assert "would be erased" in typed.shown and "still hold the text" in typed.shown
    assert gets(root, "search", "zebra")["results"] == []
    assert git(root, "log", "-1", "--format=%s") == f"forget: {zebra}"


class Typed:
    """A command at a terminal: what it shows so far, and keys pressed once it waits for them."""

    def __init__(self, outer: int, process: subprocess.Popen[bytes]) -> None:
        self.outer = outer
        self.process = process
        self.shown = ""

    def key(self, keys: str) -> None:
        """Press keys when the command asks for some."""
        asked = len(self.shown)
        until = time.monotonic() + PATIENCE
        while not any(sign in self.shown[asked:] for sign in ("q quit", "[y/N]")) and time.monotonic() < until:
            if not self.reads():
                break
        time.sleep(0.05)
        os.write(self.outer, keys.encode())

    def reads(self) -> bool:
        """Read some of what is shown; false at its end."""
        try:
            found = os.read(self.outer, 4096)
        except OSError:  # Linux's way of saying that nobody is at the other end any more
            return False
        self.shown += found.decode("utf-8", "replace")
        return bool(found)


class Keyboard:
    """Run a command at a terminal; on leaving, read the rest and wait for its end."""

    def __init__(self, root: Path, *arguments: str) -> None:
        outer, inner = pty.openpty()
        environ = {**os.environ, "TERM": "dumb"}
        process = subprocess.Popen([*VT, *arguments], cwd=root, stdin=inner, stdout=inner, stderr=inner, env=environ)
        os.close(inner)
        self.typed = Typed(outer, process)

    def __enter__(self) -> Typed:
        return self.typed

    def __exit__(self, *fault: object) -> None:
        while self.typed.reads():
            pass
        self.typed.process.wait(PATIENCE)
        os.close(self.typed.outer)
