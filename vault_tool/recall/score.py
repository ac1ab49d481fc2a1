"""From how well a memory fits to how much it is worth now: belief, utility, and the prior of its kind, age and use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from math import exp, log2
from typing import NamedTuple, TypeAlias

from vault_tool.belief.fold import Belief
from vault_tool.config import STRONG_MODELS
from vault_tool.model.authority import weights as weights_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import TypeSpec
from vault_tool.recall.weights import Weights
from vault_tool.util.clock import days_between, parse_time

# Days in which recency falls to about a third.
FADES_IN = 90.0

_OFTEN = 5.0
_DEFAULT_CONFIDENCE = 0.8


# A part of the prior: its name, its weight, its value in 0..1, and the value that changes nothing.
_Part: TypeAlias = tuple[str, float, float, float]


class ScoreInputs(NamedTuple):
    """The inputs of a score beside the match: what is believed of it, how useful it was for the like of this question
    (`local`, 0..1), its consolidation cycle against the vault's, whether a recalled understanding covers it, and which
    words tell a strong model by its name.
    """

    belief: Belief
    spec: TypeSpec
    local: float
    gate: float
    generation: int
    covered: bool = False
    strong_models: tuple[str, ...] = STRONG_MODELS


def score(
    entry: Entry, rank: float, context: float, worth: ScoreInputs, now: datetime, weights: Weights, *, explain: bool = False
) -> tuple[float, dict[str, float]]:
    """`rank` times truth, utility and prior, with every factor by name; `context` (0..1) is how like the question it is.

    To `explain` are also what the prior is made of: recency R, frequency F, importance I and context C (0..1), each with its
    weight.
    """
    parts = _parts(entry, context, worth, now, weights)
    prior = max(0.1, 1 + sum(weight * (value - middle) for _, weight, value, middle in parts))
    useful = 1 + 2 * weights.local_utility * (worth.local - 0.5) + 2 * weights.global_utility * (worth.belief.utility - 0.5)
    factors = {
        "truth gate": worth.gate,
        "utility": max(0.0, useful),
        "prior": prior,
        "covered": weights.covered if worth.covered else 1.0,
    }
    total = max(rank, 0.0)
    for factor in factors.values():
        total *= factor
    if explain:
        factors |= {f"prior: {name} x {weight:g}": value for name, weight, value, _ in parts if weight}
    return total, factors


def _parts(entry: Entry, context: float, worth: ScoreInputs, now: datetime, weights: Weights) -> tuple[_Part, ...]:
    """The factors of the prior. It is 1, more for what is important, new, often used or well founded, less for what is not."""
    _, importance = weights_of(entry, worth.spec.importance, worth.belief.reviewed)
    frequency = min(1.0, log2(1 + worth.belief.access_count) / _OFTEN)
    return (
        ("importance (I)", weights.importance, importance, 0.5),
        ("recency (R)", weights.recency, recency(entry, worth.belief, now), 0.5),
        ("frequency (F)", weights.frequency, frequency, 0.0),
        ("context (C)", weights.context, context, 0.5),
        ("new", weights.newness, 1.0 if _is_new(entry, worth.generation) else 0.0, 0.0),
        ("founded", weights.standing, founded(entry, worth.belief, worth.strong_models), 0.5),
    )


def recency(entry: Entry, belief: Belief, now: datetime) -> float:
    """1 for now, falling with the days since it was last used or was so; a half for what says no time."""
    dates = (belief.last_accessed, entry.observed)
    moments = [moment for text in dates if text and (moment := parse_time(text))]
    return exp(-max(0.0, days_between(max(moments), now)) / FADES_IN) if moments else 0.5


def founded(entry: Entry, belief: Belief, strong_models: Sequence[str]) -> float:
    """0..1: confidence, who concluded it, and use: what sinks less with age."""
    confidence = entry.number("confidence")
    strong = _is_strong(entry.text("model"), tuple(strong_models))
    used = min(1.0, log2(1 + belief.access_count) / _OFTEN)
    return 0.5 * (_DEFAULT_CONFIDENCE if confidence is None else confidence) + 0.2 * strong + 0.3 * used


@lru_cache(maxsize=256)
def _is_strong(model: str, words: Sequence[str]) -> bool:
    """Whether a model's name has one of these words, in any case; kept, for few models write all notes of a vault."""
    name = model.casefold()
    return any(word.casefold() in name for word in words) if name else False


def _is_new(entry: Entry, generation: int) -> bool:
    written = entry.generation
    return written is not None and written >= generation


# What a companion keeps of the score of the hit that it came with: a solution stands before a caution.
STAYS: Mapping[str, float] = {"update": 0.95, "problem": 0.9, "solution": 0.85, "caution": 0.8, "related": 0.5}

# How strong a link is taken to be that does not say.
MIDDLING = 0.5


def companion_share(role: str, strength: float = MIDDLING) -> float:
    """The share of a hit's score (0..0.95) that what a link of this `strength` (0..1) leads to keeps.

    A link of strength 1 lends half as much again, one of 0 half as much; what changed a memory comes along however weak
    somebody called the link.
    """
    lends = 1.0 if role == "update" else 1.0 + strength - MIDDLING
    return min(STAYS["update"], STAYS[role] * lends)
