"""What bounds a test: its limit for what it waits for, this machine's pace for what it measures, a budget for what it tries."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable

PATIENCE = 200.0
"""Seconds to wait for what must come; shorter than the limit of a test, so that a test says itself what did not come."""

PACE = "for number in range(100_000): number * number"


CAMPAIGN = int(os.environ.get("VAULT_CAMPAIGN", "0"))
"""Read when the tests are collected: each test runs in an environment that has been cleaned."""


def examples(full: int) -> int:
    """How many cases a property is tried with: `full` in a campaign, a tenth of it else."""
    return full if CAMPAIGN else full // 10


def eventually(holds: Callable[[], object], within: float = PATIENCE) -> None:
    """Wait until something holds."""
    until = time.monotonic() + within
    while not holds():
        assert time.monotonic() < until, "it never came to hold"
        time.sleep(0.02)


def work(act: Callable[[], object]) -> float:
    """The processor time of `act`, as a multiple of what a hundred thousand steps of bare Python take on this machine now."""
    loop = compile(PACE, "pace", "exec")
    moments = [time.process_time()]
    for step in (lambda: exec(loop), act, lambda: exec(loop)):
        step()
        moments.append(time.process_time())
    first, acted, last = (after - before for before, after in itertools.pairwise(moments))
    return acted / max(first, last)
