"""Starting an owner in the background, and having one leave for another. Standard library alone."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

from vault_tool.owner.client import drain, reach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

IDLE = 600.0
"""Seconds without anybody connected after which an owner in the background leaves."""

_PATIENCE = 10.0
_LOOK = 0.02


def spawn(root: str | Path, idle: float = IDLE) -> None:
    """Start an owner of the vault at `root` and do not wait for it; one that comes too late sees so and ends.

    It is a session of its own, inherits no file, and goes on when this process ends. Raises OSError.
    """
    # -P: a module in the folder that somebody happens to stand in must not be taken for one of Python's.
    command = [sys.executable, "-P", "-m", "vault_tool", "owner", "--vault", str(root), "--idle", str(idle)]
    environ = {name: value for name, value in os.environ.items() if name not in ("VAULT_ROOT", "VAULT_ORIGIN", "VAULT_SESSION")}
    nothing = subprocess.DEVNULL
    detached = {"creationflags": 0x00000208} if os.name == "nt" else {"start_new_session": True}
    process = subprocess.Popen(
        command, stdin=nothing, stdout=nothing, stderr=nothing, cwd=str(root), env=environ, close_fds=True, **detached
    )
    threading.Thread(target=process.wait, daemon=True).start()  # or it would stay in the table of processes, dead


def make_way(root: str | Path) -> bool:
    """Ask the owner of the vault to leave, and wait until it listens no more; whether one left."""
    return drain(str(root)) and _until(lambda: not answers(root))


def answers(root: str | Path) -> bool:
    """Whether an owner of the vault answers now, of whatever version."""
    found = reach(str(root))
    if found is not None:
        found[0].socket.close()
    return found is not None


def started(root: str | Path, idle: float = IDLE) -> bool:
    """Start an owner and wait until it answers; whether it does."""
    spawn(root, idle)
    return _until(lambda: answers(root))


def _until(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + _PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK)
    return True
