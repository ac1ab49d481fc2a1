"""The owner lock: at most one process keeps watch over a vault, and says who it is."""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from vault_tool import __version__
from vault_tool.errors import Busy, StorageError
from vault_tool.files import watcher_presence
from vault_tool.files.layout import LOCAL, OWNER_FILE
from vault_tool.files.watcher_presence import LOCK_FILE, Owner
from vault_tool.util.atomic import storage
from vault_tool.util.clock import Clock, stamp
from vault_tool.util.folder import opened

# Seconds to wait for the lock: longer than anybody tries it to see whether it is held.
WAIT = 0.5

_PRIVATE_FOLDER = 0o700


@contextmanager
def own(root: Path, clock: Clock | None = None, wait: float = WAIT, *, background: bool = False) -> Iterator[Owner]:
    """Be the owner of the vault at `root`; the kernel ends it when this process dies, however it dies.

    Raises Busy naming the process that is it already, and StorageError where no lock can be made.
    """
    with storage(f"{LOCAL}/{LOCK_FILE}"), opened(root, (LOCAL,), create=True, mode=_PRIVATE_FOLDER):
        # Not reentrant by accident: two watchers in one process are two.
        guard = FileLock(root / LOCAL / LOCK_FILE, is_singleton=False, poll_interval=0.05)
    try:
        guard.acquire(timeout=wait)
    except Timeout as fault:
        raise Busy(_holder_sentence(root), "one watcher is enough: let it run, or stop it first") from fault
    except (OSError, NotImplementedError) as fault:
        raise StorageError(f"cannot lock {LOCAL}/{LOCK_FILE}: {fault}", "the vault's disk must be writable") from fault
    try:
        who = os.getpid(), platform.node(), secrets.token_hex(8), stamp((clock or Clock()).now())
        me = Owner(*who, version=__version__, background=background)
        watcher_presence.say(root, me)
        yield me
        watcher_presence.unsay(root, OWNER_FILE)
        with suppress(OSError):
            os.utime(root / LOCAL / LOCK_FILE, (0, 0))  # one that left as it should keeps no command from starting the next
    finally:
        guard.release()


def _holder_sentence(root: Path) -> str:
    holder = watcher_presence.owner(root)
    if holder is None:
        return f"another process holds {LOCAL}/{LOCK_FILE}"
    return f"process {holder.pid} on {holder.host} watches this vault since {holder.started}"
