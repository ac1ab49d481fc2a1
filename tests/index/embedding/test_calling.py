"""Waiting that ends, whatever the other side does."""

from __future__ import annotations

import threading

import pytest

from tests.bounds import PATIENCE
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.calling import Patience, TimedOut, within


def test_what_is_returned_and_what_is_raised_come_through() -> None:
    assert within(PATIENCE, lambda: 7, "it") == 7
    with pytest.raises(ZeroDivisionError):
        within(PATIENCE, lambda: 1 / 0, "it")


def test_it_ends_in_time() -> None:
    never = threading.Event()
    with pytest.raises(TimedOut, match=r"it did not answer within 0\.1 s"):
        within(0.1, never.wait, "it")
    never.set()


def test_who_waits_is_refused_at_once_for_a_while_and_work_is_not() -> None:
    patience, never = Patience(pause=86400), threading.Event()
    with pytest.raises(TimedOut):
        patience.call(0.05, never.wait, "it", waiting=True)
    with pytest.raises(EmbeddingUnavailable, match="a moment ago"):
        patience.call(PATIENCE, lambda: 1, "it", waiting=True)
    assert patience.call(PATIENCE, lambda: 2, "it", waiting=False) == 2
    never.set()


def test_who_waits_asks_again_when_the_while_is_over() -> None:
    patience, never = Patience(pause=0), threading.Event()
    with pytest.raises(TimedOut):
        patience.call(0.05, never.wait, "it", waiting=True)
    assert patience.call(PATIENCE, lambda: 3, "it", waiting=True) == 3
    never.set()
