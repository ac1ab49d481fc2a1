"""Calls to other processes that may hang: an end to waiting, and a pause after one that did."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from vault_tool.errors import EmbeddingUnavailable

T = TypeVar("T")

LATER = "notes are caught up later"

# Seconds for which a provider that did not answer in time is not asked again for a query.
PAUSE = 30.0


def within(seconds: float, call: Callable[[], T], who: str) -> T:
    """What `call` returns or raises, if it does within so many seconds in all; else EmbeddingUnavailable.

    Limits of sockets are about the time between two bytes: a server that sends one now and then holds a caller for
    ever. The call goes on in a thread of its own that nobody waits for.
    """
    if seconds <= 0:
        raise TimedOut(f"{who} was not asked: the time to wait is over", LATER)
    outcome: list[T] = []
    fault: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(call())
        except BaseException as raised:  # noqa: BLE001  (raised again by the caller's thread)
            fault.append(raised)

    thread = threading.Thread(target=run, daemon=True, name=f"call to {who}")
    thread.start()
    thread.join(seconds)
    if fault:
        raise fault[0]
    if not outcome:
        raise TimedOut(f"{who} did not answer within {round(seconds, 1):g} s", f"see whether it is busy; {LATER}")
    return outcome[0]


class TimedOut(EmbeddingUnavailable):
    """The provider took the call and did not finish it in time."""


class Patience:
    """Remembers that a provider hung, so that one who waits for an answer does not wait again each time."""

    def __init__(self, pause: float = PAUSE) -> None:
        self._pause = pause
        self._until = 0.0

    def call(self, seconds: float, call: Callable[[], T], who: str, *, waiting: bool) -> T:
        """`within`, but refused at once when somebody is `waiting` and the provider hung a moment ago."""
        if waiting and time.monotonic() < self._until:
            raise TimedOut(f"{who} did not answer in time a moment ago", f"it is asked again after {self._pause:g} s")
        try:
            return within(seconds, call, who)
        except TimedOut:
            self._until = time.monotonic() + self._pause
            raise
