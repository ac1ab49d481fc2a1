"""A person edits the very files that are being committed: their text is never staged nor committed in place of ours."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.git_repos import add_hook, diverge, found, git, person_at_work, wrap_git, write
from vault_tool.files import git as vault_git
from vault_tool.files.git import FileChange

TEXT = vault_git.message("remember: a thing", "remember", "s-1", ["a1"])
BY_HAND = "<<<<<<< HEAD\\npassword = by-hand-7781\\n=======\\n"
OURS = {"vault/new.md": b"our new text\n", "vault/old.md": b"our second text\n", "vault/crlf.md": b"one\r\ntwo\r\n"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a note and a page that are committed, and work of the person's staged, edited and loose."""
    return person_at_work(tmp_path / "v")


def _plain(root: Path) -> None:
    assert not list((root / ".git/hooks").glob("*[!e]"))


def _with_hooks(root: Path) -> None:
    for name in ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change", "reference-transaction"):
        add_hook(root, name, f"echo {name} >> .git/ran")


def _with_signing(root: Path) -> None:
    answer = "#!/bin/sh\ncat >/dev/null; echo SIGNED; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2\n"
    write(root, ".git/signer", answer).chmod(0o755)
    git(root, "config", "commit.gpgSign", "true")
    git(root, "config", "gpg.program", str(root / ".git/signer"))


def _with_a_filter(root: Path) -> None:
    git(root, "config", "filter.shout.clean", "tr a-z A-Z")
    write(root, ".git/info/attributes", "vault/*.md filter=shout\n")


def _with_line_endings(root: Path) -> None:
    git(root, "config", "core.autocrlf", "input")


@contextmanager
def _editing(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Iterator[None]:
    """Each git call runs a script first, in which `edit` writes by hand into our files and `undo` puts our texts back."""
    ours = tmp_path / "ours"
    for path, text in OURS.items():
        write(ours, path, text.decode())
    names = " ".join(OURS)
    functions = (
        f"edit() {{ for name in {names} vault/gone.md; do printf '{BY_HAND}' > {root}/$name; done; }}\n"
        f"undo() {{ for name in {names}; do cat {ours}/$name > {root}/$name; done; rm -f {root}/vault/gone.md; }}\n"
    )
    with monkeypatch.context() as patch:
        patch.setenv("PATH", wrap_git(tmp_path / "bin", functions + script))
        yield


def _write_ours(root: Path) -> list[FileChange]:
    for path, text in OURS.items():
        (root / path).write_bytes(text)
    (root / "vault/gone.md").unlink(missing_ok=True)
    return [*(FileChange(path, text) for path, text in OURS.items()), FileChange("vault/gone.md", None)]


def _holds_ours_alone(root: Path, stored: Callable[[bytes], bytes]) -> None:
    """HEAD and the index hold our texts as git's filters make them, and no object of the repository holds the edit."""
    for where in ("HEAD:", ":"):
        shown = {
            path: subprocess.run(["git", "-C", str(root), "cat-file", "blob", f"{where}{path}"], capture_output=True, check=True)
            for path in OURS
        }
        assert {path: done.stdout for path, done in shown.items()} == {path: stored(text) for path, text in OURS.items()}
    assert git(root, "diff", "--cached", "--name-only") == "staged.txt"
    objects = subprocess.run(
        ["git", "-C", str(root), "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
    )
    assert b"by-hand" not in objects.stdout.lower()


@pytest.mark.parametrize(
    ("about", "stored"),
    [
        (_plain, bytes),
        (_with_hooks, bytes),
        (_with_signing, bytes),
        (_with_a_filter, bytes.upper),
        (_with_line_endings, lambda text: text.replace(b"\r\n", b"\n")),
    ],
)
def test_an_edit_at_each_call_of_git_is_not_taken_for_ours(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    about: Callable[[Path], None],
    stored: Callable[[bytes], bytes],
) -> None:
    about(root)
    repo, changes = found(root), _write_ours(root)
    with _editing(root, tmp_path, monkeypatch, 'edit; "$REAL" "$@"; code=$?; undo; exit $code'):
        done = vault_git.commit(repo, changes, TEXT)
    assert done.committed, done.reason
    _holds_ours_alone(root, stored)
    assert git(root, "rev-list", "--count", "HEAD") == "3"
    assert git(root, "diff", "--name-only") == "edited.txt"


def test_an_edit_that_stays_is_left_to_its_person(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, calls = found(root), tmp_path / "calls"
    script = f'echo >> {calls}; if [ $(wc -l < {calls}) -ge "$EDIT_AT" ]; then edit; fi'
    number, seen = 1, 9
    while number <= seen:
        git(root, "reset", "--quiet", "--soft", "HEAD~1") if number > 1 else None
        git(root, "reset", "--quiet", "--", "vault")
        changes = _write_ours(root)
        calls.unlink(missing_ok=True)
        monkeypatch.setenv("EDIT_AT", str(number))
        with _editing(root, tmp_path, monkeypatch, script):
            assert vault_git.commit(repo, changes, TEXT).committed
        seen = calls.read_text().count("\n")
        _holds_ours_alone(root, bytes)
        # The same change once more, as after a kill: there is nothing to do, whatever the files hold by now.
        for again in (1, 2, 3, 4):
            _write_ours(root)
            calls.unlink(missing_ok=True)
            monkeypatch.setenv("EDIT_AT", str(again))
            with _editing(root, tmp_path, monkeypatch, script):
                assert vault_git.commit(repo, changes, TEXT).nothing
            _holds_ours_alone(root, bytes)
        number += 1
    assert number > 4


def test_an_edit_while_the_stats_of_many_files_are_noted(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = found(root)
    changes = [FileChange(f"vault/many/{number}.md", f"text {number}\n".encode()) for number in range(40)]
    for change in [*changes, *_write_ours(root)]:
        if change.content is not None:
            write(root, change.path, change.content.decode())
    with _editing(root, tmp_path, monkeypatch, 'if [ "$2" = add ]; then edit; fi'):
        assert vault_git.commit(repo, [*changes, *_write_ours(root)], TEXT).committed
    _holds_ours_alone(root, bytes)
    # `diff-files` compares stats alone: of the forty it says nothing, so git knows them without reading them again.
    assert git(root, "diff-files", "--name-only", "--", "vault").splitlines() == sorted(OURS)


def test_a_settled_page_is_the_text_that_was_made(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(root, "stash", "--quiet")
    diverge(root, "vault/old.md", "vault/old.md")
    git(root, "merge", "side", ok=False)
    repo = found(root)
    assert vault_git.in_conflict(repo) == {"vault/old.md"}
    (root / "vault/old.md").write_bytes(OURS["vault/old.md"])
    with _editing(root, tmp_path, monkeypatch, "edit"):
        vault_git.resolve_conflicts(repo, {"vault/old.md": OURS["vault/old.md"]}, 5)
    assert vault_git.in_conflict(repo) == set()
    assert git(root, "show", ":vault/old.md") == "our second text"
    assert "by-hand" in (root / "vault/old.md").read_text()


def test_a_second_try_that_fails_puts_the_index_back(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, "vault/old.md", "staged by the person\n")
    git(root, "add", "vault/old.md")
    before = git(root, "ls-files", "--stage")
    changes = _write_ours(root)
    first = f'"$REAL" -C {root} commit --quiet --allow-empty --only -m theirs'
    script = (
        f'if [ "$2" = update-ref ]; then if mkdir {tmp_path}/once 2>/dev/null; then {first}\n'
        f"else touch {root}/.git/refs/heads/main.lock; fi; fi"
    )
    with _editing(root, tmp_path, monkeypatch, script):
        done = vault_git.commit(found(root), changes, TEXT)
    assert not done.committed
    assert "main.lock" in done.reason
    assert git(root, "ls-files", "--stage") == before
    assert git(root, "log", "-1", "--format=%s") == "theirs"
