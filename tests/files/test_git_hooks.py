"""Hooks, signing and filters of a repository are honoured; when they fail or hang, the note is kept and the reason told."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.git_repos import add_hook, found, git, person_at_work, wrap_git, write
from vault_tool.files import git as vault_git
from vault_tool.files.git import Commit, FileChange

TEXT = vault_git.message("remember: a thing", "remember", "s-1", ["a1"], body="# a line with a hash\n\nand more")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a committed note, a note to be removed, and work of the person staged, edited and loose."""
    made = person_at_work(tmp_path / "v")
    write(made, "loose.txt", "loose\n")
    write(made, "vault/new *.md", "new\n")
    write(made, "vault/new x.md", "not ours\n")
    write(made, "vault/old.md", "two\n")
    (made / "vault/gone.md").unlink()
    return made


def _try(root: Path, hook_limit: float = 20.0) -> Commit:
    changes = [FileChange("vault/new *.md", b"new\n"), FileChange("vault/old.md", b"two\n"), FileChange("vault/gone.md", None)]
    return vault_git.commit(found(root), changes, TEXT, hook_limit=hook_limit)


def _refused(root: Path, because: str, hook_limit: float = 20.0) -> None:
    """Try to commit; HEAD, the index and the files have to be as they were, and the reason one line with `because`."""
    before = (git(root, "rev-parse", "HEAD"), git(root, "ls-files", "--stage", "--debug"), git(root, "status", "--porcelain"))
    done = _try(root, hook_limit)
    assert (done.committed, done.nothing) == (False, False)
    assert because in done.reason
    assert "\n" not in done.reason
    after = (git(root, "rev-parse", "HEAD"), git(root, "ls-files", "--stage", "--debug"), git(root, "status", "--porcelain"))
    assert (after[0], after[2]) == (before[0], before[2])
    assert _entries(after[1]) == _entries(before[1])
    assert not (root / ".git/index.lock").exists()


def _entries(debug: str) -> list[str]:
    return [line for line in debug.splitlines() if not line.startswith("  ")]


def _made(root: Path, hook_limit: float = 20.0) -> None:
    """Commit; it has to hold our three paths alone, and the person's work has to be where it was."""
    done = _try(root, hook_limit)
    assert done.committed, done.reason
    assert done.commit == git(root, "rev-parse", "HEAD")
    assert sorted(git(root, "show", "--format=", "--name-status").splitlines()) == [
        "A\tvault/new *.md",
        "D\tvault/gone.md",
        "M\tvault/old.md",
    ]
    assert sorted(git(root, "status", "--porcelain").splitlines()) == [
        " M edited.txt",
        '?? "vault/new x.md"',
        "?? loose.txt",
        "A  staged.txt",
    ]
    assert _try(root).nothing


def test_every_hook_of_a_commit_runs(root: Path, tmp_path: Path) -> None:
    hooks = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction", "post-index-change")
    for name in hooks:
        add_hook(root, name, f"touch {tmp_path}/{name}.ran")
    _made(root)
    assert {path.stem for path in tmp_path.glob("*.ran")} == set(hooks)
    assert git(root, "log", "-1", "--format=%B") == TEXT.rstrip("\n")


def test_a_hook_sees_our_paths_alone_and_may_change_the_message(root: Path, tmp_path: Path) -> None:
    add_hook(root, "pre-commit", f"git diff --cached --name-only -z > {tmp_path}/seen; env > {tmp_path}/env")
    add_hook(root, "commit-msg", 'echo "Reviewed-by: hook" >> "$1"')
    _made(root)
    assert (tmp_path / "seen").read_bytes().split(b"\0")[:-1] == [b"vault/gone.md", b"vault/new *.md", b"vault/old.md"]
    assert "LITERAL_PATHSPECS" not in (tmp_path / "env").read_text()
    entry = vault_git.log(found(root), limit=1)[0]
    assert (entry.op, entry.session, entry.ids) == ("remember", "s-1", ("a1",))
    assert git(root, "log", "-1", "--format=%(trailers:key=Reviewed-by,valueonly)").strip() == "hook"


def test_a_hook_that_is_not_executable_does_not_run(root: Path, tmp_path: Path) -> None:
    add_hook(root, "pre-commit", f"touch {tmp_path}/ran").chmod(0o644)
    _made(root)
    assert not (tmp_path / "ran").exists()


def test_hooks_in_a_folder_of_the_config(root: Path, tmp_path: Path) -> None:
    write(root, ".git/own/pre-commit", "#!/bin/sh\necho no, not today >&2\nexit 1\n").chmod(0o755)
    git(root, "config", "core.hooksPath", ".git/own")
    _refused(root, "no, not today")


def test_a_failing_hook(root: Path) -> None:
    add_hook(root, "pre-commit", "printf 'lint: \\033[31mbad\\033[0m note\\nmore\\n' >&2; exit 1")
    _refused(root, "lint: [31mbad [0m note")


def test_a_hook_that_fails_in_silence(root: Path) -> None:
    add_hook(root, "commit-msg", "exit 3")
    _refused(root, "a hook refused it (exit code 3)")


def test_a_hook_that_hangs_is_stopped_with_its_children(root: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    add_hook(root, "pre-commit", f"sleep 3600 > {pipe} & sleep 3600")
    reading = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        _refused(root, "took longer than 0.5 s", hook_limit=0.5)
        os.set_blocking(reading, True)
        assert os.read(reading, 1) == b""  # the end comes once nobody has it open, and while a child lives one has
    finally:
        os.close(reading)


def test_what_a_hook_leaves_running_is_not_waited_for(root: Path, tmp_path: Path) -> None:
    add_hook(root, "post-commit", f"sleep 3600 & echo $! > {tmp_path}/left")
    _made(root, hook_limit=86400)
    os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)


def test_a_hook_that_hangs_after_the_commit_does_not_unmake_it(root: Path) -> None:
    add_hook(root, "post-commit", "sleep 600")
    done = _try(root, hook_limit=0.5)
    assert done.committed
    assert done.commit == git(root, "rev-parse", "HEAD")


def test_a_hook_that_asks_gets_no_answer(root: Path) -> None:
    add_hook(root, "pre-commit", "read answer </dev/tty || read answer || { echo nobody answered >&2; exit 1; }")
    _refused(root, "")


def test_signing_without_a_key(root: Path) -> None:
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "user.signingKey", "nobody@example.org")
    _refused(root, "gpg")


def test_signing_with_a_program_that_answers(root: Path, tmp_path: Path) -> None:
    signer = write(tmp_path, "signer", "#!/bin/sh\ncat >/dev/null; echo SIGNED; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n")
    signer.chmod(0o755)
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", str(signer))
    _made(root)
    assert "gpgsig SIGNED" in git(root, "cat-file", "commit", "HEAD")


def test_a_clean_filter_is_honoured(root: Path) -> None:
    git(root, "config", "filter.shout.clean", "tr a-z A-Z")
    write(root, ".git/info/attributes", "vault/*.md filter=shout\n")
    git(root, "update-index", "--refresh", ok=False)
    assert _try(root).committed
    assert git(root, "show", "HEAD:vault/old.md") == "TWO"


def test_a_filter_for_other_files_costs_nothing(root: Path) -> None:
    git(root, "config", "filter.shout.clean", "tr a-z A-Z")
    write(root, ".git/info/attributes", "*.bin filter=shout\n")
    _made(root)
    assert git(root, "log", "-1", "--format=%gs", "-g") == "commit by vault_tool: remember: a thing"


@pytest.mark.parametrize(("rule", "stored"), [("* text=auto\n", b"one\ntwo\n"), ("vault/** -text\n", b"one\r\ntwo\r\n")])
def test_line_endings_follow_the_attributes(root: Path, rule: str, stored: bytes) -> None:
    write(root, ".git/info/attributes", rule)
    content = b"one\r\ntwo\r\n"
    (root / "vault/crlf.md").write_bytes(content)
    assert vault_git.commit(found(root), [FileChange("vault/crlf.md", content)], TEXT).committed
    assert vault_git.show(found(root), "HEAD", "vault/crlf.md") == stored
    assert vault_git.uncommitted(found(root), ["vault/crlf.md"]) == []


def test_a_file_edited_again_is_committed_as_it_was_given(root: Path) -> None:
    add_hook(root, "pre-commit", "exit 0")
    write(root, "vault/old.md", "three\n")
    assert _try(root).committed
    assert git(root, "show", "HEAD:vault/old.md") == "two"
    assert git(root, "diff", "--name-only", "--", "vault") == "vault/old.md"
    assert git(root, "diff", "--cached", "--name-only") == "staged.txt"


def test_what_a_hook_changes_in_the_index_is_committed_and_not_staged_for_taking_back(root: Path) -> None:
    format_staged = "git diff --cached --name-only -z --diff-filter=d -- vault | xargs -0 sed -i 's/$/ formatted/'"
    add_hook(root, "pre-commit", f"{format_staged}; git add -u vault; echo list > made.txt; git add made.txt")
    assert _try(root).committed
    assert git(root, "show", "HEAD:vault/old.md") == "two formatted"
    assert git(root, "show", "HEAD:vault/new *.md") == "new formatted"
    assert git(root, "show", "HEAD:made.txt") == "list"
    assert sorted(git(root, "status", "--porcelain").splitlines()) == [
        " M edited.txt", '?? "vault/new x.md"', "?? loose.txt", "A  staged.txt",
    ]  # fmt: skip


def test_what_a_hook_adds_leaves_alone_what_the_person_staged_there(root: Path) -> None:
    add_hook(root, "pre-commit", "git rm --quiet --cached edited.txt; printf two > staged.txt; git add staged.txt")
    assert _try(root).committed
    assert git(root, "show", "HEAD:staged.txt") == "two"
    assert git(root, "show", ":staged.txt") == "staged"
    assert git(root, "ls-files", "edited.txt") == ""


def test_a_hook_that_takes_everything_out_leaves_nothing_to_commit(root: Path) -> None:
    add_hook(root, "pre-commit", "git read-tree HEAD")
    _refused(root, "left nothing of it to be committed")


def test_a_hook_that_empties_the_message(root: Path) -> None:
    add_hook(root, "commit-msg", ': > "$1"')
    _refused(root, "left no message")


def test_a_hook_that_watches_refs_may_refuse(root: Path) -> None:
    add_hook(root, "reference-transaction", 'if [ "$1" = prepared ] && grep -q refs/heads/main; then exit 1; fi')
    _refused(root, "hook")


def test_hooks_are_run_by_a_git_that_cannot_run_one_alone(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = "if [ \"$1\" = hook ]; then echo \"git: 'hook' is not a git command. See 'git --help'.\" >&2; exit 1; fi"
    add_hook(root, "commit-msg", 'echo "Reviewed-by: hook" >> "$1"')
    add_hook(root, "post-commit", f"touch {tmp_path}/ran")
    with monkeypatch.context() as patch:
        patch.setenv("PATH", wrap_git(tmp_path / "bin", old))
        _made(root)
        add_hook(root, "pre-commit", "echo no, not today; exit 1")
        write(root, "vault/old.md", "three\n")
        refused = vault_git.commit(found(root), [FileChange("vault/old.md", b"three\n")], TEXT)
    assert "no, not today" in refused.reason
    assert git(root, "log", "-1", "--format=%(trailers:key=Reviewed-by,valueonly)").strip() == "hook"
    assert (tmp_path / "ran").exists()


def test_line_endings_that_came_into_history_as_they_are_stay(root: Path) -> None:
    (root / "vault/crlf.md").write_bytes(b"one\r\n")
    git(root, "-c", "core.autocrlf=false", "add", "vault/crlf.md")
    git(root, "commit", "--quiet", "--only", "-m", "with CRLF", "vault/crlf.md")
    git(root, "config", "core.autocrlf", "true")
    (root / "vault/crlf.md").write_bytes(b"one\r\ntwo\r\n")
    assert vault_git.commit(found(root), [FileChange("vault/crlf.md", b"one\r\ntwo\r\n")], TEXT).committed
    assert vault_git.show(found(root), "HEAD", "vault/crlf.md") == b"one\r\ntwo\r\n"
    assert vault_git.uncommitted(found(root), ["vault/crlf.md"]) == []


@pytest.mark.parametrize("cone", ["vault", "elsewhere"])
def test_a_sparse_checkout_stays_one(root: Path, cone: str) -> None:
    for path in ("elsewhere/a.txt", "far/b.txt"):
        write(root, path, "one\n")
    git(root, "add", "elsewhere", "far")
    git(root, "commit", "--quiet", "-m", "more", "--only", "elsewhere", "far")
    write(root, "edited.txt", "one\n")
    git(root, "sparse-checkout", "set", cone)
    for path, text in (("vault/new *.md", "new\n"), ("vault/old.md", "two\n")):
        write(root, path, text)
    (root / "vault/gone.md").unlink(missing_ok=True)
    changes = [FileChange("vault/new *.md", b"new\n"), FileChange("vault/old.md", b"two\n")]
    assert vault_git.commit(found(root), changes, TEXT).committed
    assert git(root, "show", "--format=", "--name-only").splitlines() == ["vault/new *.md", "vault/old.md"]
    assert not (root / "far/b.txt").exists()
    assert git(root, "diff", "--cached", "--name-only") == "staged.txt"
