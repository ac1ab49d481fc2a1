"""The user's index: our paths are entered in it, nobody else's, and a lock on it is waited for and never removed."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os import fsencode
from pathlib import Path

from vault_tool.errors import GitError
from vault_tool.files.git.repo import Repo, lines
from vault_tool.files.git.run import Result, call
from vault_tool.files.git.survey import Entry

STALE_AFTER = 60.0
"""Seconds after which a lock that no running git seems to hold is called left over."""
_POLL = 0.05


class IndexLocked(GitError):
    """Another git process holds the index, or one that was killed has left its lock."""


@dataclass(frozen=True, slots=True)
class Target:
    """What the index shall hold at a path (None: nothing), and the content behind it when that is at hand."""

    entry: Entry | None
    content: bytes | None = None


def wait_for_lock(repo: Repo, limit: float) -> None:
    """Wait until nobody holds the index, at most `limit` seconds; raises `IndexLocked` with the file, its age and what to type.

    A lock that a killed git left is not waited for, as nobody will take it away.
    """
    until = time.monotonic() + limit
    while (age := _lock_age(repo)) is not None:
        left_over = age > STALE_AFTER and not _git_runs(repo)
        if left_over or time.monotonic() >= until:
            raise _locked(repo, age, left_over)
        time.sleep(_POLL)


def enter(repo: Repo, targets: Mapping[str, Target], limit: float) -> None:
    """Make the index hold `targets` at their paths, whatever else is staged staying as it is.

    Paths whose file on disk is what they shall hold get its stat data as well, so that git need not read the file again.
    Raises `IndexLocked` after `limit` seconds.
    """
    as_on_disk = {name for name, target in targets.items() if _is_on_disk(repo.work_tree / name, target)}
    others = {name: target.entry for name, target in targets.items() if name not in as_on_disk}
    if others:
        zero = "0" * max((len(entry.oid) for entry in others.values() if entry), default=40)
        rows = (f"{e.mode} {e.oid}\t" if e else f"0 {zero}\t" for e in others.values())
        feed = b"".join(row.encode() + fsencode(name) + b"\0" for row, name in zip(rows, others, strict=True))
        _update(repo, ("-z", "--index-info"), feed, limit)
    if as_on_disk:
        _update(repo, ("--add", "--remove", "-z", "--stdin"), lines(as_on_disk), limit)


def settle(repo: Repo, paths: Iterable[str], limit: float) -> None:
    """Enter these conflicted files of the vault as they are on disk, by which git knows that their conflict is settled.

    Raises `IndexLocked` after `limit` seconds.
    """
    _update(repo, ("--add", "-z", "--stdin"), lines(map(repo.inside, paths)), limit)


def _update(repo: Repo, args: tuple[str, ...], feed: bytes, limit: float) -> None:
    until = time.monotonic() + limit
    while True:
        wait_for_lock(repo, until - time.monotonic())
        result = call(repo.work_tree, "update-index", *args, feed=feed)
        if result.code == 0:
            return
        if not is_locked(result):
            raise result.failure("enter the notes in its index")
        if time.monotonic() >= until:
            raise _locked(repo, _lock_age(repo) or 0.0, left_over=False)


def is_locked(result: Result) -> bool:
    """Whether a call failed because the index was locked."""
    return result.code != 0 and "index.lock" in result.err


def _is_on_disk(path: Path, target: Target) -> bool:
    try:
        found = path.lstat()
        if target.entry is None or target.content is None or not stat.S_ISREG(found.st_mode):
            return False
        same_mode = bool(found.st_mode & stat.S_IXUSR) == (target.entry.mode == "100755")
        return same_mode and found.st_size == len(target.content) and path.read_bytes() == target.content
    except (FileNotFoundError, NotADirectoryError):
        return target.entry is None
    except OSError:
        return False


def _lock_age(repo: Repo) -> float | None:
    try:
        return max(0.0, time.time() - (repo.git_dir / "index.lock").stat().st_mtime)
    except OSError:
        return None


def _locked(repo: Repo, age: float, left_over: bool) -> IndexLocked:
    lock = repo.git_dir / "index.lock"
    if left_over:
        return IndexLocked(f"a git process left the lock {lock} {age:.0f} s ago", f"if no git runs here, type: rm '{lock}'")
    return IndexLocked(f"another git process holds {lock}, {age:.0f} s old", "the next write or vt commit tries again")


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
