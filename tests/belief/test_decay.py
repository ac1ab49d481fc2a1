"""Decay is the formula of the format, and standing follows its thresholds."""

from __future__ import annotations

from datetime import UTC, datetime
from math import exp, log2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.belief.decay import PINNED, Standing, decay_score, entry_decay, standing
from vault_tool.belief.fold import Belief
from vault_tool.model.records import Head
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass, Registry

NOW = datetime(2026, 11, 20, tzinfo=UTC)


def entry(**head: object) -> Entry:
    values: Head = {"id": "a", "type": "solution", **head}
    return Entry("vault/a.md", "a", RecordClass.OBSERVATION, "solution", "A", values)


def test_the_formula() -> None:
    assert decay_score(0.8, 10, 3, 1.2) == pytest.approx(0.8 * exp(-0.3) * log2(4) * 1.2)
    assert decay_score(0.8, 0, 0, 1.0) == pytest.approx(0.4)
    assert decay_score(0.8, 100, 0, 1.0, pinned=True) == PINNED == 999


@given(st.floats(0, 1), st.floats(0, 5000), st.integers(0, 10**6), st.floats(0, 2))
def test_it_falls_with_time_and_rises_with_use(importance: float, days: float, uses: int, weight: float) -> None:
    now = decay_score(importance, days, uses, weight)
    assert decay_score(importance, days + 1, uses, weight) <= now <= decay_score(importance, days, uses + 1, weight)


@pytest.mark.parametrize(
    "score, found",
    [
        (999.0, "active"),
        (0.5, "active"),
        (0.49, "fading"),
        (0.2, "fading"),
        (0.19, "dormant"),
        (0.05, "dormant"),
        (0.04, "archived"),
    ],
)
def test_standing(score: float, found: str) -> None:
    assert standing(score) is Standing(found)


def test_a_record_counts_from_its_last_access_else_from_its_creation() -> None:
    spec = Registry().spec("solution")
    made = entry(created="2026-11-10T00:00:00+00:00")
    assert entry_decay(made, Belief(0.8), spec, NOW) == pytest.approx(0.7 * exp(-0.3) * 0.5 * 1.2)
    used = Belief(0.8, access_count=1, last_accessed="2026-11-19T00:00:00+00:00")
    assert entry_decay(made, used, spec, NOW) == pytest.approx(0.7 * exp(-0.03) * 1.2)
    assert entry_decay(entry(importance=0.0), used, spec, NOW) == 0.0
    assert entry_decay(entry(pinned=True), Belief(0.8), spec, NOW) == PINNED


def test_a_clock_ahead_and_a_missing_date_do_not_inflate() -> None:
    spec = Registry().spec("solution")
    fresh = pytest.approx(0.7 * 0.5 * 1.2)
    assert entry_decay(entry(created="2031-01-01T00:00:00+00:00"), Belief(0.8), spec, NOW) == fresh
    assert entry_decay(entry(), Belief(0.8), spec, NOW) == fresh
