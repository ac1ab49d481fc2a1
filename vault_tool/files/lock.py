"""The write lock of a vault: one writer at a time among all processes, a bounded wait, and a name for who holds it."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from vault_tool.errors import Busy, StorageError
from vault_tool.files.layout import LOCAL
from vault_tool.util.atomic import storage
from vault_tool.util.deferred import filelock
from vault_tool.util.folder import opened
from vault_tool.util.json_text import read_own
from vault_tool.util.text import one_line

LOCK_FILE = "write.lock"
# Held by who waits next: who has just written stands behind it, or on a busy machine one writer would have the lock for ever.
NEXT_FILE = "write.next"

HOLDER_FILE = "write.holder"
WAIT = 10.0

_PRIVATE_FOLDER = 0o700
_POLL_SECONDS = 0.01


@contextmanager
def lock(root: Path, wait: float = WAIT, holder: str = "write") -> Iterator[bool]:
    """Hold the write lock of the vault at `root` (reentrant within a thread); `holder` is the verb that asks.

    Yields whether the holder before this one died with the lock in its hands, so that what it left can be swept.
    Raises Busy after `wait` seconds, naming the process that holds it, and StorageError where no lock can be made.
    """
    with storage(f"{LOCAL}/{LOCK_FILE}"), opened(root, (LOCAL,), create=True, mode=_PRIVATE_FOLDER):
        guard = _guard(os.path.realpath(root), LOCK_FILE)
    if guard.is_locked:
        with guard:
            yield False
        return
    try:
        _acquire(guard, root, wait)
        died = _sign(root, holder)
        yield died
        # Only a clean end takes the signature off: what an interrupted one left is swept by the next.
        with suppress(OSError):
            (root / LOCAL / HOLDER_FILE).unlink()
    finally:
        guard.release()


@cache
def _guard(real_root: str, name: str) -> filelock.FileLock:
    return lock_class()(Path(real_root) / LOCAL / name, poll_interval=_POLL_SECONDS)


@cache
def lock_class() -> type[filelock.FileLock]:
    """The lock of a file whose folder is there: `filelock` makes all folders above one, so a vault that was moved away while a
    lock was waited for would stand at its place again, empty.
    """

    class Lock(filelock.FileLock):
        def acquire(self, *arguments: Any, **options: Any) -> Any:
            Path(self.lock_file).parent.stat()
            return super().acquire(*arguments, **options)

    return Lock


def _acquire(guard: filelock.FileLock, root: Path, wait: float) -> None:
    until = time.monotonic() + wait
    next_guard = _guard(os.path.realpath(root), NEXT_FILE)
    try:
        # Only a courtesy: whoever is stopped while it waits must not keep the others out.
        with suppress(filelock.Timeout):
            next_guard.acquire(timeout=wait / 2)
        guard.acquire(timeout=max(0.0, until - time.monotonic()))
    except filelock.Timeout as fault:
        raise Busy(f"{_who_holds(root)}; waited {wait:g} s", "nothing was changed; try again when it is done") from fault
    except (OSError, NotImplementedError) as fault:
        reason = os.strerror(fault.errno).lower() if isinstance(fault, OSError) and fault.errno else str(fault)
        raise StorageError(f"cannot lock {LOCAL}/{LOCK_FILE}: {reason}", "the vault's disk must be writable") from fault
    finally:
        next_guard.release()


def _sign(root: Path, holder: str) -> bool:
    """Write down who holds the lock now; true when the one before never took its own name off."""
    line = json.dumps({"pid": os.getpid(), "host": platform.node(), "verb": holder, "since": time.time()})
    with storage(f"{LOCAL}/{HOLDER_FILE}"), opened(root, (LOCAL,)) as folder:
        died = folder.exists(HOLDER_FILE)
        if died:
            folder.remove(HOLDER_FILE)
        folder.append(HOLDER_FILE, line.encode(), durable=False)
    return died


def _who_holds(root: Path) -> str:
    try:
        record = read_own((root / LOCAL / HOLDER_FILE).read_bytes())
        held = max(0.0, time.time() - float(record["since"]))
        return one_line(
            f"process {int(record['pid'])} on {record['host']} (`{record['verb']}`) has held the write lock for {held:.0f} s", 200
        )
    except (OSError, ValueError, KeyError, TypeError):
        return f"another process holds {LOCAL}/{LOCK_FILE}"
