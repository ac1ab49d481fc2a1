"""The Bayesian reading of the signals of `fold`: a Beta posterior that shows how certain the heuristic's value is."""

from __future__ import annotations

from collections.abc import Iterable
from math import exp, isfinite, lgamma, log, log1p

from vault_tool.belief.fold import UTILITY_START, counting, target_of, weight_of
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.util.structs import Struct

# How many full judgements the starting value is worth.
PRIOR_STRENGTH = 2.0

_STEPS = 200


class Posterior(Struct):
    """A Beta distribution over a value in 0..1: its mean and the central interval that holds 90 % of it."""

    alpha: float
    beta: float
    mean: float
    low: float
    high: float


def truth_posterior(signals: Iterable[Signal], start: float) -> Posterior:
    """The evidence of the truth signals, from a prior around `start`, the memory's confidence."""
    votes = (s for s in counting(signals) if s.kind is SignalKind.TRUTH and s.evidence)
    return _posterior(votes, start)


def utility_posterior(signals: Iterable[Signal], problem: str | None = None) -> Posterior:
    """The judgements of use, in one problem's context or (None) in all of them."""
    kinds = (SignalKind.USEFUL, SignalKind.QUESTIONABLE, SignalKind.UTILITY)
    votes = (s for s in counting(signals) if s.kind in kinds and problem in (None, s.problem))
    return _posterior(votes, UTILITY_START)


def _posterior(votes: Iterable[Signal], start: float) -> Posterior:
    """Each judgement counts as its weight's share of one trial, split by its target."""
    prior = min(0.99, max(0.01, start))
    alpha, beta = PRIOR_STRENGTH * prior, PRIOR_STRENGTH * (1.0 - prior)
    for signal in votes:
        if isfinite(signal.value):
            weight, target = weight_of(signal), target_of(signal)
            alpha, beta = alpha + weight * target, beta + weight * (1.0 - target)
    return Posterior(alpha, beta, alpha / (alpha + beta), quantile(0.05, alpha, beta), quantile(0.95, alpha, beta))


def quantile(share: float, alpha: float, beta: float) -> float:
    """The value below which `share` of a Beta distribution lies, to nine digits, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if cumulative(middle, alpha, beta) < share else (low, middle)
    return (low + high) / 2


def cumulative(x: float, alpha: float, beta: float) -> float:
    """The regularised incomplete beta function (Numerical Recipes, 3rd ed., section 6.4)."""
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    front = exp(lgamma(alpha + beta) - lgamma(alpha) - lgamma(beta) + alpha * log(x) + beta * log1p(-x))
    if x < (alpha + 1.0) / (alpha + beta + 2.0):
        return front * _fraction(x, alpha, beta) / alpha
    return 1.0 - front * _fraction(1.0 - x, beta, alpha) / beta


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1.0 / (_nonzero(1.0 - (a + b) * x / (a + 1.0)))
    value = d
    for m in range(1, _STEPS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d = 1.0 / _nonzero(1.0 + even * d)
        c = _nonzero(1.0 + even / c)
        value *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1.0 / _nonzero(1.0 + odd * d)
        c = _nonzero(1.0 + odd / c)
        value *= d * c
        if abs(d * c - 1.0) < 1e-12:
            break
    return value


def _nonzero(value: float) -> float:
    return value if abs(value) > 1e-300 else 1e-300
