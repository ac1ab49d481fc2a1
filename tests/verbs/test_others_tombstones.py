"""Tombstones that somebody else's commit brought: what they count for, what the owner is told and asked, and what they decide."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.oracles import assert_as_built_anew
from tests.verbs.looking import identity, note
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import NotFound
from vault_tool.files.tombstones import tombstone
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

OWN = "vault/kettle.md"


@pytest.fixture
def other(root: Path) -> Path:
    """Bob's clone of the owner's vault, in which the owner's memory of the kettle is."""
    write(root, OWN, note(1, "The kettle is descaled in May.", title="Kettle"))
    commit_all(root, "ours")
    return clone(root, "bob")


def clone(root: Path, name: str) -> Path:
    """A clone by somebody who is called so."""
    made = root.parent / name
    git(root.parent, "clone", "--quiet", str(root), str(made))
    return made


def commits(folder: Path, name: str, message: str = "notes") -> str:
    """Commit all that lies in a clone, as somebody."""
    git(folder, "add", "--all")
    who = ("-c", f"user.name={name}", "-c", f"user.email={name.lower()}@example.org")
    git(folder, *who, "commit", "--quiet", "--allow-empty", f"--author={name} <{name.lower()}@example.org>", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def pull(root: Path, other: Path) -> None:
    """The owner pulls."""
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "HEAD")


def bury(folder: Path, number: int, text: str = "") -> None:
    """Put a tombstone of a memory, as a file and no more."""
    write(folder, tombstone(identity(number)), text)


def told(root: Path, clock: FixedClock, words: str = "kettle") -> set[str]:
    """By which doors a memory is told; and a catalogue built anew tells the same."""
    found = set()
    with Vault.open(root, clock=clock) as vault:
        if vault.search(words).results:
            found.add("search")
        try:
            vault.get(identity(1))
            found.add("get")
        except NotFound:
            pass
        if words.lower() in str(answer(vault, "recall", {"query": words}, Caller()).get("results")).lower():
            found.add("recall")
    return found


def findings(root: Path, clock: FixedClock, code: str) -> list[str]:
    """What doctor says under a code, message and hint."""
    with Vault.open(root, clock=clock, person=True) as vault:
        return [f"{one.path}: {one.message}; {one.hint}" for one in vault.doctor().problems if one.code == code]


def waits(root: Path, clock: FixedClock) -> list[tuple[str, str]]:
    """What waits for the owner, by what it is and its id."""
    with Vault.open(root, clock=clock, person=True) as vault:
        found = [(str(one.what), one.id) for one in vault.review().results]
        assert vault.status().for_review == len(found)
    return found


EVERYWHERE = {"search", "get", "recall"}


@pytest.mark.parametrize("text", ["", "confirmed\n", "confirmed 2026-11-25\n"])
def test_anothers_tombstone_hides_nothing_of_the_owners(root: Path, other: Path, clock: FixedClock, text: str) -> None:
    bury(other, 1, text)
    commit = commits(other, "Bob")
    with Vault.open(root, clock=clock) as vault:
        vault.fresh()
    pull(root, other)
    assert told(root, clock) == EVERYWHERE
    (said,) = findings(root, clock, "tombstone-waits")
    assert said.startswith(f"{tombstone(identity(1))}: Bob <bob@example.org> (commit {commit[:10]}) had forgotten `Kettle`")
    assert f"vt review --refuse {identity(1)[:6]}" in typed(said)
    assert findings(root, clock, "forgotten") == []
    assert waits(root, clock) == [("tombstone", identity(1))]
    assert_as_built_anew(root, clock=clock)
    shutil.rmtree(root / "_cache")
    assert told(root, clock) == EVERYWHERE


@pytest.mark.parametrize("text", ["", "confirmed\n"])
def test_the_owners_yes_makes_it_count(root: Path, other: Path, clock: FixedClock, text: str) -> None:
    bury(other, 1, text)
    commits(other, "Bob")
    pull(root, other)
    with Vault.open(root, clock=clock, person=True) as vault:
        done = vault.review(accept=[identity(1)[:8]])
        assert [one.id for one in done.accepted] == [identity(1)]
        assert not any(one.what == "tombstone" for one in done.results)
    assert told(root, clock) == set()
    assert (root / tombstone(identity(1))).read_text().startswith("confirmed")
    assert git(root, "status", "--porcelain", "--", "vault") == ""
    assert not (root / OWN).exists()
    assert findings(root, clock, "tombstone-waits") == []
    # It does not come back, and the clone that brought the tombstone sees whose it is now.
    write(root, OWN, note(1, "The kettle is descaled in May."))
    assert told(root, clock) == set()
    assert_as_built_anew(root, clock=clock)


def test_the_owners_no_takes_it_away(root: Path, other: Path, clock: FixedClock) -> None:
    bury(other, 1)
    commits(other, "Bob")
    pull(root, other)
    with Vault.open(root, clock=clock, person=True) as vault:
        assert vault.review(refuse=[identity(1)]).refused == (identity(1),)
    assert not (root / tombstone(identity(1))).exists()
    assert git(root, "status", "--porcelain", "--", "vault") == ""
    assert told(root, clock) == EVERYWHERE and waits(root, clock) == []
    # Put back by the same person it waits again, and hides nothing.
    pull(other, root)
    bury(other, 1)
    commits(other, "Bob")
    pull(root, other)
    assert told(root, clock) == EVERYWHERE and waits(root, clock) == [("tombstone", identity(1))]


def test_everything_that_waits_is_not_yes_to_a_tombstone(root: Path, other: Path, clock: FixedClock) -> None:
    bury(other, 1)
    commits(other, "Bob")
    pull(root, other)
    with Vault.open(root, clock=clock, person=True) as vault:
        vault.review(everything=True)
    assert told(root, clock) == EVERYWHERE and waits(root, clock) == [("tombstone", identity(1))]


def test_it_counts_for_what_its_author_brought(root: Path, other: Path, clock: FixedClock) -> None:
    write(other, "vault/bob.md", note(2, "Bob's teapot is blue.", title="Teapot"))
    write(other, "vault/bob3.md", note(3, "Bob's saucer is green.", title="Saucer"))
    commits(other, "Bob")
    carol = clone(root, "carol")
    pull(root, other)
    assert told(root, clock, "teapot") == {*EVERYWHERE}
    bury(other, 2)
    commits(other, "Bob", "forgotten")
    pull(root, other)
    assert "search" not in told(root, clock, "teapot") and waits(root, clock) == []
    # Carol's, of Bob's saucer: it waits as well, and names both.
    bury(carol, 3)
    commits(carol, "Carol")
    pull(root, carol)
    assert "search" in told(root, clock, "saucer")
    (said,) = findings(root, clock, "tombstone-waits")
    assert "Carol" in said and "which is by Bob <bob@example.org>" in said
    assert_as_built_anew(root, clock=clock)


@pytest.mark.parametrize("how", ["before", "at once", "moved", "moved before", "twice"])
def test_who_changes_a_word_first_hides_it_no_more(root: Path, other: Path, clock: FixedClock, how: str) -> None:
    """The words are the forger's then; the memory is the owner's for all that."""
    path = OWN
    if how == "moved before":
        git(other, "mv", OWN, path := "vault/moved.md")
        commits(other, "Bob", "moved")
    elif how == "moved":
        git(other, "mv", OWN, path := "vault/moved.md")
    write(other, path, note(1, "The kettle is descaled in June, and never else than then or later.", title="Kettle"))
    if how != "at once":
        commits(other, "Bob", "changed")
    if how == "twice":
        write(other, path, note(1, "The kettle is descaled in July.", title="Kettle"))
        commits(other, "Bob", "changed again")
        pull(root, other)
        with Vault.open(root, clock=clock) as vault:
            vault.fresh()
    bury(other, 1)
    commits(other, "Bob")
    pull(root, other)
    assert told(root, clock) == EVERYWHERE
    (said,) = findings(root, clock, "tombstone-waits")
    assert "which is yours" in said
    assert waits(root, clock) == [("tombstone", identity(1))]
    assert_as_built_anew(root, clock=clock)


def test_who_changed_a_word_and_forgets_by_the_tool_is_asked_about_too(root: Path, other: Path, clock: FixedClock) -> None:
    write(other, OWN, note(1, "The kettle is descaled in June.", title="Kettle"))
    commits(other, "Bob", "changed")
    (other / OWN).unlink()
    bury(other, 1)
    commits(other, "Bob", "forgotten")
    pull(root, other)
    assert waits(root, clock) == [("tombstone", identity(1))]


def as_link(root: Path) -> None:
    (root / tombstone(identity(1))).symlink_to("../../README.md")


def as_folder(root: Path) -> None:
    write(root, f"{tombstone(identity(1))}/x", "x")


def in_capitals(root: Path) -> None:
    write(root, tombstone(identity(1).upper()), "")


@pytest.mark.parametrize("put", [as_link, as_folder, in_capitals])
def test_other_forms_of_a_tombstone_hide_nothing_either(root: Path, other: Path, clock: FixedClock, put: object) -> None:
    (other / "vault/forgotten").mkdir(exist_ok=True)
    assert callable(put)
    put(other)
    commits(other, "Bob")
    pull(root, other)
    assert told(root, clock) == EVERYWHERE
    with Vault.open(root, clock=clock) as vault:
        assert vault.mark_useful(identity(1)).id == identity(1)


def test_a_real_forget_by_another_can_be_taken_back(root: Path, other: Path, clock: FixedClock) -> None:
    with Vault.open(other, clock=clock, person=True) as vault:
        vault.config(machine={"owners": "bob@example.org"})
        vault.forget(identity(1))
    git(other, "commit", "--quiet", "--amend", "--no-edit", "--author=Bob <bob@example.org>")
    pull(root, other)
    assert not (root / OWN).exists()
    (said,) = findings(root, clock, "tombstone-waits")
    assert "took away and had forgotten `Kettle`" in said and "which is yours" in said
    with Vault.open(root, clock=clock, person=True) as vault:
        (one,) = vault.review().results
        assert "descaled in May" in one.content
        vault.review(refuse=[one.id])
    assert told(root, clock) == EVERYWHERE and (root / OWN).exists()
    assert git(root, "status", "--porcelain", "--", "vault") == ""
    assert_as_built_anew(root, clock=clock)


def test_the_owners_own_tombstones_count_as_before(root: Path, other: Path, clock: FixedClock) -> None:
    write(root, "vault/pan.md", note(5, "The pan is of iron.", title="Pan"))
    write(root, "vault/cup.md", note(6, "The cup is chipped.", title="Cup"))
    commit_all(root, "more")
    second = clone(root, "second")
    # Another's empty files are like the owner's in bytes.
    bury(other, 1)
    bury(other, 9)
    commits(other, "Bob")
    pull(root, other)
    with Vault.open(root, clock=clock, person=True) as vault:
        vault.forget(identity(5))
    with Vault.open(second, clock=clock, person=True) as vault:
        vault.forget(identity(6))
    pull(root, second)
    for words in ("pan", "cup"):
        assert "search" not in told(root, clock, words), words
    assert waits(root, clock) == [("tombstone", identity(1))]
    assert_as_built_anew(root, clock=clock)
    # The owner forgets what another had forgotten before: it is theirs now.
    with Vault.open(root, clock=clock, person=True) as vault:
        vault.forget(identity(1))
    assert told(root, clock) == set() and waits(root, clock) == []
    assert_as_built_anew(root, clock=clock)


@pytest.mark.parametrize("merger", ["the owner", "another", "another, of a later commit"])
def test_a_tombstone_that_both_put_is_the_owners(root: Path, other: Path, clock: FixedClock, merger: str) -> None:
    bury(other, 1)
    commits(other, "Bob")
    with Vault.open(root, clock=clock, origin="owner", person=True) as vault:
        vault.forget(identity(1))
    if merger == "another, of a later commit":
        for number in (7, 8):
            write(other, f"vault/more-{number}.md", note(number, "More."))
            commits(other, "Bob")
    if merger != "the owner":
        pull(other, root)
    pull(root, other)
    write(root, OWN, note(1, "The kettle is descaled in May."))
    assert told(root, clock) == set() and waits(root, clock) == []
    shutil.rmtree(root / "_cache")
    assert told(root, clock) == set() and waits(root, clock) == []


def test_it_keeps_nobody_from_writing_of_the_memory(root: Path, other: Path, clock: FixedClock) -> None:
    bury(other, 1)
    commits(other, "Bob")
    pull(root, other)
    with Vault.open(root, clock=clock) as vault:
        made = vault.remember("Descaling the kettle needs vinegar.", kind="solution")
        linked = vault.link(made.id, "RELATED_TO", identity(1))
        vault.mark_useful(made.id, evidence=[f"memory:{identity(1)}"])
        assert vault.get(linked.id).id == linked.id
    assert findings(root, clock, "forgotten-reference") == []


def test_a_merge_under_way_brings_tombstones_before_head_moves(root: Path, other: Path, clock: FixedClock) -> None:
    bury(other, 1)
    commits(other, "Bob")
    write(root, "vault/more.md", note(4, "More."))
    commit_all(root, "more")
    git(root, "pull", "--quiet", "--no-rebase", "--no-commit", "--no-ff", str(other), "HEAD")
    assert (root / tombstone(identity(1))).exists()
    assert told(root, clock) == EVERYWHERE


def test_without_git_there_is_one_owner(tmp_path: Path, clock: FixedClock) -> None:
    root = tmp_path / "plain"
    Vault.init(root, no_git=True)
    write(root, OWN, note(1, "The kettle is descaled in May."))
    assert told(root, clock) == EVERYWHERE
    bury(root, 1)
    assert told(root, clock) == set()
