"""`op`: one request in, one answer out, whatever is sent; and requests as text."""

from __future__ import annotations

import json
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from tests.verbs.looking import head, untouched
from vault_tool import Vault
from vault_tool.errors import Exit
from vault_tool.features.contracts.lines import outcomes
from vault_tool.features.contracts.op import outcome
from vault_tool.files import writer

pytestmark = pytest.mark.without_git

MEMORY = {"text": "Keepalive is off.", "scope": "repo", "kind": "fact", "confidence": 0.8}
WRITE: dict[str, Any] = {"op": "write", "repo_id": "Lab", "memory": MEMORY}
READ: dict[str, Any] = {"op": "read", "repo_id": "Lab", "mode": "targeted", "query": "keepalive"}


@pytest.mark.in_git
def test_the_three_requests_of_a_conversation(vault: Vault) -> None:
    written = vault.op({**WRITE, "session_id": "s9", "model": "m9"})
    assert written["ok"] is True
    assert written["resolved"] == {"scope": "repo", "kind": "fact"}
    assert (written["needs_review"], written["duplicate_of"], written["similar"]) == (False, None, ())
    shown = vault.show(written["memory_id"])
    assert (shown.head["session"], shown.head["model"]) == ("s9", "m9")

    read = vault.op(READ)
    [result] = [one for one in read["results"] if one["memory_id"] == written["memory_id"]]
    assert result.items() >= {
        "scope": "repo", "kind": "fact", "text": "Keepalive is off.", "truth": 0.8, "utility": 0.5, "problem_id": None,
    }.items()  # fmt: skip
    assert result["retrieval_reason"]
    assert "hypotheses" in read["notice"]

    truth = {"target": 0.2, "confidence": 0.5, "rationale": "It is on.", "evidence_refs": ["file:redis.conf"]}
    updated = vault.op(
        {"op": "update", "repo_id": "Lab", "memory_id": written["memory_id"], "mode": "commit", "updates": {"truth": truth}}
    )
    assert updated["ok"] is True
    assert set(updated["truth"]) == {"before", "after", "step", "applied", "reason"}
    assert updated["truth"]["after"] == pytest.approx(0.65)
    json.dumps([written, read, updated])


@pytest.mark.in_git
def test_an_answer_to_nonsense_is_an_answer(vault: Vault, root: Path) -> None:
    with untouched(root):
        answer = vault.op({**WRITE, "memory": {**MEMORY, "kind": "solution"}, "repo_id": "x"})
    assert answer["ok"] is False
    assert answer["op"] == "write"
    assert [error["pointer"] for error in answer["errors"]] == ["/memory/links/problem_id", "/repo_id"]
    assert (answer["code"], answer["exit_code"]) == ("invalid-request", 2)


@pytest.mark.in_git
def test_what_cannot_be_done_has_the_exit_code_of_its_kind(vault: Vault, root: Path) -> None:
    secret = {**MEMORY, "text": "The key is AKIA" + "QYLPMN5HHHFPZZTZ."}
    with untouched(root):
        found = outcome(vault, {**WRITE, "memory": secret})
    assert (found.exit, found.answer["code"], found.answer["exit_code"]) == (Exit.REFUSED, "refused", 6)
    assert "QYLPMN5HHHFPZZTZ" not in json.dumps(found.answer)


@pytest.mark.in_git
def test_what_git_cannot_commit_now_is_saved_and_asks_for_a_person(vault: Vault, root: Path) -> None:
    (root / ".git/MERGE_HEAD").write_text(head(root))
    found = outcome(vault, WRITE)
    assert (found.exit, found.answer["ok"], found.answer["committed"]) == (Exit.ATTENTION, True, False)
    assert "merge" in found.answer["reason"]
    assert (root / found.answer["path"]).is_file()


def test_a_vault_that_somebody_else_writes_to_is_busy(vault: Vault, root: Path) -> None:
    with writer.lock(root, 1, "another"), ThreadPoolExecutor(1) as pool:
        (root / "vault.toml").write_text("lock_wait = 0.05\n")
        found = pool.submit(lambda: outcome(Vault.open(root), WRITE)).result()
    assert (found.exit, found.answer["ok"], found.answer["code"]) == (Exit.BUSY, False, "busy")


def test_unknown_keys_are_named_and_passed_over(vault: Vault) -> None:
    assert "/classification is not known and was passed over" in vault.op({**WRITE, "classification": {}})["warnings"]


def test_a_text_is_one_request_or_one_a_line(vault: Vault) -> None:
    pretty = json.dumps(WRITE, indent=2)
    assert [one.answer["ok"] for one in outcomes(vault, pretty.encode())] == [True]
    lines = f"{json.dumps(WRITE)}\n\n{{nonsense\n{json.dumps(READ)}\n"
    assert [one.answer["ok"] for one in outcomes(vault, lines.encode())] == [True, False, True]
    assert [one.exit for one in outcomes(vault, lines.encode())] == [Exit.DONE, Exit.USAGE, Exit.DONE]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"op": "read", "op": "write"}', "twice"),
        ('{"op": "read", "limit": NaN}', "NaN"),
        ("[" * 100_000, "not JSON"),
        ("[]", "JSON object"),
        ("null", "JSON object"),
    ],
)
def test_what_is_no_request_is_told_so(vault: Vault, text: str, says: str) -> None:
    [found] = outcomes(vault, text.encode())
    assert found.answer["ok"] is False
    assert says in found.answer["errors"][0]["message"]


BAD_LINES = (
    b"{nonsense", b"{", b"[", b"}", b"\xff\xfe", b'{"op": "cut \\ud83d"}', b'"text"', b"[" * 100_000, b'{"a": ' * 5_000, b"NaN",
    b'{"op": "read", "op": "write"}', b" { broken", b'{"op": "read",', b"\xed\xa0\x80", b"9" * 5_000, b"null", b"\x00",
)  # fmt: skip


def test_a_stream_with_bad_lines_anywhere_has_one_answer_a_line(vault: Vault) -> None:
    chance = random.Random(92)
    for _ in range(40):
        lines = [chance.choice(BAD_LINES) if chance.random() < 0.3 else b'{"op": "n%d"}' % number for number in range(50)]
        lines[0] = chance.choice((lines[0], *BAD_LINES))
        data = chance.choice((b"", b"\xef\xbb\xbf")) + chance.choice((b"\n", b"\r\n", b"\n \n")).join(lines)
        answers = list(outcomes(vault, data))
        named = [line[8:-2].decode() if line.startswith(b'{"op": "n') else "" for line in lines]
        assert [(one.answer["op"] or "") if (one.answer["op"] or "").startswith("n") else "" for one in answers] == named
        assert {one.exit for one in answers} == {Exit.USAGE}


def test_a_spoilt_document_over_many_lines_is_one_request(vault: Vault) -> None:
    pretty = json.dumps(WRITE, indent=2)
    for spoilt in (pretty[:-1], pretty.replace('"Lab"', "Lab"), pretty.replace('"kind"', '"text"'), f"\ufeff{pretty[:-9]}"):
        [found] = outcomes(vault, spoilt.encode())
        assert (found.answer["ok"], found.exit) == (False, Exit.USAGE)
    assert [one.answer["ok"] for one in outcomes(vault, f"\ufeff{pretty}\n".encode())] == [True]


def test_marks_of_order_alone_are_blank_lines(vault: Vault) -> None:
    assert [one.answer["op"] for one in outcomes(vault, b'{"op": "a"}\n\n\xef\xbb\xbf')] == ["a"]


def test_a_request_too_long_is_answered_and_its_neighbours_too(vault: Vault) -> None:
    long = b'{"op": "' + b"x" * (10 * 2**20) + b'"}'
    found = [one.answer for one in outcomes(vault, b'{"op": "a"}\n' + long + b'\n{"op": "b"}\n')]
    assert [one["op"] for one in found] == ["a", None, "b"]
    assert "longer than 10 MiB" in found[1]["errors"][0]["message"]


_values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12) | st.just("Lab")
_requests = st.fixed_dictionaries(
    {"op": st.sampled_from(["read", "write", "update"])},
    optional={
        "repo_id": _values,
        "mode": st.sampled_from(["ambient", "targeted", "dry_run", "x"]),
        "query": _values,
        "memory_id": _values,
        "memory": st.dictionaries(st.sampled_from([*MEMORY, "links", "evidence_refs"]), _values),
        "updates": st.dictionaries(st.sampled_from(["truth", "utility"]), _values),
        "dry_run": st.just(True),
    },
)


@settings(
    max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(_requests)
def test_no_request_raises_and_every_refusal_has_a_place(vault: Vault, request_: dict[str, Any]) -> None:
    answer = vault.op(request_)
    if not answer["ok"]:
        assert all(error["message"] and (error["pointer"] == "" or error["pointer"][0] == "/") for error in answer["errors"])
