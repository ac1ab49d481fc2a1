from __future__ import annotations

from vault_tool.watch.debounce import GONE_WAIT, HALF_WAIT, LONGEST_WAIT, FirstLook, Settling
from vault_tool.watch.pending_paths import Touch


def test_how_long_a_file_waits() -> None:
    settling = Settling()
    settling.add({"a": Touch(100.0), "w": Touch(100.0, writing=True), "m": Touch(100.0, moved=True)})
    assert settling.ready_at("a", FirstLook.WHOLE) == 100.0
    assert settling.ready_at("a", FirstLook.GONE) == 100.0 + GONE_WAIT
    assert settling.ready_at("a", FirstLook.BROKEN) == 100.0 + HALF_WAIT
    assert settling.ready_at("w", FirstLook.WHOLE) == 100.0 + HALF_WAIT
    assert settling.ready_at("m", FirstLook.GONE) == 100.0


def test_news_of_a_file_starts_its_wait_again_but_not_for_ever() -> None:
    settling = Settling()
    for moment in range(100, 130):
        settling.add({"w": Touch(float(moment), writing=True)})
        assert settling.ready_at("w", FirstLook.WHOLE) == min(moment + HALF_WAIT, 100 + LONGEST_WAIT)
    settling.take(["w"])
    assert len(settling) == 0
    settling.add({"w": Touch(200.0, writing=True)})
    assert settling.ready_at("w", FirstLook.WHOLE) == 200 + HALF_WAIT
