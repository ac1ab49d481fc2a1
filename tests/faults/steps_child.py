"""A child that kills itself as soon as one named function returns in the course of a verb."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from types import FrameType

from vault_tool import Vault
from vault_tool.verbs import editing


def kill_after(step: str) -> None:
    """SIGKILL this process when `step` (module and qualified name) returns, once an operation was announced."""
    begun = False

    def watch(frame: FrameType, event: str, result: object) -> None:
        nonlocal begun
        if event != "return":
            return
        name = f"{frame.f_globals['__name__'].rpartition('.')[2]}.{frame.f_code.co_qualname}"
        begun = begun or name == "pending.announce"
        if begun and name == step:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


def main(step: str, root: str, verb: str) -> None:
    vault = Vault.open(root, origin="owner")
    memory, understanding = (vault.search(word).results[0].id for word in ("cornerstone", "keystone"))
    assert memory and understanding
    kill_after(step)
    if verb == "remember":
        vault.remember("A second stone.", ["Masonry", "Walls"])
    elif verb == "revise":
        vault.update_understanding(understanding, "An arch needs two keystones.", "Two keystones")
    elif verb == "pin":
        vault.pin(memory)
    else:
        editing.new(vault, "fact", write)
    sys.setprofile(None)


def write(path: Path) -> None:
    """What a person does in an editor."""
    path.write_text(f"{path.read_text()}\nWritten by hand.\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
