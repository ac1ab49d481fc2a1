"""The first layer: requests of the wrong shape are told all their faults at once, each by its pointer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from vault_tool.errors import NotFound
from vault_tool.features.contracts.schemas import OPERATIONS, require_shape, schema, schemas
from vault_tool.vault.request_faults import InvalidRequest, pointer

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_UNIT = {"type": "number", "minimum": 0, "maximum": 1}
APPROVED: dict[str, Any] = {
    "read": {
        "required": ["op", "repo_id", "mode", "query"],
        "properties": {
            "op": {"const": "read"},
            "repo_id": {"type": "string"},
            "mode": {"enum": ["ambient", "targeted"]},
            "query": {"type": "string", "minLength": 1},
            "include_global": {"type": "boolean", "default": True},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
            "kinds": {
                "type": "array",
                "items": {"enum": ["problem", "solution", "failed_tactic", "fact", "preference", "change"]},
                "uniqueItems": True,
            },
            "expand": {
                "type": "object",
                "properties": {
                    "semantic_hops": {"type": "integer", "minimum": 0, "maximum": 3, "default": 2},
                    "include_problem_links": {"type": "boolean", "default": True},
                    "include_update_links": {"type": "boolean", "default": True},
                },
            },
        },
    },
    "write": {
        "required": ["op", "repo_id", "memory"],
        "properties": {
            "op": {"const": "write"},
            "repo_id": _TEXT,
            "memory": {
                "type": "object",
                "required": ["text", "scope", "kind", "confidence"],
                "properties": {
                    "text": {"type": "string", "minLength": 1},
                    "scope": {"enum": ["repo", "global"]},
                    "kind": {"enum": ["problem", "solution", "failed_tactic", "fact", "preference", "change"]},
                    "confidence": _UNIT,
                    "rationale": _TEXT,
                    "links": {
                        "type": "object",
                        "properties": {"problem_id": _TEXT, "related_memory_ids": _TEXTS, "change_targets": _TEXTS},
                    },
                    "evidence_refs": _TEXTS,
                },
            },
        },
    },
    "update": {
        "required": ["op", "repo_id", "memory_id", "mode", "updates"],
        "properties": {
            "op": {"const": "update"},
            "repo_id": _TEXT,
            "memory_id": _TEXT,
            "mode": {"enum": ["dry_run", "commit"]},
            "updates": {
                "type": "object",
                "properties": {
                    "truth": {
                        "type": "object",
                        "required": ["target", "confidence", "rationale", "evidence_refs"],
                        "properties": {
                            "target": _UNIT, "confidence": _UNIT, "rationale": _TEXT, "evidence_refs": {**_TEXTS, "minItems": 1},
                        },
                    },
                    "utility": {
                        "type": "object",
                        "required": ["target", "confidence", "rationale"],
                        "properties": {
                            "target": _UNIT, "confidence": _UNIT, "rationale": _TEXT, "context_problem_id": _TEXT,
                            "evidence_refs": _TEXTS,
                        },
                    },
                },
                "anyOf": [{"required": ["truth"]}, {"required": ["utility"]}],
            },
        },
    },
    "correct": {
        "required": ["op", "repo_id", "id", "why"],
        "properties": {"op": {"const": "correct"}, "repo_id": _TEXT, "id": _TEXT, "why": _TEXT, "content": _TEXT},
    },
    "understand": {
        "required": ["op", "repo_id", "subjects", "content", "summary"],
        "properties": {
            "op": {"const": "understand"}, "repo_id": _TEXT, "subjects": {"type": "array"}, "content": _TEXT, "summary": _TEXT,
            "sources": {"type": "array"}, "replaces": _TEXT, "kind": _TEXT, "why": _TEXT,
        },
    },
}  # fmt: skip
WRITE: dict[str, Any] = {
    "op": "write",
    "repo_id": "Lab",
    "memory": {"text": "x", "scope": "repo", "kind": "fact", "confidence": 0.5},
}


def faults(request: object) -> dict[str, str]:
    with pytest.raises(InvalidRequest) as caught:
        require_shape(request)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def lacking(found: Any, approved: Any, place: str = "") -> list[str]:
    """Where a schema says otherwise than the approved one; a property more is none of these places."""
    if not isinstance(approved, dict) or not isinstance(found, dict):
        return [] if found == approved else [place]
    return [at for name, value in approved.items() for at in lacking(found.get(name), value, f"{place}/{name}")]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_published_schemas_are_valid_and_keep_what_was_approved(operation: str) -> None:
    found = schema(operation)
    Draft202012Validator.check_schema(found)
    assert found["$id"] == f"memory.{operation}.request"
    assert lacking(found, APPROVED[operation]) == []
    assert schema(f"memory.{operation}.request") == found == schemas()[f"memory.{operation}.request"]


def test_an_unknown_contract_names_the_known_ones() -> None:
    with pytest.raises(NotFound, match="there is no contract"):
        schema("dispute")


def test_all_faults_come_at_once() -> None:
    memory = {"text": "", "scope": "auto", "kind": "idea", "confidence": 2, "evidence_refs": "x", "links": {"problem_id": 3}}
    assert faults({"op": "write", "memory": memory}) == {
        "/repo_id": "it is missing",
        "/memory/text": "it is empty",
        "/memory/scope": '"auto" is none of the choices',
        "/memory/kind": '"idea" is none of the choices',
        "/memory/confidence": "2 must be at most 1",
        "/memory/evidence_refs": '"x" must be an array',
        "/memory/links/problem_id": "3 must be a string",
    }


def test_an_update_needs_truth_or_utility_and_truth_needs_evidence() -> None:
    base = {"op": "update", "repo_id": "Lab", "memory_id": "a", "mode": "commit"}
    assert faults({**base, "updates": {}}) == {"/updates": "it needs `truth` or `utility`"}
    truth = {"target": -1, "confidence": True, "evidence_refs": []}
    assert faults({**base, "updates": {"truth": truth}}) == {
        "/updates/truth/target": "-1 must be at least 0",
        "/updates/truth/confidence": "true must be a number",
        "/updates/truth/rationale": "it is missing",
        "/updates/truth/evidence_refs": "it is empty",
    }


@pytest.mark.parametrize("request_", [None, 3, "x", [], [WRITE]])
def test_what_is_no_object_is_no_request(request_: object) -> None:
    assert faults(request_) == {"": "a request is a JSON object"}


@pytest.mark.parametrize("op", [None, "dispute", ["read"], {}])
def test_the_operation_must_be_known(op: object) -> None:
    assert list(faults({**WRITE, "op": op})) == ["/op"]


def test_unknown_keys_are_passed_over_and_named() -> None:
    memory = {**WRITE["memory"], "classification": {}, "a/b~c": 1}
    assert require_shape({**WRITE, "memory": memory, "expansion": 1}) == (
        "/memory/classification is not known and was passed over",
        "/memory/a~1b~0c is not known and was passed over",
        "/expansion is not known and was passed over",
    )


def test_pointers_escape_what_rfc_6901_says() -> None:
    assert pointer("a/b", 0, "c~d") == "/a~1b/0/c~0d"
    assert pointer() == ""


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
_keys = st.sampled_from(
    ["op", "repo_id", "memory", "memory_id", "mode", "query", "kinds", "limit", "expand", "updates", "dry_run"]
)


@given(st.sampled_from(OPERATIONS), st.dictionaries(_keys, _json))
def test_no_request_breaks_the_check(op: str, rest: dict[str, Any]) -> None:
    request = {**rest, "op": op}
    valid = Draft202012Validator(schema(op)).is_valid(request)
    try:
        require_shape(request)
    except InvalidRequest as refused:
        assert not valid
        assert all(fault.message for fault in refused.faults)
    else:
        assert valid
