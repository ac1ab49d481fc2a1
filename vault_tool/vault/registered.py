"""Registrations of features with every open vault: finishers of their work, writes that come first, and stores."""

from __future__ import annotations

TYPE_CHECKING = False  # a cold command loads this module, and `typing` is not needed for it
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

# By the kind of work, and by the name of the store; each is called with the open vault.
_finishers: dict[str, Callable[[Any], None]] = {}
_first: dict[str, Callable[[Any], None]] = {}
_stores: dict[str, Callable[[Any], Any]] = {}


def finish_by(work: str, finish: Callable[[Any], None]) -> None:
    """Have `finish` called with the vault where `work` was begun and not ended; it takes an earlier one's place."""
    _finishers[work] = finish


def finishers() -> Iterable[Callable[[Any], None]]:
    """The finishers of each kind of work that a killed process left half done, in the order of their registration."""
    return tuple(_finishers.values())


def write_first(work: str, write: Callable[[Any], None]) -> None:
    """Have `write` called with the vault, under its write lock, before anything is appended; it takes an earlier one's place."""
    _first[work] = write


def written_first() -> Iterable[Callable[[Any], None]]:
    """The functions to call before anything is appended, in the order of their registration."""
    return tuple(_first.values())


def add_store(name: str, make: Callable[[Any], Any]) -> Callable[[], None]:
    """Have one more store, made for each vault that is asked; gives what takes it out again."""
    _stores[name] = make
    return lambda: _stores.pop(name, None) and None


def added_stores() -> tuple[Callable[[Any], Any], ...]:
    """The makers of the added stores."""
    return tuple(_stores.values())
