"""A story of twenty beats that turns wrote, and later turns whose answer lies in one of them."""

from __future__ import annotations

import os
import tomllib
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

MODELS = os.environ.get("VAULT_TEST_MODELS", "")
STORIES = tomllib.loads((Path(__file__).parents[1] / "sessions" / "notes_and_turns.toml").read_text(encoding="utf-8"))
OTHERS = [
    f"{who} {did} {what} {where}."
    for who, did, what, where in product(
        ("A miller", "The postman", "Some child", "Her aunt", "A sailor"), ("met", "painted", "forgot", "drew", "praised"),
        ("a kite", "the gate", "a snail", "two geese"), ("in the garden", "by the pond"),
    )
]  # fmt: skip


def _told(vault: Vault, clock: FixedClock, beats: list[str]) -> None:
    for number, beat in enumerate(beats):
        clock.advance(timedelta(minutes=7))
        vault.turn("s1", "u1", "w", "Said.", extractMemory=True, candidates=[{"content": beat}], turn=str(number), write="later")
    vault.drain()
    clock.advance(timedelta(days=3))


def _right(vault: Vault, name: str) -> int:
    """Of 22 later turns those whose beat is recalled."""
    count = 0
    for turn, number in STORIES[name]["turns"]:
        beats = vault.turn("s9", "u1", "w", turn).recalled
        assert [beat.why for beat in beats[:2]] == ["recent"] * 2
        assert all(beat.match is not None and 0 < beat.match <= 1 for beat in beats if beat.why == "similar")
        count += STORIES[name]["notes"][number - 1] in [beat.content for beat in beats]
    return count


@pytest.mark.parametrize("name", ["tale", "village", "workshop"])
def test_a_turn_recalls_the_beat_that_answers_it(vault: Vault, clock: FixedClock, name: str) -> None:
    _told(vault, clock, STORIES[name]["notes"])
    assert _right(vault, name) >= 19


@pytest.mark.parametrize("name", ["tale", "workshop"])
def test_it_does_so_among_many_others(vault: Vault, clock: FixedClock, name: str) -> None:
    _told(vault, clock, [*STORIES[name]["notes"], *OTHERS])
    assert _right(vault, name) >= 16


@pytest.mark.skipif(not MODELS, reason="VAULT_TEST_MODELS names no folder with the local model")
def test_it_does_so_with_the_model(root: Path, clock: FixedClock) -> None:
    environ = {"VAULT_PROVIDER": "local", "VAULT_MODELS": MODELS, "HOME": str(root.parent)}
    with Vault.open(root, clock=clock, environ=environ) as vault:
        _told(vault, clock, STORIES["tale"]["notes"])
        assert vault.embedding.vectors.catch_up().behind == 0
        assert _right(vault, "tale") >= 19


def test_an_answer_of_one_is_what_fits_and_the_latest_have_their_match_too(vault: Vault, clock: FixedClock) -> None:
    _told(vault, clock, STORIES["tale"]["notes"])
    [one] = vault.turn("s9", "u1", "w", "Where is my mitten?", limit=1).recalled
    assert (one.content, one.why) == (STORIES["tale"]["notes"][0], "similar")
    latest = vault.turn("s9", "u1", "w", "How many stars are there?").recalled[0]
    assert (latest.content, latest.why) == (STORIES["tale"]["notes"][-1], "recent")
    assert latest.match is not None and latest.match > 0.5
