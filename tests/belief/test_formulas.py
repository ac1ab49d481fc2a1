"""What fades, what is believed, how it weighs and what a turn may write, worked out beside the code from what was agreed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import exp, log2
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from vault_tool.belief.decay import entry_decay
from vault_tool.belief.fold import Belief, fold
from vault_tool.belief.gates import truth_gate
from vault_tool.features.turns.gate import Mode, Risk, judged
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass, Registry
from vault_tool.recall.score import ScoreInputs, companion_share, score
from vault_tool.recall.weights import AMBIENT, TARGETED, Weights
from vault_tool.util.clock import stamp

NOW = datetime(2026, 11, 20, tzinfo=UTC)
WEIGHTS = {
    "procedure": 1.4, "decision": 1.3, "insight": 1.25, "solution": 1.2, "code_pattern": 1.1, "configuration": 1.1, "fix": 1.0,
    "workflow": 1.0, "problem": 0.9, "error": 0.8, "general": 0.8,
}  # fmt: skip
_unit = st.floats(0, 1)


def _entry(type_: str, **head: float | str) -> Entry:
    return Entry("vault/a.md", "a", RecordClass.OBSERVATION, type_, "A", {"id": "a", "type": type_, **head})


@given(st.sampled_from(sorted(WEIGHTS)), _unit, st.integers(0, 3_000), st.integers(0, 400))
@settings(max_examples=60)
def test_decay_is_importance_times_forgetting_times_use_times_the_weight_of_the_type(
    type_: str, importance: float, days: int, uses: int
) -> None:
    seen = stamp(NOW - timedelta(days=days))
    belief = Belief(0.8, access_count=uses, last_accessed=seen if uses else None)
    expected = importance * exp(-0.03 * days) * (log2(uses + 1) if uses else 0.5) * WEIGHTS[type_]
    found = entry_decay(_entry(type_, importance=importance, created=seen), belief, Registry().spec(type_), NOW)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


def _believed(value: float, steps: list[tuple[float, float, bool]], *, quarter: bool) -> float:
    """A number moved step by step: half of what confidence leaves of the way, at most .15, nothing for a hundredth."""
    for target, confidence, evidence in steps:
        if abs(target - value) <= 0.01 or not (evidence or quarter):
            continue
        step = (target - value) * confidence * 0.5 * (1.0 if evidence else 0.25)
        value = min(1.0, max(0.0, value + max(-0.15, min(0.15, step))))
    return value


@given(st.lists(st.tuples(_unit, _unit, st.booleans()), max_size=12), _unit)
@settings(max_examples=60)
def test_truth_and_utility_move_by_bounded_steps_each_by_a_session_of_its_own(
    steps: list[tuple[float, float, bool]], start: float
) -> None:
    def signals(kind: SignalKind) -> list[Signal]:
        return [
            Signal(
                id=f"{number:04d}", at=stamp(NOW + timedelta(days=number)), target="m", kind=kind, value=target,
                confidence=confidence, evidence=("test:x",) if evidence else (), session=f"s{number}", model=f"m{number}",
                origin="agent",
            )
            for number, (target, confidence, evidence) in enumerate(steps)
        ]  # fmt: skip

    assert fold(signals(SignalKind.TRUTH), start=start).truth == pytest.approx(_believed(start, steps, quarter=False), abs=1e-9)
    by_problem = [replace(one, problem="p") for one in signals(SignalKind.UTILITY)]
    expected = _believed(0.5, steps, quarter=True)
    assert fold(by_problem, start=start).by_problem.get("p", 0.5) == pytest.approx(expected, abs=1e-9)


@given(_unit)
def test_the_gate_is_a_smooth_step_from_nothing_to_all(truth: float) -> None:
    assert truth_gate(truth) == pytest.approx(3 * truth**2 - 2 * truth**3)
    assert truth_gate(truth) + truth_gate(1 - truth) == pytest.approx(1)
    assert (truth_gate(0), truth_gate(1)) == (0, 1)


@pytest.mark.parametrize("weights", [TARGETED, AMBIENT])
@given(truth=_unit, here=_unit, anywhere=_unit, likeness=st.floats(0.1, 9))
@settings(max_examples=40)
def test_a_score_is_likeness_times_the_gate_of_truth_times_what_usefulness_adds(
    weights: Weights, truth: float, here: float, anywhere: float, likeness: float
) -> None:
    def scored(rank: float, truth: float, local: float, utility: float) -> float:
        belief = Belief(truth=truth, utility=utility)
        worth = ScoreInputs(belief, Registry().spec("fact"), local, truth_gate(truth), 0)
        return score(_entry("fact", created=stamp(NOW)), rank, 0.5, worth, NOW, weights)[0]

    local, general = weights.local_utility, weights.global_utility
    assert local > general > 0, "what helped with problems like this counts more than what helped with others"
    # Beside what is not known of it (likeness 1, certain, of middling use) what this one has is a product of three.
    expected = likeness * truth_gate(truth) * (1 + local * (2 * here - 1) + general * (2 * anywhere - 1))
    assert scored(likeness, truth, here, anywhere) / scored(1.0, 1.0, 0.5, 0.5) == pytest.approx(max(0.0, expected), abs=1e-9)


@pytest.mark.parametrize("mode", get_args(Mode))
@pytest.mark.parametrize("risk", get_args(Risk))
@pytest.mark.parametrize("wanted", [False, True])
def test_what_a_turn_may_write_follows_from_the_five_fields_of_its_judge(mode: str, risk: str, wanted: bool) -> None:
    gate = judged(mode, risk, [], "", wanted)
    assert gate.safetyStatus == ("blocked" if mode == "safe_redirect" or risk == "high" else "clear")
    assert gate.reviewRequired == (risk != "low")
    assert gate.memoryCandidate == (wanted and mode != "safe_redirect")


@given(st.sampled_from([("problem", 0.9), ("solution", 0.85), ("caution", 0.8), ("related", 0.5)]), _unit)
def test_what_a_link_leads_to_keeps_a_share_that_grows_with_its_strength(role: tuple[str, float], strength: float) -> None:
    name, kept = role
    assert companion_share(name, strength) == pytest.approx(min(0.95, kept * (0.5 + strength)))
    assert companion_share(name) == pytest.approx(kept), "a link that does not say is in the middle"
    assert companion_share("update", strength) == 0.95, "what changed a memory comes along however weak the link"
    assert companion_share(name, strength) <= companion_share("update", strength)
