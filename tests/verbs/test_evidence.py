"""Whether what a memory rests on still stands, in a vault that is a folder of the code that it speaks of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repos import git
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
from vault_tool.vault.evidence_state import MOST_CHECKED, EvidenceState, check_references, moved_among

S = EvidenceState
CODE = "one\ntwo\nthree\nfour\nfive\n"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    """A code repository with one file."""
    top = tmp_path / "code"
    (top / "src").mkdir(parents=True)
    (top / "src" / "x.py").write_text(CODE)
    git(top, "init", "-q")
    git(top, "add", ".")
    git(top, "commit", "-qm", "code")
    return top


@pytest.fixture
def inside(code: Path, founded: Path, clock: FixedClock) -> Iterator[Vault]:
    """A vault that is a folder of it."""
    shutil.copytree(founded, code / "memory", ignore=shutil.ignore_patterns(".git", "_*"))
    with Vault.open(code / "memory", clock=clock) as opened:
        yield opened


def states(vault: Vault, *references: str) -> list[EvidenceState]:
    vault.fresh()
    return [one.state for one in check_references(vault, references)]


def detail(vault: Vault, reference: str) -> str:
    vault.fresh()
    return check_references(vault, [reference])[0].detail


def test_a_file_holds_until_it_changes(inside: Vault, code: Path) -> None:
    tip = git(code, "rev-parse", "--short", "HEAD")
    whole, middle = f"file:src/x.py@{tip}", f"file:src/x.py#L2-L3@{tip}"
    assert states(inside, whole, middle) == [S.HOLDS, S.HOLDS]
    (code / "src" / "x.py").write_text("zero\n" + CODE)
    assert states(inside, whole, middle) == [S.MOVED, S.HOLDS]
    assert detail(inside, middle) == "now L3-L4"
    (code / "src" / "x.py").write_text(CODE.replace("two", "2"))
    assert states(inside, whole, middle) == [S.MOVED, S.MOVED]
    (code / "src" / "x.py").write_bytes(CODE.replace("\n", "\r\n").encode())
    assert states(inside, whole, middle) == [S.HOLDS, S.HOLDS]
    (code / "src" / "x.py").unlink()
    assert states(inside, whole, middle) == [S.MOVED, S.MOVED]


def test_a_file_without_a_commit_is_there_or_missing(inside: Vault) -> None:
    assert states(inside, "file:src/x.py", "file:src/y.py", "file:src") == [S.UNCHECKED, S.MISSING, S.UNCHECKED]


def test_what_cannot_be_known_is_unchecked_and_says_why(inside: Vault, code: Path) -> None:
    tip = git(code, "rev-parse", "HEAD")
    assert states(inside, "file:src/x.py@0123456", f"file:src/y.py@{tip}", f"file:src/x.py#L4-L9@{tip}") == [S.UNCHECKED] * 3
    assert "not a commit" in detail(inside, "file:src/x.py@0123456")
    assert "no such file" in detail(inside, f"file:src/y.py@{tip}")
    assert "had 5 lines" in detail(inside, f"file:src/x.py#L4-L9@{tip}")
    assert states(inside, "test:test_x", "url:https://example.org", "session:turn_1") == [S.UNCHECKED] * 3


def test_nothing_outside_of_the_work_tree_is_opened(inside: Vault, code: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s")
    (code / "link").symlink_to(secret)
    (code / "pipe-dir").symlink_to(tmp_path)
    os.mkfifo(code / "pipe")
    assert states(inside, "file:link", "file:pipe-dir/secret", "file:pipe") == [S.UNCHECKED] * 3
    assert "leads out" in detail(inside, "file:link")
    assert states(inside, "file:../secret", "file:.git/config") == [S.MALFORMED, S.UNCHECKED]


def test_commits_memories_and_entries_of_the_log(inside: Vault, code: Path) -> None:
    made = inside.remember("One.")
    tip = git(code, "rev-parse", "HEAD")
    assert states(inside, f"commit:{tip}", "commit:0123456") == [S.HOLDS, S.UNCHECKED]
    assert states(inside, f"memory:{made.id[:8]}", "memory:ffff0000ffff") == [S.HOLDS, S.MISSING]
    assert states(inside, "episode:2026-11-20#10:00", "episode:2026-11-20", "episode:2026-11-20#10:01") == [
        S.HOLDS,
        S.HOLDS,
        S.MISSING,
    ]


def test_a_memory_says_that_its_evidence_moved(inside: Vault, code: Path) -> None:
    tip = git(code, "rev-parse", "--short", "HEAD")
    made = inside.remember("x is short.", evidence=[f"file:src/x.py@{tip}", "just so"])
    assert not inside.get(made.id).evidence_moved
    (code / "src" / "x.py").write_text("")
    shown = inside.show(made.id)
    assert shown.evidence_moved
    assert [one.state for one in shown.evidence] == [S.MOVED, S.MALFORMED]
    assert moved_among(inside, {made.id: (f"file:src/x.py@{tip}",), "other": ("test:x",)}) == {made.id}


def test_a_file_is_pinned_to_head_when_it_is_written(inside: Vault, code: Path) -> None:
    tip = git(code, "rev-parse", "HEAD")[:12]
    (code / "src" / "new.py").write_text("not committed\n")
    given = ["file:src/x.py#L2-L3", f"file:src/x.py@{tip[:7]}", "file:src/new.py", "file:src/gone.py", "test:x"]
    saved = inside.remember("the second line is two", evidence=given)
    kept = inside.get(saved.id).evidence
    assert [one.reference for one in kept] == [f"file:src/x.py#L2-L3@{tip}", *given[1:]]
    assert [one.state for one in kept] == [S.HOLDS, S.HOLDS, S.UNCHECKED, S.MISSING, S.UNCHECKED]
    (code / "src" / "x.py").write_text(CODE.replace("two", "2"))
    assert inside.get(saved.id).evidence_moved


def test_what_head_holds_otherwise_is_not_pinned(inside: Vault, code: Path) -> None:
    (code / "src" / "x.py").write_text(CODE.replace("two", "2"))
    saved = inside.remember("the second line is 2", evidence=["file:src/x.py#L2", "file:src/x.py#L4"])
    kept = inside.get(saved.id).evidence
    assert kept[0].reference == "file:src/x.py#L2" and kept[1].reference.startswith("file:src/x.py#L4@")
    assert not inside.get(saved.id).evidence_moved


def test_files_at_many_commits_are_all_looked_at(inside: Vault, code: Path) -> None:
    tips = []
    for number in range(9):
        (code / "src" / f"{number}.py").write_text(f"{number}\n")
        git(code, "add", "."), git(code, "commit", "-qm", str(number))
        tips.append(git(code, "rev-parse", "HEAD"))
    (code / "src" / "8.py").write_text("otherwise\n")
    inside.fresh()
    given = {str(number): [f"file:src/{number}.py@{tip}"] for number, tip in enumerate(tips)}
    assert moved_among(inside, given) == {"8"}


def test_too_many_references_are_not_followed(inside: Vault) -> None:
    found = states(inside, *(f"file:src/{n}.py" for n in range(MOST_CHECKED + 2)))
    assert found == [S.MISSING] * MOST_CHECKED + [S.UNCHECKED] * 2


def test_without_git_nothing_is_claimed(founded: Path, tmp_path: Path, clock: FixedClock) -> None:
    shutil.copytree(founded, tmp_path / "bare", ignore=shutil.ignore_patterns(".git", "_*"))
    with Vault.open(tmp_path / "bare", clock=clock) as vault:
        assert states(vault, "file:vault.toml@0123456", "commit:0123456") == [S.UNCHECKED] * 2


def test_an_entry_of_the_log_is_cited_by_its_number_where_its_minute_has_several(vault: Vault) -> None:
    vault.episode("Tried a larger pool")
    vault.episode("Tried keepalive")
    day = vault.now()[:10]
    one, both, second, none = check_references(vault, [f"episode:{day}#{part}" for part in ("1", vault.now()[11:16], "2", "9")])
    assert [one.state, second.state, none.state] == [EvidenceState.HOLDS, EvidenceState.HOLDS, EvidenceState.MISSING]
    assert (both.state, both.detail) == (EvidenceState.UNCHECKED, "2 entries are of that minute: #1, #2")
