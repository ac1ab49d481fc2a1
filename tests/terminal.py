"""Commands as a person runs them: at a real terminal; and a machine whose settings let commands answer for one."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bounds import PATIENCE

VT = (sys.executable, "-m", "vault_tool")


def at_terminal(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, keys: str | Sequence[str] = "", vt: tuple[str, ...] = VT
) -> subprocess.CompletedProcess[str]:
    """Run one command line where all three streams are a terminal; `keys` are pressed at its first question, or of
    several each at the next one."""
    outer, inner = pty.openpty()
    environ = {**os.environ, "TERM": "dumb", "COLUMNS": "120", **(env or {})}
    child = subprocess.Popen([*vt, *arguments], cwd=cwd, env=environ, stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    shown, until = b"", time.monotonic() + PATIENCE
    presses, asked = [keys] if isinstance(keys, str) else list(keys), 0
    while time.monotonic() < until:
        # What is typed before a program reads single keys is thrown away as it begins to.
        asks = sum(map(shown.count, (b"q quit", b"[y/N]", b"[Y/n]"))) > asked and (b"q quit" not in shown or _takes_keys(outer))
        if asked < len(presses) and presses[asked] and asks:
            os.write(outer, presses[asked].encode())
            asked += 1
        if not select.select([outer], [], [], 0.02)[0]:
            continue
        try:
            piece = os.read(outer, 2**16)
        except OSError:  # Linux's way of saying that nobody is at the other end any more
            break
        if not piece:
            break
        shown += piece
    os.close(outer)
    text = shown.decode("utf-8", "replace").replace("\r\n", "\n")
    return subprocess.CompletedProcess(arguments, child.wait(PATIENCE), text, "")


def _takes_keys(terminal: int) -> bool:
    """Whether single keys are read there, and not lines."""
    return not termios.tcgetattr(terminal)[3] & termios.ICANON


def let_commands_answer(root: Path) -> Path:
    """Have this machine's settings of a vault say that commands answer for its person where none stands at them."""
    path = root / "_config.json"
    settings = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**settings, "unattended": True}))
    path.chmod(0o600)
    return root
