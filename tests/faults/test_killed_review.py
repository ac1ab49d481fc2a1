"""A review that was killed between the memory's file and the removal of its draft: the draft waits no longer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.founding import found_at
from tests.git_repos import git
from vault_tool import Vault
from vault_tool.errors import NotFound
from vault_tool.files.inbox import INBOX, Inbox

_CHILD = """
import os, signal, sys
from pathlib import Path
from vault_tool import Vault
from vault_tool.files.inbox import Inbox
Inbox.decide = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with Vault.open(Path(sys.argv[1]), person=True) as vault:
    vault.review(accept=[sys.argv[2]])
"""


_REFUSING = _CHILD.replace("Inbox.decide", "Inbox.discard").replace("accept=", "refuse=")


def held(root: Path, text: str = "The zebra crossed at noon.", user: str = "") -> str:
    (root / "vault.toml").write_text('write_policy = "review"\n')
    with Vault.open(root, session="s1", model="m1", user=user) as vault:
        made = vault.remember(text, ["Zoo"])
    assert made.pending_review
    return made.id


def killed(root: Path, user: str = "") -> str:
    """A memory whose acceptance was killed, by its id."""
    identity = held(root, user=user)
    run = subprocess.run([sys.executable, "-c", _CHILD, str(root), identity], check=False)
    assert run.returncode == -signal.SIGKILL and Inbox(root).notes()
    return identity


def put_back(root: Path, user: str = "") -> str:
    """A memory that was accepted, and whose draft is in the inbox again, without what was said of it."""
    identity = held(root, user=user)
    [(name, data)] = Inbox(root).notes()
    with Vault.open(root, person=True) as vault:
        vault.review(accept=[identity])
    (root / INBOX / name).write_bytes(data)
    return identity


def waits(root: Path) -> list[int]:
    """How many wait, by each door that counts."""
    with Vault.open(root, person=True) as vault:
        return [vault.status().for_review, vault.unsettled().waiting, sum(one.waiting for one in vault.people().results)]


@pytest.mark.parametrize("left", [killed, put_back])
def test_what_is_a_memory_already_is_counted_nowhere(root: Path, left: object) -> None:
    assert callable(left)
    left(root)
    assert waits(root) == [0, 0, 0]
    assert Inbox(root).notes(), "nothing was written by asking"


@pytest.mark.parametrize("left", [killed, put_back])
def test_the_next_write_takes_it_away(root: Path, left: object) -> None:
    assert callable(left)
    identity = left(root)
    with Vault.open(root, person=True) as vault:
        vault.tag(identity, add=["striped"])
        assert Inbox(root).notes() == [] and Inbox(root).decided() == {identity: "accepted"}
        assert vault.review().results == ()


def test_it_is_not_refused_and_the_memory_stays(root: Path) -> None:
    identity = killed(root)
    with Vault.open(root, person=True) as vault:
        with pytest.raises(NotFound):
            vault.review(refuse=[identity])
        assert len(vault.search("zebra").results) == 1
        assert vault.review(bin=True).results == ()
    assert Inbox(root).notes() == []


@pytest.mark.parametrize("length", [36, 8])
def test_it_is_accepted_once(root: Path, length: int) -> None:
    identity = killed(root)
    with Vault.open(root, person=True) as vault:
        vault.review(accept=[identity[:length]])
    lines = [json.loads(line) for path in (root / "vault/signals").glob("*") for line in path.read_text().splitlines()]
    assert [line["target"] for line in lines if line["kind"] == "reviewed"] == [identity]
    assert len(list((root / "vault").rglob("*zebra*.md"))) == 1


def test_a_memory_whose_head_was_changed_since_is_known_again(root: Path) -> None:
    identity = killed(root)
    [note] = (root / "vault").rglob("*zebra*.md")
    note.write_text(note.read_text().replace("\n---\n", "\naliases: [stripes]\n---\n", 1))
    assert waits(root) == [0, 0, 0]
    with Vault.open(root, person=True) as vault:
        vault.review(accept=[identity])
    assert Inbox(root).notes() == [] and "stripes" in note.read_text()


def test_another_text_of_the_same_id_waits_on(root: Path) -> None:
    killed(root)
    [(name, data)] = Inbox(root).notes()
    (root / INBOX / name).write_bytes(data.replace(b"noon", b"midnight"))
    assert waits(root)[:2] == [1, 1]
    with Vault.open(root, person=True) as vault:
        vault.remember("Something else.")
        assert [one.content for one in vault.review().results] == ["The zebra crossed at midnight."]


@pytest.mark.parametrize("left", [killed, put_back])
def test_an_export_of_somebodys_has_it_once_and_an_erasing_takes_it(left: Callable[[Path, str], str], tmp_path: Path) -> None:
    root = found_at(tmp_path / "v", git=True)
    (root / "vault.toml").write_text('write_policy = "review"\n')
    identity = left(root, "ann")
    [(name, _)] = Inbox(root).notes()
    with Vault.open(root, person=True) as vault:
        made = vault.export_user("ann", tmp_path / "out")
        assert (made.notes, made.waiting) == (1, 0)
        assert json.loads((tmp_path / "out/records.json").read_text())["waiting"] == []
        done = vault.forget_user("ann")
        assert identity in done.ids and not Inbox(root).notes()
    assert not [path for path in root.rglob(name) if path.is_file()]


def refused_and_killed(root: Path) -> str:
    """A memory whose refusal was killed before its draft was taken away."""
    identity = held(root, user="ann")
    run = subprocess.run(
        [sys.executable, "-c", _REFUSING, str(root), identity], check=False, env={**os.environ, "PYTHONPATH": str(Path.cwd())}
    )
    assert run.returncode == -signal.SIGKILL and Inbox(root).decided() == {identity: "refused"}
    return identity


def forgotten_elsewhere(root: Path) -> str:
    """A memory whose acceptance was killed, and which another machine of the owner's forgot."""
    identity = killed(root, "ann")
    for path in (root / "vault").rglob("*.md"):
        if identity in path.read_text() and "subjects" not in path.parts:
            path.unlink()
    (root / "vault/forgotten").mkdir(exist_ok=True)
    (root / "vault/forgotten" / identity).write_text("")
    git(root, "add", "--all", "vault")
    git(root, "commit", "--quiet", "-m", "forget")
    return identity


@pytest.mark.parametrize("left", [refused_and_killed, forgotten_elsewhere])
def test_what_was_refused_or_forgotten_waits_nowhere_and_is_not_given_out(left: Callable[[Path], str], tmp_path: Path) -> None:
    root = found_at(tmp_path / "v", git=True)
    identity = left(root)
    assert Inbox(root).notes()
    assert waits(root) == [0, 0, 0]
    with Vault.open(root, person=True) as vault:
        assert vault.export_user("ann", tmp_path / "out").waiting == 0
        assert b"zebra" not in b"".join(path.read_bytes() for path in (tmp_path / "out/notes").rglob("*.md"))
        vault.remember("Something else.")
        assert Inbox(root).notes() == [] and Inbox(root).decided()[identity] == "refused"
