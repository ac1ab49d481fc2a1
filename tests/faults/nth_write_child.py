"""A child that runs one verb on copies of a vault, and kills a fork of itself before its first, second, ... n-th write."""

from __future__ import annotations

import json
import os
import pkgutil
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Container
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from types import CodeType, FrameType

from tests.founding import own_copy
from vault_tool import Vault, features
from vault_tool.features.imports import import_run
from vault_tool.features.review.reviewing import edit_waiting
from vault_tool.files.git import committing, run
from vault_tool.index.vault_index import Index
from vault_tool.util.clock import FixedClock
from vault_tool.util.folder import Folder

NOW = datetime(2026, 11, 20, 11, tzinfo=UTC)

# Every way in which the tool changes a file of its own or of the vault, its commit, and the indexes.
OF_FILES = {
    each.__code__
    for each in (Folder.append, Folder.overwrite, Folder.rename, Folder.rename_to_free, Folder.exchange, Folder.remove)
}
_WRITES = OF_FILES | {committing.commit.__code__, Index.wrote.__code__, Index.refresh.__code__}

_MORE: dict[str, set[CodeType]] = {
    # What rewrites history is git's doing, one process after the other.
    "purge": {run.together.__code__, run.python.__code__},
    # What was kept elsewhere is moved.
    "adopt": {shutil.move.__code__, shutil.rmtree.__code__, Path.unlink.__code__},  # type: ignore[attr-defined]
}


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


def _settle(vault: Vault, keep: str) -> object:
    """Called again, it takes up what is left: nothing, where a kill left no copy."""
    return [vault.settle_texts(one.key, keep) for one in vault.unsettled().results[:1]]


def _write_settled(vault: Vault, _: Path) -> object:
    return [vault.settle_texts(one.key, text=one.this + "And written anew.\n") for one in vault.unsettled().results[:1]]


def _edit(vault: Vault, beside: Path) -> object:
    straw = json.loads((beside / "ids.json").read_text())["Straw"]
    [was] = [one.content for one in vault.review().results if one.id == straw]
    return edit_waiting(vault, straw, text="Straw is for thatch.", was=was)


def _bury(vault: Vault, beside: Path) -> object:
    return vault.review(accept=[json.loads((beside / "ids.json").read_text())["buried"]])


def _spare(vault: Vault, beside: Path) -> object:
    return vault.review(refuse=[json.loads((beside / "ids.json").read_text())["buried"]])


def _answer(vault: Vault, beside: Path) -> object:
    """An answer to the packet at hand; sent once more after it was taken, it is not written again."""
    packet = json.loads((beside / "ids.json").read_text())["packet"]
    at_hand = vault.consolidate_next().packet
    if at_hand is None or at_hand.id != packet:
        return None
    return vault.consolidate_next(packet=packet, content="Masons lay stones in courses.", summary="They lay courses.")


def _import_from(vault: Vault, beside: Path) -> object:
    """Memories and conversations, two a commit: a kill falls between commits too."""
    import_run.BATCH = 2
    return vault.import_from(beside / "theirs", chats=True)


def _keep_elsewhere(vault: Vault, beside: Path) -> None:
    """A use and a draft, which this machine keeps in another place as long as it does not believe the folder."""
    vault.as_(session="elsewhere").get(json.loads((beside / "ids.json").read_text())["Lime"])
    vault.as_(origin="agent").remember("Sand is for mortar.", title="Sand", ask=True)


VERBS: dict[str, Callable[[Vault, Path], object]] = {
    "merge": _merge,
    "review": _review,
    "settle": lambda vault, _: _settle(vault, "both"),
    "keep this": lambda vault, _: _settle(vault, "this"),
    "keep that": lambda vault, _: _settle(vault, "that"),
    "keep another": _write_settled,
    "edit": _edit,
    "bury": _bury,
    "spare": _spare,
    "adopt": lambda vault, _: vault.adopt_local(),
    "restore": _restore,
    "unmark": _unmark,
    "delete": _delete,
    "undo": lambda vault, _: vault.undo(str(vault.search("undone").results[0].id)),
    "end": lambda vault, _: vault.end_consolidation(core=False),
    "answer": _answer,
    "import": lambda vault, beside: vault.import_markdown(beside / "theirs", attachments=True),
    "import from": _import_from,
    "fix": lambda vault, _: vault.doctor(fix=True),
    "drain": lambda vault, _: vault.drain(link=False),
    "purge": lambda vault, _: vault.purge([str(vault.search("Ottoline geranium").results[0].id)]),
    "forget": lambda vault, _: vault.forget(str(vault.search("Ottoline geranium").results[0].id)),
}


BEFORE: dict[str, Callable[[Vault, Path], None]] = {"adopt": _keep_elsewhere}
"""What goes before a verb and is not killed."""


def copied(verb: str, template: Path, target: Path) -> Path:
    """A copy of the vault to run the verb on: this machine's own, but for what takes over one that is not."""
    return shutil.copytree(template, target, symlinks=True) if verb == "adopt" else own_copy(template, target)


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


def leave_killed(template: Path, beside: Path, verb: str, step: int) -> None:
    """Leave `beside/<n>` as the kill before every `step`-th write left it; the last one ran through."""
    for number in range(1, 1000, step):
        root = beside / str(number)
        copied(verb, template, root)
        child = os.fork()
        if not child:
            with Vault.open(root, person=True, clock=FixedClock(NOW)) as vault:
                vault.fresh()
                if verb in BEFORE:
                    BEFORE[verb](vault, beside)
                kill_before(number, _WRITES | _MORE.get(verb, set()))
                VERBS[verb](vault, beside)
                sys.setprofile(None)
            os._exit(0)
        if os.waitpid(child, 0)[1] != signal.SIGKILL:
            return


def serve() -> None:
    """Leave what each line on stdin asks for, in a fork with its environment: what verbs load is loaded once for all of them.

    Each line on stdout is what the fork printed and its status.
    """
    for module in pkgutil.walk_packages(features.__path__, f"{features.__name__}."):
        import_module(module.name)
    for line in sys.stdin:
        asked = json.loads(line)
        with tempfile.TemporaryFile() as printed:
            child = os.fork()
            if not child:
                for descriptor in (1, 2):
                    os.dup2(printed.fileno(), descriptor)
                os.environ.clear()
                os.environ.update(asked["environ"])
                leave_killed(Path(asked["template"]), Path(asked["beside"]), asked["verb"], asked["step"])
                sys.exit()
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            printed.seek(0)
            answer = json.dumps([printed.read().decode(errors="replace"), status])
        sys.stdout.write(f"{answer}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve()
