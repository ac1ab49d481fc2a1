"""A file with git's markers: one advice at every door, and review settles it whether or not git knows of the conflict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import head, identity, note, status, text
from tests.verbs.test_settling_merges import THEIRS, A, changed, clones, is_merged, listed, pulled
from vault_tool import Vault
from vault_tool.errors import UsageError, VaultError
from vault_tool.files.two_versions import END, OPEN, OR
from vault_tool.util.hints import bare

__all__ = ["clones"]

MARKED = "First line.\n\n<<<<<<< HEAD\nOur text.\n=======\nTheir text.\n>>>>>>> other\n\nLast line."
WITH_BASE = MARKED.replace("=======", "||||||| base\nOld text.\n=======")
OURS = "First line.\n\nOur text."


def said(vault: Vault) -> list[str]:
    """What each door that meets the note says is to be done about it."""
    hints = [problem.hint for problem in vault.doctor().problems if problem.path == A]
    hints += [problem.hint for problem in vault.commit().left]
    with pytest.raises(VaultError) as refused:
        vault.tag(identity(1), ["hives"])
    return [bare(hint) for hint in (*hints, refused.value.hint or "")]


def test_each_door_says_the_same_of_a_file_in_conflict(clones: tuple[Path, Path]) -> None:
    with Vault.open(pulled(clones, {A: note(1, OURS)}, {A: note(1, THEIRS)}), person=True) as vault:
        hints = said(vault)
        assert len(hints) >= 4
        assert all(hint.startswith("`Vault.review()` settles it: this text, that, or both") for hint in hints), hints
        assert "review" in vault.remember("Meanwhile.").reason


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize(("keep", "left"), [("this", "Our text."), ("that", "Their text.")])
def test_what_git_knows_nothing_of_is_settled_too(root: Path, committed: bool, keep: str, left: str) -> None:
    write(root, A, note(1, MARKED if committed else "First line."))
    commit_all(root, "by hand")
    write(root, A, note(1, MARKED))
    with Vault.open(root, person=True) as vault:
        hints = {bare(problem.hint) for problem in vault.doctor().problems if problem.path == A}
        assert {hint.partition(":")[0] for hint in hints} == {"`Vault.review()` settles it"}
        conflict = listed(vault)[A]
        assert "Our text." in conflict.this and "Their text." in conflict.that and not conflict.by_hand
        assert vault.settle_texts(conflict.key, keep).committed
        assert text(root, A) == note(1, f"First line.\n\n{left}\n\nLast line.") and status(root) == ""
        assert not vault.unsettled().results and vault.show(identity(1)).content == f"First line.\n\n{left}\n\nLast line."


@pytest.mark.parametrize("marked", [MARKED, WITH_BASE, MARKED.replace("\n", "\r\n")])
def test_both_are_merged_as_sync_does_it(root: Path, marked: str) -> None:
    write(root, A, note(1, marked))
    with Vault.open(root, person=True) as vault:
        vault.settle_texts(listed(vault)[A].key, "both")
        lines = text(root, A).replace("\r", "").split("\n")
        assert {OPEN, OR, END, "Our text.", "Their text."} <= set(lines) and "Old text." not in lines


def test_markers_that_another_sent_are_settled_before_the_copy_that_a_sync_kept(clones: tuple[Path, Path]) -> None:
    here, there = clones
    changed(there, {A: note(1, MARKED)})
    git(there, "push", "--quiet")
    write(here, A, note(1, "First line.\n\nShared text, of here."))
    with Vault.open(here, person=True) as vault:
        vault.sync(push=False)
        markers, copy = [conflict for conflict in vault.unsettled().results if conflict.path == A]
        assert (markers.what, copy.what) == ("merge", "copy")
        with pytest.raises(UsageError, match="settle these first"):
            vault.settle_texts(copy.key, "both")
        vault.settle_texts(markers.key, "that")
        [copy] = vault.unsettled().results
        vault.settle_texts(copy.key, "both")
        told = text(here, A)
        assert "Their text." in told and "of here" in told and "Our text." not in told


def test_a_marker_that_is_missing_leaves_the_whole_text_to_a_person(root: Path) -> None:
    write(root, A, note(1, MARKED.replace("=======\n", "")))
    with Vault.open(root, person=True) as vault:
        conflict = listed(vault)[A]
        assert "Our text." in conflict.by_hand
        for keep in ("this", "that", "both"):
            with pytest.raises(UsageError, match="missing"):
                vault.settle_texts(conflict.key, keep)
        with pytest.raises(UsageError, match="markers"):
            vault.settle_texts(conflict.key, text=conflict.by_hand)
        vault.settle_texts(conflict.key, text=note(1, "Whole."))
        assert vault.show(identity(1)).content == "Whole."


def test_a_marker_in_a_fence_of_code_stays(root: Path) -> None:
    fence = "```\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n```\n\n"
    write(root, A, note(1, fence + MARKED))
    with Vault.open(root, person=True) as vault:
        assert listed(vault)[A].this == note(1, f"{fence}First line.\n\nOur text.\n\nLast line.")


def test_markers_that_were_added_to_the_index_are_settled_and_end_the_merge(clones: tuple[Path, Path]) -> None:
    here = pulled(clones, {A: note(1, OURS)}, {A: note(1, THEIRS)})
    git(here, "add", A)
    with Vault.open(here, person=True) as vault:
        assert vault.settle_texts(listed(vault)[A].key, "that").committed
        assert is_merged(here) and git(here, "show", f"HEAD:{A}") == note(1, THEIRS).strip()


def test_markers_in_the_settings_are_settled(root: Path) -> None:
    before = text(root, "vault.toml")
    write(root, "vault.toml", f"<<<<<<< HEAD\n{before}=======\n{before}# theirs\n>>>>>>> other\n")
    with Vault.open(root, person=True) as vault:
        [problem] = [problem for problem in vault.doctor().problems if problem.path == "vault.toml"]
        assert bare(problem.hint).startswith("`Vault.review()` settles it")
        assert vault.settle_texts(listed(vault)["vault.toml"].key, "that").committed
        assert text(root, "vault.toml") == f"{before}# theirs\n"
        assert not [problem for problem in vault.doctor().problems if problem.path == "vault.toml"]


@pytest.mark.parametrize("side", ["here", "there"])
def test_a_settled_file_can_be_run_as_before(clones: tuple[Path, Path], side: str) -> None:
    here, there = clones
    (here if side == "here" else there).joinpath(A).chmod(0o755)
    pulled(clones, {A: note(1, OURS)}, {A: note(1, THEIRS)})
    with Vault.open(here, person=True) as vault:
        assert vault.settle_texts(listed(vault)[A].key, "both").committed
        assert git(here, "ls-tree", head(here), A).startswith("100755") and status(here) == ""
        assert (here / A).stat().st_mode & 0o111
