"""Copies of the owner's ids and names that somebody else's commit brought: the owner's file keeps what it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.oracles import assert_as_built_anew
from tests.verbs.looking import fails, identity, note
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import Ambiguous
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.util.clock import FixedClock

OWN = "vault/observations/kettle.md"


@pytest.fixture
def forger(root: Path) -> Path:
    """Mallory's clone of a vault in which the owner's kettle is."""
    write(root, OWN, note(1, "The kettle is descaled in May.", title="Kettle"))
    commit_all(root, "ours")
    made = root.parent / "forger"
    git(root.parent, "clone", "--quiet", str(root), str(made))
    return made


def brought(root: Path, forger: Path) -> None:
    """Mallory commits what lies in the clone, and the owner pulls."""
    git(forger, "add", "--all")
    who = ("-c", "user.name=Mallory", "-c", "user.email=m@evil.example")
    git(forger, *who, "commit", "--quiet", "--author=Mallory <m@evil.example>", "-m", "notes")
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(forger), "HEAD")


@pytest.mark.parametrize("copies", [("a",), ("zz",), ("a1", "a2", "a3", "a4", "a5", "a6", "a7")])
def test_the_owners_file_keeps_its_id(root: Path, forger: Path, clock: FixedClock, copies: tuple[str, ...]) -> None:
    for name in copies:
        write(forger, f"vault/observations/{name}.md", note(1, f"The kettle is descaled in June ({name}).", title="Kettle"))
    brought(root, forger)
    with Vault.open(root, clock=clock, origin="owner") as vault:
        for named in (identity(1), identity(1)[:8], "Kettle", OWN):
            assert "in May" in vault.get(named).content, named
        assert "in May" in vault.get(identity(1)).content
        assert vault.mark_useful(identity(1)[:8]).id == identity(1)
        assert vault.tag(identity(1), ["home"]).committed
        made = vault.remember("Vinegar does it.", kind="solution")
        assert vault.link(made.id, "RELATED_TO", identity(1)[:8]).committed
        found = [(one.path, one.message, one.hint) for one in vault.doctor().problems if one.code == "duplicate-id"]
    assert "tags: [home]" in (root / OWN).read_text()
    assert {path for path, _, _ in found} == {f"vault/observations/{name}.md" for name in copies}
    for path, message, hint in found:
        assert OWN in message and "Mallory <m@evil.example>" in message
        assert typed(hint) == f"`vt adopt {path}` gives that file an id of its own; or delete it"
    with Vault.open(root, clock=clock) as vault:
        assert "in May" in str(answer(vault, "get", {"memory_id": identity(1)}, Caller()))
    assert_as_built_anew(root, clock=clock)


def test_two_of_the_owners_or_two_of_others_are_told_apart_by_nobody(root: Path, forger: Path, clock: FixedClock) -> None:
    write(root, "vault/copy.md", note(1, "The kettle is descaled in July."))
    commit_all(root, "a copy of ours")
    write(forger, "vault/x.md", note(2, "One."))
    write(forger, "vault/y.md", note(2, "Other."))
    brought(root, forger)
    with Vault.open(root, clock=clock) as vault:
        vault.fresh()
        for number in (1, 2):
            with fails(Ambiguous, "two files have the id"):
                vault.get(identity(number))
        assert sum(one.code == "duplicate-id" for one in vault.doctor().problems) == 4


@pytest.mark.parametrize("same_id", [True, False])
@pytest.mark.parametrize("alias", [True, False])
def test_a_subject_of_anothers_takes_no_name_from_the_owners(
    root: Path, forger: Path, clock: FixedClock, same_id: bool, alias: bool
) -> None:
    with Vault.open(root, clock=clock, origin="owner") as vault:
        (made,) = vault.create_subjects([{"name": "House"}]).results
    git(forger, "pull", "--quiet", "--no-rebase", "--no-edit", str(root), "HEAD")
    claimed = "name: Other\naliases: [House]" if alias else "name: House"
    own = made.id if same_id else identity(7)
    write(forger, "vault/subjects/other.md", f"---\nid: {own}\ntype: subject\n{claimed}\n---\n")
    brought(root, forger)
    with Vault.open(root, clock=clock, origin="owner") as vault:
        kept = vault.remember("The boiler is serviced in May.", subject_names=["House"])
        assert kept.committed
        assert [one.id for one in vault.search("boiler").results] == [kept.id]
        assert vault.doctor().problems
