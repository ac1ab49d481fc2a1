"""Work that a killed process left half done: whatever begins such work registers here how it is finished."""

from __future__ import annotations

TYPE_CHECKING = False  # a cold command loads this module, and `typing` is not needed for it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# By the kind of work; each is called with the open vault.
_finishers: dict[str, Callable[[Any], None]] = {}


def register(work: str, finish: Callable[[Any], None]) -> None:
    """Have `finish` called with the vault where `work` was begun and not ended; it takes an earlier one's place."""
    _finishers[work] = finish


def finishers() -> Iterable[Callable[[Any], None]]:
    """What finishes each kind of work, in the order of their registration."""
    return tuple(_finishers.values())
