"""What a watcher has done in a process of its own, so that no edit waits for it: `python -m vault_tool.watch.errand`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Self

from vault_tool.errors import VaultError
from vault_tool.files.layout import CORE_FILE
from vault_tool.verbs import pages, turns
from vault_tool.verbs.context import Context

_PATIENCE = 0.5
"""Seconds that one which is told to stop gets to end by itself, and again to end at all."""

_POLITE = 5


class Task(StrEnum):
    """What there is to do: CORE.md, the JSON exports, or the writing of what turns accepted."""

    CORE = "core"
    EXPORTS = "exports"
    TURNS = "turns"


def do(vault: Context, task: Task) -> str:
    """Do one thing; returns what a person should know of it, or nothing."""
    try:
        return _DOING[task](vault)
    except VaultError as fault:
        return f"{_UNDONE[task]}: {fault.message}"


class Errand:
    """A task under way in a child process."""

    def __init__(self, task: Task, process: subprocess.Popen[str]) -> None:
        self.task = task
        self._process = process

    @classmethod
    def begin(cls, root: Path, task: Task) -> Self:
        """Start it; raises OSError. The child is spawned, so it keeps neither the owner lock nor any other file of ours."""
        # -P: a module in the folder that somebody happens to stand in must not be taken for one of Python's.
        command = [sys.executable, "-P", "-m", "vault_tool.watch.errand", str(root), task]
        nothing = subprocess.DEVNULL
        return cls(task, subprocess.Popen(command, stdin=nothing, stdout=subprocess.PIPE, stderr=nothing, encoding="utf-8"))

    def over(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def said(self) -> str:
        """What a person should know of it, once it is over."""
        text, _ = self._process.communicate()
        return text or (f"the errand for {self.task} ended with {self._process.returncode}" if self._process.returncode else "")

    def stop(self) -> None:
        """End it soon: what a kill leaves half done is healed by the next command."""
        for end in (self._process.poll, self._process.terminate, self._process.kill):
            end()
            with suppress(subprocess.TimeoutExpired):
                self._process.communicate(timeout=_PATIENCE)
                return


def _core(vault: Context) -> str:
    page = pages.core(vault)
    if not page.changed:
        return ""
    return f"{CORE_FILE} made anew" + (f", not committed: {page.reason}" if page.reason else "")


def _exports(vault: Context) -> str:
    vault.index.export()
    vault.standings.keep(vault.standings.present())
    return ""


def _turns(vault: Context) -> str:
    held = turns.drain(vault).held
    return f"memories held for review: {held}; `vt review`" if held else ""


_DOING: Mapping[Task, Callable[[Context], str]] = {Task.CORE: _core, Task.EXPORTS: _exports, Task.TURNS: _turns}
_UNDONE: Mapping[Task, str] = {
    Task.CORE: f"{CORE_FILE} was not made",
    Task.EXPORTS: "the exports were not written",
    Task.TURNS: "what turns accepted was not written",
}


def main(given: Sequence[str]) -> int:
    """Do the task that a watcher started this process for, behind everybody else who wants the processor."""
    root, task = given
    if hasattr(os, "nice"):
        os.nice(_POLITE)
    with Context.open(root) as vault:
        said = do(vault, Task(task))
    sys.stdout.buffer.write(said.encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
