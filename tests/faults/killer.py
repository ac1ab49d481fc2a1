"""Kills a writing process at random moments and compares what it acknowledged with what is there.

What the child runs is the caller's: any command that prints `ready` once it is about to begin, then one line for
each write that it was told is safe. Its standard output is a pipe, which outlives it: what was acknowledged in
time is known even though the child is not.
"""

from __future__ import annotations

import random
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tests.bounds import CAMPAIGN

READY = "ready"


@dataclass(frozen=True, slots=True)
class Round:
    """One life of a child: its number, what it acknowledged, whether it was killed (else it had ended by itself)."""

    number: int
    acknowledged: tuple[str, ...]
    killed: bool
    errors: str


def runs_wanted(default: int) -> int:
    """How often a campaign runs: `VAULT_CAMPAIGN` in the environment of the whole test run, else `default`."""
    return CAMPAIGN or default


def campaign(
    child: Callable[[int], Sequence[str]],
    check: Callable[[Round], None],
    *,
    kills: int,
    longest: float,
    most: int = 3,
    seed: int,
    environment: Mapping[str, str] | None = None,
) -> list[Round]:
    """Start `child(number)` again and again, kill it (SIGKILL), and `check` each.

    The kill comes within `longest` seconds after the child has acknowledged up to `most` writes: both are random, and
    counting writes keeps a slow machine from killing children that have not begun.
    `check` is called after every round, with the child dead, and raises AssertionError on a loss.
    """
    chance = random.Random(seed)
    rounds = []
    for number in range(kills):
        rounds.append(_one(number, child(number), chance.randint(0, most), chance.uniform(0, longest), environment))
        check(rounds[-1])
    return rounds


def _one(number: int, command: Sequence[str], writes: int, after: float, environment: Mapping[str, str] | None) -> Round:
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=None if environment is None else dict(environment)
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        first = process.stdout.readline()
        if first.strip() != READY:
            raise AssertionError(f"the child did not begin: {first!r} {process.stderr.read()}")
        begun = "".join(process.stdout.readline() for _ in range(writes))
        killer = threading.Timer(after, process.send_signal, (signal.SIGKILL,))
        killer.start()
        lines = (begun + process.stdout.read()).split("\n")
        errors = process.stderr.read()
        killed = process.wait() == -signal.SIGKILL
        killer.cancel()
    # The last piece has no newline: either empty, or an acknowledgement that was itself cut short.
    return Round(number, tuple(lines[:-1]), killed, errors)
