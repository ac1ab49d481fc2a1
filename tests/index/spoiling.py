"""Ways in which a derived file or folder is spoilt: by a full disk, a failing one, a copy, or somebody's hand."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tests.bounds import CAMPAIGN


def _each(target: Path, change: Callable[[Path], object]) -> None:
    """Do it to the file, or to every file of the folder."""
    for file in [target] if target.is_file() else [file for file in target.rglob("*") if file.is_file()]:
        change(file)


def delete(target: Path) -> None:
    """Take a file or a folder away, as a person does who types it again where a writer's last file came in between."""
    for left in reversed(range(20)):
        try:
            if target.is_dir():
                shutil.rmtree(target)
            else:
                target.unlink()
            return
        except OSError:
            if not left:
                raise
            time.sleep(0.05)


def flip(file: Path) -> None:
    """Flip forty bits by chance, the same ones every time."""
    data = bytearray(file.read_bytes())
    chance = random.Random(3)
    for _ in range(40 if data else 0):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


def _flip_quietly(file: Path) -> None:
    before = file.stat()
    flip(file)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _to_other_kind(target: Path) -> None:
    was_folder = target.is_dir()
    delete(target)
    if was_folder:
        target.write_text("a file")
    else:
        target.mkdir()
        (target / "inside").write_text("x")


WHOLE: dict[str, Callable[[Path], None]] = {"deleted": delete, "of the other kind": _to_other_kind}
"""What can happen to a folder as to a file."""

FAULTS: dict[str, Callable[[Path], None]] = {
    **WHOLE,
    "empty": lambda target: _each(target, lambda file: file.write_bytes(b"")),
    "cut in place": lambda target: _each(target, lambda file: os.truncate(file, file.stat().st_size // 2)),
    "random bytes": lambda target: _each(target, lambda file: file.write_bytes(random.Random(2).randbytes(20_000))),
    "json": lambda target: _each(target, lambda file: file.write_bytes(b"{}")),
    "flipped bits": lambda target: _each(target, flip),
    "flipped bits with the time restored": lambda target: _each(target, _flip_quietly),
}
"""What can happen to a file; a folder has it happen to each file in it."""


def trials(
    targets: Sequence[str], faults: Iterable[str], main: str, fits: Callable[[str, str], bool] = lambda target, fault: True
) -> list[tuple[str, str, bool]]:
    """Targets, faults, and whether a process has them open: every fault with `main`, one with each; all in a campaign."""
    able = {target: [fault for fault in faults if fits(target, fault)] for target in targets}
    if CAMPAIGN:
        return [(target, fault, live) for target in targets for fault in able[target] for live in (False, True)]
    each = [(target, able[target][n % len(able[target])], bool(n % 2)) for n, target in enumerate(targets) if target != main]
    return [*each, *((main, fault, bool(n % 2)) for n, fault in enumerate(able[main]))]
