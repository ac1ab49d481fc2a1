"""A child that forks for each of several steps, and whose fork kills itself as soon as that function returns in a verb."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from vault_tool import Vault
from vault_tool.features.editing import editing
from vault_tool.features.remember import correcting, links, remember  # noqa: F401  (loaded once for all forks)


def kill_after(step: str) -> None:
    """SIGKILL this process when `step` (module and qualified name) returns, once an operation was announced."""
    begun = False

    def watch(frame: FrameType, event: str, result: object) -> None:
        nonlocal begun
        if event != "return":
            return
        name = f"{frame.f_globals['__name__'].rpartition('.')[2]}.{frame.f_code.co_qualname}"
        begun = begun or name == "pending.write_intent"
        if begun and name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


def main(verb: str, *steps_and_roots: str) -> None:
    """Run the verb on each root until its step has returned; says which steps nothing was killed after."""
    for step, root in zip(steps_and_roots[::2], steps_and_roots[1::2], strict=True):
        fork = os.fork()
        if not fork:
            run(step, root, verb)
            os._exit(0)
        if os.waitpid(fork, 0)[1] != signal.SIGKILL:
            sys.exit(f"{verb} ran past {step}")


def run(step: str, root: str, verb: str) -> None:
    vault = Vault.open(root, origin="owner")
    memory, understanding = (vault.search(word).results[0].id for word in ("cornerstone", "keystone"))
    assert memory and understanding
    kill_after(step)
    if verb == "remember":
        vault.remember("A second stone.", ["Masonry", "Walls"])
    elif verb == "revise":
        vault.update_understanding(understanding, "An arch needs two keystones.", "Two keystones")
    elif verb == "correct":
        vault.correct(memory, "It was moved.", "The keystone came first.")
    elif verb == "understand":
        vault.understand(["Masonry"], "An arch needs two keystones.", "Two keystones", [memory], understanding)
    elif verb == "pin":
        vault.pin(memory)
    else:
        editing.new(vault, "fact", write)
    sys.setprofile(None)


def write(path: Path) -> None:
    """What a person does in an editor."""
    path.write_text(f"{path.read_text()}\nWritten by hand.\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
