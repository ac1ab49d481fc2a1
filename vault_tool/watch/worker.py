"""Jobs of a watcher in a process of its own, so that no edit waits for them: `python -m vault_tool.watch.worker`."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import IntEnum, StrEnum
from pathlib import Path
from typing import Self

from vault_tool.errors import VaultError
from vault_tool.features.capture import session_drafts
from vault_tool.features.sync.syncing import sync
from vault_tool.features.turns import accept
from vault_tool.features.turns.backstop import backstop
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault.context import Context
from vault_tool.vault.page_at_start import keep_choice
from vault_tool.vault.vector_upkeep import keep_vectors

# Seconds that one which is told to stop gets to end by itself, and again to end at all.
_PATIENCE = 0.5

_POLITE = 5

# About how long one job for vectors takes at most: what is due meanwhile waits for it.
VECTOR_SECONDS = 20.0


class Task(StrEnum):
    """A job: the choice for the page of a session's start, the JSON exports, the writing of what turns
    accepted, a second look at turns that wrote nothing, what search by meaning needs, a session of which a model is asked, or a
    sync with the remote.
    """

    PAGE = "page"
    EXPORTS = "exports"
    TURNS = "turns"
    BACKSTOP = "backstop"
    VECTORS = "vectors"
    CAPTURE = "capture"
    SYNC = "sync"


class Remaining(IntEnum):
    """The work that a job leaves, as the exit code of its process; Python itself uses 1 and 2."""

    NOTHING = 0
    MORE = 10
    """Something was done, and more can be done at once."""

    RETRY_LATER = 11
    """The rest cannot be done now."""

    NO_EMBEDDER = 12
    """The rest needs an embedder, and there is none."""


class WorkResult(Struct):
    """The result of a job: a message for a person, if there is one, and the work that is left."""

    message: str = ""
    left: Remaining = Remaining.NOTHING


def do(vault: Context, task: Task) -> WorkResult:
    """Do a task."""
    try:
        return _RUNNERS[task](vault)
    except VaultError as fault:
        return WorkResult(f"{_FAILURE_TEXTS[task]}: {fault.message}", Remaining.RETRY_LATER)


class Worker:
    """A task under way in a child process."""

    def __init__(self, task: Task, process: subprocess.Popen[str]) -> None:
        self.task = task
        self._process = process

    @classmethod
    def begin(cls, root: Path, task: Task) -> Self:
        """Start it; raises OSError. The child is spawned, so it keeps neither the owner lock nor any other file of ours."""
        # -P: a module in the working folder must not be taken for one of Python's.
        command = [sys.executable, "-P", "-m", "vault_tool.watch.worker", str(root), task]
        nothing = subprocess.DEVNULL
        # Who asks a model is to end with its owner, and learns of that by the end of its input.
        fed = subprocess.PIPE if task is Task.CAPTURE else nothing
        return cls(task, subprocess.Popen(command, stdin=fed, stdout=subprocess.PIPE, stderr=nothing, encoding="utf-8"))

    def over(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    def outcome(self) -> WorkResult:
        """The result of the job, once it is over."""
        text, _ = self._process.communicate()
        code = self._process.returncode
        if code in _CODES:
            return WorkResult(text, Remaining(code))
        return WorkResult(text or f"the job for {self.task} ended with {code}", Remaining.RETRY_LATER)

    def stop(self) -> None:
        """End it soon: what a kill leaves half done is healed by the next command."""
        for end in (self._process.poll, self._process.terminate, self._process.kill):
            end()
            with suppress(subprocess.TimeoutExpired):
                self._process.communicate(timeout=_PATIENCE)
                return


def _page(vault: Context) -> WorkResult:
    keep_choice(vault)
    return WorkResult()


def _exports(vault: Context) -> WorkResult:
    vault.index.export()
    vault.whole_standings.save()
    if vault.embedding.has_vectors:
        vault.embedding.vectors.export()
    return WorkResult()


def _turns(vault: Context) -> WorkResult:
    held = accept.drain(vault).held
    return WorkResult(f"memories held for review: {held}; {step('review')}" if held else "")


def _sync(vault: Context) -> WorkResult:
    done = sync(vault)
    left = counted(len(done.unsettled), "memory", "memories")
    settle = f"{left} keep two texts; {step('review')}" if done.unsettled else ""
    return WorkResult("; ".join(filter(None, (done.reason if done.attention else "", settle))))


def _backstop(vault: Context) -> WorkResult:
    count = len(backstop(vault, limit=None).results)
    return WorkResult(
        f"{counted(count, 'turn')} that wrote nothing may deserve a second look: {step('backstop')}" if count else ""
    )


def _vectors(vault: Context) -> WorkResult:
    result = keep_vectors(vault, VECTOR_SECONDS)
    if result.fault:
        return WorkResult(f"{_FAILURE_TEXTS[Task.VECTORS]}: {result.fault}", Remaining.RETRY_LATER)
    if result.behind:
        return WorkResult(left=Remaining.MORE if result.done else Remaining.RETRY_LATER)
    return WorkResult(left=Remaining.NOTHING if result.embedder or vault.machine.provider == "none" else Remaining.NO_EMBEDDER)


def _capture(vault: Context) -> WorkResult:
    outcome = session_drafts.draft_next(vault)
    read = outcome.read
    if read is not None and read.what == "failed":
        return WorkResult(f"{_FAILURE_TEXTS[Task.CAPTURE]}: {read.why}", Remaining.RETRY_LATER)
    drafts = read.drafts if read is not None else 0
    return WorkResult(f"{counted(drafts, 'draft')} from a session: {step('review')}" if drafts else "")


_CODES = frozenset(Remaining)
_RUNNERS: Mapping[Task, Callable[[Context], WorkResult]] = {
    Task.PAGE: _page,
    Task.EXPORTS: _exports,
    Task.TURNS: _turns,
    Task.BACKSTOP: _backstop,
    Task.VECTORS: _vectors,
    Task.CAPTURE: _capture,
    Task.SYNC: _sync,
}
_FAILURE_TEXTS: Mapping[Task, str] = {
    Task.PAGE: "the page of a session's start was not made ready",
    Task.EXPORTS: "the exports were not written",
    Task.TURNS: "what turns accepted was not written",
    Task.BACKSTOP: "turns that wrote nothing were not looked at",
    Task.VECTORS: "search by meaning is not up to date",
    Task.CAPTURE: "no memories were proposed from a session",
    Task.SYNC: "the vault was not synced",
}


def _end_with_the_owner() -> None:
    """End this process as soon as its owner is gone, however that went: what it asks ends with it, and is not asked again."""

    def wait() -> None:
        with suppress(OSError):
            while os.read(0, 1):
                pass
        os._exit(1)

    threading.Thread(target=wait, name="owner's end", daemon=True).start()


def main(arguments: Sequence[str]) -> int:
    """Do the task that a watcher started this process for, at low priority."""
    root, task = arguments
    if hasattr(os, "nice"):
        os.nice(_POLITE)
    if Task(task) is Task.CAPTURE:
        _end_with_the_owner()
    with Context.open(root) as vault:
        done = do(vault, Task(task))
    sys.stdout.buffer.write(done.message.encode("utf-8", "replace"))
    return done.left


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
