"""How well a memory fits is told as one figure by whatever door it comes: requests, commands, tools, the hook and the page."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.verbs.sessions.test_one_match import TALES
from tests.web.conftest import serving_pages
from vault_tool import Vault
from vault_tool.cli.main import main
from vault_tool.hooks.answers import answer as hook_answer
from vault_tool.mcp.answering import answer as answer_tool
from vault_tool.mcp.tools import Caller
from vault_tool.recall.weights import LEAST

pytestmark = pytest.mark.without_git

TURNS = 4
_RESULT = re.compile(r'id="m-([0-9a-f-]{36})"')
_MATCH = re.compile(r"match ([\d.]+)")

Told = Mapping[str, float]


def _results(found: Any, identity: str = "id", match: str = "match") -> Told:
    return {one[identity]: one[match] for one in found["results"] if one.get(match) is not None}


def _typed(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert main([*words, "--vault", str(root)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def doors(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[str], Told]]:
    monkeypatch.setenv("VAULT_PROVIDER", "none")
    monkeypatch.setenv("VAULT_OWNER", "off")
    with Vault.open(root, origin="agent") as vault:
        for note in TALES["office"]["notes"]:
            vault.remember(note, kind="fact")

    def op(turn: str) -> Told:
        with Vault.open(root) as vault:
            request = {"op": "read", "repo_id": "Lab", "mode": "targeted", "query": turn, "expand": {"semantic_hops": 0}}
            return _results(vault.op(request), "memory_id")

    def tool(name: str, argument: str, identity: str = "id", match: str = "match") -> Callable[[str], Told]:
        def ask(turn: str) -> Told:
            with Vault.open(root, origin="agent") as vault:
                return _results(answer_tool(vault, name, {argument: turn}, Caller()), identity, match)

        return ask

    return {
        "op": op,
        "recall --json": lambda turn: _results(_typed(root, capsys, "recall", turn, "--json", "--no-count")),
        "recall --lean": lambda turn: _results(_typed(root, capsys, "recall", turn, "--lean", "--no-count")),
        "search --json": lambda turn: _results(_typed(root, capsys, "search", turn, "--json")),
        "search --lean": lambda turn: _results(_typed(root, capsys, "search", turn, "--lean")),
        "read --json": lambda turn: _results(_typed(root, capsys, "read", turn, "--json", "--hops", "0"), "memory_id"),
        "bring-to-mind --json": lambda turn: _results(
            _typed(root, capsys, "bring-to-mind", turn, "--json"), match="relevance_score"
        ),
        "tool recall": tool("recall", "query"),
        "tool search": tool("search", "query"),
    }


def _whole(root: Path, turn: str) -> dict[str, float]:
    with Vault.open(root) as vault:
        return {one.id: one.match for one in vault.recall(turn, count=False, limit=100).results}  # type: ignore[union-attr]


def test_a_pair_has_one_figure_at_every_door(root: Path, doors: dict[str, Callable[[str], Told]]) -> None:
    compared = dict.fromkeys(doors, 0)
    for turn, _ in TALES["office"]["turns"][:TURNS]:
        wanted = _whole(root, turn)
        for name, door in doors.items():
            for identity, match in door(turn).items():
                pairs = [one for one in wanted if one.startswith(identity)]
                for one in pairs:
                    assert match in (wanted[one], round(wanted[one], 2)), (name, turn, identity)
                    compared[name] += 1
                assert match >= LEAST, (name, turn)
    assert all(compared.values()), compared


def test_the_page_tells_the_same_figure(root: Path, doors: dict[str, Callable[[str], Told]]) -> None:
    compared = 0
    with serving_pages(root) as page:
        for turn, _ in TALES["office"]["turns"][:TURNS]:
            wanted = _whole(root, turn)
            for result in _RESULT.findall(page.get("/memories", q=turn)):
                match = _MATCH.search(page.get("/memories", q=turn, open=result))
                assert match, result
                assert match[1] == f"{wanted[result]:.2f}"
                compared += 1
    assert compared


def test_the_hook_brings_nothing_that_is_no_match(root: Path, doors: dict[str, Callable[[str], Told]]) -> None:
    brought = 0
    for number, (turn, _) in enumerate(TALES["office"]["turns"][: 3 * TURNS]):
        wanted = _whole(root, turn)
        with Vault.open(root, origin="agent", session=f"s{number}") as vault:
            text = hook_answer(vault, "prompt", turn, "")
            unasked = {one.id: one.relevance_score for one in vault.as_(session=f"t{number}").bring_to_mind(turn).results}
        for name in re.findall(r"^([0-9a-f]{6,}) \(", text, re.MULTILINE):
            [identity] = [one for one in wanted if one.startswith(name)]
            assert unasked[identity] == wanted[identity] >= LEAST
            brought += 1
    assert brought
