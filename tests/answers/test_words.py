"""The words of all answers that are kept: one name for a fact, and one fact for a name."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.answers.test_answers import ASKED, KEPT
from vault_tool.model.types import RecordClass, Registry

CLASSES = {"observation", "understanding", "subject", "edge", "page"}
FIRST_SHAPES = (
    "orient", "bring_to_mind", "recall", "remember", "add_observations", "open_around", "open_intersection",
    "get_consolidation_report", "read", "write", "update", "op",
)  # fmt: skip
"""The verbs that answer in the shapes that they were first asked for, whose names they keep."""

OLD = {
    "kind", "subject_names", "observed_at", "created_at", "updated_at", "session_id", "model_tier", "relevance_score", "date",
    "record_class",
}  # fmt: skip
"""Names for what has another name everywhere else."""


def _answers() -> Iterator[tuple[str, str, Any]]:
    for path in sorted(KEPT.rglob("*.json")):
        yield ASKED[path.stem][0], path.parent.name, json.loads(path.read_text(encoding="utf-8"))


def _pairs(value: Any, place: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every name of an answer with where it stands and what it says; what a note's own head holds is the note's."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield place, name, one
            if name not in ("head", "factors"):
                yield from _pairs(one, f"{place}.{name}")
    for one in value if isinstance(value, list) else ():
        yield from _pairs(one, f"{place}[]")


def test_a_name_of_the_first_shapes_stands_in_them_alone() -> None:
    wrong = {
        (verb, place, name)
        for verb, _, answer in _answers()
        for place, name, _ in _pairs(answer)
        if name in OLD and verb not in FIRST_SHAPES
    }
    assert not wrong


@pytest.mark.parametrize("verb", ["recall", "search", "list", "show", "get", "snapshot", "get_session_context"])
def test_a_memory_has_its_class_its_type_its_subjects_and_its_times(verb: str) -> None:
    answer = json.loads((KEPT / "library" / f"{verb}.json").read_text(encoding="utf-8"))
    memories = answer.get("results") or answer.get("memories") or answer.get("written") or [answer]
    assert all({"class", "type", "title", "subjects", "observed", "created", "confidence"} <= set(one) for one in memories)
    assert not any(OLD & set(one) for one in memories)


def test_a_class_is_one_of_five_and_a_type_is_none_of_a_memorys() -> None:
    classes, types = set(), set()
    for verb, _, answer in _answers():
        for place, name, said in _pairs(answer):
            if name == "class":
                classes.add(said)
            elif name == "type" or (name == "kind" and "questionable_items" not in place):
                types.add(said)
            elif name == "source" and verb in ("recall", "bring_to_mind"):
                classes.add(said)
    assert classes <= CLASSES and {"observation", "understanding", "subject", "edge", "page"} <= classes
    assert not types & {"observation", "understanding", "edge"}


def test_confidence_is_its_writers_and_truth_is_folded() -> None:
    answer = json.loads((KEPT / "library" / "recall.json").read_text(encoding="utf-8"))
    best = next(one for one in answer["results"] if one["id"] == answer["best_answer"]["id"])
    assert answer["best_answer"]["confidence"] == best["confidence"] != best["truth"]
    assert answer["best_answer"]["kind"] == best["type"] and answer["best_answer"]["source"] == best["class"]


def test_every_type_of_the_registry_has_one_of_these_classes() -> None:
    hidden = {RecordClass.CONSOLIDATION, RecordClass.WORKSPACE}
    assert {one.record_class.value for one in Registry().specs.values() if one.record_class not in hidden} <= CLASSES


def test_the_schemas_of_tools_use_the_same_words() -> None:
    tools = json.loads((Path(__file__).parents[2] / "vault_tool/mcp/tools.json").read_text(encoding="utf-8"))
    wrong = {
        (tool["name"], name)
        for tool in tools["full"]
        if tool["name"] not in FIRST_SHAPES
        for _, name, said in _pairs(tool["outputSchema"])
        if name in OLD
    }
    assert not wrong
