"""Which files may be looked at now: one that is being written waits, so that no half of a save becomes the note."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from vault_tool.watch.pending_paths import Touch

# Seconds for which a vanished file may come back: editors move the old text away before they write the new one.
GONE_WAIT = 0.3

# Seconds of silence after which a file that is still open, or that cannot be read as a note, is looked at all the same.
HALF_WAIT = 3.0

# Seconds after which a file is looked at although programs keep writing to it.
LONGEST_WAIT = 15.0


class FirstLook(Enum):
    """The result of a first look at a file."""

    WHOLE = "whole"
    BROKEN = "broken"
    GONE = "gone"


class Settling:
    """The files that were heard of and are not looked at yet."""

    def __init__(self) -> None:
        self._waiting: dict[str, Touch] = {}
        self._since: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, touched: Mapping[str, Touch]) -> None:
        """These were heard of; one that waits already waits from now."""
        self._waiting.update(touched)
        for path, touch in touched.items():
            self._since.setdefault(path, touch.at)

    def paths(self) -> tuple[str, ...]:
        """The paths that wait."""
        return tuple(self._waiting)

    def clear(self) -> None:
        """All files were looked at."""
        self._waiting.clear()
        self._since.clear()

    def ready_at(self, path: str, look: FirstLook) -> float:
        """The moment (monotonic seconds) from which a file may be looked at, if nothing more is heard of it."""
        touch = self._waiting[path]
        wait = HALF_WAIT if touch.writing or look is FirstLook.BROKEN else 0.0
        if look is FirstLook.GONE and not touch.moved:
            wait = GONE_WAIT
        return min(touch.at + wait, self._since[path] + LONGEST_WAIT)

    def take(self, paths: list[str]) -> None:
        """These are looked at now."""
        for path in paths:
            self._waiting.pop(path, None)
            self._since.pop(path, None)
