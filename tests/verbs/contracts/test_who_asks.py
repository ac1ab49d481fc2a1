"""Who asks comes from the caller alone, and a field of a wrong type is one bad answer: the stream goes on."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import VT
from tests.founding import found_at
from vault_tool import Vault
from vault_tool.errors import Exit, Refused, UsageError
from vault_tool.features.contracts.schemas import OPERATIONS, schema
from vault_tool.mcp.answering import answer
from vault_tool.mcp.tools import Caller
from vault_tool.vault.request_faults import InvalidRequest

pytestmark = pytest.mark.without_git

WORD = "zanzibar"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A vault in which Ann and Bob have a memory each."""
    return found_at(tmp_path / "lab", git=False)


@pytest.fixture
def anns(root: Path) -> str:
    """The id of Ann's memory."""
    with Vault.open(root) as vault:
        vault.as_(user="bob").remember("Bob paints the crane.", ["Harbour"], kind="fact")
        return vault.as_(user="ann").remember(f"Ann sails to {WORD}.", ["Harbour"], kind="fact").id


def requests(memory: str) -> dict[str, dict[str, Any]]:
    """A good request of each operation, with every field that a verb may use."""
    who = {"session_id": "s", "model": "m", "user": "ann", "project": "p"}
    aim = {"target": 0.6, "confidence": 0.9, "rationale": "It was seen.", "evidence_refs": ["url:https://example.org"]}
    return {
        "read": {
            "op": "read", "repo_id": "lab", "mode": "ambient", "query": WORD, "include_global": True, "kinds": ["fact"],
            "limit": 5, "expand": {"semantic_hops": 1, "include_problem_links": True, "include_update_links": True},
            "context_problem_id": "", "subject_names": ["Harbour"], "tags": ["t"], "not_tags": ["u"], "mood": "",
            "since": "2020-01-01", "until": "2099-01-01", "include_doubtful": True, **who,
        },
        "write": {
            "op": "write", "repo_id": "lab", "dry_run": True, **who,
            "memory": {
                "text": "The tide is high at noon.", "scope": "repo", "kind": "fact", "confidence": 0.9, "rationale": "Seen.",
                "links": {"problem_id": "", "related_memory_ids": [], "change_targets": []}, "evidence_refs": [], "title": "Tide",
                "subject_names": ["Harbour"], "tags": ["t"], "importance": 0.5, "mood": "curious", "ask": False,
                "failure_mode": "",
            },
        },
        "update": {
            "op": "update", "repo_id": "lab", "memory_id": memory, "mode": "dry_run", **who,
            "updates": {"truth": aim, "utility": {**aim, "context_problem_id": ""}},
        },
        "correct": {"op": "correct", "repo_id": "lab", "id": memory, "why": "It was seen.", "content": "", **who},
        "understand": {
            "op": "understand", "repo_id": "lab", "subjects": ["Harbour"], "content": f"Ann sails {WORD}.",
            "summary": "She sails.", "sources": [], "replaces": "", "kind": "structural", "why": "", **who,
        },
    }  # fmt: skip


def places(value: object, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The place of every field."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield (*place, name)
            yield from places(inner, (*place, name))


WRONG: tuple[Any, ...] = (1, -1.5, True, None, [1], [None], [[]], {}, {"a": [1]}, "", "\x00", [{"a": 1}], 10**400, [["x"]])


def _with(request: Mapping[str, Any], place: tuple[str, ...], value: object) -> dict[str, Any]:
    made = deepcopy(dict(request))
    inner = made
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return made


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_field_of_a_wrong_type_is_one_answer_and_the_stream_goes_on(root: Path, anns: str, operation: str) -> None:
    good = requests(anns)[operation]
    lines = [_with(good, place, value) for place in places(good) for value in WRONG]
    text = "\n".join(map(json.dumps, [*lines, good]))
    done = subprocess.run([*VT, "op", "--vault", str(root)], input=text, capture_output=True, text=True, check=False, timeout=240)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines) + 1, done.stderr
    assert all(isinstance(one["ok"], bool) for one in answers) and done.stderr == ""
    assert answers[-1]["ok"], answers[-1]
    for line, one in zip(lines, answers, strict=False):
        assert one["ok"] or one["errors"], line


def test_every_field_that_is_used_is_in_the_shape(root: Path, anns: str) -> None:
    with Vault.open(root) as vault:
        for operation, request in requests(anns).items():
            answer = vault.op(request)
            assert answer["ok"] and not [said for said in answer["warnings"] if "passed over" in said], answer
            assert {place[0] for place in places(request)} == set(schema(operation)["properties"])


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_request_for_another_user_than_the_callers_is_refused(root: Path, anns: str, operation: str) -> None:
    request = requests(anns)[operation]
    with Vault.open(root, user="bob") as vault:
        answer = vault.op(request)
        assert (answer["ok"], answer["exit_code"], answer["code"]) == (False, Exit.REFUSED, "refused")
        assert WORD not in json.dumps(answer).replace(request.get("query", ""), "")
    with Vault.open(root, user="ann") as vault:
        assert vault.op(request)["ok"]
    done = subprocess.run(
        [*VT, "--user", "bob", "op", "--vault", str(root)], input=json.dumps(request), capture_output=True, text=True, check=False
    )
    assert done.returncode == Exit.REFUSED and WORD not in done.stdout
    odd = "\n".join(json.dumps({**request, "user": user}) for user in ([1], "ann", "bob"))
    done = subprocess.run(
        [*VT, "--user", "bob", "op", "--vault", str(root)], input=odd, capture_output=True, text=True, check=False
    )
    codes = [json.loads(line).get("exit_code", 0) for line in done.stdout.splitlines()]
    assert codes[:2] == [Exit.USAGE, Exit.REFUSED] and len(codes) == 3


def test_no_verb_is_asked_for_another_user_than_the_vault_was_opened_for(root: Path, anns: str) -> None:
    with Vault.open(root, user="bob") as vault:
        for ask in (
            lambda: vault.recall(WORD, user="ann"),
            lambda: vault.search(WORD, user="ann"),
            lambda: vault.turn("s", "ann", "", f"What of {WORD}?"),
            lambda: vault.list_turns(user="ann"),
            lambda: vault.backstop(user="ann"),
            lambda: vault.list_consents(as_user="ann"),
            lambda: vault.as_person().consent(anns, "given", as_user="ann"),
        ):
            with pytest.raises(Refused, match="for bob"):
                ask()
        assert not vault.search(WORD, user="bob").results and not vault.list_turns(user="bob").results
    with Vault.open(root) as vault:
        assert vault.search(WORD, user="ann").results


def test_a_user_that_is_no_text_opens_nothing(root: Path) -> None:
    for wrong in ([1], 1, None, {"a": 1}):
        with pytest.raises(UsageError, match="user must be a text"):
            Vault.open(root, user=wrong)  # type: ignore[arg-type]


ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "recall": {"query": WORD},
    "search_observations": {"query": WORD, "subject_names": ["Harbour"]},
    "get_subjects": {"names": ["Harbour"]},
}


@pytest.mark.parametrize("tool", ARGUMENTS)
def test_an_agents_client_names_no_user(root: Path, anns: str, tool: str) -> None:
    caller = Caller(user="bob")
    with Vault.open(root, origin="agent") as vault:
        with pytest.raises(InvalidRequest, match=r"user.* is no argument"):
            answer(vault, tool, {**ARGUMENTS[tool], "user": "ann"}, caller)
        assert WORD not in json.dumps(answer(vault, "recall", {"query": "who sails?"}, caller))
