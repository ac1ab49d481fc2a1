"""Half an emoji, as a cut JSON leaves it, is refused at every door by the name of its field, before a byte is written."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import fails, untouched
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.errors import Exit, UsageError, VaultError
from vault_tool.vault.context import Context

HALF = "cut \ud83d"
SAID = "half a character"
OF_CALLERS = ("str", "Sequence[str]", "Mapping[str, Any]", "Sequence[Mapping[str, Any]]")
WHO = ("session", "model", "user", "project")


def _verbs() -> Iterator[tuple[str, str, str]]:
    """Every parameter of every verb that takes a text, also somewhere inside: verb, parameter, kind."""
    for name in sorted(vars(Vault)):
        verb = getattr(Vault, name)
        if not inspect.isfunction(verb) or name.startswith("_") or isinstance(vars(Vault)[name], staticmethod):
            continue
        for parameter in list(inspect.signature(verb).parameters.values())[1:]:
            kind = str(parameter.annotation).removesuffix(" | None")
            if kind in OF_CALLERS or kind.startswith(("Sequence[", "Mapping[")):
                yield name, parameter.name, kind


def _filler(kind: str, text: str) -> Any:
    if kind == "str":
        return text
    if kind == "Sequence[str]":
        return ["whole", text]
    inner = {"content": "whole", "name": [{"inside": text}]}
    return inner if kind.startswith("Mapping") else [inner]


def _standard(kind: str) -> Any:
    plain = {"str": "x", "int": 1, "float": 0.5, "bool": False, "Path": Path("x")}
    return plain.get(kind.split(" | ")[0], _filler(kind, "x"))


VERBS = list(_verbs())


def test_the_table_is_the_library() -> None:
    assert len(VERBS) > 120
    assert {name for name, _, _ in VERBS} > {"remember", "recall", "turn", "end_session", "add_observations"}


def test_every_text_of_every_verb_is_looked_at(vault: Vault) -> None:
    with untouched(vault.root):
        for name, parameter, kind in VERBS:
            verb = getattr(vault, name)
            given = {
                one.name: _standard(str(one.annotation))
                for one in inspect.signature(verb).parameters.values()
                if one.default is one.empty and one.name != "vault"
            }
            with fails(UsageError, parameter, SAID):
                verb(**{**given, parameter: _filler(kind, HALF)})
    assert vault.doctor().problems == ()


@pytest.mark.parametrize("name", WHO)
def test_who_is_asking_is_text(root: Path, vault: Vault, name: str) -> None:
    with fails(UsageError, f"{name} is not UTF-8", SAID):
        Vault.open(root, **{name: HALF})  # type: ignore[arg-type]
    with fails(UsageError, name, SAID):
        vault.as_(**{name: HALF})


def test_bytes_of_the_environment_are_looked_at(root: Path) -> None:
    done = vt("search", "x", cwd=root, env={**os.environ, "VAULT_SESSION": os.fsdecode(b"\xff\xfe")})
    assert (done.returncode, done.stdout) == (Exit.USAGE, "")
    assert done.stderr.startswith("vt: session is not UTF-8 text")
    assert done.stderr.count("\n") == 1


LINES = {
    "--session": ["remember", "Text.", "--session", "a\udcff"],
    "--user": ["remember", "Text.", "--user", "a\udcff"],
    "--title": ["remember", "Text.", "--title", "a\udcff"],
    "--tag": ["remember", "Text.", "--tag", "good", "--tag", "a\udcff"],
    "CONTENT": ["remember", "a\udcff"],
    "WORDS": ["search", "a\udcff"],
    "ID": ["get", "a\udcff"],
    "--problem": ["mark-useful", "abcdef", "good", "--problem", "a\udcff"],
    "--vault": ["--vault", "a\udcff", "status"],
}


@pytest.mark.parametrize("name", LINES)
def test_arguments_that_are_no_text_are_named(root: Path, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    with untouched(root):
        assert main(LINES[name] if name == "--vault" else ["--vault", str(root), *LINES[name]]) == Exit.USAGE
    said = capfd.readouterr().err
    assert name in said
    assert SAID in said
    assert said.count("\n") == 1


JSON_LINES = {
    "[0].content": ["add-observations", r'[{"content": "\ud83d", "subject_names": ["A"]}]'],
    "[1].name": ["create-subjects", "--from", r'[{"name": "A"}, {"name": "\ud83d"}]'],
    "[0].anchors[0].name": [
        "turn", "said", "--user", "u", "--extract-memory", "--candidates", r'[{"content": "A", "anchors": [{"name": "\ud83d"}]}]'
    ],
    "nested": ["add-observations", "[" * 100_000],
    "twice": ["add-observations", '[{"content": "a", "content": "b"}]'],
}  # fmt: skip


@pytest.mark.parametrize("says", JSON_LINES)
def test_json_on_the_command_line_names_its_place(root: Path, says: str, capfd: pytest.CaptureFixture[str]) -> None:
    with untouched(root):
        assert main(["--vault", str(root), *JSON_LINES[says]]) == Exit.USAGE
    said = capfd.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def _leaves(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [leaf for key, one in inner for leaf in _leaves(one, (*place, key))]
    yield from found or ([place] if isinstance(value, str) else [])


REQUESTS: list[dict[str, Any]] = [
    {"op": "read", "repo_id": "Lab", "mode": "targeted", "query": "x", "kinds": ["fact"], "subject_names": ["A"],
     "session_id": "s", "model": "m", "user": "u", "project": "p"},
    {"op": "write", "repo_id": "Lab", "session_id": "s", "model": "m", "user": "u", "memory": {
        "text": "x", "scope": "repo", "kind": "fact", "confidence": 1, "title": "t", "tags": ["t"], "rationale": "r",
        "evidence_refs": ["test:x"], "links": {"problem_id": "p", "related_memory_ids": ["a"]}, "subject_names": ["A"]}},
    {"op": "update", "repo_id": "Lab", "memory_id": "abcdef", "mode": "commit", "session_id": "s",
     "updates": {"utility": {"target": 1, "confidence": 1, "rationale": "r", "evidence_refs": ["test:x"]}}},
]  # fmt: skip


@pytest.mark.parametrize("request_", REQUESTS, ids=lambda one: one["op"])
def test_every_text_of_a_request_is_looked_at(vault: Vault, request_: dict[str, Any]) -> None:
    leaves = list(_leaves(request_))
    assert len(leaves) > 5
    with untouched(vault.root):
        for leaf in leaves:
            spoilt = json.loads(json.dumps(request_))
            inner = spoilt
            for key in leaf[:-1]:
                inner = inner[key]
            inner[leaf[-1]] = HALF
            answer = vault.op(spoilt)
            [fault] = answer["errors"]
            assert (answer["ok"], answer["exit_code"], fault["pointer"]) == (False, 2, "/" + "/".join(map(str, leaf)))
            assert SAID in fault["message"]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**30, -(10**30)], ids=str)
def test_numbers_that_nothing_can_hold_are_refused_too(vault: Vault, number: float) -> None:
    with untouched(vault.root), fails(UsageError, "importance"):
        vault.remember("Text.", importance=number)
    with fails(UsageError, "budget"):
        vault.recall("text", budget=number)  # type: ignore[arg-type]
    update = {"target": number, "confidence": 1, "rationale": "r"}
    answer = vault.op({"op": "update", "repo_id": "Lab", "memory_id": "a", "mode": "dry_run", "updates": {"utility": update}})
    assert answer["errors"][0]["pointer"] == "/updates/utility/target"


def test_a_value_without_end_is_refused(vault: Vault) -> None:
    endless: list[Any] = []
    endless.append([endless, endless])
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for value in (endless, deep):
        with fails(UsageError, "candidates", "nested too deeply"):
            vault.turn("s", "u", "w", "text", candidates=[{"content": value}])
    assert vault.op({"op": "read", "query": deep})["ok"] is False
    del deep


def test_others_go_on_after_a_refusal(vault: Vault) -> None:
    known = vault.remember("A whole text.", ["Redis"]).id
    for call in (
        lambda: vault.as_(session=HALF).get(known),
        lambda: vault.mark_useful(known, HALF),
        lambda: vault.remember("Text.", tags=[HALF]),
        lambda: vault.bring_to_mind(HALF),
    ):
        with pytest.raises(VaultError):
            call()
    with Context.open(vault.root) as other:
        assert other.fresh().problems == 0
    assert known in [one.id for one in vault.search("whole").results]
    assert vault.get(known).id == known
