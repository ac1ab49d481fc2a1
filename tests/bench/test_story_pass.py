"""A pass over a story of forty memories keeps to its calls and tokens, and every verb tells one count after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.__main__ import main
from bench.page_needs import Story
from bench.story_pass import PassCost, add_ten, counts, is_kept, is_kept_later, walked, write_story

pytestmark = pytest.mark.without_git


def test_a_pass_over_forty_keeps_to_its_bounds_and_one_after_ten_more_to_half_of_them(tmp_path: Path) -> None:
    with write_story(tmp_path / "vault", Story.read()) as vault:
        first = walked(vault)
        assert is_kept(first), first
        assert len({*counts(vault).values()}) == 1
        add_ten(vault)
        assert len({*counts(vault).values()}) == 1
        second = walked(vault)
        assert is_kept_later(second), second
        assert second.calls < first.calls and second.packet_tokens <= first.packet_tokens
        (waiting,) = {*counts(vault).values()}
        assert waiting[1], "what repeats other packets is left"
        third = walked(vault)
        assert third.packets == waiting[1] + 1, "the next pass takes it up, and the orientation"
        assert {*counts(vault).values()} == {(0, 0)}


@pytest.mark.parametrize(
    "cost", [PassCost(9, 900, 800, 5, 30, 30), PassCost(7, 1501, 800, 5, 30, 30), PassCost(7, 900, 800, 5, 30, 20)]
)
def test_a_pass_that_takes_more_or_settles_less_is_told(cost: PassCost) -> None:
    assert not is_kept(cost) and is_kept(PassCost(8, 1500, 900, 6, 10, 7))


@pytest.mark.parametrize(
    "cost", [PassCost(8, 700, 500, 5, 25, 25), PassCost(6, 751, 500, 5, 25, 25), PassCost(6, 700, 500, 5, 25, 17)]
)
def test_a_later_pass_that_takes_more_or_settles_less_is_told(cost: PassCost) -> None:
    assert not is_kept_later(cost) and is_kept_later(PassCost(7, 750, 500, 5, 10, 7))


def test_the_command_tells_both_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["consolidation", "--story"]) == 0
    told = capsys.readouterr().out
    assert "a story of forty" in told and "ten more" in told and "status (0, 0)" in told
