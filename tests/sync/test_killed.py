"""A sync that is killed before any of its steps: the next one finishes it, nothing is lost, and all have the same."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.killer import runs_wanted
from tests.git_repos import git
from tests.nobody import nobodys_machine
from tests.oracles import assert_git_is_sound
from tests.sync.machines import clone_of, founded_with_hub, in_step, sync
from vault_tool import Vault

SECRET = "wintermoss"
WORDS = tuple(f"word{number}" for number in range(1, 12))
"""Words that are in some text of both machines in the end, whatever was killed."""


@pytest.fixture(scope="module")
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A hub and two clones that went apart in every way; the second has hand edits that nobody committed."""
    folder = tmp_path_factory.mktemp("apart")
    (folder / "home").mkdir()
    with nobodys_machine(folder / "home"):
        yield _apart(folder)


def _apart(folder: Path) -> Path:
    a, hub = founded_with_hub(folder)
    git(a, "remote", "set-url", "origin", "../hub.git")
    with Vault.open(a, person=True) as vault:
        secret = vault.remember(f"The safe opens by the word {SECRET} and nothing else.", ["Safe"], kind="solution").id
        problem = vault.remember("The safe is shut.", ["Safe"], kind="problem").id
        both = vault.remember("First line.\n\nSecond line.\n\nThird line.", ["Both"], tags=["base"]).id
        moved = vault.remember("A note that moves.", ["Both"]).path
        deleted = vault.remember("A note that one deletes and the other edits.", ["Both"]).path
        vault.sync()
    b = clone_of(hub, "b")
    git(b, "remote", "set-url", "origin", "../hub.git")
    with Vault.open(a, person=True) as vault:
        vault.forget(secret)
        vault.tag(both, ["word1"])
        vault.remember("New at A: word2.", ["News"])
        vault.mark_useful(both, "it helped: word3")
        _edit(a / vault.get(both).path, "First line.", "First line word4.")
        (a / deleted).unlink()
        vault.update_subject_summary("Both", "Summary word5")
        vault.sync()
    with Vault.open(b, person=True) as vault:
        vault.mark_useful(secret, f"because of {SECRET}")
        vault.link(secret, "SOLVES", problem, f"{SECRET} opens it")
        vault.tag(both, ["word6"])
        vault.remember("New at B: word7.", ["News"])
        vault.update_subject_summary("Both", "Summary word8")
        (b / "vault" / "moved").mkdir()
        (b / moved).rename(b / "vault" / "moved" / Path(moved).name)
        vault.commit()
        _edit(b / vault.get(both).path, "First line.", "First line word9.")
        _edit(b / vault.get(both).path, "Third line.", "Third line word10.")
        _edit(b / deleted, "edits", "edits word11")
    return folder


def _edit(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def _copied(apart: Path, target: Path) -> Path:
    """The three repositories at another place, as if all had been made there."""
    for name in ("hub.git", "a", "b"):
        shutil.copytree(apart / name, target / name, symlinks=True)
        (target / name / "_local" / "mark").unlink(missing_ok=True)
    return target


def _run(folder: Path, step: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.sync.killed_child", str(folder / "b"), str(step)]
    place = Path(__file__).parents[2]
    return subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)


def test_a_sync_killed_before_any_step_is_finished_and_loses_nothing(apart: Path, tmp_path: Path) -> None:
    whole = _run(_copied(apart, tmp_path / "whole"), 0)
    assert whole.returncode == 0, whole.stderr
    steps = int(whole.stdout)
    kills = runs_wanted(8)
    for number in range(kills):
        step = 1 + number * steps // kills if kills < steps else 1 + number % steps
        folder = _copied(apart, tmp_path / "killed")
        killed = _run(folder, step)
        assert killed.returncode == -signal.SIGKILL, (step, steps, killed.stdout, killed.stderr)
        words = WORDS
        if number % 2:
            # As often a write comes first.
            with Vault.open(folder / "b", person=True) as vault:
                vault.remember("Written after the kill: word12.", ["News"])
            words = (*WORDS, "word12")
        sync(folder / "b")
        in_step(folder / "a", folder / "b")
        for name in ("a", "b"):
            text = "".join(path.read_text() for path in (folder / name / "vault").rglob("*") if path.is_file())
            assert [word for word in words if word not in text] == [], (step, steps)
            assert SECRET not in text, (step, steps)
            assert not list((folder / name).rglob("*.conflict-*")), (step, steps)
        if number % 4 == 0:
            assert_git_is_sound(folder / "b")
        shutil.rmtree(folder)
    sys.stdout.write(f"{kills} kills before steps of {steps}\n")
