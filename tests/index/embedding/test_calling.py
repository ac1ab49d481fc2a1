"""Waiting that ends, whatever the other side does."""

from __future__ import annotations

import threading
import time

import pytest

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.calling import Patience, TimedOut, within


def test_what_is_returned_and_what_is_raised_come_through() -> None:
    assert within(5, lambda: 7, "it") == 7
    with pytest.raises(ZeroDivisionError):
        within(5, lambda: 1 / 0, "it")


def test_it_ends_in_time() -> None:
    never = threading.Event()
    begun = time.monotonic()
    with pytest.raises(TimedOut, match=r"it did not answer within 0\.1 s"):
        within(0.1, never.wait, "it")
    assert time.monotonic() - begun < 2
    never.set()


def test_who_waits_is_refused_at_once_for_a_while_and_work_is_not() -> None:
    patience, never = Patience(pause=0.5), threading.Event()
    with pytest.raises(TimedOut):
        patience.call(0.05, never.wait, "it", waiting=True)
    with pytest.raises(EmbeddingUnavailable, match="a moment ago"):
        patience.call(5, lambda: 1, "it", waiting=True)
    assert patience.call(5, lambda: 2, "it", waiting=False) == 2
    time.sleep(0.5)
    assert patience.call(5, lambda: 3, "it", waiting=True) == 3
    never.set()
