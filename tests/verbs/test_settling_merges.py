"""A conflict that a plain `git pull` left is settled by its person, file by file, and the last one ends the merge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.git_repos import add_hook, commit_all, git, hub_and_clone, make_repo, write
from tests.oracles import assert_git_is_sound
from tests.terminal import called_at_terminal, let_commands_answer
from tests.verbs.looking import codes, head, identity, note, status, text
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.files.two_versions import END, OPEN, OR
from vault_tool.vault.two_texts import TwoTexts

A, B, OTHER = "vault/a.md", "vault/b.md", "vault/tools/fetch.py"
SHARED, OURS, THEIRS = "First line.\n\nShared text.", "First line.\n\nOur text.", "First line.\n\nTheir text."


@pytest.fixture
def clones(root: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A vault and a clone of it, without the tool's merge driver: `pull` brings what the other has."""
    write(root, ".gitattributes", "")
    for number, path in ((1, A), (2, B)):
        write(root, path, note(number, SHARED))
    write(root, OTHER, "shared = 1\n")
    commit_all(root, "files by hand")
    return root, hub_and_clone(root, tmp_path)


def pull(here: Path, *options: str) -> None:
    git(here, "pull", "--quiet", "--no-edit", *(options or ("--no-rebase",)), ok=False)


def changed(at: Path, texts: dict[str, str | None]) -> None:
    for path, data in texts.items():
        if data is None:
            (at / path).unlink()
        else:
            write(at, path, data)
    commit_all(at, "by hand")


def pulled(clones: tuple[Path, Path], ours: dict[str, str | None], theirs: dict[str, str | None], *options: str) -> Path:
    """The vault in the middle of a pull in which both sides changed these files."""
    here, there = clones
    changed(there, theirs)
    git(there, "push", "--quiet")
    changed(here, ours)
    pull(here, *options)
    return here


@pytest.fixture
def one(clones: tuple[Path, Path]) -> Iterator[Vault]:
    """The vault with one note in conflict, as its person asks it."""
    with Vault.open(pulled(clones, {A: note(1, OURS)}, {A: note(1, THEIRS)}), person=True) as vault:
        yield vault


def listed(vault: Vault) -> dict[str, TwoTexts]:
    return {conflict.path: conflict for conflict in vault.unsettled().results}


def is_merged(at: Path) -> bool:
    """Whether the merge is over: a commit of two parents, and nothing left to be done."""
    return len(git(at, "log", "-1", "--format=%P").split()) == 2 and status(at) == "" and not (at / ".git/MERGE_HEAD").exists()


class TestOneNote:
    @pytest.mark.parametrize(
        ("keep", "written", "left"),
        [
            ("this", "", OURS),
            ("that", "", THEIRS),
            ("both", "", f"First line.\n\n{OPEN}\nOur text.\n{OR}\nTheir text.\n{END}"),
            ("", note(1, "Both texts."), "Both texts."),
        ],
    )
    def test_it_is_settled_by_one_press_and_the_merge_is_over(self, one: Vault, keep: str, written: str, left: str) -> None:
        conflict = listed(one)[A]
        assert (conflict.what, conflict.id, conflict.by_hand) == ("merge", identity(1), "")
        assert OURS in conflict.this and THEIRS in conflict.that and conflict.who and conflict.when and conflict.that_when
        done = one.settle_texts(conflict.key, keep, text=written)
        assert done.committed and done.commit == head(one.root) and not done.reason and not done.attention
        sides = sorted(left.replace(OPEN, "").split("\n"))
        assert sorted(text(one.root, A).split("---\n", 2)[2].strip().replace(OPEN, "").split("\n")) == sides
        assert is_merged(one.root) and "# Conflicts" not in git(one.root, "log", "-1", "--format=%B")
        assert [other.what for other in one.unsettled().results] == (["place"] if keep == "both" else [])
        assert_git_is_sound(one.root)
        assert one.remember("Afterwards.").committed and "merge-conflict" not in codes(one)

    def test_the_file_on_disk_is_not_what_git_is_told(self, one: Vault) -> None:
        key = listed(one)[A].key
        add_hook(one.root, "pre-commit", "printf 'an edit meanwhile\\n' >> vault/a.md")
        one.settle_texts(key, "that")
        assert git(one.root, "show", f"HEAD:{A}") == note(1, THEIRS).strip()
        assert "an edit meanwhile" in text(one.root, A)

    def test_after_an_abort_the_key_stands_for_nothing(self, one: Vault) -> None:
        key = listed(one)[A].key
        git(one.root, "merge", "--abort")
        with pytest.raises(NotFound):
            one.settle_texts(key, "this")
        assert one.unsettled().results == () and status(one.root) == "" and OURS in text(one.root, A)
        pull(one.root)
        assert listed(one)[A].key == key and one.settle_texts(key, "this").committed

    def test_a_hand_edit_that_has_begun_is_gone_on_from_and_never_lost(self, one: Vault) -> None:
        key, marked = listed(one)[A].key, text(one.root, A)
        write(one.root, A, marked.replace("First line.", "First line, by hand."))
        with pytest.raises(NotFound):
            one.settle_texts(key, "this")
        conflict = listed(one)[A]
        assert "by hand" in conflict.by_hand
        for keep in ("this", "that", "both"):
            with pytest.raises(UsageError, match="edited by hand"):
                one.settle_texts(conflict.key, keep)
        with pytest.raises(UsageError, match=r"conflict|markers"):
            one.settle_texts(conflict.key, text=conflict.by_hand)
        assert "by hand" in text(one.root, A)
        write(one.root, A, note(1, "Whole, by hand."))
        again = listed(one)[A]
        assert one.settle_texts(again.key, text=again.by_hand).committed
        assert "Whole, by hand." in text(one.root, A) and is_merged(one.root)

    def test_markers_taken_out_alone_are_a_choice_of_lines_and_shown(self, one: Vault) -> None:
        lines = text(one.root, A).splitlines(keepends=True)
        write(one.root, A, "".join(line for line in lines if not line.startswith(("<<<<", "====", ">>>>"))))
        conflict = listed(one)[A]
        assert "Our text." in conflict.by_hand and "Their text." in conflict.by_hand
        write(one.root, A, note(1, THEIRS))
        assert listed(one)[A].by_hand == ""

    def test_a_secret_and_what_is_no_note_are_refused_and_nothing_is_written(self, one: Vault) -> None:
        key, before = listed(one)[A].key, text(one.root, A)
        for wrong in (note(1, "password: hunter2-Zx81-qq"), "---\nid: x\ntitle: [\n---\nBroken.\n"):
            with pytest.raises((Refused, UsageError)):
                one.settle_texts(key, text=wrong)
        assert text(one.root, A) == before and listed(one)[A].key == key

    def test_a_hook_that_refuses_is_told_and_the_text_stays_entered(self, one: Vault) -> None:
        add_hook(one.root, "pre-commit", "echo no commits on Sundays >&2; exit 1")
        done = one.settle_texts(listed(one)[A].key, "this")
        assert not done.committed and done.attention and "no commits on Sundays" in done.reason
        assert git(one.root, "diff", "--name-only", "--diff-filter=U") == "" and one.unsettled().results == ()
        (one.root / ".git/hooks/pre-commit").unlink()
        git(one.root, "commit", "--quiet", "--no-edit")
        assert is_merged(one.root)

    def test_a_program_may_look_and_not_decide(self, one: Vault) -> None:
        key = listed(one)[A].key
        with Vault.open(one.root) as program:
            assert listed(program)[A].key == key
            with pytest.raises(Refused, match="only a person"):
                program.settle_texts(key, "this")

    def test_every_door_names_the_same_step(self, one: Vault) -> None:
        write(one.root, "vault/c.md", note(3, "Another."))
        told = [
            vt("sync", cwd=one.root).stderr,
            vt("doctor", cwd=one.root).stdout,
            vt("remember", "Meanwhile.", cwd=one.root).stderr,
            vt("core", cwd=one.root).stderr,
            vt("status", cwd=one.root).stdout,
        ]
        assert [said for said in told if "`vt review`" not in said] == []
        assert json.loads(vt("review", "--list", "--json", cwd=one.root).stdout)["results"][0]["what"] == "merge"


class TestSeveral:
    def test_the_last_of_several_ends_it(self, clones: tuple[Path, Path]) -> None:
        mine: dict[str, str | None] = {A: note(1, OURS), B: note(2, OURS), OTHER: "ours = 1\n"}
        root = pulled(clones, mine, {A: note(1, THEIRS), B: note(2, THEIRS), OTHER: "theirs = 1\n"})
        with Vault.open(root, person=True) as vault:
            assert list(listed(vault)) == [A, B, OTHER]
            tip = head(root)
            done = vault.settle_texts(listed(vault)[A].key, "that")
            assert not done.committed and done.attention and "2 files are still in conflict" in done.reason
            assert [conflict.path for conflict in done.results] == [B, OTHER] and head(root) == tip
            with pytest.raises(UsageError, match="cannot be merged"):
                vault.settle_texts(listed(vault)[OTHER].key, "both")
            assert not vault.settle_texts(listed(vault)[OTHER].key, text="both = 2\n").committed
            assert vault.settle_texts(listed(vault)[B].key, "this").committed
        assert is_merged(root) and text(root, OTHER) == "both = 2\n"
        assert THEIRS in text(root, A) and OURS in text(root, B)

    @pytest.mark.parametrize(("keep", "stays"), [("this", True), ("that", False), ("both", True)])
    @pytest.mark.parametrize("gone_here", [False, True])
    def test_a_delete_against_an_edit(self, clones: tuple[Path, Path], keep: str, stays: bool, gone_here: bool) -> None:
        texts: list[dict[str, str | None]] = [{A: note(1, OURS)}, {A: None}]
        root = pulled(clones, *(reversed(texts) if gone_here else texts))
        with Vault.open(root, person=True) as vault:
            conflict = listed(vault)[A]
            assert bool(conflict.this) is not gone_here and bool(conflict.that) is gone_here
            assert vault.settle_texts(conflict.key, keep).committed
        assert (root / A).is_file() is (stays if keep == "both" else stays is not gone_here) and is_merged(root)

    def test_what_was_forgotten_there_comes_not_back(self, clones: tuple[Path, Path]) -> None:
        here, there = clones
        with Vault.open(there, person=True) as vault:
            vault.forget(identity(1))
        git(there, "push", "--quiet")
        changed(here, {A: note(1, OURS)})
        pull(here)
        with Vault.open(here, person=True) as vault:
            conflict = listed(vault)[A]
            for keep in ("this", "both"):
                with pytest.raises(Refused, match="forgotten"):
                    vault.settle_texts(conflict.key, keep)
            assert vault.settle_texts(conflict.key, "that").committed
        assert not (here / A).exists() and is_merged(here)

    def test_pages_are_made_anew_with_the_last_note(self, clones: tuple[Path, Path]) -> None:
        here, there = clones
        for at, word in ((there, "Theirs"), (here, "Ours")):
            changed(at, {A: note(1, f"{word} text.")})
            with Vault.open(at, person=True) as vault:
                vault.remember(f"{word} decided.", kind="decision")
        git(there, "push", "--quiet")
        pull(here)
        assert "CORE.md" in git(here, "diff", "--name-only", "--diff-filter=U")
        with Vault.open(here, person=True) as vault:
            assert list(listed(vault)) == [A]
            assert vault.settle_texts(listed(vault)[A].key, "this").committed
        assert is_merged(here) and all(part in text(here, "CORE.md") for part in ("Theirs decided", "Ours decided"))

    def test_a_page_alone_is_made_anew_by_any_press(self, clones: tuple[Path, Path]) -> None:
        here, there = clones
        for at, word in ((there, "Theirs"), (here, "Ours")):
            with Vault.open(at, person=True) as vault:
                vault.remember(f"{word} decided.", kind="decision")
        git(there, "push", "--quiet")
        pull(here)
        with Vault.open(here, person=True) as vault:
            [conflict] = vault.unsettled().results
            assert conflict.path == "CORE.md" and vault.settle_texts(conflict.key, "this").committed
        assert is_merged(here) and all(part in text(here, "CORE.md") for part in ("Theirs decided", "Ours decided"))

    def test_a_rebase_is_settled_and_gone_on_with_by_its_person(self, clones: tuple[Path, Path]) -> None:
        root = pulled(clones, {A: note(1, OURS)}, {A: note(1, THEIRS)}, "--rebase")
        with Vault.open(root, person=True) as vault:
            conflict = listed(vault)[A]
            assert THEIRS in conflict.this and OURS in conflict.that
            done = vault.settle_texts(conflict.key, "that")
            assert not done.committed and "git rebase --continue" in vt("status", cwd=root).stdout
        git(root, "-c", "core.editor=true", "rebase", "--continue")
        assert status(root) == "" and OURS in text(root, A)

    def test_a_stash_that_was_popped_is_left_to_be_committed(self, root: Path) -> None:
        write(root, A, note(1, "One."))
        commit_all(root, "one")
        write(root, A, note(1, "Mine."))
        git(root, "stash", "--quiet")
        write(root, A, note(1, "Two."))
        commit_all(root, "two")
        git(root, "stash", "pop", "--quiet", ok=False)
        with Vault.open(root, person=True) as vault:
            done = vault.settle_texts(listed(vault)[A].key, "that")
            assert not done.committed and not done.attention
            assert vault.commit().paths == (A,) and "Mine." in text(root, A)

    def test_a_link_and_a_file_outside_the_vault_are_left_to_git(self, tmp_path: Path) -> None:
        whole = make_repo(tmp_path / "whole")
        write(whole, "README.md", "shared\n")
        Vault.init(whole / "memory", commit=True)
        commit_all(whole, "begun")
        git(whole, "switch", "--quiet", "-c", "side")
        for branch, word in (("side", "red"), ("-", "blue")):
            if branch == "-":
                git(whole, "switch", "--quiet", "-")
            write(whole, "README.md", f"{word}\n")
            write(whole, "memory/" + A, note(1, f"It is {word}."))
            commit_all(whole, word)
        git(whole, "merge", "--quiet", "side", ok=False)
        with Vault.open(whole / "memory", person=True) as vault:
            assert list(listed(vault)) == [A]
            done = vault.settle_texts(listed(vault)[A].key, "this")
            assert not done.committed and done.attention and done.reason
        assert git(whole, "diff", "--name-only", "--diff-filter=U") == "README.md"


def test_one_key_each_in_a_terminal(one: Vault) -> None:
    shown = called_at_terminal("review", cwd=one.root, keys=("o",))
    assert shown.returncode == 0 and "-Our text." in shown.stdout and "+Their text." in shown.stdout
    assert is_merged(one.root) and THEIRS in text(one.root, A)


def test_by_the_command(one: Vault) -> None:
    let_commands_answer(one.root)
    key = listed(one)[A].key
    row = vt("review", "--list", cwd=one.root).stdout
    assert key in row and "left by git" in row and "Our text." in row and "Their text." in row
    done = vt("review", "--edit", key, cwd=one.root, env={"EDITOR": "sed -i s/Our/Everybody/"})
    assert done.returncode == 0, done.stderr
    assert "Everybody text." in text(one.root, A) and is_merged(one.root)


class TestNothingLeft:
    """A merge whose files a person settled by hand and added: `commit` ends it, as git's own does."""

    @pytest.fixture
    def added(self, clones: tuple[Path, Path]) -> Path:
        here = pulled(clones, {A: note(1, OURS)}, {A: note(1, THEIRS)})
        write(here, A, note(1, "Settled by hand."))
        git(here, "add", A)
        return here

    def test_a_persons_commit_ends_it_and_the_writes_that_waited_follow(self, added: Path) -> None:
        with Vault.open(added, person=True) as vault:
            assert not vault.remember("Meanwhile.").committed
            write(added, B, note(2, "Edited since."))
            done = vault.commit()
            assert done.committed and not done.reason and done.paths == (B,)
            assert status(added) == "" and not vault.status().git.obstacle
            assert "Settled by hand." in git(added, "show", f"HEAD:{A}")
        subjects = git(added, "log", "--format=%s", "-3").split("\n")
        assert [subject.split(":")[0] for subject in subjects[:2]] == ["edit", "remember"] and subjects[2].startswith("Merge")

    def test_an_agents_does_not(self, added: Path) -> None:
        tip = head(added)
        with Vault.open(added) as vault:
            assert not vault.commit().committed and head(added) == tip

    def test_one_path_alone_does_not(self, added: Path) -> None:
        write(added, B, note(2, "Edited since."))
        tip = head(added)
        with Vault.open(added, person=True) as vault:
            assert not vault.commit([B]).committed and head(added) == tip

    def test_markers_that_were_added_keep_it_open(self, clones: tuple[Path, Path]) -> None:
        here = pulled(clones, {A: note(1, OURS)}, {A: note(1, THEIRS)})
        git(here, "add", A)
        tip = head(here)
        with Vault.open(here, person=True) as vault:
            assert vault.commit().attention and head(here) == tip

    def test_a_hook_that_refuses_is_told(self, added: Path) -> None:
        add_hook(added, "pre-merge-commit", "echo no; exit 1")
        add_hook(added, "pre-commit", "echo no; exit 1")
        with Vault.open(added, person=True) as vault:
            done = vault.commit()
            assert not done.committed and "the merge was not committed" in done.reason and vault.status().git.obstacle
