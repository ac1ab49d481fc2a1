"""A child that runs one verb on copies of a vault, and kills a fork of itself before its first, second, ... n-th write."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Container
from datetime import UTC, datetime
from pathlib import Path
from types import CodeType, FrameType

from tests.founding import own_copy
from vault_tool import Vault
from vault_tool.files.git import committing, run
from vault_tool.index.vault_index import Index
from vault_tool.util.clock import FixedClock
from vault_tool.util.folder import Folder

NOW = datetime(2026, 11, 20, 11, tzinfo=UTC)

# Every way in which the tool changes a file of its own or of the vault, its commit, and the indexes.
_WRITES = {
    each.__code__
    for each in (Folder.append, Folder.overwrite, Folder.rename, Folder.rename_to_free, Folder.exchange, Folder.remove)
} | {committing.commit.__code__, Index.wrote.__code__, Index.refresh.__code__}

# What rewrites history is git's doing, one process after the other.
_PROCESSES = {run.together.__code__, run.python.__code__}


def _merge(vault: Vault, _: Path) -> object:
    return vault.merge_subjects("Masonry", "Stonework", reason="one craft")


def _review(vault: Vault, beside: Path) -> object:
    named = json.loads((beside / "ids.json").read_text())
    return vault.review(accept=[named["Lime"], named["Sand"]], refuse=[named["Straw"]])


def _restore(vault: Vault, beside: Path) -> object:
    return vault.review(restore=[json.loads((beside / "ids.json").read_text())["Straw"]])


def _unmark(vault: Vault, beside: Path) -> object:
    return vault.undo(json.loads((beside / "ids.json").read_text())["mark"])


def _delete(vault: Vault, _: Path) -> object:
    found = [str(one.id) for one in vault.search("hasty").results]
    return vault.as_(session="s1").delete_observations(found)


VERBS: dict[str, Callable[[Vault, Path], object]] = {
    "merge": _merge,
    "review": _review,
    "settle": lambda vault, _: vault.settle_texts(vault.unsettled().results[0].key, "both"),
    "restore": _restore,
    "unmark": _unmark,
    "delete": _delete,
    "undo": lambda vault, _: vault.undo(str(vault.search("undone").results[0].id)),
    "end": lambda vault, _: vault.end_consolidation(core=False),
    "import": lambda vault, beside: vault.import_markdown(beside / "theirs", attachments=True),
    "fix": lambda vault, _: vault.doctor(fix=True),
    "drain": lambda vault, _: vault.drain(link=False),
    "purge": lambda vault, _: vault.purge([str(vault.search("Ottoline geranium").results[0].id)]),
    "forget": lambda vault, _: vault.forget(str(vault.search("Ottoline geranium").results[0].id)),
}


def kill_before(wanted: int, writes: Container[CodeType]) -> None:
    """SIGKILL this process as the `wanted`-th write begins."""
    count = 0

    def watch(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        if event == "call" and frame.f_code in writes:
            count += 1
            if count == wanted:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


def main(template: str, beside: str, verb: str, step: str) -> None:
    """Leave `beside/<n>` as the kill before every `step`-th write left it; the last one ran through."""
    for number in range(1, 1000, int(step)):
        root = Path(beside) / str(number)
        own_copy(Path(template), Path(root))
        child = os.fork()
        if not child:
            with Vault.open(root, person=True, clock=FixedClock(NOW)) as vault:
                vault.fresh()
                kill_before(number, _WRITES | _PROCESSES if verb == "purge" else _WRITES)
                VERBS[verb](vault, Path(beside))
                sys.setprofile(None)
            os._exit(0)
        if os.waitpid(child, 0)[1] != signal.SIGKILL:
            return


if __name__ == "__main__":
    main(*sys.argv[1:5])
