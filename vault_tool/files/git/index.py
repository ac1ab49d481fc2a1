"""The user's index: only our paths are entered in it, by id; a lock on it is waited for and never removed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from os import fsencode
from pathlib import Path
from shlex import quote

from vault_tool.errors import GitError
from vault_tool.files.git.repo import Repo
from vault_tool.files.git.run import Result, call
from vault_tool.files.git.survey import CommitSettings, TreeEntry
from vault_tool.util.hints import shell, step

# Seconds after which a lock that no running git seems to hold is called left over.
STALE_AFTER = 60.0
_POLL = 0.05


class IndexLocked(GitError):
    """Another git process holds the index, or one that was killed has left its lock."""


def wait_for_lock(repo: Repo, limit: float) -> None:
    """Wait until the index is free, at most `limit` seconds; raises `IndexLocked` with the file, its age and what to type.

    A lock that a killed git left is not waited for, as nobody will take it away.
    """
    until = time.monotonic() + limit
    while (age := _lock_age(repo)) is not None:
        left_over = age > STALE_AFTER and not _git_runs(repo)
        if left_over or time.monotonic() >= until:
            raise _locked(repo, age, left_over)
        time.sleep(_POLL)


def enter(repo: Repo, targets: Mapping[str, TreeEntry | None], limit: float) -> None:
    """Make the index hold these entries at their paths (None: nothing), whatever else is staged staying as it is.

    The files on disk are not read: what a person writes meanwhile is an edit of theirs, and never staged by us.
    Raises `IndexLocked` after `limit` seconds.
    """
    if not targets:
        return
    zero = "0" * max((len(entry.oid) for entry in targets.values() if entry), default=40)
    rows = (f"{entry.mode} {entry.oid}\t" if entry else f"0 {zero}\t" for entry in targets.values())
    feed = b"".join(row.encode() + fsencode(name) + b"\0" for row, name in zip(rows, targets, strict=True))
    until = time.monotonic() + limit
    while True:
        wait_for_lock(repo, until - time.monotonic())
        result = call(repo.work_tree, "update-index", "-z", "--index-info", feed=feed)
        if result.code == 0:
            return
        if not is_locked(result):
            raise result.failure("enter the notes in its index")
        if time.monotonic() >= until:
            raise _locked(repo, _lock_age(repo) or 0.0, left_over=False)


def refresh(repo: Repo, settings: CommitSettings) -> None:
    """Have the index know the stats of the vault's files that hold what is entered, so that git need not read them again.

    An entry whose file holds something else stays as it is. What stands in the way does not matter: the next one does it.
    """
    with suppress(GitError):
        args = ("add", "--refresh", "--", repo.prefix.rstrip("/") or ".")
        call(repo.work_tree, *args, config=settings.without_filters)


def is_locked(result: Result) -> bool:
    """Whether a call failed because the index was locked."""
    return result.code != 0 and "index.lock" in result.err


def _lock_age(repo: Repo) -> float | None:
    try:
        return max(0.0, time.time() - (repo.git_dir / "index.lock").stat().st_mtime)
    except OSError:
        return None


def _locked(repo: Repo, age: float, left_over: bool) -> IndexLocked:
    lock = repo.git_dir / "index.lock"
    if left_over:
        hint = f"if no git runs here: {shell(f'rm {quote(str(lock))}')}"
        return IndexLocked(f"a git process left the lock {lock} {age:.0f} s ago", hint)
    return IndexLocked(f"another git process holds {lock}, {age:.0f} s old", f"the next write tries again, or {step('commit')}")


def _git_runs(repo: Repo) -> bool:
    """Whether a git command seems to run in this work tree; False where processes cannot be listed."""
    for entry in Path("/proc").glob("[0-9]*/comm"):
        try:
            named = entry.read_bytes().strip().partition(b"-")[0] == b"git"
            if named and (entry.parent / "cwd").readlink().is_relative_to(repo.work_tree):
                return True
        except OSError:
            continue
    return False
