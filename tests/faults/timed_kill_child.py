"""A child that runs one verb on a fresh copy of a vault whenever it is told to, in a fork that it kills at a random moment."""

from __future__ import annotations

import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

from tests.faults.nth_write_child import BEFORE, NOW, VERBS, copied
from vault_tool import Vault
from vault_tool.util.clock import FixedClock


def main(template: Path, beside: Path, verb: str, seed: int) -> None:
    """Each line that is read names a folder for the next round; each line that is written says what became of it."""
    chance = random.Random(seed)
    copied(verb, template, beside / "whole")
    longest = _round(beside / "whole", beside, verb, 60, whole_group=False)
    for line in sys.stdin:
        root = beside / line.strip()
        copied(verb, template, root)
        took = _round(root, beside, verb, chance.uniform(0, longest or 1), whole_group=chance.random() < 0.5)
        # How long it takes follows how busy the machine is.
        longest = took or longest
        sys.stdout.write(f"{json.dumps(not took)}\n")
        sys.stdout.flush()


def _round(root: Path, beside: Path, verb: str, after: float, *, whole_group: bool) -> float:
    """Run the verb and kill it `after` so many seconds, alone or with the git that it started.

    The seconds that it took; 0 where it was killed.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        with Vault.open(root, person=True, clock=FixedClock(NOW)) as vault:
            vault.fresh()
            if verb in BEFORE:
                BEFORE[verb](vault, beside)
            os.write(writing, b"r")
            VERBS[verb](vault, beside)
            os.write(writing, b"d")
        os._exit(0)
    os.close(writing)
    if os.read(reading, 1) != b"r":
        raise AssertionError(f"{verb} did not begin")
    begun = time.monotonic()
    ended = select.select([reading], [], [], after)[0]
    took = time.monotonic() - begun
    if not ended:
        (os.killpg if whole_group else os.kill)(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(reading)
    if ended and status:
        raise AssertionError(f"{verb} failed")
    return took if ended else 0


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
