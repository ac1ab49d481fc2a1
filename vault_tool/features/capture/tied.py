"""Becomes another program that ends with the process that started it: `tied.py PARENT PROGRAM ARGUMENT...`, run as a file.

Standard library alone, and nothing of ours: it runs with the other program's environment.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

# Linux' number for the signal that a process gets when the one that started it dies.
_DEATH_SIGNAL = 1

if __name__ == "__main__":
    parent, program = int(sys.argv[1]), sys.argv[2]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    os.execv(program, sys.argv[2:])
