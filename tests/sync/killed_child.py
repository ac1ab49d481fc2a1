"""A child that syncs a vault, counts what it does to files and the processes that it starts, and kills itself before the n-th."""

from __future__ import annotations

import os
import signal
import sys

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_STEPS = frozenset(
    {"subprocess.Popen", "os.rename", "os.remove", "os.link", "os.mkdir", "os.rmdir", "os.truncate", "os.utime", "os.chmod"}
)


def main(root: str, step: int) -> None:
    """Sync, and be killed before a step; with 0 the number of steps is printed."""
    from vault_tool import Vault

    steps = 0

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal steps
        writes = event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES
        if not writes and event not in _STEPS and not event.startswith("ctypes.call"):
            return
        steps += 1
        if steps == step:
            os.kill(os.getpid(), signal.SIGKILL)

    with Vault.open(root, person=True) as vault:
        sys.addaudithook(hook)
        vault.sync()
        sys.stdout.write(f"{steps}\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
