"""`log`, `history` and `undo` of a memory go by its id: what resembles it is not it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, make_repo, write
from tests.verbs.looking import fails, head, identity, in_commit, note, subjects, text, untouched
from vault_tool import Vault
from vault_tool.errors import Refused
from vault_tool.model.ids import derived_id
from vault_tool.util.clock import FixedClock

LINES = "".join(f"Line {number} of the backup, which is the same on each day.\n" for number in range(7))
DAYS = ("Monday", "Tuesday", "Wednesday")


@pytest.fixture
def owner(root: Path, clock: FixedClock) -> Iterator[Vault]:
    """The owner's open vault."""
    with Vault.open(root, clock=clock, person=True) as opened:
        yield opened


def told(vault: Vault, memory: str) -> list[str]:
    """The subject lines of a memory's own commits, newest first; `history` must say the same."""
    found = [one.commit for one in vault.log(memory_id=memory, limit=100).results]
    chain = next(one for one in vault.history(memory).results if memory in (one.id, one.path))
    assert [one.commit for one in chain.commits] == found
    return [one.subject for one in vault.log(memory_id=memory, limit=100).results]


def replacing_hook(root: Path, text: str = "chore: saved") -> None:
    """A hook that puts a message of its own in place of each."""
    hook = write(root, ".git/hooks/commit-msg", f"#!/bin/sh\necho '{text}' > \"$1\"\n")
    hook.chmod(0o755)


class TestAlike:
    @pytest.mark.parametrize("order", [(2, 1, 0), (0, 1, 2), (1, 0, 2)])
    def test_of_three_notes_that_resemble_each_other_each_is_its_own(self, owner: Vault, order: tuple[int, ...]) -> None:
        made = [owner.remember(f"{LINES}It ran on {day}.", title=f"Backup on {day}") for day in DAYS]
        for day, one in zip(DAYS, made, strict=True):
            assert told(owner, one.id) == [f"remember: Backup on {day}"]
        for number in order:
            assert owner.undo(made[number].id).removed == (made[number].path,)

    def test_eight_facts_of_one_sentence(self, owner: Vault) -> None:
        session = owner.as_(origin="owner", session="s1")
        made = [session.remember(f"Server {number} hums.", ["Rack"]) for number in range(8)][::-1]
        assert [session.undo(one.id).undone for one in made] == [one.commit for one in made]

    def test_equal_bodies(self, owner: Vault) -> None:
        made = [owner.remember(LINES, [name], title=f"On {name}") for name in ("Nas", "Box", "Rack")]
        assert [owner.undo(one.id).undone for one in made] == [one.commit for one in made]

    def test_subjects_and_edges_are_their_own_too(self, owner: Vault) -> None:
        names = ("Alpha", "Beta", "Gamma")
        made = owner.create_subjects([{"name": name} for name in names]).results
        first, second = (owner.remember(f"The fact number {n} on it.", ["Alpha"]) for n in (1, 2))
        third = owner.remember("The fact number 3 on it.", ["Beta"])
        edges = [owner.link(first.id, "RELATED_TO", other.id) for other in (second, third)]
        assert len({subject.id for subject in made}) == 3
        for edge in edges:
            [one] = owner.log(memory_id=edge.id).results
            assert one.commit == edge.commit
        assert owner.undo(edges[1].id).removed == (edges[1].path,)


class TestMoved:
    def test_by_a_person_and_edited_in_one_commit(self, owner: Vault, root: Path) -> None:
        made = [owner.remember(f"{LINES}It ran on {day}.", title=f"Backup on {day}") for day in DAYS]
        git(root, "mv", made[2].path, "vault/w.md")
        write(root, "vault/w.md", text(root, "vault/w.md").replace("Line 1", "Row 1").replace("Line 2", "Row 2"))
        commit_all(root, "moved and edited")
        assert told(owner, made[2].id) == ["moved and edited", "remember: Backup on Wednesday"]
        git(root, "mv", "vault/w.md", "vault/again.md")
        commit_all(root, "moved once more")
        assert told(owner, made[2].id) == ["moved once more", "moved and edited", "remember: Backup on Wednesday"]
        assert told(owner, made[0].id) == ["remember: Backup on Monday"]
        with untouched(root), fails(Refused, made[2].path, "is gone or was moved"):
            owner.undo(made[2].id)

    def test_and_not_committed_yet(self, owner: Vault, root: Path) -> None:
        made = [owner.remember(f"{LINES}It ran on {day}.", title=f"Backup on {day}") for day in DAYS]
        (root / made[1].path).rename(root / "vault/t.md")
        assert told(owner, made[1].id) == ["remember: Backup on Tuesday"]

    def test_two_that_swapped_their_names(self, owner: Vault, root: Path) -> None:
        one, other = (owner.remember(f"{LINES}It ran on {day}.", title=f"Backup on {day}") for day in DAYS[:2])
        first, second = text(root, one.path), text(root, other.path)
        write(root, one.path, second)
        write(root, other.path, first)
        commit_all(root, "swapped")
        assert told(owner, one.id) == ["swapped", "remember: Backup on Monday"]
        assert told(owner, other.id) == ["swapped", "remember: Backup on Tuesday"]

    def test_taken_out_and_brought_back_elsewhere(self, owner: Vault, root: Path) -> None:
        made = owner.remember("It drops.")
        kept = text(root, made.path)
        (root / made.path).unlink()
        commit_all(root, "taken out")
        owner.remember("Another.")
        write(root, "vault/back.md", kept)
        commit_all(root, "brought back")
        assert told(owner, made.id) == ["brought back", "taken out", "remember: It drops"]

    def test_a_subject_that_was_renamed(self, owner: Vault, root: Path) -> None:
        owner.remember("It drops.", ["Redis"])
        [subject] = [one for one in owner.get_subjects().results if one.name == "Redis"]
        git(root, "mv", "vault/subjects/redis.md", "vault/subjects/valkey.md")
        write(root, "vault/subjects/valkey.md", text(root, "vault/subjects/valkey.md").replace("name: Redis", "name: Valkey"))
        commit_all(root, "renamed")
        assert told(owner, subject.id) == ["renamed", "remember: It drops"]

    def test_an_edit_of_the_old_path_on_a_branch_that_was_merged(self, owner: Vault, root: Path) -> None:
        made = owner.remember(f"{LINES}It ran.", title="Backup")
        git(root, "switch", "--quiet", "-c", "side")
        write(root, made.path, text(root, made.path).replace("Line 6", "Row 6"))
        commit_all(root, "edited aside")
        git(root, "switch", "--quiet", "-")
        git(root, "mv", made.path, "vault/moved.md")
        commit_all(root, "moved")
        git(root, "merge", "--quiet", "--no-edit", "-m", "merged", "side")
        assert "Row 6" in text(root, "vault/moved.md")
        assert set(told(owner, made.id)) == {"merged", "moved", "edited aside", "remember: Backup"}
        assert told(owner, made.id)[-1] == "remember: Backup"

    def test_a_copy_with_the_same_id_is_a_file_of_its_own(self, owner: Vault, root: Path) -> None:
        made = owner.remember(f"{LINES}It ran.", title="Backup")
        shutil.copy(root / made.path, root / "vault/copy.md")
        commit_all(root, "copied")
        assert told(owner, made.path) == ["remember: Backup"]
        assert told(owner, "vault/copy.md") == ["copied"]
        (root / "vault/copy.md").unlink()
        commit_all(root, "copy deleted")
        assert owner.undo(made.id).undone == made.commit

    def test_a_page_that_was_adopted(self, owner: Vault, root: Path) -> None:
        write(root, "vault/page.md", "# A page\nSome words.\n")
        commit_all(root, "a page")
        [adopted] = owner.adopt(["vault/page.md"]).results
        assert adopted.id
        assert told(owner, adopted.id) == ["adopt: A page", "a page"]
        assert owner.undo(adopted.id).restored == ("vault/page.md",)
        assert text(root, "vault/page.md") == "# A page\nSome words.\n"

    def test_a_commit_of_one_path_takes_the_place_that_it_was_moved_from_along(self, owner: Vault, root: Path) -> None:
        made = [owner.remember(f"{LINES}It ran on {day}.", title=f"Backup on {day}") for day in DAYS]
        (root / made[0].path).unlink()
        (root / made[2].path).rename(root / "vault/moved.md")
        write(root, "vault/moved.md", text(root, "vault/moved.md") + "More.\n")
        git(root, "add", "--all")
        owner.commit(["vault/moved.md"])
        assert in_commit(root) == {"vault/moved.md": "A", made[2].path: "D"}
        assert told(owner, made[2].id)[1:] == ["remember: Backup on Wednesday"]

    def test_a_subject_that_got_another_name_and_place(self, owner: Vault, root: Path) -> None:
        owner.remember("It drops.", ["Redis"])
        kept = text(root, "vault/subjects/redis.md")
        (root / "vault/subjects/redis.md").unlink()
        write(root, "vault/subjects/valkey.md", kept.replace("name: Redis", "name: Valkey"))
        assert "renamed-subject" in [one.code for one in owner.doctor().problems]

    def test_a_link_in_place_of_a_note_is_left(self, owner: Vault, root: Path) -> None:
        (root / "vault/link.md").symlink_to(root / "vault/workspace.md")
        assert [one.code for one in owner.commit(["vault"]).left] == ["not-read"]


class TestWhereHistoryEnds:
    def test_a_shallow_clone(self, owner: Vault, root: Path, tmp_path: Path, clock: FixedClock) -> None:
        made = [owner.remember(f"{LINES}It ran on {day}.", title=f"Backup on {day}") for day in DAYS]
        git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{root}", "clone")
        with Vault.open(tmp_path / "clone", clock=clock, person=True) as clone:
            assert told(clone, made[2].id) == ["remember: Backup on Wednesday"]
            assert told(clone, made[0].id) == []
            with untouched(clone.root), fails(Refused, "ends", "git fetch --unshallow"):
                clone.undo(made[0].id)

    def test_a_note_that_was_never_committed(self, owner: Vault, root: Path) -> None:
        write(root, "vault/loose.md", note(7, body=LINES))
        owner.remember(LINES)
        assert told(owner, identity(7)) == []
        with untouched(root), fails(Refused, "is not committed yet"):
            owner.undo(identity(7))

    def test_more_than_two_hundred_commits_ago(self, owner: Vault, root: Path) -> None:
        made = owner.remember("It drops.")
        for number in range(205):
            git(root, "commit", "--quiet", "--allow-empty", "-m", f"{number}")
        assert owner.undo(made.id).removed == (made.path,)


class TestWithoutTrailers:
    def test_undo_finds_the_operation_whose_message_a_hook_replaced(self, owner: Vault, root: Path) -> None:
        first = owner.remember("The first of them.")
        replacing_hook(root)
        second = owner.remember("The second of them.")
        assert subjects(root) == ["chore: saved"]
        back = owner.undo()
        assert (back.undone, back.removed) == (second.commit, (second.path,))
        assert (root / first.path).exists()
        third = owner.remember("The third of them.")
        assert owner.undo(third.id).undone == third.commit

    def test_it_refuses_where_it_cannot_know(self, owner: Vault, root: Path) -> None:
        owner.remember("The first of them.")
        replacing_hook(root, "WIP")
        second = owner.remember("The second of them.")
        shutil.rmtree(root / ".git/logs")
        for target in ("", second.id):
            with untouched(root), fails(Refused, head(root)[:10], f"git revert {head(root)[:10]}"):
                owner.undo(target)

    def test_a_persons_own_commit_of_notes_is_not_reached_past(self, owner: Vault, root: Path) -> None:
        made = owner.remember("The first of them.")
        write(root, "vault/mine.md", note(1))
        commit_all(root, "mine")
        with untouched(root), fails(Refused, "mine", "vt undo ID"):
            owner.undo()
        assert owner.undo(made.id).undone == made.commit


class TestServed:
    def test_notes_of_a_served_folder_have_their_own_commits(self, tmp_path: Path, clock: FixedClock) -> None:
        folder = make_repo(tmp_path / "Notes")
        for day in DAYS:
            write(folder, f"{day}.md", f"# {day}\n{LINES}It ran on {day}.\n")
            commit_all(folder, day)
        git(folder, "mv", "Tuesday.md", "Second.md")
        commit_all(folder, "renamed")
        write(folder, "Second.md", text(folder, "Second.md") + "More.\n")
        commit_all(folder, "edited")
        made = Vault.init(folder, notes="here", clock=clock)
        with Vault.open(made.root, clock=clock, person=True) as vault:
            third, second = (derived_id("around", f"../{name}.md") for name in ("Wednesday", "Second"))
            assert told(vault, third) == ["Wednesday"]
            assert told(vault, second) == ["edited", "renamed", "Tuesday"]
            with fails(Refused, "Wednesday.md", "never writes"):
                vault.undo(third)
