"""Whatever git is in the middle of: the note is saved, the result says why it waits, and nothing of a person's is taken."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from tests.git_repos import add_hook, commit_all, git, write
from tests.oracles import assert_as_built_anew, assert_git_is_sound, fingerprints
from vault_tool import Vault
from vault_tool.vault.operation import Saved


def impatient(root: Path) -> None:
    """Let the vault wait for locks for a moment only."""
    settings = root / "vault.toml"
    settings.write_text(f"lock_wait = 0.3\n{settings.read_text()}")
    git(root, "commit", "--quiet", "--all", "-m", "settings")


def remember(root: Path, text: str) -> Saved:
    with Vault.open(root) as vault:
        return vault.remember(text, ["Weather"])


def lock_index(root: Path) -> None:
    (root / ".git" / "index.lock").write_bytes(b"")


def unlock_index(root: Path) -> None:
    (root / ".git" / "index.lock").unlink()


def begin_rebase(root: Path) -> None:
    """A rebase that stops in a conflict outside the notes."""
    write(root, "README.md", "one\n")
    commit_all(root, "one")
    git(root, "checkout", "--quiet", "-b", "side", "HEAD~1")
    write(root, "README.md", "two\n")
    commit_all(root, "two")
    git(root, "rebase", "--quiet", "-", ok=False)


def detach(root: Path) -> None:
    git(root, "checkout", "--quiet", "--detach")


def attach(root: Path) -> None:
    git(root, "checkout", "--quiet", "-")


def add_failing_hook(root: Path) -> None:
    add_hook(root, "pre-commit", "echo not today >&2; exit 1")


def drop_hook(root: Path) -> None:
    (root / ".git" / "hooks" / "pre-commit").unlink()


WEATHER: dict[str, tuple[Callable[[Path], object], Callable[[Path], object], str]] = {
    "index locked": (lock_index, unlock_index, "index.lock"),
    "rebase": (begin_rebase, lambda root: git(root, "rebase", "--abort"), "rebase"),
    "detached": (detach, attach, "detached"),
    "failing hook": (add_failing_hook, drop_hook, "not today"),
}


@pytest.mark.parametrize("weather", WEATHER)
def test_what_cannot_be_committed_is_saved_and_waits(root: Path, weather: str) -> None:
    impatient(root)
    begin, end, reason = WEATHER[weather]
    remember(root, "In good weather.")
    begin(root)
    head = git(root, "rev-parse", "HEAD")
    lock = root / ".git" / "index.lock"
    locked = lock.exists()
    saved = [remember(root, "In bad weather."), remember(root, "And once more.")]
    for one in saved:
        assert not one.committed and one.attention
        assert reason in one.reason and "\n" not in one.reason and len(one.reason) <= 400
    assert lock.exists() is locked
    assert git(root, "rev-parse", "HEAD") == head
    with Vault.open(root) as vault:
        assert len(vault.search("weather").results) >= 2
        assert len(vault.local.pending()) == 2
        assert vault.status().git.waiting == 2
    end(root)
    assert remember(root, "In good weather again.").committed
    subjects = git(root, "log", "--format=%s", "-3").splitlines()
    assert subjects == [f"remember: {title}" for title in ("In good weather again", "And once more", "In bad weather")]
    with Vault.open(root) as vault:
        assert vault.local.pending() == ()
    assert git(root, "status", "--porcelain") == ""
    assert_git_is_sound(root)


def test_a_lock_that_a_killed_git_left_is_named_with_its_age(root: Path) -> None:
    impatient(root)
    lock_index(root)
    old = time.time() - 7200
    os.utime(root / ".git" / "index.lock", (old, old))
    saved = remember(root, "Behind an old lock.")
    assert "rm " in saved.reason and "index.lock" in saved.reason and re.search(r"\b72\d\d s\b", saved.reason), saved.reason
    assert (root / ".git" / "index.lock").exists()


def test_other_staged_and_edited_work_is_left_as_it_was(root: Path) -> None:
    first = remember(root, "A note to edit.")
    write(root, "src/other.py", "print('mine')\n")
    git(root, "add", "src/other.py")
    write(root, "notes.txt", "untracked\n")
    note = next(root.glob("vault/observations/*/*/*.md"))
    note.write_text(f"{note.read_text()}Edited by hand.\n")
    write(root, "vault/staged.md", "A page that is staged.\n")
    git(root, "add", "vault/staged.md")
    before = git(root, "status", "--porcelain", "--untracked-files=all")
    saved = remember(root, "Something else.")
    assert first.committed and saved.committed
    assert git(root, "status", "--porcelain", "--untracked-files=all") == before
    names = git(root, "show", "--format=", "--name-only", "HEAD").splitlines()
    assert all(name.startswith(("vault/observations/", "vault/episodes/")) for name in names) and len(names) == 2


def test_a_switch_of_branches_is_followed_exactly(root: Path) -> None:
    remember(root, "On both branches.")
    git(root, "checkout", "--quiet", "-b", "side")
    with Vault.open(root) as vault:
        for number in range(8):
            vault.remember(f"Only on the side, {number}.", [f"Side {number}"])
        git(root, "checkout", "--quiet", "-")
        assert [found.title for found in vault.search("side").results] == []
        vault.remember("Only on the main branch.", ["Weather"])
        assert vault.search("side").freshness.held_back == ""
        git(root, "checkout", "--quiet", "side")
        assert len(vault.search("only side", 30).results) >= 8
        assert not any("main branch" in found.title for found in vault.search("branch").results)
        vault.remember("Back on the side.", ["Weather"])
    assert len(list((root / "vault" / "episodes").glob("*.md"))) <= 2
    git(root, "checkout", "--quiet", "-")
    git(root, "merge", "--quiet", "--no-edit", "side")
    assert_as_built_anew(root, ["side", "branch", "main"])
    assert_git_is_sound(root)


def test_what_is_so_already_writes_nothing(root: Path) -> None:
    with Vault.open(root, origin="owner") as vault:
        memory = vault.remember("Pinned once.", ["Weather"]).id
        vault.pin(memory)
        before = {path: (root / path).stat().st_mtime_ns for path in fingerprints(root)}
        head = git(root, "rev-parse", "HEAD")
        assert not vault.pin(memory).changed
        assert vault.remember("Pinned once.", ["Weather"]).duplicate_of == memory
        assert not vault.core().changed or vault.core().commit is None
        assert vault.edit(memory, lambda path: None).changed is False
        assert {path: (root / path).stat().st_mtime_ns for path in fingerprints(root)} == before
    assert git(root, "rev-list", "--count", f"{head}..HEAD", "--", "vault") == "0"


def test_an_editor_that_saves_in_the_middle_of_a_verb_keeps_its_text(root: Path) -> None:
    with Vault.open(root) as vault:
        made = vault.remember("A note that two write.", ["Weather"])
        note = root / made.path
        saves = iter(range(100))

        def save(frame: FrameType, event: str, result: object) -> None:
            if event == "call" and frame.f_code.co_qualname == "edit" and frame.f_globals["__name__"].endswith("files.writer"):
                note.write_text(f"{note.read_text()}Saved {next(saves)}.\n")

        sys.setprofile(save)
        try:
            pinned = vault.pin(made.id)
        finally:
            sys.setprofile(None)
        assert pinned.committed and "pinned: true" in note.read_text() and "Saved 0." in note.read_text()
        assert "Saved 0." in vault.show(made.id).content
    assert not list(root.rglob("*.conflict-*"))


def test_a_mode_and_a_link_inside_the_vault_are_kept(root: Path) -> None:
    with Vault.open(root) as vault:
        made = vault.remember("A private note.", ["Weather"])
        note = root / made.path
        note.chmod(0o600)
        vault.pin(made.id)
        assert note.stat().st_mode & 0o777 == 0o600
        assert b"pinned: true" in note.read_bytes()


def test_hand_edits_are_gathered_and_the_unfit_left(root: Path) -> None:
    with Vault.open(root) as vault:
        good, bad = (vault.remember(f"Note {word}.") for word in ("good", "bad"))
        for one, ending in ((good, "Edited.\n"), (bad, "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side\n")):
            note = root / one.path
            note.write_text(f"{note.read_text()}{ending}")
        gathered = vault.commit()
        assert gathered.paths == (good.path,) and {one.path for one in gathered.left} == {bad.path}
        assert gathered.attention
        assert git(root, "status", "--porcelain") == f" M {bad.path}"
        assert vault.show(bad.id).stale and vault.show(bad.id).content == "Note bad."
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "with markers")
    with Vault.open(root) as vault:
        named = [one for one in vault.doctor().problems if one.path == bad.path]
        assert named and all(one.line > 0 for one in named)
        assert vault.search("good").results


def test_a_note_that_git_moved_is_gathered_with_both_its_names(root: Path) -> None:
    with Vault.open(root) as vault:
        made = vault.remember("A note that moves.")
        git(root, "mv", made.path, "vault/moved.md")
        gathered = vault.commit()
        assert gathered.committed and "vault/moved.md" in gathered.paths
        assert git(root, "status", "--porcelain") == ""
        assert vault.show(made.id).path == "vault/moved.md"
