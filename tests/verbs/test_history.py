from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import assert_committed, fails, head, identity, in_commit, note, status, subjects, trailers, untouched
from vault_tool import Vault
from vault_tool.errors import GitError, NotFound, Refused, UsageError, VaultError
from vault_tool.features.history.history import LISTED
from vault_tool.util.clock import FixedClock

CONFLICT = "<<<<<<< HEAD\nMine.\n=======\nTheirs.\n>>>>>>> other\n"


class TestLog:
    def test_every_field_is_gits(self, vault: Vault, root: Path) -> None:
        made = vault.as_(session="s1").remember("Text.", ["Redis"], title="It")
        [newest, *older] = vault.log().results
        assert newest.commit == head(root)
        assert newest.at.endswith("+00:00")
        assert (newest.author, newest.subject) == ("A Tester", "remember: It")
        assert (newest.op, newest.session, newest.ids) == ("remember", "s1", (made.id,))
        assert set(newest.paths) >= {made.path, "vault/subjects/redis.md"}
        assert [entry.op for entry in older] == ["init", "init"]

    def test_a_limit_below_one_is_refused(self, vault: Vault) -> None:
        with fails(UsageError, "limit must be 1 or more, not -1"):
            vault.log(-1)

    def test_the_limit_holds_and_newest_comes_first(self, vault: Vault) -> None:
        for number in range(3):
            vault.remember(f"Text {number}.")
        assert [entry.subject for entry in vault.log(2).results] == ["remember: Text 2", "remember: Text 1"]

    def test_one_memorys_log_follows_it_through_a_move(self, vault: Vault, root: Path) -> None:
        made = vault.remember("A text that is long enough for git to see that it is the same file.", title="It")
        vault.remember("Other.")
        git(root, "mv", made.path, "vault/moved.md")
        git(root, "commit", "--quiet", "-m", "moved by hand")
        vault.pin(made.id)
        assert [entry.subject for entry in vault.log(memory_id=made.id[:8]).results] == [
            "pin: It",
            "moved by hand",
            "remember: It",
        ]

    def test_a_persons_commit_has_no_trailers(self, vault: Vault, root: Path) -> None:
        write(root, "vault/mine.md", note(1))
        commit_all(root, "mine")
        [entry] = vault.log(1).results
        assert (entry.subject, entry.op, entry.session, entry.ids) == ("mine", "", "", ())

    def test_without_git_there_is_none_and_it_is_said(self, tmp_path: Path) -> None:
        Vault.init(tmp_path / "v", no_git=True)
        with Vault.open(tmp_path / "v") as vault:
            for ask in (vault.log, vault.diff, vault.commit):
                with fails(GitError, "no git history", "git init"):
                    ask()

    def test_without_a_git_at_all_nobody_is_told_to_type_it(self, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere")
        with Vault.open(vault.root) as bare, pytest.raises(GitError) as caught:
            bare.commit()
        assert (caught.value.message, caught.value.hint) == (
            "this vault has no git history: git is not installed",
            "install it from https://git-scm.com",
        )

    def test_an_unborn_branch_has_nothing_to_tell(self, tmp_path: Path) -> None:
        Vault.init(tmp_path / "v", no_git=True)
        git(tmp_path / "v", "init", "--quiet")
        with Vault.open(tmp_path / "v") as vault:
            assert vault.log().results == ()
            assert vault.history("vault/workspace.md").results[0].commits == ()
            assert vault.diff().text == ""
            assert "vault/workspace.md" in {one.path for one in vault.diff().pending}


class TestHistory:
    def test_a_chain_is_told_newest_first_with_who_and_why(self, vault: Vault, clock: FixedClock) -> None:
        first = vault.create_understanding(["Redis"], "One.", "One.")
        clock.advance(timedelta(days=1))
        second = vault.as_(model="m2").update_understanding(first.id, "Two.", "Two.", reason="More was seen")

        for asked in (first.id, second.new_understanding_id[:8]):
            newest, oldest = vault.history(asked).results
            assert (newest.id, newest.active) == (second.new_understanding_id, True)
            assert (oldest.id, oldest.active) == (first.id, False)
        assert (newest.type, newest.title, newest.summary) == ("single_subject", "Two", "Two.")
        assert (newest.created, newest.origin, newest.model) == ("2026-11-21T10:00:00+00:00", "agent", "m2")
        assert (newest.reason, newest.path) == ("More was seen", second.path)
        assert [commit.subject for commit in newest.commits] == ["update-understanding: Two"]
        assert [commit.subject for commit in oldest.commits] == ["create-understanding: One"]

    def test_a_fork_and_its_join_are_one_history(self, vault: Vault, root: Path) -> None:
        base = vault.create_understanding(["Redis"], "Base.", "Base.")
        for number in (1, 2):
            text = note(
                number,
                f"Side {number}.",
                type="single_subject",
                summary=f"Side {number}.",
                subjects="[Redis]",
                supersedes=f"[{base.id}]",
            )
            write(root, f"vault/understandings/{number}.md", text)
        joined = vault.update_understanding(identity(1), "Both.", "Both.", join=True)
        chain = vault.history(base.id).results
        assert (chain[0].title, chain[-1].title) == ("Both", "Base")
        assert {one.id for one in chain} == {base.id, identity(1), identity(2), joined.new_understanding_id}

    def test_a_cycle_ends(self, vault: Vault, root: Path) -> None:
        for number, other in ((1, 2), (2, 1)):
            write(root, f"vault/{number}.md", note(number, type="soul", summary="S.", supersedes=f"[{identity(other)}]"))
        assert {one.id for one in vault.history(identity(1)).results} == {identity(1), identity(2)}

    def test_an_observation_is_its_own_history(self, vault: Vault) -> None:
        made = vault.remember("Text.", title="It")
        vault.pin(made.id)
        answer = vault.history(made.id)
        assert (answer.id, answer.title) == (made.id, "It")
        [one] = answer.results
        assert one.active
        assert one.summary == "Text."
        assert [commit.subject for commit in one.commits] == ["pin: It", "remember: It"]

    def test_without_git_the_chain_is_known_all_the_same(self, tmp_path: Path) -> None:
        Vault.init(tmp_path / "v", no_git=True)
        with Vault.open(tmp_path / "v") as vault:
            first = vault.create_understanding(["A"], "One.", "One.")
            vault.update_understanding(first.id, "Two.", "Two.")
            assert [one.commits for one in vault.history(first.id).results] == [(), ()]


class TestDiff:
    def test_hand_edits_are_shown_and_the_tools_own_writes_are_none(self, vault: Vault, root: Path) -> None:
        made, gone = vault.remember("Old text.", title="It"), vault.remember("Gone.")
        assert (vault.diff().text, vault.diff().pending, vault.diff().since) == ("", (), None)

        (root / made.path).write_bytes((root / made.path).read_bytes().replace(b"Old", b"New"))
        (root / gone.path).unlink()
        write(root, "vault/new.md", note(1))
        write(root, "not-ours.txt", "x\n")

        answer = vault.diff()
        assert {(one.path, one.state) for one in answer.pending} == {
            (made.path, "modified"), (gone.path, "deleted"), ("vault/new.md", "new"),
        }  # fmt: skip
        assert "-Old text.\n+New text.\n" in answer.text
        assert "not-ours" not in answer.text
        assert "\x1b[" not in answer.text
        assert "\x1b[" in vault.diff(color=True).text

        one = vault.diff(made.id)
        assert [pending.path for pending in one.pending] == [made.path]
        assert "Gone." not in one.text

    def test_since_a_commit(self, vault: Vault, root: Path) -> None:
        before = head(root)
        made = vault.remember("Quartz.")
        answer = vault.diff(since=before[:10])
        assert answer.since == before[:10]
        assert "+Quartz.\n" in answer.text
        assert "+Quartz.\n" in vault.diff(made.id, since="HEAD~1").text

    def test_what_is_no_commit_is_said(self, vault: Vault) -> None:
        with fails(NotFound, "`nothing`".replace("`", "'"), "Vault.log"):
            vault.diff(since="nothing")
        with fails(Refused, "--output=x"):
            vault.diff(since="--output=x")


class TestCommit:
    def test_hand_edits_are_gathered_and_the_message_names_them(self, vault: Vault, root: Path) -> None:
        made, gone = vault.remember("Old.", title="Old title"), vault.remember("Gone.", title="Gone")
        (root / made.path).write_bytes((root / made.path).read_bytes().replace(b"Old.", b"New."))
        (root / gone.path).unlink()
        write(root, "vault/a.md", note(1, title="A new one"))
        write(root, "vault/page.md", "# A page\n\nText.\n")
        write(root, "templates/fact.md", "---\ntype: fact\n---\nMine.\n")
        write(root, "vault.toml", "lock_wait = 5.0\n")
        write(root, "not-ours.txt", "x\n")
        write(root, "vault/.hidden/x.md", "x\n")

        gathered = vault.as_(session="s1").commit()

        assert_committed(gathered, root)
        assert set(gathered.paths) == {made.path, gone.path, "vault/a.md", "vault/page.md", "templates/fact.md", "vault.toml"}
        assert gathered.left == ()
        assert set(in_commit(root)) == set(gathered.paths)
        assert status(root).split("\n") == ["?? not-ours.txt", "?? vault/.hidden/x.md"]
        body = git(root, "log", "-1", "--format=%B")
        assert body.startswith("edit: ")
        assert "and 3 more" in body.split("\n")[0]
        for named in ("- Old title", "- A new one", f"- {Path(gone.path).name}", "- page.md"):
            assert named in body
        assert trailers(root)["Vault-Op"] == "commit"
        assert set(trailers(root)["Vault-Ids"].split()) == {made.id, identity(1)}
        assert trailers(root)["Vault-Session"] == "s1"

    def test_one_note_and_a_message_of_ones_own(self, vault: Vault, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(root, "vault/a.md", note(1, title="A"))
        write(root, "vault/b.md", note(2, title="B"))
        monkeypatch.chdir(root / "vault")
        gathered = vault.commit(["a.md"], message="my\nwords")
        assert gathered.paths == ("vault/a.md",)
        assert subjects(root) == ["my words"]
        assert vault.commit([root / "vault/b.md"]).paths == ("vault/b.md",)
        assert subjects(root) == ["edit: B"]

    def test_a_deleted_note_can_be_named(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Text.")
        (root / made.path).unlink()
        assert vault.commit([made.path]).paths == (made.path,)
        assert in_commit(root) == {made.path: "D"}

    def test_nothing_to_commit_is_no_failure(self, vault: Vault, root: Path) -> None:
        with untouched(root):
            gathered = vault.commit()
        assert (gathered.committed, gathered.paths, gathered.left, gathered.reason, gathered.attention) == (
            False,
            (),
            (),
            "",
            False,
        )

    @pytest.mark.parametrize(
        ("path", "kind"),
        [
            ("../outside.md", NotFound),
            ("/etc/passwd", NotFound),
            ("_local/writer", Refused),
            ("_index.json", Refused),
            (".git/config", Refused),
            ("vault/.obsidian/app.json", Refused),
        ],
    )
    def test_what_is_not_the_vaults_is_refused(self, vault: Vault, root: Path, path: str, kind: type[VaultError]) -> None:
        write(root.parent, "outside.md", "x\n")
        with untouched(root), fails(kind):
            vault.commit([path])

    def test_conflict_markers_are_never_committed(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Mine.")
        (root / made.path).write_text((root / made.path).read_text().replace("Mine.\n", CONFLICT))
        write(root, "vault/b.md", note(2, title="B"))
        gathered = vault.commit()
        assert gathered.paths == ("vault/b.md",)
        assert [(one.path, one.code) for one in gathered.left] == [(made.path, "conflict-markers")]
        assert gathered.attention
        assert gathered.committed
        assert "<<<<<<<" not in git(root, "show", "HEAD")
        assert vault.show(made.id).stale
        assert vault.show(made.id).content == "Mine."

    def test_a_file_that_git_has_not_settled_is_left_to_its_person(self, vault: Vault, root: Path) -> None:
        made = vault.remember("Base.")
        git(root, "checkout", "--quiet", "-b", "side")
        (root / made.path).write_text((root / made.path).read_text().replace("Base.", "Theirs."))
        commit_all(root, "theirs")
        git(root, "checkout", "--quiet", "-")
        (root / made.path).write_text((root / made.path).read_text().replace("Base.", "Mine."))
        commit_all(root, "mine")
        git(root, "merge", "--quiet", "side", ok=False)
        tip = head(root)

        assert vault.show(made.id).content == "Mine.", "HEAD's version is served"
        assert vault.status().git.conflicted == (made.path,)
        assert {one.code for one in vault.doctor().problems if one.path == made.path} >= {"merge-conflict", "conflict-markers"}
        gathered = vault.commit()
        assert (gathered.committed, gathered.attention) == (False, True)
        assert head(root) == tip

        # Once the markers are gone it is a note again, and git is still to be told.
        (root / made.path).write_text((root / made.path).read_text().replace("<<<<<<< HEAD\n", "").split("=======")[0])
        assert not vault.commit().committed
        git(root, "add", made.path)
        git(root, "commit", "--quiet", "--no-edit")
        assert vault.show(made.id).content == "Mine."
        assert vault.status().git.conflicted == ()

    def test_markers_that_somebody_else_committed_are_named_and_hide_nothing_else(self, vault: Vault, root: Path) -> None:
        bad, good = vault.remember("Base."), vault.remember("Quartz.")
        (root / bad.path).write_text((root / bad.path).read_text().replace("Base.\n", CONFLICT))
        commit_all(root, "a careless commit")

        [problem] = [one for one in vault.doctor().problems if one.path == bad.path]
        assert problem.code == "conflict-markers"
        line = (root / bad.path).read_text().split("\n").index("<<<<<<< HEAD") + 1
        assert problem.line == line
        assert vault.doctor().findings
        assert vault.get(good.id).content == "Quartz."
        assert vault.remember("More.").committed
        assert "Mine" not in vault.core(preview=True).text


def test_a_commit_of_very_many_files_lists_the_first(vault: Vault) -> None:
    vault.add_observations([{"content": f"Part {number}."} for number in range(LISTED + 5)])
    [newest, *_] = vault.log().results
    assert (len(newest.ids), len(newest.paths)) == (LISTED, LISTED)
    assert newest.more == 6, "and the episode"


def test_one_commit_is_shown_by_what_it_changed(vault: Vault) -> None:
    first = vault.remember("The first words.")
    vault.remember("Other words.")
    shown = vault.diff(of=first.commit)
    assert "+The first words." in shown.text
    assert "Other words" not in shown.text
    assert (shown.of, shown.pending) == (first.commit, ())
    assert vault.diff(first.id, of="HEAD").text == ""
    with pytest.raises(NotFound):
        vault.diff(of="nothing-like-it")
    with pytest.raises(UsageError, match="since a commit, or of one"):
        vault.diff(of="HEAD", since="HEAD")
