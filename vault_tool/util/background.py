"""Work that another thread does while this one goes on."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Generic, TypeVar

T = TypeVar("T")


class Future(Generic[T]):
    """A call that was begun in a thread of its own: worth it where most of it is done without the interpreter's lock."""

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._found: list[T] = []
        # A thread each time and no pool: after a fork a pool has none left, and who waits for it waits for ever.
        self._thread: Thread | None = Thread(target=self._run, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no thread can be had: it is done when it is asked for
            self._thread = None

    def result(self) -> T:
        """The result of the call; raises what the call raises."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if not self._found:
            self._run_here()
        return self._found[0]

    def _run(self) -> None:
        with suppress(Exception):  # whoever asks for the result is told, by trying once more
            self._run_here()

    def _run_here(self) -> None:
        self._found.append(self._work())
