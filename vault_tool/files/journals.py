"""The append-only journals: episodes and signals, one file a writer, so that machines and branches never conflict."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from vault_tool.errors import Refused, StorageError
from vault_tool.files import lock as locking
from vault_tool.files.episode_text import day_heading, entry_text, read_episode
from vault_tool.files.layout import episode_path, inside, real_parts, signals_path
from vault_tool.files.local import LocalFolder
from vault_tool.files.signal_lines import merge, read_signals, signal_line
from vault_tool.files.writer import Written, lock
from vault_tool.model.signals import EpisodeEntry, Signal
from vault_tool.util.atomic import storage
from vault_tool.util.folder import opened
from vault_tool.util.text import content_hash

__all__ = ["append_episode", "append_signals", "merge", "paths_of", "read_episode", "read_signals"]

# From so many bytes on a journal is left as it is, and another one begun: each commit holds the whole of what it adds to.
FULL = 64 * 1024


def append_episode(root: Path, local: LocalFolder, entry: EpisodeEntry, wait: float = locking.WAIT) -> Written:
    """Add one entry to its day's log, on the disk; the file is begun with its `# date` if need be."""
    day = entry.at[:10]

    def addition(path: str, before: bytes) -> bytes:
        heading = "" if before else day_heading(day)
        return (heading + entry_text(entry, path, before.decode("utf-8", "replace"))).encode("utf-8", "replace")

    return _append(root, local, lambda token: episode_path(day, token), addition, wait)


def append_signals(root: Path, local: LocalFolder, signals: Iterable[Signal], wait: float = locking.WAIT) -> list[Written]:
    """Add signals to the journals of their months, on the disk; returns what was done to each file."""
    months: dict[str, list[Signal]] = defaultdict(list)
    for signal in signals:
        months[signal.at[:7]].append(signal)
    return [_append_month(root, local, month, lines, wait) for month, lines in sorted(months.items())]


def paths_of(root: Path, local: LocalFolder, days: Iterable[str], months: Iterable[str]) -> set[str]:
    """The journals of some days and months that are added to next, unless they turn out not to be as we left them.

    Where one is full a new token is taken first. Asked before an operation is announced, and nowhere else: what is added after
    a kill goes where it was announced. Call it under the write lock.
    """
    days, months = [*days], [*months]
    if not days and not months:
        return set()

    def of(token: str) -> set[str]:
        return {episode_path(day, token) for day in days} | {signals_path(month, token) for month in months}

    paths = of(local.token())
    return of(local.next_token()) if any(_size(root, path) >= FULL for path in paths) else paths


def _size(root: Path, path: str) -> int:
    """How many bytes a journal has; 0 where there is none, and where none could be read."""
    *folders, name = real_parts(root, path)
    try:
        with opened(root, folders) as folder:
            return folder.size(name) or 0
    except (OSError, Refused):
        return 0


def _append_month(root: Path, local: LocalFolder, month: str, signals: list[Signal], wait: float) -> Written:
    lines = "".join(f"{signal_line(signal)}\n" for signal in signals).encode()
    return _append(root, local, lambda token: signals_path(month, token), lambda path, before: lines, wait)


def _append(
    root: Path, local: LocalFolder, path_of: Callable[[str], str], addition: Callable[[str, bytes], bytes], wait: float
) -> Written:
    with lock(root, wait, "journal"):
        path, before = _own_journal(root, local, path_of)
        mended = b"" if not before or before.endswith(b"\n") else b"\n"
        added = mended + addition(path, before or b"")
        after = (before or b"") + added
        was = None if before is None else content_hash(before)
        # Both states before the first byte: after a kill either is ours. Half an entry is neither, and a new file is begun.
        local.expect_journal(path, was, content_hash(after))
        *folders, name = real_parts(root, path)
        with storage(path, len(added)), opened(root, folders, create=True) as folder:
            folder.append(name, added)
        # Only this state from now on: a branch switched back to the one before must not be appended to. The lines are
        # on the disk, so a fault here is none of the caller's: both states then stay expected.
        with suppress(StorageError):
            local.expect_journal(path, content_hash(after))
    return Written(path, before, after)


def _own_journal(root: Path, local: LocalFolder, path_of: Callable[[str], str]) -> tuple[str, bytes | None]:
    """The journal to append to, and its bytes: ours as we left it, else a fresh one under a new token.

    A copied folder, another branch and a hand edit all show as bytes that we did not write last.
    """
    path = path_of(local.token())
    # Once under our token, once under a new one, which names a file that nobody has yet.
    for _ in range(2):
        before = _bytes(root, path)
        states = local.journal_states(path) or (None,)
        if (None if before is None else content_hash(before)) in states:
            return path, before
        path = path_of(local.new_token())
    raise StorageError(f"cannot begin a journal: {path} is there already", "try again")


def _bytes(root: Path, path: str) -> bytes | None:
    inside(root, path)
    *folders, name = real_parts(root, path)
    with storage(path, doing="read"):
        try:
            with opened(root, folders) as folder:
                return folder.read(name)
        except FileNotFoundError:
            return None
