"""Words of a forgotten memory that came with a merge: told to nobody, named by doctor, and taken out by forgetting again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.oracles import assert_as_built_anew
from tests.verbs.looking import identity, note
from tests.wording import all_typed, typed
from vault_tool import Vault
from vault_tool.util.clock import FixedClock

SECRET = "wintermoss"
TEXT = f"The safe behind the painting opens by the word {SECRET} and nothing else."


@pytest.fixture
def second(root: Path) -> Path:
    """The owner's second clone, with the memory that is forgotten at the first."""
    write(root, "vault/observations/safe.md", note(1, TEXT, title="Safe behind the painting"))
    write(root, "vault/observations/house.md", note(2, "The house has a cellar.", type="problem", title="House"))
    commit_all(root, "ours")
    made = root.parent / "second"
    git(root.parent, "clone", "--quiet", str(root), str(made))
    return made


def forgotten_in(root: Path, clock: FixedClock) -> None:
    """The owner forgets the memory."""
    with Vault.open(root, clock=clock, origin="owner", person=True) as vault:
        vault.forget(identity(1))


def merged(root: Path, other: Path) -> None:
    """What the other clone has comes, without a conflict."""
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(other), "HEAD")


def judged(vault: Vault) -> None:
    vault.mark_useful(identity(1), reason=f"because of {SECRET}")


def doubted(vault: Vault) -> None:
    vault.mark_questionable(identity(1), reason=f"is it {SECRET}?")


def linked(vault: Vault) -> None:
    vault.link(identity(1), "SOLVES", identity(2), f"{SECRET} opens it")


def quoted(vault: Vault) -> None:
    vault.mark_useful(identity(2), reason=f"as was said: {TEXT}")


CAME: dict[str, tuple[Callable[[Vault], None], set[str]]] = {
    "a vote": (judged, {"signals"}),
    "a doubt": (doubted, {"signals"}),
    "a link": (linked, {"edges", "episodes"}),
    "a vote for another memory": (quoted, {"signals"}),
}


def left_in(root: Path) -> set[str]:
    """The folders of the vault in which the word still is."""
    files = (path for path in (root / "vault").rglob("*") if path.is_file())
    return {path.relative_to(root / "vault").parts[0] for path in files if SECRET in path.read_text("utf-8", "replace")}


def named(root: Path, clock: FixedClock) -> dict[str, str]:
    """The files that doctor names for holding such words, each with what it says to type."""
    with Vault.open(root, clock=clock) as vault:
        return {one.path: one.hint for one in vault.doctor().problems if one.code == "forgotten-words"}


@pytest.mark.parametrize("what", CAME)
@pytest.mark.parametrize("where", ["where it was forgotten", "where it was told"])
def test_words_that_came_are_named_and_taken_out(root: Path, second: Path, clock: FixedClock, what: str, where: str) -> None:
    tell, folders = CAME[what]
    with Vault.open(second, clock=clock, origin="owner") as vault:
        tell(vault)
    forgotten_in(root, clock)
    here, other = (root, second) if where == "where it was forgotten" else (second, root)
    with Vault.open(here, clock=clock) as vault:
        vault.fresh()
    merged(here, other)
    assert left_in(here) >= folders
    found = named(here, clock)
    assert {path.split("/")[1] for path in found} == left_in(here)
    assert set(all_typed(found.values())) == {f"`vt forget {identity(1)}` takes them out"}
    with Vault.open(here, clock=clock) as vault:
        if what != "a vote for another memory":
            said = [signal.rationale for signal in vault.whole_index.catalog.signals()]
            assert not any(SECRET in one for one in said)
        assert not vault.search(SECRET).results
        assert not any(SECRET in str(one) for one in vault.whole_index.catalog.snapshot().entries)
    assert_as_built_anew(here, clock=clock)
    forgotten_in(here, clock)
    assert left_in(here) == set()
    assert named(here, clock) == {}
    assert_as_built_anew(here, clock=clock)


def test_status_says_so_at_once(root: Path, second: Path, clock: FixedClock) -> None:
    with Vault.open(second, clock=clock, origin="owner") as vault:
        judged(vault)
    forgotten_in(root, clock)
    with Vault.open(root, clock=clock) as vault:
        before = vault.status().problems.get("warning", 0)
    merged(root, second)
    with Vault.open(root, clock=clock) as vault:
        assert vault.status().problems.get("warning", 0) == before + 1
        assert any("vt doctor" in typed(one) for one in vault.status().next)


def test_an_ordinary_forget_leaves_nothing_to_name(root: Path, second: Path, clock: FixedClock) -> None:
    with Vault.open(root, clock=clock, origin="owner") as vault:
        for tell, _ in CAME.values():
            tell(vault)
        vault.remember("The cellar is dry in summer, and damp in winter.")
    forgotten_in(root, clock)
    assert left_in(root) == set() and named(root, clock) == {}


def test_anothers_tombstone_takes_no_words_of_the_owners(root: Path, second: Path, clock: FixedClock) -> None:
    with Vault.open(root, clock=clock, origin="owner") as vault:
        judged(vault)
    write(second, f"vault/forgotten/{identity(1)}", "")
    git(second, "add", "--all")
    who = ("-c", "user.name=Bob", "-c", "user.email=bob@example.org")
    git(second, *who, "commit", "--quiet", "--author=Bob <bob@example.org>", "-m", "forgotten")
    merged(root, second)
    assert named(root, clock) == {}
    with Vault.open(root, clock=clock) as vault:
        vault.fresh()
        assert any(SECRET in signal.rationale for signal in vault.index.catalog.signals(identity(1)))
    # And where it is put away again by hand nothing stays hidden.
    forgotten = root / f"vault/forgotten/{identity(1)}"
    forgotten.unlink()
    forgotten.write_text("mine\n")
    assert len(named(root, clock)) >= 1
    forgotten.unlink()
    assert named(root, clock) == {}
    with Vault.open(root, clock=clock) as vault:
        vault.fresh()
        assert any(SECRET in signal.rationale for signal in vault.index.catalog.signals(identity(1)))
