"""Branches, merges and other clones while a vault is in use: nothing lost, nothing half merged committed or served."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.founding import own_copy
from tests.git_repos import add_hook, commit_all, git, hub_and_clone, make_repo, write
from tests.oracles import assert_as_built_anew, assert_git_is_sound
from tests.verbs.looking import assert_committed, assert_waits, codes, fails, found, head, identity, in_commit, note, status, text
from vault_tool import Vault
from vault_tool.errors import GitError
from vault_tool.util.clock import FixedClock

NOTE = "vault/a.md"


@pytest.fixture
def clones(root: Path, tmp_path: Path, clock: FixedClock) -> Iterator[tuple[Vault, Vault]]:
    """Two open vaults that pull from each other through a hub."""
    write(root, NOTE, note(1, "First line.\n\nShared text."))
    commit_all(root, "a note by hand")
    other = hub_and_clone(root, tmp_path)
    with Vault.open(root, clock=clock) as here, Vault.open(other, clock=clock) as there:
        yield here, there


def pull(vault: Vault, *options: str) -> None:
    git(vault.root, "pull", "--quiet", "--no-edit", *(options or ("--no-rebase",)), ok=False)


def in_conflict(here: Vault, there: Vault) -> None:
    """Leave `here` in the middle of a pull whose note and page both sides changed."""
    for vault, said in ((there, "Theirs"), (here, "Ours")):
        write(vault.root, NOTE, note(1, f"First line.\n\n{said} text."))
        vault.commit()
        vault.remember(f"{said} memory.", kind="decision")
    git(there.root, "push", "--quiet")
    pull(here)


class TestOpenVault:
    def test_a_switch_of_branches_is_noticed(self, vault: Vault) -> None:
        main = git(vault.root, "branch", "--show-current")
        git(vault.root, "switch", "--quiet", "-c", "other")
        made = vault.remember("Elsewhere alone.", ["Redis"])
        git(vault.root, "switch", "--quiet", main)
        assert found(vault, "elsewhere") == []
        here = vault.remember("Here alone.", ["Redis"])
        git(vault.root, "switch", "--quiet", "other")
        assert found(vault, "alone") == ["Elsewhere alone"]
        # Both made the subject, of the same name and therefore of the same bytes.
        git(vault.root, "merge", "--quiet", "--no-edit", main)
        assert {made.title, here.title} == set(found(vault, "alone"))
        assert codes(vault) == []
        vault.close()
        assert_as_built_anew(vault.root, ["alone"], vault.clock)

    @pytest.mark.parametrize("options", [("--no-rebase",), ("--rebase",)])
    def test_two_clones_that_pull_from_each_other(self, clones: tuple[Vault, Vault], options: tuple[str, ...]) -> None:
        here, there = clones
        for number in range(3):
            for vault, other, word in ((here, there, "heron"), (there, here, "thrush")):
                vault.remember(f"Made {word} {number}.", [f"Side {len(word)}"])
                assert git(vault.root, "status", "--porcelain") == ""
                pull(vault, *options)
                git(vault.root, "push", "--quiet")
                pull(other, *options)
                assert len(found(other, word)) == number + 1
        assert head(here.root) == head(there.root)
        assert len(list((here.root / "vault/episodes").iterdir())) == 2
        for vault in clones:
            assert codes(vault) == []
            vault.close()
            assert_as_built_anew(vault.root, ["heron", "thrush"], vault.clock)
            assert_git_is_sound(vault.root)

    def test_a_history_that_was_rewritten_under_it(self, vault: Vault) -> None:
        made = vault.remember("It drops.")
        git(vault.root, "reset", "--quiet", "--hard", "HEAD~1")
        assert found(vault, "drops") == []
        assert_committed(vault.remember("It drops."), vault.root)
        assert not (vault.root / made.path).exists() or text(vault.root, made.path) != ""


class TestConflicts:
    def test_a_note_in_conflict_is_named_and_served_as_head_has_it(self, clones: tuple[Vault, Vault]) -> None:
        here, there = clones
        in_conflict(here, there)
        assert "<<<<<<<" in text(here.root, NOTE)
        assert here.status().git.conflicted == (NOTE,)
        assert "merge-conflict" in codes(here, NOTE)
        assert here.show(identity(1)).content.endswith("Ours text.")
        assert NOTE in here.search("shared ours").freshness.stale
        assert "=======" not in here.core(preview=True).text

    def test_no_verb_commits_it(self, clones: tuple[Vault, Vault]) -> None:
        here, there = clones
        in_conflict(here, there)
        tip, marked = head(here.root), text(here.root, NOTE)
        assert_waits(here.remember("Meanwhile."), "a merge is in progress")
        made = here.commit()
        assert (made.committed, made.attention) == (False, True)
        assert NOTE in {one.path for one in made.left}
        for page in (here.core, here.reflection):
            with fails(GitError, "a merge is in progress"):
                page()
        assert (head(here.root), text(here.root, NOTE)) == (tip, marked)
        write(here.root, NOTE, note(1, "First line.\n\nBoth texts."))
        git(here.root, "add", NOTE)
        git(here.root, "commit", "--quiet", "--no-edit")
        assert_committed(here.remember("Afterwards."), here.root)
        assert git(here.root, "log", "--format=%s", "-2") == "remember: Afterwards\nremember: Meanwhile"
        assert (status(here.root), codes(here)) == ("", [])

    def test_a_conflict_of_a_stash_stops_no_other_edit(self, vault: Vault) -> None:
        write(vault.root, NOTE, note(1, "One."))
        commit_all(vault.root, "one")
        write(vault.root, NOTE, note(1, "Mine."))
        git(vault.root, "stash", "--quiet")
        write(vault.root, NOTE, note(1, "Two."))
        commit_all(vault.root, "two")
        git(vault.root, "stash", "pop", "--quiet", ok=False)
        write(vault.root, "vault/b.md", note(2, "Another."))
        made = vault.commit()
        assert (made.paths, [one.path for one in made.left]) == (("vault/b.md",), [NOTE])
        # Markers taken out, but git not told: still somebody's to settle.
        write(vault.root, NOTE, note(1, "Three."))
        assert [one.code for one in vault.commit().left] == ["merge-conflict"]
        git(vault.root, "add", NOTE)
        assert vault.commit().paths == (NOTE,)

    @pytest.mark.parametrize("command", ["core", "reflect", "commit"])
    def test_pages_alone_in_conflict_are_made_anew(self, clones: tuple[Vault, Vault], command: str) -> None:
        here, there = clones
        for vault, word in ((there, "Theirs"), (here, "Ours")):
            vault.remember(f"{word} decided.", kind="decision")
            assert vault.core().committed
        git(there.root, "push", "--quiet")
        pull(here)
        assert git(here.root, "diff", "--name-only", "--diff-filter=U") == "CORE.md"
        tip = head(here.root)
        done = vt(command, cwd=here.root)
        assert (done.returncode, "CORE.md is settled" in done.stderr) == (4, True), done.stderr
        assert head(here.root) == tip
        assert all(part in text(here.root, "CORE.md") for part in ("Theirs decided", "Ours decided"))
        assert git(here.root, "diff", "--name-only", "--diff-filter=U") == ""
        git(here.root, "commit", "--quiet", "--no-edit")
        # Told by the same clock: what fades is another page tomorrow.
        assert json.loads(vt("core", "--json", cwd=here.root).stdout)["changed"] is False
        assert (status(here.root), codes(here)) == ("", [])

    def test_a_page_is_not_made_of_notes_in_conflict(self, clones: tuple[Vault, Vault]) -> None:
        here, there = clones
        in_conflict(here, there)
        before = text(here.root, "CORE.md")
        with fails(GitError, "a merge is in progress"):
            here.reflect()
        assert text(here.root, "CORE.md") == before

    def test_a_rebase_with_a_page_in_conflict(self, clones: tuple[Vault, Vault]) -> None:
        here, there = clones
        for vault, word in ((there, "Theirs"), (here, "Ours")):
            vault.remember(f"{word} decided.", kind="decision")
            vault.core()
        git(there.root, "push", "--quiet")
        pull(here, "--rebase")
        assert "a rebase" in (here.status().git.obstacle or "")
        assert "is settled" in here.core().reason
        git(here.root, "-c", "core.editor=true", "rebase", "--continue")
        assert (codes(here), status(here.root)) == ([], "")
        assert_committed(here.remember("Afterwards."), here.root)


HINDRANCES: dict[str, tuple[Callable[[Path], object], Callable[[Path], object], str]] = {
    "detached": (
        lambda root: git(root, "checkout", "--quiet", "--detach"),
        lambda root: git(root, "switch", "--quiet", "-"),
        "HEAD is detached",
    ),
    "bisect": (lambda root: git(root, "bisect", "start"), lambda root: git(root, "bisect", "reset"), "a bisect"),
    "hook": (
        lambda root: add_hook(root, "pre-commit", "echo no such luck >&2; exit 1"),
        lambda root: (root / ".git/hooks/pre-commit").unlink(),
        "no such luck",
    ),
    "asking hook": (
        lambda root: add_hook(root, "pre-commit", "read answer < /dev/tty || read answer || { echo nobody answers; exit 1; }"),
        lambda root: (root / ".git/hooks/pre-commit").unlink(),
        "",
    ),
    "signing": (
        lambda root: (git(root, "config", "commit.gpgsign", "true"), git(root, "config", "gpg.program", "false")),
        lambda root: git(root, "config", "commit.gpgsign", "false"),
        "",
    ),
}


@pytest.mark.parametrize("name", HINDRANCES)
def test_what_hinders_a_commit_delays_it(vault: Vault, name: str) -> None:
    """The note is saved, named as waiting, and committed as its own operation once the way is free."""
    hinder, free, said = HINDRANCES[name]
    hinder(vault.root)
    tip = head(vault.root)
    made = vault.remember("Delayed.", ["Redis"])
    assert_waits(made, said)
    assert head(vault.root) == tip
    assert vault.status().git.waiting == 1
    assert found(vault, "delayed") == ["Delayed"]
    free(vault.root)
    assert_committed(vault.remember("Next."), vault.root)
    assert made.path in in_commit(vault.root, "HEAD~1")
    assert status(vault.root) == ""
    assert_git_is_sound(vault.root)


class TestPlaces:
    def test_a_linked_worktree(self, root: Path, tmp_path: Path, clock: FixedClock) -> None:
        git(root, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
        with Vault.open(tmp_path / "side", clock=clock) as side, Vault.open(root, clock=clock) as main:
            assert_committed(side.remember("On the side."), side.root)
            assert found(main, "side") == []
            assert side.status().git.branch == "side"
            assert side.local.token() != main.local.token()

    def test_a_submodule(self, root: Path, tmp_path: Path, clock: FixedClock) -> None:
        code = make_repo(tmp_path / "code")
        git(code, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(root), "memory")
        outer = commit_all(code, "with memory")
        with Vault.open(code / "memory", clock=clock) as vault:
            # Git leaves a fresh submodule on a branch; the outer repository is not ours to commit to.
            assert_committed(vault.remember("Within."), vault.root)
        assert head(code) == outer

    def test_a_folder_of_a_code_repository_with_staged_work(self, tmp_path: Path, clock: FixedClock) -> None:
        code = make_repo(tmp_path / "code")
        Vault.init(code / "notes" / "deep", name="Deep", clock=clock, commit=True)
        write(code, "src/a.py", "staged = True\n")
        git(code, "add", "src/a.py")
        write(code, "src/b.py", "untracked = True\n")
        write(code, "README.md", "# Edited\n")
        with Vault.open(code / "notes" / "deep", clock=clock, person=True) as vault:
            assert_committed(vault.remember("Within.", ["Redis"]), code)
            assert all(path.startswith("notes/deep/vault/") for path in in_commit(code))
            write(vault.root, "vault/b.md", note(2))
            assert vault.commit().paths == ("vault/b.md",)
            assert vault.undo().removed == ("vault/b.md",)
            assert codes(vault) == []
        assert status(code).split("\n") == [" M README.md", "A  src/a.py", "?? src/b.py"]

    def test_a_shallow_clone(self, root: Path, tmp_path: Path, clock: FixedClock) -> None:
        with Vault.open(root, clock=clock) as deep:
            deep.remember("Deep.")
        git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{root}", "shallow")
        with Vault.open(tmp_path / "shallow", clock=clock, person=True) as vault:
            assert found(vault, "deep") == ["Deep"]
            made = vault.remember("On top.")
            assert_committed(made, vault.root)
            assert len(vault.log().results) == 2
            assert vault.undo().undone == made.commit

    def test_a_copied_folder_gets_a_writer_of_its_own(self, root: Path, tmp_path: Path, clock: FixedClock) -> None:
        with Vault.open(root, clock=clock) as vault:
            vault.remember("Before.")
        own_copy(root, tmp_path / "copy")
        with Vault.open(tmp_path / "copy", clock=clock) as copy, Vault.open(root, clock=clock) as vault:
            copy.remember("In the copy.")
            git(vault.root, "pull", "--quiet", "--no-rebase", "--no-edit", str(copy.root))
            vault.remember("In the first.")
            git(copy.root, "pull", "--quiet", "--no-rebase", "--no-edit", str(vault.root))
            assert (codes(vault), codes(copy)) == ([], [])


class TestHostile:
    def test_reading_verbs_run_nothing_that_the_config_names(self, vault: Vault, tmp_path: Path) -> None:
        made = vault.remember("It drops.")
        canary = tmp_path / "sung"
        sing = f"touch {canary}"
        for key in ("core.fsmonitor", "diff.external", "core.sshCommand", "diff.x.textconv", "filter.x.clean", "core.pager"):
            git(vault.root, "config", key, sing)
        git(vault.root, "config", "core.hooksPath", str(add_hook(vault.root, "post-index-change", sing).parent))
        write(vault.root, ".git/info/attributes", "*.md filter=x diff=x\n")
        write(vault.root, made.path, text(vault.root, made.path) + "More.\n")
        for read in (
            vault.status,
            vault.doctor,
            vault.log,
            vault.diff,
            lambda: vault.search("drops"),
            lambda: vault.get(made.id),
        ):
            read()
        vault.history(made.id)
        vault.reindex(full=True)
        assert not canary.exists()

    @pytest.mark.parametrize("name", ["--output=stolen", "-u/stolen", "ext::sh -c touch% stolen", "HEAD:vault", "a..b"])
    def test_names_like_options_are_names(self, root: Path, name: str) -> None:
        for command in ("diff --since", "undo --origin owner", "log", "commit", "show"):
            words = command.split()
            option = [f"{words[1]}={name}"] if words[1:2] == ["--since"] else [*words[1:], "--", name]
            assert vt(words[0], *option, cwd=root).returncode in (2, 6), command
        assert not list(root.rglob("stolen*"))

    def test_what_is_derived_is_named_and_never_staged(self, vault: Vault) -> None:
        ignore = vault.root / ".gitignore"
        ignore.write_text("".join(line for line in ignore.read_text().splitlines(True) if "_index" not in line))
        vault.remember("It drops.")
        vault.search("drops")
        vault.reindex()
        assert "derived-not-ignored" in codes(vault, "_index.json")
        gathered = vault.commit()
        assert gathered.paths == (".gitignore",)
        git(vault.root, "add", "--force", "_index.json")
        assert "derived-tracked" in codes(vault, "_index.json")
        vault.remember("It holds.")
        vault.commit()
        assert "_index.json" not in git(vault.root, "ls-tree", "-r", "--name-only", "HEAD").split("\n")


class TestTime:
    def test_a_clock_that_jumps_costs_neither_order_nor_an_id(self, vault: Vault, clock: FixedClock) -> None:
        first = vault.create_understanding(["Redis"], "It is a cache.", "A cache")
        ids = {first.id}
        newest = first.id
        for days in (-1, 3650, -3651, 0):
            clock.advance(timedelta(days=days))
            made = vault.update_understanding(newest, f"After {days}.", f"After {days}")
            newest = made.new_understanding_id
            ids.add(newest)
        assert len(ids) == 5
        shown = [one.summary for one in vault.history(first.id).results]
        assert shown == ["After 0", "After -3651", "After 3650", "After -1", "A cache"]
        assert [one.id for one in vault.history(first.id).results if one.active] == [newest]
        assert codes(vault) == []

    def test_both_hours_of_a_fold_are_two_moments(self, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "America/New_York")
        early = vault.remember("Early.", observed_at="2026-11-01T01:30:00-04:00")
        late = vault.remember("Late.", observed_at="2026-11-01T01:30:00-05:00")
        assert vault.show(early.id).head["observed"] == "2026-11-01T05:30:00+00:00"
        assert vault.show(late.id).head["observed"] == "2026-11-01T06:30:00+00:00"

    def test_a_naive_stamp_is_read_as_utc_wherever_one_is(self, vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "Asia/Tokyo")
        made = vault.remember("Naive.", observed_at="2024-02-29T23:30:00")
        assert vault.show(made.id).head["observed"] == "2024-02-29T23:30:00+00:00"

    def test_a_checkout_with_an_old_mtime_is_seen(self, vault: Vault) -> None:
        made = vault.remember("Old words.")
        path = vault.root / made.path
        stat = path.stat()
        path.write_text(path.read_text().replace("Old words", "Fen words"))
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        assert found(vault, "fen") == ["Fen words"]
