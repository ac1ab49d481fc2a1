"""Work beside: done once, its failures told to who asks, and done at once where no thread can be had."""

from __future__ import annotations

import threading

import pytest

from tests.bounds import PATIENCE
from vault_tool.util.background import Future


def test_work_goes_on_beside_and_its_result_is_kept() -> None:
    go, calls = threading.Event(), []

    def work() -> str:
        assert go.wait(PATIENCE)
        calls.append(threading.current_thread())
        return "done"

    beside = Future(work)
    go.set()
    assert beside.result() == beside.result() == "done"
    assert len(calls) == 1
    assert calls[0] is not threading.current_thread()


def test_what_goes_wrong_beside_is_raised_to_who_asks() -> None:
    def work() -> str:
        raise OSError("the disk is gone")

    beside = Future(work)
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            beside.result()


def test_where_no_thread_can_be_had_it_is_done_when_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert Future(lambda: 7).result() == 7
