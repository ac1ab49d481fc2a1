"""What a session's start and a prompt are given by an owner: how soon, and that it is never nothing, whatever the owner does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress

from bench.bed import Bed
from bench.doors import PYTHON, owner_of
from bench.figure import Figure
from bench.machine import environment, in_turn, run

_LOOPS = 6
# It ends with whoever started it, whatever becomes of that.
_LOOP = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for number in range(1_000_000): number * number"
_CLIENT = ("--client", "claude-code")


def soon(bed: Bed) -> Iterator[Figure]:
    """Both hooks as a client calls them where an owner is warm, each for another session."""
    with owner_of(bed.root):
        floor, begun, said = in_turn(
            bed.runs,
            lambda: run([sys.executable, "-c", "pass"]),
            lambda: start(bed),
            lambda: prompt(bed),
            warm=True,
        )
    more = {"floor_is": PYTHON, "floor": tuple(floor)}
    yield bed.figure("hook-start", "the hook of a session's start, by the owner", begun, **more)
    yield bed.figure("hook-prompt", "the hook of a prompt, by the owner", said, **more)


def never_empty(bed: Bed) -> Iterator[Figure]:
    """Sessions that start beside six busy loops, the owner free, busy, stopped and killed: how many are given nothing."""
    empty, taken = [], []
    with ExitStack() as stack:
        stack.enter_context(_others(*[[sys.executable, "-c", _LOOP]] * _LOOPS))
        for number in range(bed.extent.starts):
            trouble = TROUBLES[number % len(TROUBLES)]
            with owner_of(bed.root) as pid, trouble(bed, pid):
                begun = time.perf_counter()
                empty.append(float(not start(bed)))
                taken.append(time.perf_counter() - begun)
    starts = f"{bed.extent.starts} starts beside {_LOOPS} busy loops, the owner free, busy, stopped, killed"
    yield bed.figure("hook-empty", f"of {starts}: given nothing", [sum(empty)], unit="starts")
    yield bed.figure("hook-slowest", f"the slowest of {starts}", [max(taken)])


def start(bed: Bed) -> str:
    """What a new session is given."""
    return _event(bed, "session-start", hook_event_name="SessionStart", source="startup")


def prompt(bed: Bed) -> str:
    """What a prompt of a new session brings to mind."""
    return _event(bed, "prompt", hook_event_name="UserPromptSubmit", prompt=f"What did we say of {bed.query}?")


def _event(bed: Bed, event: str, **told: str) -> str:
    given = json.dumps({"session_id": str(uuid.uuid4()), "cwd": str(bed.root), **told}).encode()
    return bed.vt("hook", event, *_CLIENT, owner=True, given=given).strip()


@contextmanager
def _free(bed: Bed, pid: int) -> Iterator[None]:
    yield


@contextmanager
def _busy(bed: Bed, pid: int) -> Iterator[None]:
    """The owner answers others."""
    asking = "import subprocess, sys\nwhile subprocess.run(sys.argv[1:], capture_output=True).returncode == 0: pass"
    with _others(*[[sys.executable, "-c", asking, *bed.command("recall", bed.query)]] * 2):
        yield


@contextmanager
def _stopped(bed: Bed, pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


@contextmanager
def _killed(bed: Bed, pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGKILL)
    yield


@contextmanager
def _others(*commands: list[str]) -> Iterator[None]:
    """Processes that run meanwhile."""
    with ExitStack() as stack:
        for command in commands:
            process = stack.enter_context(subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL))
            stack.callback(process.kill)
        yield


TROUBLES = (_free, _busy, _stopped, _killed)

MEASURES: Mapping[Callable[[Bed], Iterator[Figure]], tuple[str, ...]] = {
    soon: ("hook-start", "hook-prompt"),
    never_empty: ("hook-empty", "hook-slowest"),
}
