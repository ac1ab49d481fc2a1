"""CORE.md is made anew by the first write of a day that finds it of an earlier one, and told of while it is behind."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import git
from tests.verbs.looking import in_commit, text, untouched
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
from vault_tool.vault import page_at_start as at_start

pytestmark = pytest.mark.in_git


def day(root: Path) -> str:
    return text(root, "CORE.md").partition("> Last updated: ")[2][:10]


def test_the_first_write_of_a_day_makes_it_in_its_own_commit(vault: Vault, root: Path, clock: FixedClock) -> None:
    vault.remember("Use redis.", kind="preference")
    assert "CORE.md" not in in_commit(root) and "Use redis" not in text(root, "CORE.md")
    clock.advance(timedelta(days=1))
    vault.remember("Use postgres.", kind="decision")
    assert in_commit(root)["CORE.md"] == "M"
    assert "Use redis" in text(root, "CORE.md") and "Use postgres" in text(root, "CORE.md")
    assert day(root) == "2026-11-21" and git(root, "status", "--porcelain") == ""
    vault.remember("Use sqlite.", kind="decision")
    assert "CORE.md" not in in_commit(root) and "Use sqlite" not in text(root, "CORE.md")
    with untouched(root):
        again = Vault.open(root, clock=clock).core(preview=True)
    assert "Use sqlite" in again.text
    page = vault.core()
    assert page.changed and page.text == text(root, "CORE.md")


@pytest.mark.parametrize("write", ["judge", "understand", "edit"])
def test_any_write_does(vault: Vault, root: Path, clock: FixedClock, write: str) -> None:
    made = vault.remember("Use redis.", ["Redis"], kind="preference")
    clock.advance(timedelta(days=2))
    if write == "judge":
        vault.mark_useful(made.id)
    elif write == "understand":
        vault.create_understanding(["Redis"], "It is used.", "It is used.")
    else:
        vault.add_alias("Redis", "Store")
    assert day(root) == "2026-11-22" and "Use redis" in text(root, "CORE.md")
    assert git(root, "status", "--porcelain") == ""


def test_it_is_not_made_in_the_middle_of_a_merge(vault: Vault, root: Path, clock: FixedClock) -> None:
    (root / ".git" / "MERGE_HEAD").write_text(git(root, "rev-parse", "HEAD") + "\n")
    clock.advance(timedelta(days=1))
    before = text(root, "CORE.md")
    vault.remember("Use redis.", kind="preference")
    assert text(root, "CORE.md") == before


def test_without_the_file_none_is_made(vault: Vault, root: Path, clock: FixedClock) -> None:
    (root / "CORE.md").unlink()
    git(root, "commit", "-qam", "no page")
    clock.advance(timedelta(days=1))
    vault.remember("Use redis.", kind="preference")
    assert not (root / "CORE.md").exists()


def test_a_large_vault_has_it_by_the_choice_that_is_kept(
    vault: Vault, root: Path, clock: FixedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.add_observations([{"content": f"Fact {n}.", "kind": "fact", "subject_names": ["Lab"]} for n in range(300)])
    monkeypatch.setattr(at_start, "SMALL", 10)
    clock.advance(timedelta(days=1))
    vault.remember("Use redis.", kind="preference")
    assert day(root) == "2026-11-20", "no choice is kept"
    at_start.keep_choice(vault)
    vault.remember("Use postgres.", kind="preference")
    assert day(root) == "2026-11-21" and "Use postgres" in text(root, "CORE.md")
    made = text(root, "CORE.md")
    with untouched(root):
        assert not vault.core().changed
    assert made == text(root, "CORE.md")


def test_it_is_told_by_how_much_it_is_behind(vault: Vault, root: Path, clock: FixedClock) -> None:
    vault.core()
    assert (vault.status().core_memories, vault.status().core_days) == (0, 0)
    for n in range(3):
        vault.remember(f"Fact {n}.", kind="fact")
    clock.advance(timedelta(days=4))
    found = vault.status()
    assert (found.core_memories, found.core_days) == (3, 4)
    [problem] = [one for one in vault.doctor().problems if one.code == "core-behind"]
    assert problem.message.startswith("3 memories and 4 days behind") and problem.path == "CORE.md"
    vault.core()
    assert vault.status().core_memories == 0
    assert not [one for one in vault.doctor().problems if one.code == "core-behind"]


def test_a_limit_of_lines_is_warned_of(vault: Vault, root: Path) -> None:
    (root / "vault.toml").write_text("core_budget = 9000\ncore_section_limit = 7\n")
    with Vault.open(root, clock=vault.clock) as again:
        [problem] = [one for one in again.doctor().problems if one.code == "without-effect"]
        assert (problem.line, problem.path) == (2, "vault.toml") and "core_section_limit" in problem.message
        assert again.settings.core_budget == 9000
