"""Paths that were reported as changed and not yet looked at: listening threads fill it, one thread empties it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from msgspec import field

from vault_tool.util.structs import Struct

# The doubt after which even a comparison needs another: folders are listened to again only after it is raised.
OVERFLOW = "the system could not keep all changes for us"


class Touch(Struct):
    """When a file was last heard of (monotonic seconds), and whether a program still has it open after writing to it.

    `moved` says that the system told where it went, so that it need not be waited for.
    """

    at: float
    writing: bool = False
    moved: bool = False


class Cookie(Struct):
    """A file of ours whose coming back proves that all earlier changes were heard of too, and then looked at."""

    name: str
    heard: threading.Event = field(default_factory=threading.Event)
    looked: threading.Event = field(default_factory=threading.Event)


class Batch(Struct):
    """The paths to look at now; `doubt` says why only a look at all files will do."""

    touched: dict[str, Touch]
    doubt: str
    cookies: tuple[Cookie, ...]


class PendingPaths:
    """Paths that changed, doubts, and cookies that came back; `now` is what says when."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._arrived = threading.Condition()
        self._touched: dict[str, Touch] = {}
        self._doubt = ""
        self._since = 0.0
        self._last = 0.0
        self._expected: dict[str, Cookie] = {}
        self._back: list[Cookie] = []

    def touch(self, path: str, *, writing: bool = False, moved: bool = False) -> None:
        """A file changed, or may have."""
        with self._arrived:
            self._mark()
            self._touched[path] = Touch(self._last, writing, moved)

    def doubt(self, reason: str) -> None:
        """Something was not heard, or cannot be told file by file: everything must be compared."""
        with self._arrived:
            self._mark()
            self._doubt = self._doubt or reason

    def expect(self, cookie: Cookie) -> None:
        """A cookie is about to be written."""
        with self._arrived:
            self._expected[cookie.name] = cookie

    def expect_no_more(self, cookie: Cookie) -> None:
        """The wait for a cookie ended."""
        with self._arrived:
            self._expected.pop(cookie.name, None)

    def is_cookie(self, name: str) -> bool:
        """Take note of a file name that may be a cookie come back."""
        if not name.startswith("."):
            return False
        with self._arrived:
            cookie = self._expected.pop(name, None)
            if cookie is None:
                return False
            cookie.heard.set()
            self._back.append(cookie)
            self._arrived.notify_all()
            return True

    def wait(self, seconds: float) -> None:
        """Wait until a cookie is back or, where nothing was heard yet, something is; at most so long."""
        with self._arrived:
            if not self._back:
                self._arrived.wait(seconds)

    def due(self, quiet: float, longest: float) -> float:
        """Seconds until the batch should be looked at: after `quiet` without news, `longest` after the first; inf: nothing."""
        with self._arrived:
            if self._back:
                return 0.0
            if not (self._touched or self._doubt):
                return float("inf")
            return max(0.0, min(self._last + quiet, self._since + longest) - self._now())

    def take(self) -> Batch:
        """Empty it."""
        with self._arrived:
            batch = Batch(self._touched, self._doubt, tuple(self._back))
            self._touched, self._doubt, self._back = {}, "", []
            return batch

    def _mark(self) -> None:
        """Remember the time; only the first news of a batch wakes the one that looks, or a burst would keep it busy."""
        self._last = self._now()
        if not (self._touched or self._doubt):
            self._since = self._last
            self._arrived.notify_all()
