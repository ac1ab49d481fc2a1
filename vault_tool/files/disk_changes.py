"""Compares the files as they are with the files as they were last read: stat first, content where stat cannot tell."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.files.reader import Listing, Scan, Stat
from vault_tool.util.structs import Struct

# Stands for the stat of a file whose content must be compared again, whatever its stat says.
DOUBT: Stat = (-1, -1, -1, -1)

_TICK = 20_000_000
_SECOND = 1_000_000_000


class Changes(Struct):
    """`suspects` are new to us or look different; only their content says whether they are. `gone` are not there now."""

    suspects: Mapping[str, Stat]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.suspects) or bool(self.gone)


def compare(known: Mapping[str, Listing], scan: Scan) -> Changes:
    """Compare the last known listings with a walk; both in order of paths."""
    suspects: dict[str, Stat] = {}
    gone: list[str] = []
    for folder, now in scan.folders.items():
        before = known.get(folder)
        # Of a folder that was not looked into the very listing that is known comes back.
        if before is now or before == now:
            continue
        before = before or {}
        suspects.update((f"{folder}/{name}", stat) for name, stat in now.items() if before.get(name) != stat)
        gone.extend(f"{folder}/{name}" for name in before if name not in now)
    for folder, before in known.items():
        if folder not in scan.folders:
            gone.extend(f"{folder}/{name}" for name in before)
    return Changes(dict(sorted(suspects.items())), tuple(sorted(gone)))


def trusted_stat(stat: Stat, started_ns: int) -> Stat:
    """The stat to remember of a file read after `started_ns`, or DOUBT when a later edit could leave its stat equal.

    A file changed within the clock's tick of our reading may change once more without its times telling (git calls
    this racy); file systems that keep whole seconds need two of them.
    """
    _, mtime, ctime, _ = stat
    grain = 2 * _SECOND if mtime % _SECOND == 0 and ctime % _SECOND == 0 else _TICK
    return DOUBT if max(mtime, ctime) >= started_ns - grain else stat


def is_bulk_loss(gone: int, notes: int) -> bool:
    """Whether so many of the notes vanished that a person must say that it was meant: an unmounted disk looks the same.

    More than a fifth and more than fifty of them, or all of five or more.
    """
    return (gone > 50 and gone * 5 > notes) or (gone >= notes >= 5)
