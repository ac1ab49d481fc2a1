"""What stands in the way of a commit is named in one line, and nothing is changed by the attempt."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.bounds import PATIENCE
from tests.git_repos import commit_all, diverge, found, git, make_empty_repo, make_repo, wrap_git, write
from tests.wording import bare
from vault_tool.errors import GitError, Refused
from vault_tool.files import git as vault_git
from vault_tool.files.git import Commit, FileChange

TEXT = vault_git.message("remember: a thing", "remember", None, [])


def _try(root: Path, path: str = "vault/a.md", *, lock_wait: float = 0.2) -> Commit:
    write(root, path, "one\n")
    return vault_git.commit(found(root), [FileChange(path, b"one\n")], TEXT, lock_wait=lock_wait)


def _refused(root: Path, because: str) -> Commit:
    """Try to commit a note; it has to be kept back with one line that holds `because`, and git has to be as it was."""
    before = (git(root, "rev-parse", "--verify", "HEAD", ok=False), git(root, "ls-files", "--stage"))
    done = _try(root)
    assert (done.committed, done.commit, done.nothing) == (False, None, False)
    assert because in done.reason
    assert "\n" not in done.reason
    assert len(done.reason) < 400
    assert (root / "vault/a.md").read_text() == "one\n"
    assert (git(root, "rev-parse", "--verify", "HEAD", ok=False), git(root, "ls-files", "--stage")) == before
    return done


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("merge", "side"), "a merge is in progress"),
        (("rebase", "side"), "a rebase is in progress"),
        (("rebase", "--apply", "side"), "a rebase is in progress"),
        (("cherry-pick", "side"), "a cherry-pick is in progress"),
        (("revert", "--no-edit", "side"), "a revert is in progress"),
    ],
)
def test_an_operation_under_way_is_not_disturbed(tmp_path: Path, command: tuple[str, ...], what: str) -> None:
    root = diverge(make_repo(tmp_path / "v"), "README.md", "README.md")
    git(root, *command, ok=False)
    done = _refused(root, what)
    assert f"git {command[0]} --abort" in done.reason
    assert vault_git.in_conflict(found(root)) == {"README.md"}
    assert vault_git.UncommittedFile("README.md", "conflicted") in vault_git.uncommitted(found(root))
    git(root, command[0], "--abort")
    assert vault_git.obstacle(found(root)) is None


def test_a_bisect_is_not_disturbed(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    git(root, "bisect", "start")
    assert "git bisect reset" in _refused(root, "a bisect is in progress").reason


def test_a_merge_in_a_linked_worktree_hinders_only_there(tmp_path: Path) -> None:
    main = diverge(make_repo(tmp_path / "main"), "README.md", "README.md")
    git(main, "worktree", "add", "--quiet", "-b", "third", str(tmp_path / "third"))
    git(tmp_path / "third", "merge", "side", ok=False)
    _refused(tmp_path / "third", "a merge is in progress")
    assert _try(main).committed


def test_a_detached_head_takes_no_commit(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    git(root, "checkout", "--quiet", "--detach")
    assert vault_git.head(found(root)).branch is None
    _refused(root, "HEAD is detached")


def test_without_an_identity_the_two_commands_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "v")
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    assert vault_git.identity(found(root)) == "A Tester <tester@example.org>"
    for key in ("user.name", "user.email"):
        git(root, "config", "--unset", key)
    git(root, "config", "user.useConfigOnly", "true")
    done = _refused(root, "git does not know who you are")
    assert "git config --global user.name 'Your Name' && git config --global user.email you@example.org" in done.reason
    assert vault_git.identity(found(root)) is None


def test_an_identity_of_the_environment_alone_is_enough(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    for key in ("user.name", "user.email"):
        git(root, "config", "--unset", key)
    assert _try(root).committed


@pytest.mark.parametrize("name", ["...", "<>", " "])
def test_a_name_of_nothing_but_signs_in_the_environment_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    root = make_repo(tmp_path / "v")
    for key in ("user.name", "user.email"):
        git(root, "config", "--unset", key)
    monkeypatch.setenv("GIT_AUTHOR_NAME", name)
    _refused(root, "git does not know who you are")


def test_a_conflict_without_a_merge_keeps_its_own_note_back(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/a.md", "zero\n")
    commit_all(root, "note")
    write(root, "vault/a.md", "stashed\n")
    git(root, "stash")
    write(root, "vault/a.md", "committed\n")
    commit_all(root, "note again")
    git(root, "stash", "pop", ok=False)
    assert vault_git.obstacle(found(root)) is None
    _refused(root, "vault/a.md is in conflict")
    assert _try(root, "vault/b.md").committed
    assert vault_git.in_conflict(found(root)) == {"vault/a.md"}


def test_a_lock_that_is_held_is_waited_for_and_then_named(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    lock = write(root, ".git/index.lock", "")
    done = _refused(root, "index.lock")
    assert "rm " not in done.reason
    assert lock.exists()


def test_a_lock_that_is_let_go_in_time_does_not_matter(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    lock = write(root, ".git/index.lock", "")
    script = f"import pathlib, time; time.sleep(0.4); pathlib.Path({str(lock)!r}).unlink()"
    with subprocess.Popen([sys.executable, "-c", script]):
        assert _try(root, lock_wait=PATIENCE).committed


def test_a_lock_that_a_killed_git_left_is_named_at_once_and_never_removed(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    lock = write(root, ".git/index.lock", "")
    hour_ago = time.time() - 3600
    os.utime(lock, (hour_ago, hour_ago))
    done = _try(root, lock_wait=86400)  # were it waited for, this test would meet its limit
    assert not done.committed
    assert f"a git process left the lock {lock} 360" in done.reason
    assert f"rm {lock}" in done.reason
    assert lock.exists()


def test_an_old_lock_of_a_git_that_still_runs_is_not_called_left_over(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    lock = write(root, ".git/index.lock", "")
    hour_ago = time.time() - 3600
    os.utime(lock, (hour_ago, hour_ago))
    with subprocess.Popen(["git", "cat-file", "--batch"], cwd=root, stdin=subprocess.PIPE) as alive:
        done = _try(root)
        alive.communicate(b"")
    assert "another git process holds" in done.reason
    assert "rm " not in done.reason


def test_a_branch_that_cannot_be_moved_leaves_the_index_as_it_was(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/b.md", "staged by the person\n")
    git(root, "add", "vault/b.md")
    write(root, ".git/refs/heads/main.lock", "")
    _refused(root, "main.lock")
    assert "main.lock" in _try(root, "vault/b.md").reason
    assert git(root, "show", ":vault/b.md") == "staged by the person"


def test_where_there_is_no_repository(tmp_path: Path) -> None:
    assert vault_git.find(tmp_path) is None
    assert "is in no git repository; `git init` makes one" in bare(vault_git.look_for(tmp_path)[1])
    assert vault_git.find(tmp_path / "missing") is None
    repo = vault_git.init(tmp_path)
    assert repo == vault_git.find(tmp_path)
    assert vault_git.look_for(tmp_path)[1] == ""
    assert vault_git.head(repo).commit is None


def test_a_bare_repository_is_no_place_for_a_vault(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "bare.git")
    assert vault_git.find(tmp_path / "bare.git") is None
    assert "bare repository" in vault_git.look_for(tmp_path / "bare.git")[1]


def test_without_git_there_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = found(make_empty_repo(tmp_path / "v"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert vault_git.find(repo.root) is None
    assert "git is not installed" in vault_git.look_for(repo.root)[1]
    with pytest.raises(GitError, match="git is not installed"):
        vault_git.tracked(repo)
    assert "git is not installed" in vault_git.commit(repo, [FileChange("a.md", b"x")], TEXT).reason


def test_a_commit_made_meanwhile_is_built_upon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "v")
    other = (
        f'if [ "$1 $2" = "--no-pager update-ref" ] && mkdir {tmp_path}/once 2>/dev/null; then\n'
        f'  echo theirs > {root}/theirs.txt; "$REAL" -C {root} add theirs.txt\n'
        f'  "$REAL" -C {root} commit --quiet -m theirs --only theirs.txt\nfi'
    )
    monkeypatch.setenv("PATH", wrap_git(tmp_path / "bin", other))
    assert _try(root).committed
    assert git(root, "log", "--format=%s") == "remember: a thing\ntheirs\nfirst"
    assert git(root, "show", "--format=", "--name-only") == "vault/a.md"
    assert git(root, "status", "--porcelain") == ""


def test_a_branch_taken_back_meanwhile_stays_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/b.md", "two\n")
    commit_all(root, "to be taken back")
    other = (
        f'if [ "$1 $2" = "--no-pager update-ref" ] && mkdir {tmp_path}/once 2>/dev/null; then\n'
        f'  "$REAL" -C {root} reset --quiet --soft HEAD~1\nfi'
    )
    monkeypatch.setenv("PATH", wrap_git(tmp_path / "bin", other))
    assert _try(root).committed
    assert git(root, "log", "--format=%s") == "remember: a thing\nfirst"
    assert git(root, "status", "--porcelain") == "A  vault/b.md"


def test_when_others_commit_all_the_time_it_gives_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "v")
    other = f'if [ "$1 $2" = "--no-pager update-ref" ]; then "$REAL" -C {root} commit --quiet --allow-empty --only -m theirs; fi'
    monkeypatch.setenv("PATH", wrap_git(tmp_path / "bin", other))
    done = _try(root)
    assert "other commits were made here" in done.reason
    assert git(root, "rev-list", "--count", "HEAD") == "11"


_COMMIT_OFTEN = """
import sys
from pathlib import Path
from vault_tool.files import git
root, who = Path(sys.argv[1]), sys.argv[2]
repo = git.find(root)
for number in range(8):
    path = f"{who}-{number}.md"
    (root / path).write_bytes(path.encode())
    done = git.commit(repo, [git.FileChange(path, path.encode())], path)
    assert done.committed, done.reason
"""


def test_committers_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    root = make_repo(tmp_path / "v")
    running = [subprocess.Popen([sys.executable, "-c", _COMMIT_OFTEN, str(root), who]) for who in ("a", "b", "c")]
    assert [each.wait() for each in running] == [0, 0, 0]
    names = sorted(f"{who}-{number}.md" for who in "abc" for number in range(8))
    assert sorted(git(root, "log", "--format=%s").splitlines()) == sorted([*names, "first"])
    assert sorted(git(root, "log", "--format=", "--name-only").splitlines()) == sorted([*names, "README.md"])
    assert git(root, "status", "--porcelain") == ""
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


_COMMIT_AND_DIE = """
import sys
from pathlib import Path
from vault_tool.files import git
repo = git.find(Path(sys.argv[1]))
git.commit(repo, [git.FileChange("vault/a.md", b"two\\n"), git.FileChange("vault/gone.md", None)], "remember: x\\n")
"""


@pytest.mark.parametrize("step", ["fast-import", "update-index", "update-ref"])
def test_a_kill_at_any_step_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/a.md", "one\n")
    write(root, "vault/gone.md", "one\n")
    head = commit_all(root, "notes")
    write(root, "vault/a.md", "two\n")
    (root / "vault/gone.md").unlink()
    write(root, "other.txt", "staged\n")
    git(root, "add", "other.txt")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", wrap_git(tmp_path / "bin", f'if [ "$2" = {step} ]; then kill -9 $PPID; sleep 0.2; exit 1; fi'))
        killed = subprocess.run([sys.executable, "-c", _COMMIT_AND_DIE, str(root)], check=False)
    assert killed.returncode == -9
    assert git(root, "rev-parse", "HEAD") == head
    assert {each.path for each in vault_git.uncommitted(found(root))} == {"vault/a.md", "vault/gone.md", "other.txt"}
    done = vault_git.commit(found(root), [FileChange("vault/a.md", b"two\n"), FileChange("vault/gone.md", None)], TEXT)
    assert done.committed
    assert git(root, "status", "--porcelain") == "A  other.txt"
    assert git(root, "show", "--format=", "--name-status") == "M\tvault/a.md\nD\tvault/gone.md"
    assert git(root, "fsck", "--strict", "--no-dangling") == ""


def test_a_person_who_commits_after_a_kill_takes_nothing_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_repo(tmp_path / "v")
    write(root, "vault/a.md", "one\n")
    write(root, "vault/gone.md", "one\n")
    commit_all(root, "notes")
    write(root, "vault/a.md", "two\n")
    (root / "vault/gone.md").unlink()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", wrap_git(tmp_path / "bin", 'if [ "$2" = update-ref ]; then "$REAL" "$@"; kill -9 $PPID; exit 0; fi'))
        killed = subprocess.run([sys.executable, "-c", _COMMIT_AND_DIE, str(root)], check=False)
    assert killed.returncode == -9
    write(root, "theirs.txt", "theirs\n")
    git(root, "add", "theirs.txt")
    git(root, "commit", "--quiet", "-m", "theirs")
    assert git(root, "show", "--format=", "--name-only") == "theirs.txt"
    assert git(root, "show", "HEAD:vault/a.md") == "two"
    assert git(root, "status", "--porcelain") == ""


def test_a_repository_of_another_owner_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    root = make_repo(tmp_path / "v")
    for each in (root, root / ".git"):
        os.chown(each, 65534, 65534)
    with pytest.raises(Refused, match=r"dubious ownership.*git config --global --add safe.directory"):
        vault_git.find(root)
