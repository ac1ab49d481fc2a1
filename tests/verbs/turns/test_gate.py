from __future__ import annotations

import itertools
from typing import get_args

import pytest

from vault_tool.errors import UsageError
from vault_tool.features.turns.gate import Mode, Risk, judged

pytestmark = pytest.mark.without_git

TABLE = {
    # mode, risk, extractMemory: safetyStatus, reviewRequired, memoryCandidate, destination
    ("in_world_answer", "low", False): ("clear", False, False, "nowhere"),
    ("in_world_answer", "low", True): ("clear", False, True, "vault"),
    ("in_world_answer", "medium", False): ("clear", True, False, "nowhere"),
    ("in_world_answer", "medium", True): ("clear", True, True, "inbox"),
    ("in_world_answer", "high", False): ("blocked", True, False, "nowhere"),
    ("in_world_answer", "high", True): ("blocked", True, True, "inbox"),
    ("memory_consent", "low", False): ("clear", False, False, "nowhere"),
    ("memory_consent", "low", True): ("clear", False, True, "inbox"),
    ("memory_consent", "medium", False): ("clear", True, False, "nowhere"),
    ("memory_consent", "medium", True): ("clear", True, True, "inbox"),
    ("memory_consent", "high", False): ("blocked", True, False, "nowhere"),
    ("memory_consent", "high", True): ("blocked", True, True, "inbox"),
    ("safe_redirect", "low", False): ("blocked", False, False, "nowhere"),
    ("safe_redirect", "low", True): ("blocked", False, False, "nowhere"),
    ("safe_redirect", "medium", False): ("blocked", True, False, "nowhere"),
    ("safe_redirect", "medium", True): ("blocked", True, False, "nowhere"),
    ("safe_redirect", "high", False): ("blocked", True, False, "nowhere"),
    ("safe_redirect", "high", True): ("blocked", True, False, "nowhere"),
}


def test_the_table_is_whole() -> None:
    assert set(TABLE) == set(itertools.product(get_args(Mode), get_args(Risk), (False, True)))


@pytest.mark.parametrize(("asked", "derived"), TABLE.items(), ids=lambda value: " ".join(map(str, value)))
def test_the_gate_follows_from_the_judges_fields(asked: tuple[str, str, bool], derived: tuple[str, bool, bool, str]) -> None:
    mode, risk, extract = asked
    gate = judged(mode, risk, ["legal_floor:x"], "a note", extract)

    assert (gate.safetyStatus, gate.reviewRequired, gate.memoryCandidate, gate.destination) == derived
    assert gate.memoryCandidate == (gate.destination != "nowhere")
    # A redirected turn is never remembered, whatever its judge asked for: the gate says what counts, and that it overruled.
    assert (gate.mode, gate.risk, gate.extractMemory) == (mode, risk, extract and mode != "safe_redirect")
    assert ("set to false" in gate.reason) == (extract and mode == "safe_redirect")
    assert gate.flags == ("legal_floor:x",) and gate.note == "a note" and gate.reason


def test_by_default_nothing_is_written() -> None:
    assert not judged().memoryCandidate and judged().destination == "nowhere"


@pytest.mark.parametrize(("mode", "risk"), [("answer", "low"), ("in_world_answer", "none"), ("", "low")])
def test_what_is_no_mode_or_risk_is_refused(mode: str, risk: str) -> None:
    with pytest.raises(UsageError):
        judged(mode, risk, extract=True)
