"""The command that keeps the indexes up to date while the files change."""

from __future__ import annotations

import _thread
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from vault_tool.cli import output
from vault_tool.cli.blocks import visible
from vault_tool.cli.options import Call, command
from vault_tool.errors import Exit
from vault_tool.util.text import one_line

if TYPE_CHECKING:
    from vault_tool.watch.news import Change
    from vault_tool.watch.watcher import Told

MOST_LINES = 100
"""Most changes that a person is shown one by one when they come at once; JSON has them all."""

_PATIENCE = 1.5
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

    Prints a line for each change: + added, ~ modified, > moved, - removed, ! problem. CORE.md is made anew at most
    once an hour. It ends with Ctrl-C.
    """
    from vault_tool.owner.lock import own  # both bring threads and asyncio, which no other command needs
    from vault_tool.watch.watcher import Watcher

    with call.open_vault() as vault:
        tell = _tell_json if call.json else _tell
        watcher = Watcher(vault, tell, reconcile=reconcile, poll=poll)
        if once:
            watcher.once()
            return Exit.DONE
        with own(vault.root, vault.clock), _until_stopped() as stop:
            watcher.run(stop)
            return Exit.INTERRUPTED if stop.signal == signal.SIGINT else Exit.DONE


class _Stop(threading.Event):
    """Set by the first signal; `signal` says which."""

    signal = 0


@contextmanager
def _until_stopped() -> Iterator[_Stop]:
    """An event that a signal sets; a second one, or work that goes on for too long after it, is interrupted.

    Work can be interrupted anywhere, as by a kill: what is half done is healed by the next command.
    """
    stop = _Stop()
    impatience = threading.Timer(_PATIENCE, _thread.interrupt_main)
    impatience.daemon = True

    def heed(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.signal = number
        stop.set()
        impatience.start()

    before: dict[int, Any] = {number: signal.signal(number, heed) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        impatience.cancel()
        for number, handler in before.items():
            signal.signal(number, handler)


def _tell(told: Told) -> None:
    if told.remark:
        output.say(one_line(told.remark))
    lines = [_line(change) for change in told.changes[:MOST_LINES]]
    if len(told.changes) > MOST_LINES:
        lines.append(f"... and {len(told.changes) - MOST_LINES:,} more")
    if lines:
        output.write("".join(f"{visible(one_line(line))}\n" for line in lines))


def _tell_json(told: Told) -> None:
    lines = [asdict(change) for change in told.changes]
    if told.remark:
        lines.append({"remark": told.remark})
    output.write("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines))


def _line(change: Change) -> str:
    sign = _SIGNS[change.change]
    if change.change == "problem":
        return f"{sign} {change.path}:{change.line} {change.message}"
    if change.was:
        return f"{sign} {change.was} -> {change.path}"
    return f"{sign} {change.path} {change.title}".rstrip()
