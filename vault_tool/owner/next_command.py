"""An owner for the command after this one, started at a command's end: by what that has loaded anyway."""

from __future__ import annotations

import os
import stat
import time

from vault_tool.owner.front import find, is_for_the_owner, option
from vault_tool.owner.starting import is_forbidden, launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Seconds without anybody connected after which one leaves that a command started and no agent's client ever used.
IDLE = 180.0

# Seconds that one which was started gets to come up: before, no other command starts another.
COMING_UP = 10.0

# The commands that are answered by meaning too.
_BY_MEANING = frozenset({"bring-to-mind", "recall", "search", "search-observations"})

# Git sets these for what it starts itself: an owner with them would answer that one command alone.
_OF_A_HOOK = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")

_LOCK = os.path.join("_local", "owner.lock")
_PRIVATE_FILE = 0o600


def start_for_next(arguments: Sequence[str], without: Sequence[str] = ()) -> None:
    """Start an owner for the next command, where this one would have been answered by one; whatever fails, nothing is said.

    It is not waited for. A script of a CI job, and what git itself started, start none unless `VAULT_OWNER` says `on`.
    """
    if is_for_the_owner(arguments) and _is_wanted() and (root := find(option("--vault", arguments))) is not None:
        start_at(root, without, asked=not _BY_MEANING.isdisjoint(arguments))


def start_at(root: str, without: Sequence[str] = (), *, asked: bool = False) -> None:
    """Start an owner of the vault at this resolved root for whatever asks it next; see `start_for_next`.

    What was `asked` by meaning has it make the vectors that are missing.
    """
    if not _is_wanted() or is_forbidden(root):
        return
    from vault_tool.files.disks import network_disk  # loaded by few commands; 1 ms

    if network_disk(root) or not _is_due(root):
        return
    try:
        process = launch(root, "--for-commands", "--idle", str(IDLE), *(["--asked"] if asked else []), without=without)
    except OSError:
        return
    process.returncode = 0  # it is another's child as soon as this process ends: to have left it alone is no fault


def _is_wanted() -> bool:
    choice = os.environ.get("VAULT_OWNER", "").strip()
    if choice:
        return choice == "on"
    return not os.environ.get("CI") and not any(name in os.environ for name in _OF_A_HOOK)


def _is_due(root: str) -> bool:
    """Whether the vault has no owner and no start was tried for a while; this try is noted as a time of the lock's file.

    The vault must be this user's own: what another one's owner writes there (`sudo vt ...`) would be in their way.
    """
    try:
        import fcntl  # not on Windows, where commands start no owner

        for folder in (root, os.path.join(root, "_local")):
            status = os.lstat(folder)
            if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
                return False
        lock, is_first = _lock(os.path.join(root, _LOCK))
    except (ImportError, OSError):
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # A clock that was put back leaves a time of the future, which is no reason to wait for it.
        if not is_first and 0 <= time.time() - os.fstat(lock).st_mtime < COMING_UP:
            return False
        os.utime(lock)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True


def _lock(path: str) -> tuple[int, bool]:
    """The lock's file, open, and whether this made it; raises OSError."""
    how = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(path, how), False
    except FileNotFoundError:
        return os.open(path, how | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE), True
