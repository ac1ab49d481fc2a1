"""Starting an owner in the background, and having one leave for another. Standard library alone."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress

from vault_tool import __version__
from vault_tool.owner import address
from vault_tool.owner.client import drain, fits, is_older, reach
from vault_tool.owner.protocol import GRACE, ProtocolError
from vault_tool.owner.starting import launch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from subprocess import Popen
    from typing import Any

    from vault_tool.owner.protocol import Lines

# Seconds without anybody connected after which an owner in the background leaves.
IDLE = 600.0

# Seconds that what cannot go on without an owner waits for one.
OWNER_WAIT = 10.0
_LOOK = 0.02
# The exit codes of one that has left already, or came second.
_ENDED_FOR_ANOTHER = (0, 3)

# Seconds in which one that holds the lock begins to listen.
_COMING_UP = 2.0


def spawn(root: str | Path, idle: float = IDLE) -> Popen[Any]:
    """Start an owner of the vault at `root` for agents' clients and do not wait for it. Raises OSError."""
    process = launch(root, "--idle", str(idle))
    threading.Thread(target=process.wait, daemon=True).start()  # or it would stay in the table of processes, dead
    return process


class StartRight:
    """The right to start an owner: of many that miss one, the first has it; a context manager that gives it back."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._mine: int | None = None
        self._process: Popen[Any] | None = None
        self._ended_at = 0.0

    def __enter__(self) -> StartRight:
        return self

    def __exit__(self, *_: object) -> None:
        if self._mine is not None:
            os.close(self._mine)

    def spawn(self) -> bool:
        """Start one where the right is ours and we have not; False where none can be."""
        if self._process is not None:
            return self._may_come_up()
        if not self._is_ours():
            return not address.why_nowhere(self._root)
        from vault_tool.files.disks import network_disk  # 10 ms, and most find an owner that is there

        if network_disk(self._root):
            return False
        try:
            self._process = spawn(self._root)
        except OSError:
            return False
        return True

    def _may_come_up(self) -> bool:
        """Whether ours, or another that was first, is still to be waited for: one that hangs is not."""
        assert self._process is not None
        code = self._process.poll()
        if code is None:
            return True
        self._ended_at = self._ended_at or time.monotonic()
        return code in _ENDED_FOR_ANOTHER and time.monotonic() < self._ended_at + _COMING_UP

    def _is_ours(self) -> bool:
        """Whether no other process has the right; the kernel takes it back with its process."""
        if os.name == "nt":
            return True
        import fcntl  # not on Windows

        for path in address.paths(self._root):
            try:
                address.make_folder(path)
                self._mine = os.open(f"{path}.turn", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except OSError:
                continue  # the next is where an owner listens, too
            with suppress(OSError):
                fcntl.flock(self._mine, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            break
        if self._mine is not None:
            os.close(self._mine)
            self._mine = None
        return False


def reached(root: str, take: Callable[[Lines], bool], starting: Callable[[], None] | None = None) -> Lines | None:
    """A connection that `take` accepts to an owner that serves as this process would; one is started where there is none,
    which is told by `starting` as soon as it is to be waited for.

    None where none may be, or comes up in time, or where the one that there is is newer or of another environment.
    """
    until = time.monotonic() + OWNER_WAIT
    with StartRight(root) as right:
        while time.monotonic() < until:
            connection = reach(root)
            if connection is None:
                if not right.spawn():
                    return None
                if starting is not None:
                    starting()
                    starting = None
            else:
                lines, hello = connection
                if fits(hello) and take(lines):
                    return lines
                leaves = fits(hello) or _sent_away(lines, hello)
                lines.socket.close()
                if not leaves:
                    return None
            time.sleep(_LOOK)
    return None


def _sent_away(lines: Lines, hello: Mapping[str, Any]) -> bool:
    """Ask an owner to leave that is older, or that a command started in an environment of its own; whether it is one."""
    if not is_older(hello) and not (hello["version"] == __version__ and hello.get("passing") is True):
        return False
    with suppress(ProtocolError):
        lines.send({"do": "drain", "version": __version__})
        lines.receive()
    return True


def make_way(root: str | Path) -> bool:
    """Ask the owner of the vault to leave, and wait until it listens no more; whether one left.

    Nothing can be done instead, so one that is slow to answer is waited for.
    """
    return drain(str(root), OWNER_WAIT) and _until(lambda: not answers(root, OWNER_WAIT))


def leave_background(root: Path) -> None:
    """Have the owner of the vault leave if it was not started by hand."""
    from vault_tool.files import watcher_presence  # pathlib's, which a relay does without

    holder = watcher_presence.owner(root)
    if holder is not None and holder.background:
        make_way(root)


def answers(root: str | Path, grace: float = GRACE) -> bool:
    """Whether an owner of the vault answers now, of whatever version, within so many seconds."""
    connection = reach(str(root), grace)
    if connection is not None:
        connection[0].socket.close()
    return connection is not None


def started(root: str | Path, idle: float = IDLE) -> bool:
    """Start an owner and wait until it answers; whether it does."""
    spawn(root, idle)
    return _until(lambda: answers(root))


def _until(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + OWNER_WAIT
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK)
    return True
