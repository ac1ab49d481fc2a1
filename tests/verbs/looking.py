"""What tests of verbs look at: files, commits and heads, as git and the disk have them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import git
from tests.wording import bare, typed
from vault_tool import Vault
from vault_tool.errors import VaultError
from vault_tool.vault.operation import Saved

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
TODAY = "2026-11-20"


def whole(root: Path) -> dict[str, str]:
    """The hash of every file of a vault that is neither derived nor local nor git's own."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith((".git/", "_")):
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def head(root: Path) -> str:
    """The commit that HEAD is at."""
    return git(root, "rev-parse", "HEAD")


def subjects(root: Path, count: int = 1) -> list[str]:
    """The subject lines of the newest commits, newest first."""
    return git(root, "log", f"-{count}", "--format=%s").split("\n")


def trailers(root: Path) -> dict[str, str]:
    """The trailers of the newest commit."""
    lines = git(root, "log", "-1", "--format=%(trailers:only,unfold)").split("\n")
    return dict(line.split(": ", 1) for line in lines if line)


def in_commit(root: Path, revision: str = "HEAD") -> dict[str, str]:
    """What a commit did to which paths: `A`, `M` or `D` by path, relative to the work tree."""
    lines = git(root, "show", "--format=", "--name-status", "--no-renames", revision).split("\n")
    return {path: state for state, path in (line.split("\t") for line in lines if line)}


def status(root: Path) -> str:
    """What `git status` says in short, for the whole work tree."""
    return git(root, "status", "--porcelain", "--untracked-files=all")


def text(root: Path, path: str) -> str:
    """A file's text."""
    return (root / path).read_bytes().decode("utf-8")


def note(number: int, body: str = "A note.", **fields: str) -> str:
    """The text of an observation that a person wrote, with an id that follows from `number`."""
    shown = {"id": identity(number), "type": "fact", **fields}
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in shown.items()) + f"---\n{body}\n"


def identity(number: int) -> str:
    """A UUID that a test can name by a number."""
    return f"{number:08x}-0000-4000-8000-{number:012x}"


def codes(vault: Vault, path: str | None = None) -> list[str]:
    """The codes of the problems that doctor names, of one file or of all."""
    return [problem.code for problem in vault.doctor().problems if path in (None, problem.path)]


def found(vault: Vault, query: str, **options: Any) -> list[str]:
    """The titles that a search finds, best first."""
    return [one.title for one in vault.search(query, **options).results]


@contextmanager
def fails(kind: type[VaultError], *says: str) -> Iterator[None]:
    """The block must raise an error of `kind` that is one line and says all of `says`, hint included."""
    with pytest.raises(kind) as caught:
        yield
    line = caught.value.marked
    assert "\n" not in line
    assert len(line) <= 400, line
    assert caught.value.hint, "an error says what to type next"
    for part in says:
        assert part in typed(line) or part in bare(line), line


@contextmanager
def untouched(root: Path) -> Iterator[None]:
    """The block must change no file of the vault and make no commit."""
    before, tip = whole(root), head(root)
    yield
    assert whole(root) == before
    assert head(root) == tip


def assert_committed(saved: Saved, root: Path) -> None:
    """The write is HEAD, in full, and nothing was left to say."""
    assert saved.committed
    assert saved.commit == head(root)
    assert (saved.reason, saved.attention, saved.conflicts) == ("", False, ())


def assert_waits(saved: Saved, *says: str) -> None:
    """The write is saved but not in git: a person is needed, and one line says what for."""
    assert not saved.committed
    assert saved.commit is None
    assert saved.attention
    assert saved.reason
    assert "\n" not in saved.reason
    for part in says:
        assert part in saved.reason, saved.reason
