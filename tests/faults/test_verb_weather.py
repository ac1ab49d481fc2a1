"""Verbs and commands where the machine is odd: no git, pipes and devices among the notes, swapped folders, clocks that jump."""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
import unicodedata
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count, takewhile
from pathlib import Path

import pytest

from tests.cli import typed
from tests.faults.killer import runs_wanted
from tests.git_repos import add_hook, git, make_repo, write
from tests.oracles import assert_git_is_sound
from tests.terminal import let_commands_answer
from vault_tool import Vault
from vault_tool.errors import NotFound, VaultError
from vault_tool.files.git import commit
from vault_tool.files.layout import UNTRACKED
from vault_tool.index.relations import successors
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

NOTE = "---\nid: {id}\ntype: {type}\ntitle: {title}\n{more}---\n\n{text}\n"


def vt(root: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a person at a shell would."""
    return typed.vt("--vault", str(root), *arguments, env=environment)


def note(title: str, text: str = "Text.", type: str = "fact", **more: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in more.items())
    return NOTE.format(id=uuid.uuid4(), type=type, title=title, more=lines, text=text)


def codes(vault: Vault, path: str) -> set[str]:
    return {problem.code for problem in vault.doctor().problems if problem.path == path}


def one_line(said: str) -> bool:
    return said.count("\n") == 1 and "Traceback" not in said


class TestNoGit:
    """A machine without git keeps notes; with git again they are committed."""

    def test_a_note_is_saved_with_one_warning(self, root: Path) -> None:
        done = vt(root, "remember", "Written where there is no git.", "--kind", "fact", "--json", PATH="/nonexistent")
        assert done.returncode == 0
        assert one_line(done.stderr) and done.stderr.startswith("warning: saved, but not committed: git is not installed")
        saved = json.loads(done.stdout)
        assert (saved["committed"], "git is not installed" in saved["reason"]) == (False, True)
        assert (root / saved["path"]).is_file()

    @pytest.mark.parametrize("command", ["status", "search git", "get-subjects", "doctor", "core --print", "reindex"])
    def test_what_only_reads_says_nothing_of_it(self, root: Path, command: str) -> None:
        done = vt(root, *command.split(), PATH="/nonexistent")
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize("command", ["commit", "undo", "log"])
    def test_what_needs_git_says_so_in_a_line(self, root: Path, command: str) -> None:
        let_commands_answer(root)
        done = vt(root, *command.split(), PATH="/nonexistent")
        assert done.returncode == 4
        assert one_line(done.stderr) and "git is not installed" in done.stderr

    @pytest.mark.in_git
    def test_edits_are_saved_too_and_committed_when_git_is_back(self, root: Path) -> None:
        made = json.loads(vt(root, "remember", "First of all.", "--json", PATH="/nonexistent").stdout)
        assert vt(root, "pin", made["id"], PATH="/nonexistent").returncode == 0
        assert git(root, "status", "--porcelain") != ""
        assert vt(root, "commit").returncode == 0
        assert git(root, "status", "--porcelain") == ""
        assert "pinned: true" in git(root, "show", f"HEAD:{made['path']}")


TWINS = {
    "case": ("redis", "REDIS.md"),
    "composed": ("größe", unicodedata.normalize("NFD", "größe.md")),
    "decomposed": (unicodedata.normalize("NFD", "größe"), unicodedata.normalize("NFC", "größe.md")),
}


@pytest.mark.in_git
@pytest.mark.parametrize("kind", TWINS)
def test_no_verb_makes_a_twin_of_a_name_that_is_there(root: Path, kind: str) -> None:
    name, there = TWINS[kind]
    mine = write(root, f"vault/subjects/{there}", "A page that somebody keeps here.\n")
    with Vault.open(root) as vault:
        assert vault.remember("About it.", [name]).committed
    found = os.listdir(root / "vault" / "subjects")
    folded = {unicodedata.normalize("NFC", one).casefold() for one in found}
    assert len(folded) == len(found) == 2
    assert mine.read_text() == "A page that somebody keeps here.\n"


@pytest.mark.in_git
@pytest.mark.parametrize(("one", "other"), [("Redis.md", "redis.md"), ("Café.md", unicodedata.normalize("NFD", "Café.md"))])
def test_twins_that_are_there_are_both_served_and_named(root: Path, one: str, other: str) -> None:
    for name in (one, other):
        write(root, f"vault/{name}", note(f"Twin {len(name)}"))
    if len(list((root / "vault").glob("*.md"))) < 3:
        pytest.skip("this disk holds one of two such names only")
    with Vault.open(root, origin="owner") as vault:
        assert len(vault.search("twin", kinds=["fact"]).results) == 2
        assert "twin-names" in codes(vault, f"vault/{one}") | codes(vault, f"vault/{other}")
        assert set(vault.commit().paths) == {f"vault/{one}", f"vault/{other}"}
        for found in vault.search("twin", kinds=["fact"]).results:
            assert found.id is not None and vault.pin(found.id).committed
    assert git(root, "status", "--porcelain") == ""


class TestWhatIsNoFile:
    """A pipe, a socket or a device named like a note blocks no verb and is named."""

    @pytest.fixture(params=["pipe", "socket", "device"])
    def odd(self, root: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
        path = root / "vault" / "x.md"
        if request.param == "pipe":
            os.mkfifo(path)
        elif request.param == "socket":
            monkeypatch.chdir(path.parent)
            with socket.socket(socket.AF_UNIX) as bound:
                bound.bind(path.name)
        else:
            try:
                os.mknod(path, stat.S_IFCHR | 0o644, os.makedev(1, 3))
            except PermissionError:
                pytest.skip("only root can make a device")
        return "vault/x.md"

    @pytest.mark.in_git
    @pytest.mark.parametrize("command", ["remember Text.", "search text", "commit", "status", "reindex --full", "watch --once"])
    def test_commands_go_on(self, root: Path, odd: str, command: str) -> None:
        done = vt(root, *command.split())
        assert done.returncode == 0, done.stderr
        assert git(root, "ls-files", odd) == ""

    def test_it_is_named(self, root: Path, odd: str) -> None:
        with Vault.open(root) as vault:
            assert "not-a-file" in codes(vault, odd)

    @pytest.mark.parametrize("command", ["get", "adopt", "edit"])
    def test_asked_for_by_its_path_it_is_refused_in_a_line(self, root: Path, odd: str, command: str) -> None:
        done = vt(root, command, odd, EDITOR="true", VAULT_ORIGIN="owner")
        assert done.returncode in (2, 5, 6), (done.returncode, done.stdout)
        assert one_line(done.stderr)

    def test_a_folder_with_it_is_imported_without_it(self, root: Path, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.md")
        write(tmp_path, "n.md", "# A note\n")
        source = tmp_path / "source"
        source.mkdir()
        for name in ("pipe.md", "n.md"):
            (tmp_path / name).rename(source / name)
        done = json.loads(vt(root, "import", "markdown", str(source), "--json").stdout)
        assert (done["imported"], [one["path"] for one in done["problems"]]) == (1, ["pipe.md"])


SWAP = """
import os, sys, time
from vault_tool.util.renames import exchange
inside, link, outside = sys.argv[1:]
folder = os.open(os.path.dirname(inside), os.O_RDONLY)
names = os.path.basename(inside), os.path.basename(link)
os.symlink(outside, link)
print("ready", flush=True)
while exchange(folder, *names):
    time.sleep(0.001)
    exchange(folder, *names)
    time.sleep(0.003)
"""
"""At once and not by way of a third name: in between a verb would make the folder anew, as it may."""


@pytest.mark.in_git
@pytest.mark.campaign
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names are swapped in one step by a call of Linux's")
def test_no_verb_writes_through_a_folder_that_is_swapped_for_a_link(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "note.md").write_text("not ours\n")
    with Vault.open(root) as vault:
        first = vault.remember("The note that is changed all the time.", kind="fact")
        month = (root / first.path).parent
        link = month.with_suffix(".link")
        command = [sys.executable, "-c", SWAP, str(month), str(link), str(outside)]
        saved: list[str] = []
        with subprocess.Popen(command, stdout=subprocess.PIPE) as swapper:
            assert swapper.stdout is not None and swapper.stdout.readline() == b"ready\n"
            try:
                # On a busy machine the swapping may leave no room for a while.
                for number in takewhile(lambda number: number < runs_wanted(40) or (not saved and number < 400), count()):
                    acts: tuple[Callable[[], object], ...] = (
                        lambda number=number: saved.append(vault.remember(f"Number {number} was kept.").path),  # type: ignore[misc]
                        lambda number=number: vault.pin(first.id, off=bool(number % 2)),  # type: ignore[misc]
                    )
                    for act in acts:
                        try:
                            act()
                        except VaultError as fault:
                            assert "\n" not in str(fault)
                assert swapper.poll() is None, "it swapped to the end"
            finally:
                swapper.kill()
    if month.is_symlink():  # it was killed between two of its steps
        month.unlink()
        link.rename(month)
    assert saved, "nothing was ever written: the swapping leaves no room"
    assert {one.name: one.read_text() for one in outside.iterdir()} == {"note.md": "not ours\n"}
    assert all((root / path).is_file() for path in saved)
    assert_git_is_sound(root)


class TestRepositoriesWithin:
    """Other people's repositories below the vault run nothing of theirs, and are theirs to commit."""

    @pytest.fixture
    def canary(self, root: Path, tmp_path: Path) -> Path:
        inner, mark = root / "vault" / "inner", tmp_path / "sang"
        git(root, "init", "--quiet", "--bare", str(inner))
        keys = {"core.worktree": str(root), "core.bare": "false"}
        keys |= dict.fromkeys(("core.fsmonitor", "diff.external", "core.sshCommand", "core.pager"), f"touch {mark}; false")
        for key, value in keys.items():
            git(root, "--git-dir", str(inner), "config", key, value)
        return mark

    @pytest.mark.in_git
    @pytest.mark.parametrize(
        "command", ["status", "search text", "remember Text.", "commit", "doctor", "log", "diff", "reindex --full", "core"]
    )
    def test_a_bare_one_runs_nothing(self, root: Path, canary: Path, command: str) -> None:
        write(root, "vault/page.md", "A page.\n")
        done = vt(root, *command.split())
        assert done.returncode == 0, done.stderr
        assert not canary.exists()

    def test_a_command_run_within_it_finds_the_vault_and_runs_nothing(
        self, root: Path, canary: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(root / "vault" / "inner")
        done = typed.vt_process("remember", "From within.")
        assert done.returncode == 0, done.stderr
        assert not canary.exists()

    @pytest.mark.in_git
    def test_notes_of_a_nested_one_are_served_and_not_committed(self, root: Path) -> None:
        make_repo(root / "vault" / "other")
        nested = write(root, "vault/other/n.md", note("Nested"))
        with Vault.open(root, origin="owner") as vault:
            found = vault.search("nested").results[0]
            assert found.path == "vault/other/n.md" and found.id is not None
            pinned = vault.pin(found.id)
            assert (pinned.committed, "a repository of its own" in pinned.reason) == (False, True)
            assert vault.remember("The vault goes on.").committed
            vault.commit()
        assert "pinned: true" in nested.read_text()
        assert git(root, "ls-files", "vault/other") == ""
        assert git(nested.parent, "log", "--format=%s") == "first"

    @pytest.mark.in_git
    @pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
    @pytest.mark.parametrize("command", ["remember Text.", "commit"])
    def test_a_vault_of_somebody_else_is_not_written(self, root: Path, command: str) -> None:
        before = git(root, "rev-parse", "HEAD")
        write(root, "vault/page.md", "A page.\n")
        for path in (root / ".git", root):
            os.chown(path, 12345, 12345)
        done = vt(root, *command.split())
        assert (done.returncode, one_line(done.stderr)) == (6, True)
        assert "git config --global --add safe.directory" in done.stderr and "*" not in done.stderr
        for path in (root / ".git", root):
            os.chown(path, 0, 0)
        assert git(root, "rev-parse", "HEAD") == before


@pytest.mark.in_git
def test_a_hook_that_hangs_is_given_up_and_the_note_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hook = add_hook(root, "pre-commit", "sleep 3600")
    limits = commit.__kwdefaults__
    assert limits is not None and 0 < limits["hook_limit"] <= 30
    monkeypatch.setitem(limits, "hook_limit", 0.5)
    with Vault.open(root) as vault:
        saved = vault.remember("Behind a hook that hangs.")
        assert (saved.committed, saved.attention) == (False, True)
        assert "took longer than 0.5 s" in saved.reason and "\n" not in saved.reason
        assert vault.search("hangs").results and vault.status().git.waiting == 1
        hook.unlink()
        assert vault.remember("Free again.").committed
    assert git(root, "log", "--format=%s", "-2").splitlines() == ["remember: Free again", "remember: Behind a hook that hangs"]
    assert git(root, "status", "--porcelain") == ""


class TestTime:
    """Local time repeats an hour, skips one and is set wrong; what is stored is UTC, and order does not hang on it."""

    @pytest.fixture(autouse=True)
    def new_york(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TZ", "America/New_York")
        time.tzset()

    def test_the_repeated_hour_is_two_hours(self, root: Path) -> None:
        clock = FixedClock(datetime(2026, 11, 1, 5, 30, tzinfo=UTC))  # 01:30 in summer time
        with Vault.open(root, clock=clock) as vault:
            made = [vault.remember("Before the hour repeats.")]
            clock.advance(timedelta(hours=1))  # 01:30 again
            made.append(vault.remember("After the hour repeated."))
            created = [vault.get(one.id).created for one in made]
        assert created == ["2026-11-01T05:30:00+00:00", "2026-11-01T06:30:00+00:00"]
        assert {one.path.split("/")[2:4] == ["2026", "11"] for one in made} == {True}

    def test_an_end_within_the_repeated_hour_is_the_one_that_was_written(self, root: Path) -> None:
        for zone in ("-04:00", "-05:00"):
            write(
                root, f"vault/{zone[1:3]}.md", note(f"Until {zone}", "Valid for a while.", expires=f"2026-11-01T01:30:00{zone}")
            )
        clock = FixedClock(datetime(2026, 11, 1, 5, 45, tzinfo=UTC))
        with Vault.open(root, clock=clock) as vault:
            assert [found.title for found in vault.search("valid").results] == ["Until -05:00"]
            clock.advance(timedelta(hours=1))
            assert vault.search("valid").results == ()

    def test_the_hour_that_is_skipped_and_days_that_are_none(self, root: Path) -> None:
        times = {
            "Skipped": "2026-03-08T02:30:00",
            "Leap day": "2028-02-29",
            "No day": "2026-02-30",
            "Leap second": "2016-12-31T23:59:60Z",
        }
        for title, created in times.items():
            write(root, f"vault/{title}.md", note(title, f"{title}, told by hand.", created=created))
        with Vault.open(root) as vault:
            assert {found.title for found in vault.search('"told by hand"').results} == set(times)
            named = {problem.path for problem in vault.doctor().problems}
            assert {"vault/No day.md", "vault/Leap second.md"} <= named
            assert not {"vault/Skipped.md", "vault/Leap day.md"} & named
            assert len(vault.decay().results) >= len(times)

    @pytest.mark.in_git
    @pytest.mark.parametrize("jump", [timedelta(days=-1), timedelta(days=3653), timedelta(days=-20000)])
    def test_a_clock_that_jumps_changes_no_order_that_counts(self, root: Path, jump: timedelta) -> None:
        clock = FixedClock(datetime(2026, 11, 20, 10, tzinfo=UTC))
        with Vault.open(root, clock=clock) as vault:
            first = vault.remember("Written before the jump.", ["Clock"])
            old = vault.create_understanding(["Clock"], "It runs.", "Runs", title="The clock")
            clock.advance(jump)
            second = vault.remember("Written after the jump.", ["Clock"])
            new = vault.update_understanding(old.id, new_content="It jumped.", new_summary="Jumped", reason="A jump was seen.")
            newer = new.new_understanding_id
            assert len({first.id, second.id, old.id, newer}) == 4
            assert first.committed and second.committed and new.committed
            assert successors(vault.index.catalog, old.id) == (newer,) and not successors(vault.index.catalog, newer)
            assert vault.get(second.id).decay_score >= 0
            vault.reflect()
            undone = vault.as_person().undo()
            assert undone.committed
            assert not vault.reindex(full=True).stale
        assert git(root, "status", "--porcelain") == ""


@pytest.mark.in_git
def test_a_rule_that_was_taken_out_of_gitignore_is_missed_and_nothing_is_taken(root: Path) -> None:
    ignore = root / ".gitignore"
    rules = ignore.read_text().splitlines()
    for name in ("_embeddings.json", "_config.json"):
        write(root, name, "{}\n")
    with Vault.open(root) as vault:
        vault.remember("So that there is something derived.")
        vault.settle()
        for rule in rules:
            ignore.write_text("".join(f"{one}\n" for one in rules if one != rule))
            page = write(root, f"vault/page{rules.index(rule)}.md", f"Without {rule}.\n")
            assert "derived-not-ignored" in {one.code for one in vault.doctor().problems}, rule
            assert f"vault/{page.name}" in vault.commit().paths
            assert vault.remember(f"Without {rule}").committed
    tracked = git(root, "ls-tree", "-r", "--name-only", "HEAD").splitlines()
    ignore.write_text("".join(f"{rule}\n" for rule in rules))
    with Vault.open(root) as vault:
        assert "derived-not-ignored" not in {one.code for one in vault.doctor().problems}
    assert not [path for path in tracked if path.startswith(tuple(UNTRACKED)) or ".vt-" in path]


def test_a_record_that_is_no_file_is_not_found(root: Path) -> None:
    with Vault.open(root) as vault, pytest.raises(NotFound):
        vault.get("vault/none.md")
