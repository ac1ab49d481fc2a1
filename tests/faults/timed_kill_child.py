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
from types import FrameType

from tests.faults.nth_write_child import BEFORE, NOW, OF_FILES, VERBS, copied
from vault_tool import Vault
from vault_tool.util.clock import FixedClock


def main(template: Path, beside: Path, verb: str, seed: int) -> None:
    """Each line that is read names a folder for the next round; each line that is written says what became of it."""
    chance = random.Random(seed)
    copied(verb, template, beside / "whole")
    whole = _round(beside / "whole", beside, verb, b"r", 60, whole_group=False)
    for line in sys.stdin:
        root = beside / line.strip()
        copied(verb, template, root)
        # Most of the time goes by before the first write: two of three kills come after that.
        since = chance.choice((b"r", b"w", b"w"))
        took = _round(root, beside, verb, since, chance.uniform(0, whole[since]), whole_group=chance.random() < 0.5)
        # How long it takes follows how busy the machine is.
        whole |= took
        sys.stdout.write(f"{json.dumps(not took)}\n")
        sys.stdout.flush()


def _round(root: Path, beside: Path, verb: str, since: bytes, after: float, *, whole_group: bool) -> dict[bytes, float]:
    """Run the verb and kill it so many seconds after its begin (`r`) or its first write (`w`), alone or with the git it started.

    The seconds that it took since either; nothing where it was killed.
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
            _tell_the_first_write(writing)
            VERBS[verb](vault, beside)
            os.write(writing, b"d")
        os._exit(0)
    os.close(writing)
    at: dict[bytes, float] = {}
    while b"d" not in at:
        until = at[since] + after if since in at else None
        if not select.select([reading], [], [], None if until is None else max(0, until - time.monotonic()))[0]:
            (os.killpg if whole_group else os.kill)(child, signal.SIGKILL)
            break
        said = os.read(reading, 1)
        if not said:
            raise AssertionError(f"{verb} failed")
        at[said] = time.monotonic()
    status = os.waitpid(child, 0)[1]
    os.close(reading)
    if b"d" in at and status:
        raise AssertionError(f"{verb} failed at its end")
    return {mark: at[b"d"] - at[mark] for mark in (b"r", b"w")} if b"d" in at else {}


def _tell_the_first_write(writing: int) -> None:
    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code in OF_FILES:
            sys.setprofile(None)
            os.write(writing, b"w")

    sys.setprofile(watch)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
