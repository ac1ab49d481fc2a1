"""Calls to other processes that may hang: an end to waiting, a word while it lasts, and a pause after one that did."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeAlias, TypeVar, cast

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.util.outcome import Outcome, outcome_of

T = TypeVar("T")

LATER = "notes are caught up later"

# Seconds for which a provider that did not answer in time is not asked again for a query.
PAUSE = 30.0

# Seconds after which a person is told that a call still waits, and again each time that it has taken twice as long.
NOTICE = 3.0

# Called with whom a call waits for, for how many seconds it has, and after how many it gives up.
Told: TypeAlias = Callable[[str, float, float], None]

# Set where a person sits before a call that nobody else bounds.
TOLD: ContextVar[Told | None] = ContextVar("who is told of a call that waits", default=None)


@contextmanager
def waiting(who: str, most: float) -> Iterator[Callable[[], None]]:
    """While it is open, whoever is to be told hears that `who` has not answered; call what it gives when it did."""
    listener = TOLD.get()
    if listener is None:
        yield lambda: None
        return
    since, ended = [time.monotonic()], threading.Event()

    def tell() -> None:
        heard, after = since[0], NOTICE
        while not ended.wait(max(0.0, heard + after - time.monotonic())):
            if since[0] != heard:
                heard, after = since[0], NOTICE
            elif after < most:
                listener(who, after, most)
                after *= 2
            else:
                return

    def news() -> None:
        since[0] = time.monotonic()

    thread = threading.Thread(target=tell, daemon=True, name=f"wait for {who}")
    thread.start()
    try:
        yield news
    finally:
        ended.set()
        thread.join()


def within(seconds: float, call: Callable[[], T], who: str) -> T:
    """The result or error of `call`, if it comes within so many seconds in all; else EmbeddingUnavailable.

    Limits of sockets are about the time between two bytes: a server that sends one now and then holds a caller for
    ever. The call goes on in a thread of its own that nobody waits for.
    """
    if seconds <= 0:
        raise TimedOut(f"{who} was not asked: the time to wait is over", LATER)
    outcomes: list[Outcome[T]] = []

    def run() -> None:
        outcomes.append(outcome_of(call))

    thread = threading.Thread(target=run, daemon=True, name=f"call to {who}")
    thread.start()
    with waiting(who, seconds):
        thread.join(seconds)
    if not outcomes:
        raise TimedOut(f"{who} did not answer within {round(seconds, 1):g} s", f"see whether it is busy; {LATER}")
    [outcome] = outcomes
    if outcome.fault is not None:
        raise outcome.fault
    return cast("T", outcome.value)


class TimedOut(EmbeddingUnavailable):
    """The provider took the call and did not finish it in time."""


class Patience:
    """Remembers that a provider hung, so that one who waits for an answer does not wait again each time."""

    def __init__(self, pause: float = PAUSE) -> None:
        self._pause = pause
        self._until = 0.0

    def call(self, seconds: float, call: Callable[[], T], who: str, *, waiting: bool) -> T:
        """`within`, but refused at once when a caller is `waiting` and the provider hung a moment ago."""
        if waiting and time.monotonic() < self._until:
            raise TimedOut(f"{who} did not answer in time a moment ago", f"it is asked again after {self._pause:g} s")
        try:
            return within(seconds, call, who)
        except TimedOut:
            self._until = time.monotonic() + self._pause
            raise
