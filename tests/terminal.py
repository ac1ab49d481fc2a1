"""Commands as a person runs them: at a real terminal; and a machine whose settings let commands answer for one."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.bounds import PATIENCE
from vault_tool.cli.main import main

VT = (sys.executable, "-m", "vault_tool")

_PLAIN = {"TERM": "dumb", "COLUMNS": "120"}


def at_terminal(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, keys: str | Sequence[str] = "", vt: tuple[str, ...] = VT
) -> subprocess.CompletedProcess[str]:
    """Run one command line where all three streams are a terminal; `keys` are pressed at its first question, or of
    several each at the next one."""
    outer, inner = pty.openpty()
    environ = {**os.environ, **_PLAIN, **(env or {})}
    child = subprocess.Popen([*vt, *arguments], cwd=cwd, env=environ, stdin=inner, stdout=inner, stderr=inner)
    os.close(inner)
    text = _read_and_pressed(outer, keys)
    return subprocess.CompletedProcess(arguments, child.wait(PATIENCE), text, "")


def called_at_terminal(
    *arguments: str, cwd: Path, env: Mapping[str, str] | None = None, keys: str | Sequence[str] = ""
) -> subprocess.CompletedProcess[str]:
    """The same by a call in this process, whose streams are a real terminal meanwhile."""
    outer, inner = pty.openpty()
    shown: list[str] = []
    person = threading.Thread(target=lambda: shown.append(_read_and_pressed(outer, keys)))
    person.start()
    with pytest.MonkeyPatch.context() as patch, ExitStack() as streams:
        streams.callback(os.close, inner)
        patch.chdir(cwd)
        for name, value in {**_PLAIN, **(env or {})}.items():
            patch.setenv(name, value)
        for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
            stream = streams.enter_context(open(os.dup(inner), mode, encoding="utf-8"))
            patch.setattr(sys, name, stream)
        code = main(arguments)
    person.join(PATIENCE)
    return subprocess.CompletedProcess(arguments, code, shown[0], "")


def _read_and_pressed(outer: int, keys: str | Sequence[str]) -> str:
    """All that is shown at a terminal until nobody writes there any more, with the keys pressed meanwhile."""
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
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


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
