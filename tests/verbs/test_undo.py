"""One operation is taken back by a new commit, and nothing that anything else needs goes with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import commit_all, git, write
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.verbs.looking import TODAY, assert_committed, codes, fails, head, in_commit, note, subjects, text, trailers, untouched
from vault_tool import Vault
from vault_tool.errors import GitError, NotFound, Refused
from vault_tool.util.clock import FixedClock


@pytest.fixture
def owner(root: Path, clock: FixedClock) -> Iterator[Vault]:
    """The owner's open vault."""
    with Vault.open(root, clock=clock, origin="owner") as opened:
        yield opened


def notes(root: Path) -> dict[str, bytes]:
    """The notes' bytes by path, journals aside."""
    files = [path for path in (root / "vault").rglob("*.md") if "episodes" not in path.parts]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


class TestWhatComesBack:
    def test_what_was_created_is_gone_with_its_new_subject(self, owner: Vault) -> None:
        before = notes(owner.root)
        made = owner.remember("It drops.", ["Redis"])
        back = owner.undo()

        assert notes(owner.root) == before
        assert_committed(back, owner.root)
        assert (back.undone, back.subject) == (made.commit, "remember: It drops")
        assert back.removed == (made.path, "vault/subjects/redis.md")
        assert back.restored == ()
        assert [(one.path.split("/")[1], one.reason) for one in back.kept] == [("episodes", "journals are only added to")]
        assert subjects(owner.root) == ["undo: remember: It drops"]
        assert trailers(owner.root)["Vault-Op"] == "undo"
        assert made.id in trailers(owner.root)["Vault-Ids"]
        assert {path: state for path, state in in_commit(owner.root).items() if "episodes" not in path} == dict.fromkeys(
            back.removed, "D"
        )
        with fails(NotFound, made.id[:8]):
            owner.show(made.id[:8])
        assert codes(owner) == []
        assert_git_is_sound(owner.root)
        owner.close()
        assert_as_built_anew(owner.root, ["drops"], owner.clock)

    def test_the_log_of_the_day_says_so(self, owner: Vault) -> None:
        owner.remember("It drops.")
        owner.undo()
        [log] = (owner.root / "vault" / "episodes").glob(f"{TODAY}.*.md")
        assert "It drops" in log.read_text()
        assert "Undid: remember: It drops" in log.read_text()

    def test_a_subject_that_is_still_in_use_stays(self, owner: Vault) -> None:
        made = owner.remember("It drops.", ["Redis"])
        other = owner.remember("It holds.", ["Redis"])
        back = owner.undo(made.id)
        assert back.removed == (made.path,)
        assert [one.reason for one in back.kept if one.path.endswith("redis.md")] == ["1 other note is tagged with it"]
        assert owner.show(other.id).subjects == ("Redis",)
        assert codes(owner) == []

    def test_what_a_repeat_added_is_taken_back_with_the_subject_that_it_made(self, owner: Vault) -> None:
        made = owner.remember("It drops.", ["Redis"])
        before = text(owner.root, made.path)
        owner.remember("It drops.", ["Redis", "Lab"], tags=["x"])
        back = owner.undo()
        assert text(owner.root, made.path) == before
        assert [path.rpartition("/")[2] for path in back.removed] == ["lab.md"]
        assert (back.kept, codes(owner)) == ((), [])

    def test_an_edit_is_as_before_to_the_byte(self, owner: Vault) -> None:
        write(owner.root, "vault/a.md", note(1, "Text.  ", tags="[ b,a ]  # mine"))
        commit_all(owner.root, "by hand")
        before = notes(owner.root)
        owner.pin("vault/a.md")
        back = owner.undo()
        assert notes(owner.root) == before
        assert (back.restored, back.removed) == (("vault/a.md",), ())

    def test_a_revision_makes_the_old_one_active_again(self, owner: Vault) -> None:
        first = owner.create_understanding(["Redis"], "It is a cache.", "A cache")
        second = owner.update_understanding(first.id, "It is a store.", "A store")
        owner.undo(second.new_understanding_id[:8])
        assert owner.show(first.id).superseded_by == ()

    def test_hand_edits_that_were_gathered(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        write(owner.root, "vault/new.md", note(2))
        (owner.root / made.path).rename(owner.root / "vault/moved.md")
        before = notes(owner.root)
        gathered = owner.commit()
        back = owner.undo(gathered.commit or "")
        assert back.restored == (made.path,)
        assert back.removed == ("vault/moved.md", "vault/new.md")
        owner.undo()
        assert notes(owner.root) == before


class TestWhichOperation:
    def test_an_undo_is_undone_and_done_again(self, owner: Vault) -> None:
        before = notes(owner.root)
        made = owner.remember("It drops.", ["Redis"])
        after = notes(owner.root)
        owner.undo()
        again = owner.undo()
        assert notes(owner.root) == after
        assert again.restored == (made.path, "vault/subjects/redis.md")
        assert owner.show(made.id).title == "It drops"
        owner.undo()
        assert notes(owner.root) == before

    def test_what_changed_no_note_is_passed_over(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        owner.episode("Lunch")
        owner.core()
        write(owner.root, "README.txt", "by hand")
        commit_all(owner.root, "by hand")
        assert owner.undo().undone == made.commit

    def test_a_commit_by_any_name_of_it(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        owner.remember("It holds.")
        assert owner.undo("HEAD~1").undone == made.commit

    def test_an_id_means_the_operation_that_created_the_record(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        owner.pin(made.id)
        owner.pin(made.id, off=True)
        assert owner.undo(made.id).undone == made.commit

    def test_a_commit_that_the_tool_did_not_make(self, owner: Vault) -> None:
        write(owner.root, "vault/a.md", note(1))
        commit = commit_all(owner.root, "by hand")
        with untouched(owner.root), fails(Refused, "was not made by this tool", f"git revert {commit[:10]}"):
            owner.undo(commit)
        with untouched(owner.root), fails(Refused, "was not made by this tool"):
            owner.undo("vault/a.md")

    def test_the_founding_stays(self, owner: Vault) -> None:
        with untouched(owner.root), fails(Refused, "made this folder a vault"):
            owner.undo()

    @pytest.mark.parametrize("target", ["nothing", "--output=x", "deadbeef"])
    def test_what_names_nothing(self, owner: Vault, target: str) -> None:
        with untouched(owner.root), pytest.raises((NotFound, Refused)):
            owner.undo(target)

    def test_an_operation_on_another_branch(self, owner: Vault) -> None:
        git(owner.root, "switch", "--quiet", "-c", "other")
        made = owner.remember("It drops.")
        git(owner.root, "switch", "--quiet", "-")
        with untouched(owner.root), fails(Refused, "on this branch"):
            owner.undo(made.commit or "")


class TestWhatIsRefused:
    def test_anybody_but_the_owner(self, vault: Vault) -> None:
        vault.remember("It drops.")
        with untouched(vault.root), fails(Refused, "only a person", "--origin owner"):
            vault.undo()

    @pytest.mark.parametrize("committed", [False, True])
    def test_a_file_that_was_changed_since(self, owner: Vault, committed: bool) -> None:
        made = owner.remember("It drops.", ["Redis"])
        path = owner.root / made.path
        path.write_text(path.read_text() + "\nMine.\n")
        if committed:
            commit_all(owner.root, "by hand")
        with untouched(owner.root), fails(Refused, made.path, "was changed since"):
            owner.undo(made.id)

    def test_a_file_that_was_moved_since(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        (owner.root / made.path).rename(owner.root / "vault/moved.md")
        with untouched(owner.root), fails(Refused, made.path, "is gone or was moved"):
            owner.undo()

    def test_a_file_that_is_there_again(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        owner.undo()
        write(owner.root, made.path, "mine\n")
        with untouched(owner.root), fails(Refused, made.path, "is there again"):
            owner.undo()

    def test_what_something_else_refers_to(self, owner: Vault) -> None:
        made = owner.remember("It drops.", ["Redis"])
        cites = owner.create_understanding(["Redis"], "It is flaky.", "Flaky", source_observation_ids=[made.id])
        with untouched(owner.root), fails(Refused, "refers to it", cites.id[:6]):
            owner.undo(made.id)
        owner.undo(cites.id)
        assert made.path in owner.undo(made.id).removed

    def test_during_a_merge(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        git(owner.root, "switch", "--quiet", "-c", "other", "HEAD~1")
        write(owner.root, "other.txt", "other\n")
        commit_all(owner.root, "other")
        git(owner.root, "switch", "--quiet", "-")
        git(owner.root, "merge", "--quiet", "--no-commit", "--no-ff", "other")
        with fails(GitError, "a merge is in progress"):
            owner.undo()
        assert (owner.root / made.path).exists()

    def test_without_git(self, tmp_path: Path) -> None:
        Vault.init(tmp_path / "plain", no_git=True, who="owner")
        with Vault.open(tmp_path / "plain", origin="owner") as vault, fails(GitError, "no git history"):
            vault.undo()


def test_on_the_command_line(root: Path) -> None:
    assert vt("remember", "It drops.", "-s", "Redis", cwd=root).returncode == 0
    refused = vt("undo", cwd=root)
    assert (refused.returncode, "only a person" in refused.stderr) == (6, True)
    tip = head(root)
    done = vt("undo", "--origin", "owner", cwd=root)
    assert done.returncode == 0, done.stderr
    assert tip[:10] in done.stdout
    assert "vault/subjects/redis.md" in done.stdout
    assert text(root, "vault/workspace.md")
