"""The steps of a belief end where its fold ends, and the forecast is what the score then is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.belief.test_fold import _lists, signal
from vault_tool.belief.decay import THRESHOLDS, entry_decay, standing
from vault_tool.belief.fold import fold
from vault_tool.belief.steps import decay_curve, fading, steps
from vault_tool.model.authority import AGENT, OWNER
from vault_tool.model.signals import Signal, SignalKind, Use
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import Registry, TypeSpec
from vault_tool.util.clock import moment

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
FACT = Registry().spec("fact")


def entry(**head: object) -> Entry:
    made = {"id": "m", "type": "fact", "created": "2026-11-01T10:00:00+00:00", **head}
    return Entry("vault/m.md", "m", FACT.record_class, "fact", "m", made)


@given(_lists, st.floats(0, 1), st.booleans())
def test_the_last_step_is_what_the_fold_says(signals: list[Signal], start: float, protected: bool) -> None:
    belief = fold(signals, start=start, writer=OWNER if protected else AGENT)
    made = steps(signals, start=start, writer=OWNER if protected else AGENT)
    assert len(made) == len({one.id for one in signals})
    if made:
        assert (made[-1].truth, made[-1].utility) == (round(belief.truth, 6), round(belief.utility, 6))
    moved = {of: sum(one.moved for one in made if one.of == of) for of in ("truth", "utility")}
    assert min(1.0, start) + moved["truth"] == pytest.approx(belief.truth, abs=1e-4)
    assert 0.5 + moved["utility"] == pytest.approx(belief.utility, abs=1e-4)


def test_a_step_says_who_why_and_what_held_it_back() -> None:
    (one,) = steps([signal(SignalKind.USEFUL, rationale="it named the cause", evidence=(), origin="owner")], start=0.8)
    assert (one.mark, one.by, one.reason, one.of) == (SignalKind.USEFUL, "owner", "it named the cause", "utility")
    assert one.moved == pytest.approx(0.03125)
    assert one.limited == "without evidence a quarter of the step"


def test_a_memory_falls_when_it_is_said_to() -> None:
    note, belief = entry(), fold([], start=0.8, uses=[Use(at="2026-11-19T10:00:00+00:00", target="m")] * 9)
    found = fading(note, belief, FACT, NOW)
    assert [one.standing for one in found] == [standing(least - 1e-6) for least, _ in THRESHOLDS]
    for one, (least, _) in zip(found, THRESHOLDS, strict=True):
        assert entry_decay(note, belief, FACT, moment(one.at)) == pytest.approx(least, rel=1e-4)
    later = fading(note, belief, FACT, NOW, used=True)
    assert all(kept.at > one.at for kept, one in zip(later, found, strict=True))


def test_what_is_pinned_does_not_fade() -> None:
    belief = fold([], start=0.8)
    assert fading(entry(pinned=True), belief, FACT, NOW) == ()
    assert decay_curve(entry(pinned=True), (), (), FACT, NOW) == ()


@given(st.lists(st.integers(1, 19), max_size=6))
def test_the_curve_goes_through_the_present_score(days: list[int]) -> None:
    uses = [Use(at=f"2026-11-{day:02d}T12:00:00+00:00", target="m") for day in days]
    note, belief = entry(), fold([], start=0.8, uses=uses)
    curve = decay_curve(note, (), uses, FACT, NOW)
    assert [one.at for one in curve] == sorted(one.at for one in curve)
    assert curve[0].at == "2026-11-01T10:00:00+00:00"
    present = next(one for one in curve if one.at == "2026-11-20T10:00:00+00:00")
    assert present.score == pytest.approx(entry_decay(note, belief, FACT, NOW), abs=1e-4)
    assert curve[-1].at > present.at
    assert len(curve) < 120


def test_a_time_in_no_order_is_drawn_all_the_same() -> None:
    spec: TypeSpec = FACT
    assert decay_curve(entry(created="2031-01-01T00:00:00+00:00"), (), (), spec, NOW)
    assert decay_curve(entry(created="soon"), (), (), spec, NOW)
