"""Gates fall smoothly, utility backs off, and the posterior agrees with known Beta distributions."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.belief.fold import Belief
from vault_tool.belief.gates import disbelieved, doubtful, local_utility, truth_gate, voted_down
from vault_tool.belief.posterior import cumulative, quantile, truth_posterior, utility_posterior
from vault_tool.model.signals import Signal, SignalKind


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_gate_rises_with_truth_within_the_unit_interval(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= truth_gate(low) <= truth_gate(high) + 1e-12 <= 1.0 + 1e-12


def test_doubt_and_withholding() -> None:
    assert [disbelieved(Belief(t)) for t in (0.14, 0.15)] == [True, False]
    assert [doubtful(Belief(t)) for t in (0.39, 0.4)] == [True, False]
    assert voted_down(Belief(0.8, 0.05, against=3))
    assert not voted_down(Belief(0.8, 0.05, against=2))
    assert not voted_down(Belief(0.8, 0.1, against=9))


def test_local_utility_backs_off_to_the_global_one() -> None:
    belief = Belief(0.8, utility=0.6, by_problem={"p": 0.9, "q": 0.1}, votes={"p": 3, "q": 1})
    assert local_utility(belief, {}) == pytest.approx(0.6)
    assert local_utility(belief, {"p": 1.0}) == pytest.approx((0.6 + 2.7) / 4)
    assert local_utility(belief, {"q": 0.5, "else": 1.0}) == pytest.approx((0.6 + 0.05) / 1.5)


@pytest.mark.parametrize("alpha, beta, x", [(1, 1, 0.3), (2, 5, 0.2), (5, 2, 0.9), (10, 30, 0.25), (40, 3, 0.95)])
def test_the_distribution_is_the_binomial_tail(alpha: int, beta: int, x: float) -> None:
    n = alpha + beta - 1
    tail = sum(comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(alpha, n + 1))
    assert cumulative(x, alpha, beta) == pytest.approx(tail, abs=1e-10)
    assert quantile(tail, alpha, beta) == pytest.approx(x, abs=1e-8)


def _signal(number: int, kind: SignalKind, value: float, problem: str = "", evidence: tuple[str, ...] = ("test:x",)) -> Signal:
    at = "2026-11-20T10:00:00+00:00"
    return Signal(id=str(number), at=at, target="m", kind=kind, value=value, confidence=1.0, problem=problem, evidence=evidence)


def test_the_posterior_starts_at_confidence_and_narrows_with_evidence() -> None:
    nothing = truth_posterior([], 0.8)
    assert nothing.mean == pytest.approx(0.8)
    much = truth_posterior([_signal(n, SignalKind.TRUTH, 1.0) for n in range(20)], 0.8)
    assert much.mean > 0.95
    assert much.high - much.low < nothing.high - nothing.low
    assert much.low < much.mean < much.high
    bare = truth_posterior([_signal(n, SignalKind.TRUTH, 0.0, evidence=()) for n in range(9)], 0.8)
    assert bare == nothing


def test_the_posterior_of_utility_may_be_asked_for_one_problem() -> None:
    signals = [
        _signal(1, SignalKind.USEFUL, 1.0, "p"),
        _signal(2, SignalKind.QUESTIONABLE, 1.0, "q"),
        _signal(3, SignalKind.USE, 9.0),
    ]
    assert utility_posterior(signals).mean == pytest.approx(0.5)
    assert utility_posterior(signals, "p").mean > 0.55
    assert utility_posterior(signals, "q").mean < 0.45
