"""Notes of the owner's that somebody else's commit ends, gives to a user, or deletes: told as before, and by whom."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import identity, note
from tests.verbs.test_authority import as_owner
from tests.verbs.test_authority_of_others import MALLORY, pulled
from vault_tool.model.problems import Severity

OURS = "The heron stands in the reeds of the north pond."


@pytest.fixture
def vault_root(root: Path) -> Path:
    write(root, "vault/a.md", note(1, OURS))
    write(root, "vault/b.md", note(2, "The walrus sleeps on the ice."))
    commit_all(root, "ours")
    with as_owner(root) as vault:
        assert _told(root)
        assert not vault.doctor().findings
    return root


def _told(root: Path) -> bool:
    with as_owner(root) as vault:
        return identity(1) in {one.id for one in vault.search("heron reeds").results}


def _taken_away(root: Path) -> list[tuple[str, str]]:
    with as_owner(root) as vault:
        found = [one for one in vault.doctor().problems if one.code == "taken-away"]
        assert all(one.severity is Severity.WARNING and "git checkout" in one.hint for one in found)
        assert bool(vault.status().problems.get("warning")) == bool(found)
        return [(one.path, one.message.partition(" in commit")[0]) for one in found]


@pytest.mark.parametrize("head", [{"expires": "2020-01-01"}, {"user": "bob"}, {"expires": "2020-01-01", "user": "bob"}])
def test_a_head_by_others_hides_nothing_of_the_owners(vault_root: Path, head: dict[str, str]) -> None:
    pulled(vault_root, ("vault/a.md", note(1, OURS, **head)))
    assert _told(vault_root)
    with as_owner(vault_root) as vault:
        assert vault.show(identity(1)).origin.startswith("pulled (Mallory")
        vault.reindex(full=True)
    assert _told(vault_root), "as the whole history is read"
    pulled(vault_root, ("vault/a.md", note(1, f"{OURS} At dawn.", **head)))
    assert _told(vault_root), "nor do more words by them"
    git(vault_root, "mv", "vault/a.md", "vault/moved.md")
    commit_all(vault_root, "moved")
    assert _told(vault_root)
    with as_owner(vault_root) as vault:
        vault.tag(identity(1), add=["pond"])
    assert _told(vault_root), "nor what the tool makes of their text"


def test_what_the_owner_ended_stays_ended_under_words_of_others(vault_root: Path) -> None:
    write(vault_root, "vault/a.md", note(1, OURS, expires="2020-01-01"))
    commit_all(vault_root, "over")
    assert not _told(vault_root)
    pulled(vault_root, ("vault/a.md", note(1, f"{OURS} At dawn.")))
    assert not _told(vault_root)
    write(vault_root, "vault/a.md", note(1, OURS))
    commit_all(vault_root, "again")
    assert _told(vault_root), "its owner's own words count as they are"


def test_what_others_end_of_their_own_is_over(vault_root: Path) -> None:
    pulled(vault_root, ("vault/c.md", note(3, "The heron of the reeds is theirs.")))
    pulled(vault_root, ("vault/c.md", note(3, "The heron of the reeds is theirs.", expires="2020-01-01")))
    with as_owner(vault_root) as vault:
        assert identity(3) not in {one.id for one in vault.search("heron reeds").results}


def _deleted(root: Path, *paths: str, add: tuple[str, str] | None = None) -> None:
    clone = root.parent / "clone"
    if not clone.exists():
        git(root.parent, "clone", "--quiet", str(root), str(clone))
    git(clone, "pull", "--quiet", str(root), "HEAD")
    git(clone, "rm", "--quiet", *paths)
    if add:
        write(clone, *add)
        git(clone, "add", "--all")
    git(
        clone,
        "-c",
        "user.name=Mallory",
        "-c",
        "user.email=m@evil.example",
        "commit",
        "--quiet",
        f"--author={MALLORY}",
        "-m",
        "tidy",
    )
    git(root, "pull", "--quiet", "--no-rebase", "--no-edit", str(clone), "HEAD")


def test_a_deletion_by_others_is_named_until_the_note_is_back(vault_root: Path) -> None:
    _deleted(vault_root, "vault/a.md")
    assert _taken_away(vault_root) == [("vault/a.md", "Mallory <m@evil.example> deleted this note of yours")]
    with as_owner(vault_root) as vault:
        hint = next(one.hint for one in vault.doctor().problems if one.code == "taken-away")
        vault.reindex(full=True)
    assert len(_taken_away(vault_root)) == 1
    git(vault_root, *hint.partition("`")[2].partition("`")[0].split()[1:])
    assert _taken_away(vault_root) == [] and _told(vault_root)


def test_what_others_moved_or_wrote_themselves_is_not_named(vault_root: Path) -> None:
    _deleted(vault_root, "vault/a.md", add=("vault/elsewhere.md", note(1, OURS)))
    assert _taken_away(vault_root) == [] and _told(vault_root)
    _deleted(
        vault_root, "vault/elsewhere.md", add=("vault/third.md", note(1, f"{OURS} Much was added to it by them, line by line."))
    )
    assert _taken_away(vault_root) == []
    pulled(vault_root, ("vault/c.md", note(3, "Theirs.")))
    _deleted(vault_root, "vault/c.md")
    assert _taken_away(vault_root) == []


def test_what_the_owner_deleted_or_forgot_is_not_named(vault_root: Path) -> None:
    git(vault_root, "rm", "--quiet", "vault/b.md")
    commit_all(vault_root, "gone")
    assert _taken_away(vault_root) == []
