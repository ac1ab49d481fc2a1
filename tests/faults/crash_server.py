"""Runs single verbs that are killed at a named step, each in a process forked from one that has everything imported."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from vault_tool import Vault
from vault_tool.util.clock import FixedClock

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.steps_child import kill_after


def act(root: str, at: str, step: str, verb: str, arguments: list[Any]) -> None:
    """One verb of a vault that is opened at a moment, used and killed."""
    vault = Vault.open(root, clock=FixedClock(datetime.fromisoformat(at)))
    vault.fresh()
    kill_after(step)
    getattr(vault, verb)(*arguments)


def main() -> None:
    for line in sys.stdin:
        wanted = json.loads(line)
        child = os.fork()
        if not child:
            try:
                act(**wanted)
            finally:
                # Past its step, or refused: gone all the same, with nothing let go of.
                os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.WIFSIGNALED(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
