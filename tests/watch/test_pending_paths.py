from __future__ import annotations

import threading

from vault_tool.watch.pending_paths import Cookie, PendingPaths


def test_a_batch_is_due_after_silence_or_after_the_longest_wait() -> None:
    moments = [100.0]
    inbox = PendingPaths(lambda: moments[-1])
    assert inbox.due(2, 10) == float("inf")
    inbox.touch("a")
    assert inbox.due(2, 10) == 2
    moments.append(101.5)
    inbox.touch("b")
    assert inbox.due(2, 10) == 2
    assert inbox.due(2, 3) == 1.5
    moments.append(104.0)
    assert (inbox.due(2, 10), inbox.due(10, 3)) == (0, 0)
    assert set(inbox.take().touched) == {"a", "b"}
    assert inbox.due(2, 10) == float("inf")


def test_the_first_doubt_is_kept_until_it_is_taken() -> None:
    inbox = PendingPaths()
    inbox.doubt("one")
    inbox.doubt("two")
    assert inbox.take().doubt == "one"
    assert inbox.take().doubt == ""


def test_a_cookie_that_came_back_wakes_and_is_due_at_once() -> None:
    inbox = PendingPaths()
    cookie = Cookie(".cookie.vt-00000000.tmp")
    inbox.expect(cookie)
    assert not inbox.is_cookie("note.md") and not inbox.is_cookie(".other")
    waker = threading.Timer(0.05, inbox.is_cookie, (cookie.name,))
    waker.start()
    inbox.wait(86400)  # were it not woken, this test would meet its limit
    waker.join()
    assert cookie.heard.is_set() and inbox.due(1, 1) == 0.0
    assert inbox.take().cookies == (cookie,)
    assert not inbox.is_cookie(cookie.name)
