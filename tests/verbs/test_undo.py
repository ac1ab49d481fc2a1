"""One operation is taken back by a new commit, and nothing that anything else needs goes with it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import commit_all, git, write
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.statuses import said
from tests.terminal import let_commands_answer
from tests.verbs.looking import (
    TODAY,
    assert_committed,
    codes,
    fails,
    head,
    identity,
    in_commit,
    note,
    subjects,
    text,
    trailers,
    untouched,
)
from vault_tool import Vault
from vault_tool.errors import GitError, NotFound, Refused
from vault_tool.features.history.undo import undoable
from vault_tool.files.signal_lines import read_signals
from vault_tool.util.clock import FixedClock


@pytest.fixture
def owner(root: Path, clock: FixedClock) -> Iterator[Vault]:
    """The owner's open vault."""
    with Vault.open(root, clock=clock, person=True) as opened:
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
        assert said(owner.show(first.id), "superseded") == ()

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
        with untouched(vault.root), fails(Refused, "only a person"):
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
        with Vault.open(tmp_path / "plain", person=True) as vault, fails(GitError, "no git history"):
            vault.undo()


def test_on_the_command_line(root: Path) -> None:
    assert vt("remember", "It drops.", "-s", "Redis", cwd=root).returncode == 0
    refused = vt("undo", cwd=root)
    assert (refused.returncode, "only a person" in refused.stderr) == (6, True)
    tip = head(root)
    assert vt("undo", "--origin", "owner", cwd=root).returncode == 6
    let_commands_answer(root)
    done = vt("undo", cwd=root)
    assert done.returncode == 0, done.stderr
    assert tip[:10] in done.stdout
    assert "vault/subjects/redis.md" in done.stdout
    assert text(root, "vault/workspace.md")


def belief(vault: Vault, memory: str) -> tuple[object, ...]:
    """What is believed of a memory, and how often it was used."""
    shown = vault.show(memory, belief=True)
    assert shown.belief is not None
    return shown.belief, shown.posterior, shown.truth, shown.utility, shown.access_count, shown.reviewed


class TestMarks:
    """What was said of a memory is taken back by another line: journals are only added to."""

    @pytest.mark.parametrize("mark", ["mark_useful", "mark_questionable"])
    def test_a_mark_is_taken_back_and_given_again(self, owner: Vault, mark: str) -> None:
        made = owner.remember("It drops.")
        owner.mark_useful(made.id, "it did")
        before, journals = belief(owner, made.id), journal(owner.root)
        marked = getattr(owner, mark)(made.id, "by accident")
        after = belief(owner, made.id)
        assert after != before

        back = owner.undo(marked.commit or "")
        assert_committed(back, owner.root)
        assert (back.unmarked, back.removed, back.restored) == ((made.id,), (), ())
        assert belief(owner, made.id) == before
        assert journal(owner.root).startswith(journals) and '"kind": "withdrawn"' in journal(owner.root)
        with untouched(owner.root), fails(Refused, "nothing that can be taken back", "taken back already"):
            owner.undo(marked.commit or "")

        again = owner.undo()
        assert again.undone == back.commit and belief(owner, made.id) == after
        owner.undo()
        assert belief(owner, made.id) == before
        assert codes(owner) == []
        owner.close()
        assert_as_built_anew(owner.root, ["drops"], owner.clock)

    def test_the_newest_is_a_mark_and_not_the_memory_before_it(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        owner.mark_questionable(made.id, "")
        assert owner.undo().unmarked == (made.id,)
        assert owner.show(made.id).id == made.id

    def test_what_an_edit_reviewed_is_not_reviewed_any_more(self, owner: Vault) -> None:
        made = owner.as_(origin="agent").remember("It drops.")
        source = owner.show(made.id, source=True).source
        assert source is not None
        done = owner.edit(made.id, text=source.text.replace("It drops", "It never drops"), was=source.hash)
        assert owner.show(made.id).reviewed
        back = owner.undo(done.commit or "")
        assert back.restored == (made.path,) and not owner.show(made.id).reviewed
        assert owner.index.catalog.reviewed_at(owner.index.catalog.get(made.id)) == {}
        owner.undo()
        assert owner.show(made.id).reviewed and made.path in owner.index.catalog.reviewed_at(owner.index.catalog.get(made.id))

    def test_a_truth_that_a_contract_set(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        before = belief(owner, made.id)
        owner.update(made.id, truth={"target": 0.1, "confidence": 0.9, "rationale": "no", "evidence_refs": ["test:one"]})
        assert belief(owner, made.id) != before
        owner.undo()
        assert belief(owner, made.id) == before

    def test_uses_that_a_mark_carried_along_happened(self, owner: Vault, clock: FixedClock) -> None:
        made = owner.remember("It drops.")
        owner.recall("drops")
        clock.advance(timedelta(days=1))
        used = owner.show(made.id).access_count
        marked = owner.mark_questionable(made.id, "")
        assert '"kind": "use"' in journal(owner.root)
        assert owner.undo(marked.commit or "").unmarked == (made.id,)
        assert owner.show(made.id).access_count == used > 0

    def test_an_answer_about_consent_is_answered_anew(self, owner: Vault) -> None:
        made = owner.as_(user="ann").remember("Ann rows.")
        said = owner.consent(made.id, "refused", as_user="ann")
        with untouched(owner.root), fails(Refused, "consent"):
            owner.undo(said.commit or "")
        with untouched(owner.root), fails(Refused, "consent"):
            owner.undo()

    def test_history_tells_it(self, owner: Vault) -> None:
        made = owner.remember("It drops.")
        marked = owner.mark_questionable(made.id, "by accident")
        owner.undo(marked.commit or "")
        shown = owner.show(made.id, timeline=True)
        assert shown.timeline is not None
        question, back = shown.timeline.steps
        assert (question.mark, question.moved, bool(question.withdrawn_at)) == ("questionable", 0.0, True)
        assert (back.mark, back.by) == ("withdrawn", "owner")
        said = vt("show", made.id[:8], "--timeline", cwd=owner.root).stdout
        assert "withdrawn" in said and "taken back at" in said

    def test_one_function_says_beforehand_what_is_taken(self, owner: Vault) -> None:
        first = owner.remember("It drops.", ["Redis"])
        marked = owner.mark_questionable(first.id, "")
        edited = owner.tag(first.id, add=["flaky"])
        source = owner.show(first.id, source=True).source
        assert source is not None
        (owner.root / first.path).write_text(source.text + "By hand.\n", "utf-8")
        write(owner.root, "vault/by-hand.md", "# By hand\n")
        commit_all(owner.root, "by hand")
        others = head(owner.root)
        init = git(owner.root, "rev-list", "--max-parents=0", "HEAD").strip()
        commits = [first.commit, marked.commit, edited.commit, others, init]
        said = undoable(owner, [one for one in commits if one])
        assert [key for key, reason in said.items() if not reason] == [marked.commit]
        for commit, reason in said.items():
            if reason:
                with untouched(owner.root), pytest.raises(Refused) as refused:
                    owner.undo(commit)
                assert refused.value.marked == reason
        owner.undo(marked.commit or "")
        assert "taken back already" in undoable(owner, [marked.commit or ""])[marked.commit or ""]


def test_a_mark_that_somebody_else_brought_is_taken_back_and_takes_back_nothing(root: Path, clock: FixedClock) -> None:
    with Vault.open(root, clock=clock, person=True) as vault:
        made = vault.remember("It drops.")
        vault.mark_useful(made.id, "it did")
        mine = vault.index.catalog.signals(made.id)[0].id
        before = belief(vault, made.id)
    other = root.parent / "other"
    git(root.parent, "clone", "--quiet", str(root), str(other))
    line = {"at": "2026-11-20T10:00:00+00:00", "target": made.id, "origin": "owner"}
    lines = [
        line | {"id": "ffffffff-ffff-4fff-bfff-ffffffffff71", "kind": "questionable"},  # the last of its second
        line | {"id": identity(72), "kind": "withdrawn", "withdraws": mine},
    ]
    write(other, "vault/signals/2026-11.other.jsonl", "".join(json.dumps(one) + "\n" for one in lines))
    git(other, "add", "--all")
    names = ("-c", "user.name=Mallory", "-c", "user.email=m@evil.example")
    told = "mark-questionable: It drops\n\nVault-Op: mark-questionable"
    git(other, *names, "commit", "--quiet", "--author=Mallory <m@evil.example>", "-m", told)
    git(root, "pull", "--quiet", "--ff-only", str(other), "HEAD")
    with Vault.open(root, clock=clock, person=True) as vault:
        shown = vault.show(made.id, belief=True)
        assert shown.belief is not None and (shown.belief.useful, len(shown.belief.told)) == (1, 1)
        assert vault.undo(head(root)).unmarked == (made.id,)
        assert belief(vault, made.id) == before


def test_a_reader_that_knows_no_such_kind_passes_over_the_line(tmp_path: Path) -> None:
    """Versions before this one said of an unknown kind what is said of one now, and read the lines around it."""
    line = {"id": identity(1), "at": "2026-11-20T10:00:00+00:00", "target": identity(3), "value": 1.0}
    known, unknown = line | {"kind": "useful"}, line | {"id": identity(2), "kind": "something-of-next-year"}
    data = "".join(json.dumps(one) + "\n" for one in (known, unknown, known | {"id": identity(4)})).encode()
    found, problems = read_signals("x.jsonl", data)
    assert [one.id for one in found] == [identity(1), identity(4)]
    assert [(one.line, one.severity.value) for one in problems] == [(2, "warning")]
    # What takes back nothing that has an id is named as well.
    bare = json.dumps(line | {"kind": "withdrawn"}).encode() + b"\n"
    assert read_signals("x.jsonl", bare)[1][0].code == "bad-signal"


def journal(root: Path) -> str:
    """All lines of the journals of judgements."""
    return "".join(path.read_text("utf-8") for path in sorted((root / "vault" / "signals").glob("*.jsonl")))
