"""The one cache: values that were made of a state of something stored, until that state moves."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")


class Derived:
    """Values by name, all of one state; when the state moves they are dropped, or followed by those that know how."""

    def __init__(self) -> None:
        self._state: Hashable = None
        self._values: dict[Hashable, Any] = {}
        self._followed: dict[Hashable, tuple[Hashable, Any]] = {}

    def of(self, state: Hashable, name: Hashable, make: Callable[[], T], follow: Callable[[T, Any], T] | None = None) -> T:
        """The value called `name` at `state`, made by `make` where it is not there.

        With `follow` the value of an earlier state is brought up to date instead: it is called with that value and its state.
        """
        if state != self._state:
            self._state = state
            self._values.clear()
        elif name in self._values:
            value: T = self._values[name]
            return value
        earlier = self._followed.get(name) if follow is not None else None
        value = make() if follow is None or earlier is None else follow(earlier[1], earlier[0])
        if follow is not None:
            self._followed[name] = state, value
        # What made it may have asked at a later state.
        if self._state == state:
            self._values[name] = value
        return value

    def adopt(self, state: Hashable, name: Hashable, value: object) -> None:
        """Keep a value that was just stored as `state`, so that it need not be made of it."""
        self.of(state, name, lambda: value)
        self._values[name] = value
