"""A day with so much in it that its log goes on in another file: nothing of it is told otherwise for that."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.git_repos import git
from tests.oracles import assert_as_built_anew, errors_of
from tests.verbs.looking import START, TODAY, identity, in_commit
from vault_tool import Vault
from vault_tool.files.episode_text import episode_problems
from vault_tool.files.journals import FULL, append_signals
from vault_tool.files.layout import file_kind
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

SECRETIVE = "Ottoline keeps the spare key beneath the third geranium.\n\nShe told nobody else of the geranium at all."
LONG = "lorem ipsum " * (FULL // 48 + 1)  # four of them fill a log


def logs(root: Path) -> list[Path]:
    """The files of the day's log, in the order of their names."""
    return sorted((root / "vault/episodes").glob(f"{TODAY}.*.md"))


def fill(vault: Vault, name: str) -> None:
    """Tell the day's log as much as one file of it takes."""
    for number in range(4):
        vault.episode(f"{name} {number}", LONG)


def titles(vault: Vault) -> list[str]:
    return [entry.title for entry in vault.activity(TODAY, limit=1000).logged]


def test_a_log_that_is_full_goes_on_in_another_file_behind_it(vault: Vault, root: Path) -> None:
    told = ["before"]
    vault.episode("before")
    for name in ("a", "b", "c", "d", "e"):
        cited = {title: number for number, title in enumerate(titles(vault), 1)}
        fill(vault, name)
        told += [f"{name} {number}" for number in range(4)]
        # Evidence cites an entry by its number in the whole day: what is added later changes no number.
        assert {title: number for number, title in enumerate(titles(vault), 1) if title in cited} == cited
    assert titles(vault) == told
    assert len(logs(root)) == 5
    assert all(path.stat().st_size < FULL + len(LONG) + 200 for path in logs(root))
    made = vault.remember("It was so.", evidence=[f"episode:{TODAY}#21"])
    assert not made.warnings and vault.show(made.id).evidence[0].state == "holds"
    assert_as_built_anew(root, ["before"], FixedClock(START))


@pytest.mark.in_git
def test_each_write_commits_the_log_that_it_was_told_to(vault: Vault, root: Path) -> None:
    fill(vault, "a")
    before = logs(root)
    vault.episode("the next")
    after = logs(root)
    assert len(after) == len(before) + 1 and in_commit(root) == {after[-1].relative_to(root).as_posix(): "A"}
    made = vault.remember("A memory of that day.")
    assert in_commit(root) == {made.path: "A", after[-1].relative_to(root).as_posix(): "M"}
    assert git(root, "status", "--porcelain") == ""


def test_a_month_of_signals_that_is_full_goes_on_in_another_file(vault: Vault, root: Path) -> None:
    made = vault.remember("The beam is of oak.").id
    earlier = [
        Signal(id=identity(number), at=START.isoformat(), target=made, kind=SignalKind.USEFUL, rationale="It bore. " * 200)
        for number in range(1 + FULL // 1800)
    ]
    append_signals(root, vault.local, earlier)
    vault.mark_useful(made, "It bore.")
    vault.mark_useful(made, "It bore again.")
    found = sorted((root / "vault/signals").iterdir())
    assert len(found) == 2 and min(path.stat().st_size for path in found) < FULL <= max(path.stat().st_size for path in found)
    assert len(vault.index.catalog.signals(made)) == len(earlier) + 2
    assert_as_built_anew(root, ["beam"], FixedClock(START))


def test_what_is_forgotten_goes_from_older_logs_of_ones_own(root: Path) -> None:
    with Vault.open(root, person=True, clock=FixedClock(START)) as vault:
        made = vault.remember(SECRETIVE, ["Garden"], kind="fact")
        vault.mark_useful(made.id, "Ottoline confirmed that the geranium is the third.")
        first = logs(root)[0]
        assert b"geranium" in first.read_bytes()
        fill(vault, "a")
        vault.episode("after")
        assert len(logs(root)) == 2
        vault.forget(made.id)
        assert not [path for path in (root / "vault").rglob("*") if path.is_file() and b"eranium" in path.read_bytes()]
        assert titles(vault)[:2] == ["forgotten", "a 0"]
        vault.remember("Written after.")
        assert len(logs(root)) == 2, "the log that was in use goes on"


@pytest.mark.in_git
def test_what_is_purged_goes_from_older_logs_in_the_history(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        made = vault.remember(SECRETIVE, ["Garden"], kind="fact")
        fill(vault, "a")
        vault.episode("after")
        vault.purge([made.id])
        vault.remember("Written after.")
    said = subprocess.run(("git", "cat-file", "--batch-all-objects", "--batch"), cwd=root, capture_output=True, check=True).stdout
    assert b"geranium" not in said and b"Written after" in said
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.in_git
def test_what_was_logged_before_is_undone_all_the_same(root: Path) -> None:
    with Vault.open(root, person=True, clock=FixedClock(START)) as vault:
        made = vault.remember("The beam is of oak.")
        marked = vault.mark_useful(made.id, "It bore.")
        other = vault.remember("The floor is of pine.")
        fill(vault, "a")
        vault.episode("after")
        assert marked.commit and other.commit
        vault.undo(marked.commit)
        vault.undo(other.commit)
        assert [one.id for one in vault.search("beam floor").results] == [made.id]
        belief = vault.show(made.id, belief=True).belief
        assert belief is not None and not belief.useful
        assert git(root, "status", "--porcelain") == ""


def test_what_is_wrong_in_a_log_is_found_in_what_it_grew_by(vault: Vault, root: Path) -> None:
    vault.episode("before")
    (log,) = logs(root)
    where = log.relative_to(root).as_posix()
    for added in (
        "## by hand\n",
        "\n## 10:07 - well\n- said\n## 25:00 - late\n",
        "## torn",
        " at its end\n## 10:09 - well again\n",
    ):
        with log.open("a") as file:
            file.write(added)
        vault.fresh()
        known = sorted((one for one in vault.index.catalog.problems() if one.path == where), key=lambda one: (one.line, one.code))
        assert known == sorted(episode_problems(where, log.read_bytes()), key=lambda one: (one.line, one.code))
    assert [one.line for one in episode_problems(where, log.read_bytes())] == [4, 8, 9]


_WRITES = """
import sys
from datetime import datetime
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
with Vault.open(sys.argv[1], session=sys.argv[2], clock=FixedClock(datetime.fromisoformat(sys.argv[3]))) as vault:
    for number in range(12):
        vault.episode(f"{sys.argv[2]} {number}", "lorem ipsum " * 900)
"""


@pytest.mark.in_git
def test_two_processes_fill_the_log_of_one_folder(root: Path) -> None:
    both = [subprocess.Popen([sys.executable, "-c", _WRITES, str(root), name, START.isoformat()]) for name in ("a", "b")]
    assert [one.wait(timeout=120) for one in both] == [0, 0]
    with Vault.open(root, clock=FixedClock(START)) as vault:
        found = titles(vault)
        assert sorted(found) == sorted(f"{name} {number}" for name in "ab" for number in range(12))
        for name in "ab":
            assert [title for title in found if title[0] == name] == [f"{name} {number}" for number in range(12)]
        assert list(errors_of(vault)) == []
    assert len(logs(root)) > 2
    assert git(root, "status", "--porcelain") == ""


@pytest.mark.in_git
def test_two_clones_fill_their_logs_and_meet_without_a_conflict(root: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "--quiet", str(root), str(other))
    for where, name in ((root, "a"), (other, "b")):
        with Vault.open(where, clock=FixedClock(START)) as vault:
            fill(vault, name)
            vault.episode(f"{name} after")
    git(root, "pull", "--quiet", "--no-edit", "--no-rebase", str(other), "HEAD")
    with Vault.open(root, clock=FixedClock(START)) as vault:
        assert sorted(titles(vault)) == sorted(f"{name} {number}" for name in "ab" for number in (0, 1, 2, 3, "after"))
        vault.episode("a at last")
        assert titles(vault).count("a at last") == 1
    assert len(logs(root)) == 4 and all(file_kind(path.relative_to(root).as_posix()) for path in logs(root))
    assert not list(root.rglob("*.conflict-*"))
