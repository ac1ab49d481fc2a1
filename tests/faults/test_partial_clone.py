"""A clone that was made with a filter, and whose remote is gone: what lacks is said with what brings it, all else answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git
from vault_tool import Vault
from vault_tool.errors import Exit, GitError

FETCH = "git fetch --refetch --no-filter"


def edited(root: Path) -> None:
    """Versions of a note by its owner."""
    with Vault.open(root, person=True) as vault:
        note = root / vault.remember("The zebra crossed at noon.", ["Zoo"], title="Zebra").path
    for word in ("dusk", "dawn", "midnight"):
        note.write_text(re.sub(r"at \w+\.", f"at {word}.", note.read_text()))
        commit_all(root, word)


def merged(root: Path) -> None:
    """Versions by the owner and by somebody else, and a merge of the two."""
    edited(root)
    [note] = (root / "vault").rglob("zebra*.md")
    git(root, "checkout", "--quiet", "-b", "side")
    for word in ("often", "daily"):
        note.write_text(note.read_text().rstrip("\n") + f"\n\nIt does so {word}.\n")
        git(root, "add", "--all")
        git(root, "-c", "user.name=Bob", "-c", "user.email=bob@example.org", "commit", "--quiet", "-m", word)
    git(root, "checkout", "--quiet", "-")
    note.write_text(note.read_text().replace("\n---\n", "\ntags: [striped]\n---\n", 1))
    commit_all(root, "tags")
    git(root, "merge", "--quiet", "--no-edit", "side")


def cloned(root: Path, tell: Callable[[Path], None]) -> Path:
    """A clone without older contents, beside the vault that it is of, which was moved away."""
    tell(root)
    git(root, "config", "uploadpack.allowFilter", "true")
    git(root, "config", "uploadpack.allowAnySHA1InWant", "true")
    clone = root.parent / "clone"
    git(root.parent, "clone", "--quiet", "--filter=blob:none", root.as_uri(), str(clone))
    root.rename(root.with_name("away"))
    return clone


LOOKS: dict[str, Callable[[Vault, str, str], object]] = {
    "history": lambda vault, identity, _: vault.history(identity),
    "log": lambda vault, identity, _: vault.log(memory_id=identity),
    "diff since": lambda vault, _, commit: vault.diff(since=commit),
    "diff of": lambda vault, _, commit: vault.diff(of=commit),
}


@pytest.mark.parametrize("tell", [edited, merged])
@pytest.mark.parametrize("look", LOOKS)
def test_what_needs_older_contents_says_what_brings_them(root: Path, tell: Callable[[Path], None], look: str) -> None:
    clone = cloned(root, tell)
    commit = git(clone, "rev-list", "HEAD", "--grep", "dawn")
    with Vault.open(clone, person=True) as vault:
        identity = str(vault.search("zebra").results[0].id)
        with pytest.raises(GitError) as caught:
            LOOKS[look](vault, identity, commit)
        told = str(caught.value)
        assert "this clone is partial" in told and FETCH in told and "\n" not in told
        assert caught.value.exit_code is Exit.ATTENTION

        # As its person does once the remote is there.
        root.with_name("away").rename(root)
        git(clone, *FETCH.split()[1:], "--quiet", "origin")
        assert LOOKS[look](vault, identity, commit)


def test_undo_of_an_older_operation_says_so_and_changes_nothing(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        made = vault.remember("The zebra crossed at noon.", ["Zoo"], title="Zebra")
        tagged = vault.tag(made.id, add=["striped"])
        vault.tag(made.id, add=["fast"])
    clone = cloned(root, lambda _: None)
    tip = git(clone, "rev-parse", "HEAD")
    with Vault.open(clone, person=True) as vault, pytest.raises(GitError, match="this clone is partial"):
        vault.undo(str(tagged.commit))
    assert git(clone, "rev-parse", "HEAD") == tip and not git(clone, "status", "--porcelain")


@pytest.mark.parametrize("tell", [edited, merged])
def test_all_else_answers(root: Path, tell: Callable[[Path], None]) -> None:
    clone = cloned(root, tell)
    with Vault.open(clone, person=True) as vault:
        identity = str(vault.search("zebra").results[0].id)
        assert vault.recall("zebra") and vault.show(identity, belief=True) and vault.get(identity)
        assert vault.status().git and not vault.doctor().findings
        assert vault.core() and vault.log().results and vault.diff().text == ""
        assert vault.remember("The giraffe is tall.", ["Zoo"]).commit
        assert vault.tag(identity, add=["striped", "fast"]).commit
        assert vault.forget(identity).id == identity
    assert not git(clone, "status", "--porcelain", "--", "vault")
