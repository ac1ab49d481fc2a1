"""The lock of whoever asks a model about a session: one process at a time among all vaults of this user."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from vault_tool.util.atomic import storage
from vault_tool.util.user_folder import PRIVATE_FILE, PRIVATE_FOLDER, data_folder

LOCK_FILE = "capture.lock"


@contextmanager
def alone() -> Iterator[int | None]:
    """Hold the lock; gives its descriptor, or None where another process has it.

    A program that is started meanwhile is given the descriptor: while it lives nobody else asks, whatever became of this process.
    """
    path = Path(data_folder()) / LOCK_FILE
    with storage(str(path)):
        path.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
    try:
        yield file if _locked(file) else None
    finally:
        os.close(file)


def _locked(file: int) -> bool:
    with suppress(OSError):
        if os.name == "nt":
            import msvcrt  # Windows has no other

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            import fcntl  # and all others have this

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
