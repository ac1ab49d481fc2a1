"""Runs each kind of write against the n-th failing system call, n = 1, 2, ... until nothing fails; prints JSON lines.

Runs with `faults.c` preloaded, which it arms around the one write that is on trial.
"""

from __future__ import annotations

import ctypes
import errno
import json
import sys
from collections.abc import Callable
from pathlib import Path

from vault_tool.errors import VaultError
from vault_tool.files import writer
from vault_tool.files.journals import append_episode, append_signals
from vault_tool.files.local import LocalFolder, PendingOperation
from vault_tool.model.signals import EpisodeEntry, Signal, SignalKind

CALLS = {"write": 1, "fsync": 2, "rename": 3}
AT = "2026-11-20T10:00:00+00:00"
OLD = b"old text\n" * 50
NEW = b"new text\n" * 80
NOTE = "vault/notes/x.md"

shim = ctypes.CDLL(None)


def disarm() -> bool:
    fired = bool(shim.fault_fired())
    shim.fault_arm(b"", 0, 0, 0, ctypes.c_size_t(0))
    return fired


def episode(root: Path, title: str) -> object:
    return append_episode(root, LocalFolder(root), EpisodeEntry(at=AT, title=title))


def signal(root: Path, name: str) -> object:
    return append_signals(root, LocalFolder(root), [Signal(id=name, at=AT, target="t", kind=SignalKind.USE)])


Act = Callable[[Path], object]
ACTS: dict[str, tuple[Act, Act]] = {
    "create": (lambda root: writer.create(root, "vault/y.md", OLD), lambda root: writer.create(root, NOTE, NEW)),
    "edit": (lambda root: writer.create(root, NOTE, OLD), lambda root: writer.edit(root, NOTE, lambda old: NEW)),
    "remove": (lambda root: writer.create(root, NOTE, OLD), lambda root: writer.remove(root, NOTE, OLD)),
    "episode": (lambda root: episode(root, "first"), lambda root: episode(root, "second")),
    "signal": (lambda root: signal(root, "first"), lambda root: signal(root, "second")),
    "new journal": (lambda root: writer.create(root, NOTE, OLD), lambda root: signal(root, "second")),
    "operation": (
        lambda root: LocalFolder(root).begin(PendingOperation("op-1", "x", "first")),
        lambda root: LocalFolder(root).begin(PendingOperation("op-1", "x", "second")),
    ),
}


def state(root: Path) -> dict[str, str]:
    """The files of the vault and the operations begun; temporary names are shown as they are."""
    files = {p.relative_to(root).as_posix(): p.read_text() for p in (root / "vault").rglob("*") if p.is_file()}
    tokens = {path: path.replace(LocalFolder(root).token(), "WRITER") for path in files}
    return {tokens[path]: text for path, text in files.items()} | {one.id: one.title for one in LocalFolder(root).pending()}


def trial(root: Path, name: str, call: str, nth: int, error: int, most: int = 0) -> bool:
    """One act with one fault; reports what was said and what is there. False once the fault no longer happens."""
    root.mkdir()
    prepare, act = ACTS[name]
    prepare(root)
    LocalFolder(root).token()
    before = state(root)
    failure = None
    shim.fault_arm(str(root).encode(), CALLS.get(call, 0), nth, error, ctypes.c_size_t(most))
    try:
        act(root)
    except VaultError as fault:
        failure = [type(fault).__name__, str(fault)]
    fired = disarm()
    report = {
        "act": name, "call": call, "nth": nth, "errno": errno.errorcode.get(error, ""), "fired": fired,
        "failure": failure, "before": before, "after": state(root),
    }  # fmt: skip
    writer.create(root, "vault/afterwards.md", b"")
    report["swept"] = [path for path in state(root) if path.endswith(".tmp")]
    sys.stdout.write(f"{json.dumps(report)}\n")
    return fired


def main(base: Path) -> None:
    # The lock library and ctypes are loaded before any fault, so that only our own calls are counted.
    count = 0
    for name in ACTS:
        for most in (1, 7):
            count += 1
            trial(base / str(count), name, "", 0, 0, most)
        for call in CALLS:
            for error in (errno.EIO, errno.ENOSPC):
                nth = 0
                fired = True
                while fired and nth < 100:
                    nth += 1
                    count += 1
                    fired = trial(base / str(count), name, call, nth, error)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
