"""The commands that stay: `watch` tells of changes, `owner` works in the background; both answer for other commands."""

from __future__ import annotations

import _thread
import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click
from msgspec import to_builtins

from vault_tool.cli import answering, output
from vault_tool.cli.blocks import printable
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit, Refused, StorageError
from vault_tool.files import watcher_presence
from vault_tool.files.disks import network_disk
from vault_tool.files.layout import LOCAL
from vault_tool.files.watcher_presence import LOCK_FILE, Owner
from vault_tool.owner import address
from vault_tool.owner.client import reach
from vault_tool.owner.spawning import IDLE, OWNER_WAIT, make_way, started
from vault_tool.util.deferred import deferred
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.watch import watcher as file_watcher

if TYPE_CHECKING:
    from vault_tool.owner import owner_lock
    from vault_tool.vault.context import Context
    from vault_tool.watch.change_feed import NoteChange
    from vault_tool.watch.watcher import Watcher, WatchReport
else:
    owner_lock = deferred("vault_tool.owner.owner_lock")  # 5 ms, and only a process that stays needs it

# Most changes that a person is shown one by one when they come at once; JSON has them all.
MOST_LINES = 100

_PATIENCE = 1.5
_HANDOVER = 10.0
_GUARD_SECONDS = 1.0
_SIGNS = {"added": "+", "modified": "~", "removed": "-", "moved": ">", "problem": "!"}


@command("watch", "vt watch", "vt watch --json", "vt watch --once")
@click.option("--poll", is_flag=True, help="Look at the files every second; do not rely on being told.")
@click.option("--once", is_flag=True, help="Take in what changed, then end.")
@click.option(
    "--reconcile",
    type=click.FloatRange(1),
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="Compare all files so often.",
)
def watch(call: Call, poll: bool, once: bool, reconcile: float) -> Exit:
    """Keep indexes up to date while files change.

    Prints a line for each change: + added, ~ modified, > moved, - removed, ! problem. It ends with
    Ctrl-C.
    """
    with call.open_vault() as vault:
        tell = _tell_json if call.json else _tell
        watcher = file_watcher.Watcher(vault, tell, reconcile=reconcile, poll=poll)
        if once:
            watcher.once()
            return Exit.DONE
        # An owner in the background leaves for one that a person started by hand.
        holder = watcher_presence.owner(vault.root)
        wait = _HANDOVER if holder is not None and holder.background and make_way(vault.root) else owner_lock.WAIT
        with owner_lock.own(vault.root, vault.clock, wait) as me, _until_stopped() as stop, _answering(vault, me, watcher, stop):
            watcher.run(stop)
            stop.finish()
        if stop.reason:
            output.say(stop.reason)
        return Exit.INTERRUPTED if stop.signal == signal.SIGINT else Exit.DONE


@command("owner", "vt owner --background", "vt owner --stop", "vt owner")
@click.option("--background", is_flag=True, help="Start one as a process of its own, where there is none, and return.")
@click.option("--stop", "ends", is_flag=True, help="Ask the one that there is to finish and leave.")
@click.option(
    "--idle",
    type=click.FloatRange(0.1),
    default=IDLE,
    show_default=True,
    metavar="SECONDS",
    help="Leave after so long without anybody connected.",
)
@click.option("--for-commands", is_flag=True, hidden=True, help="Be there for the next commands, until an agent's client comes.")
@click.option("--asked", is_flag=True, hidden=True, help="The command before was a question, which vectors would have answered.")
def owner(call: Call, background: bool, ends: bool, idle: float, for_commands: bool, asked: bool) -> Exit:
    """Answer for other commands, kept warm.

    It keeps indexes, vectors and model in memory, watches the files as `vt watch` does, and answers what other commands
    and agents' clients ask on a socket for its user alone. It leaves when no request came for ten minutes. A command that
    looks into the memory starts one for the next, which leaves after three.
    """
    with call.open_vault() as vault:
        if ends:
            left = make_way(vault.root)
            return call.emit(Presence(answers=False, said="the owner left" if left else "no owner answered"), _presence)
        _require_allowed(vault)
        if background:
            return call.emit(_in_the_background(vault.root, idle), _presence)
        welcomed = threading.Event()
        if not for_commands:
            welcomed.set()
        longest = max(idle, IDLE) if for_commands else idle
        passing: Callable[[], bool] = lambda: not welcomed.is_set()  # noqa: E731
        watcher = file_watcher.Watcher(vault, _ignore, exports_only=passing, asked=asked, deserted=lambda: os._exit(Exit.DONE))
        with owner_lock.own(vault.root, vault.clock, background=True) as me, _until_stopped() as stop:
            try:
                with answering.serving(vault, me, watcher, stop.leave, welcomed) as server:
                    _Guard(vault.root, stop, lambda: server.idle >= (longest if welcomed.is_set() else idle)).start()
                    watcher.run(stop)
                    stop.finish()
            except OSError as fault:
                raise StorageError(
                    f"no socket can be made: {fault.strerror or fault}", "commands work without an owner"
                ) from fault
        return Exit.DONE


class Presence(Struct):
    """Whether an owner answers now, and what became of the wish."""

    answers: bool
    said: str


def _presence(now: Presence, short: Short) -> Iterator[str]:
    yield now.said


def _in_the_background(root: Path, idle: float) -> Presence:
    owner = reach(str(root), OWNER_WAIT)
    if owner is not None:
        owner[0].socket.close()
        if not owner[1].get("passing"):
            return Presence(answers=True, said="an owner answers already")
        make_way(root)  # one that is meant to stay takes its place
    if not started(root, idle):
        raise StorageError("no owner came up", "`vt owner` says why")
    return Presence(answers=True, said="an owner answers")


def _require_allowed(vault: Context) -> None:
    if vault.machine.owner == "off":
        raise Refused("`owner` is off on this machine", "`vt config --owner on`, or use `vt watch`")
    if disk := network_disk(vault.root):
        raise Refused(f"there is no owner on a network file system ({disk})", "commands work without one")
    if reason := address.why_nowhere(str(vault.root)):
        raise StorageError(
            f"no owner can listen: {reason}", "name a folder of your own (mode 700) in XDG_RUNTIME_DIR; commands work without"
        )


@contextmanager
def _answering(vault: Context, me: Owner, watcher: Watcher, stop: _StopSignal) -> Iterator[None]:
    """Answer for others beside watching, where that can be; the watcher goes on without."""
    with ExitStack() as stack:
        if not network_disk(vault.root):
            try:
                welcomed = threading.Event()
                welcomed.set()  # a person started it by hand
                stack.enter_context(answering.serving(vault, me, watcher, stop.leave, welcomed))
            except OSError as fault:
                output.warn(f"nobody can ask this process: {fault.strerror or fault}")
        yield


class _Guard(threading.Thread):
    """Ends an owner that was started by no person, once it is out of use or its vault or lock is gone."""

    def __init__(self, root: Path, stop: _StopSignal, is_idle: Callable[[], bool]) -> None:
        super().__init__(name="guard", daemon=True)
        self._root, self._end, self._is_idle = root, stop, is_idle
        self._place = self._stat()

    def run(self) -> None:
        """Look once a second."""
        while not self._end.wait(_GUARD_SECONDS):
            if self._is_idle():
                self._end.leave("nobody asked")
            elif self._stat() != self._place:
                self._end.leave("the vault is gone")

    def _stat(self) -> tuple[int, int]:
        """The file's identity, which changes where the vault, or the lock that is held, is another one."""
        try:
            return self._root.stat().st_ino, (self._root / LOCAL / LOCK_FILE).stat().st_ino
        except OSError:
            return 0, 0


def _ignore(report: WatchReport) -> None:
    """Drop a report: a process in the background has no reader."""


class _StopSignal(threading.Event):
    """Set by the first signal, or by whoever asks this process to leave; `signal` and `reason` say which."""

    signal = 0
    reason = ""

    def __init__(self) -> None:
        super().__init__()
        self._impatience = threading.Timer(_PATIENCE, _thread.interrupt_main)
        self._impatience.daemon = True

    def leave(self, reason: str) -> None:
        """End as soon as what is under way is done."""
        self.reason = reason
        self.set()

    def heed(self, number: int, frame: FrameType | None) -> None:
        """A signal came; raises KeyboardInterrupt where it is not the first, or work went on for too long after that."""
        if self.is_set():
            raise KeyboardInterrupt
        self.signal = number
        self.set()
        self._impatience.start()

    def finish(self) -> None:
        """The work is done: others' questions that are under way get their time, unless a second signal comes."""
        self._impatience.cancel()


@contextmanager
def _until_stopped() -> Iterator[_StopSignal]:
    """An event that a signal sets; a second one, or work that goes on for too long after it, is interrupted.

    Work can be interrupted anywhere, as by a kill: what is half done is healed by the next command. To end was what
    somebody wished for, so that nobody is told of an interruption.
    """
    stop = _StopSignal()
    before: dict[int, Any] = {number: signal.signal(number, stop.heed) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    except KeyboardInterrupt:
        pass
    finally:
        stop.finish()
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(report: WatchReport) -> None:
    if report.remark:
        output.say(one_line(report.remark))
    lines = [_line(change) for change in report.changes[:MOST_LINES]]
    if len(report.changes) > MOST_LINES:
        lines.append(f"... and {len(report.changes) - MOST_LINES:,} more")
    if lines:
        output.write("".join(f"{printable(one_line(line))}\n" for line in lines))


def _tell_json(report: WatchReport) -> None:
    lines = [to_builtins(change) for change in report.changes]
    if report.remark:
        lines.append({"remark": report.remark})
    output.write("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))


def _line(change: NoteChange) -> str:
    sign = _SIGNS[change.change]
    if change.change == "problem":
        return f"{sign} {change.path}:{change.line} {change.message}"
    if change.was:
        return f"{sign} {change.was} -> {change.path}"
    return f"{sign} {change.path} {change.title}".rstrip()
