from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import exp, log2
from typing import Any

import pytest

from tests.recall.candidates import entry
from vault_tool.belief.fold import Belief
from vault_tool.belief.gates import truth_gate
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass, Registry
from vault_tool.recall.coverage import SourceCoverage
from vault_tool.recall.score import ScoreInputs, score
from vault_tool.recall.weights import AMBIENT, TARGETED, Weights
from vault_tool.util.clock import stamp

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)


def _scored(one: Entry, belief: Belief, *, weights: Weights = TARGETED, local: float = 0.5, covered: bool = False) -> float:
    worth = ScoreInputs(belief, Registry().spec(one.type), local, truth_gate(belief.truth), 4, covered)
    return score(one, 2.0, 0.8, worth, NOW, weights)[0]


def _fact(**head: Any) -> Entry:
    return entry("one", created=stamp(NOW), **head)


def test_what_is_believed_less_scores_less() -> None:
    assert _scored(_fact(), Belief(truth=0.9)) > _scored(_fact(), Belief(truth=0.5)) > _scored(_fact(), Belief(truth=0.2))


def test_usefulness_in_like_contexts_counts_more_than_elsewhere() -> None:
    here, anywhere = _scored(_fact(), Belief(truth=0.8), local=0.9), _scored(_fact(), Belief(truth=0.8, utility=0.9))
    assert here > anywhere > _scored(_fact(), Belief(truth=0.8))
    assert _scored(_fact(), Belief(truth=0.8, utility=0.1), local=0.1) < _scored(_fact(), Belief(truth=0.8))


def test_what_is_covered_by_an_understanding_falls_behind_it() -> None:
    belief = Belief(truth=0.8)
    assert _scored(_fact(), belief, covered=True) == pytest.approx(TARGETED.covered * _scored(_fact(), belief))


@pytest.mark.parametrize("weights", [TARGETED, AMBIENT])
def test_new_important_and_used_memories_are_lifted(weights: Weights) -> None:
    belief = Belief(truth=0.8)
    plain = _scored(_fact(), belief, weights=weights)
    assert _scored(_fact(importance=0.9), belief, weights=weights) > plain
    assert _scored(_fact(generation=4), belief, weights=weights) > _scored(_fact(generation=3), belief, weights=weights)
    old = entry("old", created=stamp(NOW - timedelta(days=400)))
    assert _scored(old, belief, weights=weights) < plain
    used = Belief(truth=0.8, access_count=9, last_accessed=stamp(NOW))
    assert _scored(old, used, weights=weights) > _scored(old, belief, weights=weights)


def test_what_a_strong_model_concluded_sinks_less() -> None:
    def scored(model: str, *words: str) -> float:
        worth = ScoreInputs(Belief(truth=0.8), Registry().spec("fact"), 0.5, 1.0, 4, strong_models=words)
        return score(_fact(model=model), 2.0, 0.8, worth, NOW, TARGETED)[0]

    assert scored("claude-Opus-4", "opus") == scored("claude-opus-4", "OPUS") > scored("claude-opus-4", "sonnet") == scored("")
    assert _scored(_fact(model="claude-opus-4"), Belief(truth=0.8)) > _scored(_fact(model="small"), Belief(truth=0.8))


def test_asked_for_the_prior_is_gentle() -> None:
    best = _scored(_fact(importance=1.0, confidence=1.0, generation=4), Belief(truth=0.8))
    worst = _scored(entry("old", created="2020-01-01", importance=0.0, confidence=0.1), Belief(truth=0.8))
    assert best < 1.4 * worst


def test_an_understanding_covers_its_sources_and_what_was_written_before_it_on_the_same_subjects() -> None:
    later, earlier = stamp(NOW), stamp(NOW - timedelta(days=1))
    whole = entry("u", RecordClass.UNDERSTANDING, "single_subject", subjects=["Redis"], created=later, sources=["far"])
    older = entry("o", RecordClass.UNDERSTANDING, "single_subject", subjects=["Redis"], created="2020-01-01")
    for covering in (SourceCoverage([whole]), SourceCoverage([whole, older]), SourceCoverage([older, whole])):
        assert covering.has(entry("same", subjects=["redis"], created=earlier))
        assert covering.has(entry("far", subjects=["Garden"], created=later))
        assert not covering.has(entry("newer", subjects=["Redis"], created=stamp(NOW + timedelta(hours=1))))
        assert not covering.has(entry("other", subjects=["Redis", "Garden"], created=earlier))
        assert not covering.has(entry("none", created=earlier))
        assert not covering.has(whole)
    bare = entry("b", RecordClass.UNDERSTANDING, "single_subject", created=later)
    assert not SourceCoverage([bare]).has(entry("none", created=earlier))


@pytest.mark.parametrize("weights", [TARGETED, AMBIENT])
def test_an_explained_prior_is_the_sum_of_its_parts(weights: Weights) -> None:
    one = _fact(importance=0.9, observed=stamp(NOW - timedelta(days=30)), confidence=0.6)
    belief = Belief(truth=0.8, access_count=3)
    worth = ScoreInputs(belief, Registry().spec(one.type), 0.5, truth_gate(0.8), 4)
    factors = score(one, 2.0, 0.8, worth, NOW, weights, explain=True)[1]
    parts = {name.removeprefix("prior: "): value for name, value in factors.items() if name.startswith("prior: ")}
    weighed = {name.partition(" x ")[0]: (float(name.partition(" x ")[2]), value) for name, value in parts.items()}
    assert weighed["recency (R)"][1] == pytest.approx(exp(-30 / 90))
    assert weighed["importance (I)"] == (weights.importance, 0.9)
    if weights is AMBIENT:
        # 0.30 recency, 0.20 frequency, 0.35 importance, 0.15 context, each around the value that changes nothing.
        assert [weighed[name][0] for name in ("recency (R)", "frequency (F)", "importance (I)", "context (C)")] == [
            0.3,
            0.2,
            0.35,
            0.15,
        ]
        assert weighed["frequency (F)"][1] == pytest.approx(log2(4) / 5)
    middle = {"frequency (F)": 0.0, "new": 0.0}
    total = sum(weight * (value - middle.get(name, 0.5)) for name, (weight, value) in weighed.items())
    assert factors["prior"] == pytest.approx(1 + total)
    assert not any(name.startswith("prior: ") for name in score(one, 2.0, 0.8, worth, NOW, weights)[1])


def test_what_was_so_long_ago_is_not_recent_for_being_written_today() -> None:
    belief = Belief(truth=0.8)
    assert _scored(_fact(observed=stamp(NOW - timedelta(days=300))), belief, weights=AMBIENT) < _scored(
        _fact(), belief, weights=AMBIENT
    )
