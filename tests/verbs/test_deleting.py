"""What a person deletes is in history, and one press brings it back; what they forget is another thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import git
from tests.verbs.looking import head, whole
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.features.editing.deleting import delete_memories
from vault_tool.features.history.undo import undoable


def test_what_is_deleted_comes_back_as_it_was_with_its_links(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        gone = vault.remember("The quay is closed in winter.", ["Quay"]).id
        other = vault.remember("The ferry sails in summer.", ["Ferry"]).id
        vault.link(gone, "RELATED_TO", other, why="the same boats")
        before = {path: text for path, text in whole(root).items() if "/journal/" not in path and "episodes" not in path}
        done = delete_memories(vault, [gone])
        assert (done.ids, done.titles, done.links_removed) == ((gone,), ("The quay is closed in winter",), 1)
        assert done.subjects_removed == ("Quay",), "it was made by naming it there"
        with pytest.raises(NotFound):
            vault.show(gone)
        assert not vault.related(other).results
        assert done.commit is not None and undoable(vault, [done.commit]) == {done.commit: ""}
        vault.undo(done.commit)
        assert vault.show(gone).content == "The quay is closed in winter."
        assert [one.id for one in vault.related(other).results] == [gone]
        after = whole(root)
        assert {path: after.get(path) for path in before if path.startswith("vault/observations")} == {
            path: text for path, text in before.items() if path.startswith("vault/observations")
        }
        # The id is not refused, as a forgotten one's is.
        delete_memories(vault, [gone, other])
        assert vault.search("quay ferry").results == ()


def test_a_hand_edit_that_no_commit_has_is_committed_before_it_goes(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        gone = vault.remember("The crane sways.", ["Crane"]).id
        path = root / vault.show(gone).path
        path.write_text(path.read_text("utf-8").replace("sways", "sways in storms"), "utf-8")
        done = delete_memories(vault, [gone])
        assert not path.exists()
        assert "sways in storms" in git(root, "log", "-p", "--format=%H")
        vault.undo(done.commit or "")
        assert "sways in storms" in path.read_text("utf-8")


def test_only_a_person_deletes_and_only_memories(root: Path) -> None:
    with Vault.open(root, person=True) as vault:
        kept = vault.remember("The crane sways.", ["Crane"]).id
        subject = vault.get_subjects(["Crane"]).results[0].id
    tip = head(root)
    with Vault.open(root, origin="agent") as vault, pytest.raises(Refused):
        delete_memories(vault, [kept])
    with Vault.open(root, origin="owner") as vault, pytest.raises(Refused):
        delete_memories(vault, [kept])
    with Vault.open(root, person=True) as vault:
        for wrong in ([subject], [], [kept, "ffffffff"]):
            with pytest.raises((NotFound, UsageError)):
                delete_memories(vault, wrong)
        assert vault.show(kept).content == "The crane sways."
    assert head(root) == tip
