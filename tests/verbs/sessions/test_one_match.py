"""How well a memory fits a question is one figure at every door, and below the least nothing is sent."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from vault_tool import Vault
from vault_tool.recall.weights import LEAST

pytestmark = pytest.mark.without_git

MODELS = os.environ.get("VAULT_TEST_MODELS", "")
TALES: dict[str, Any] = tomllib.loads(Path(__file__).with_name("notes_and_turns.toml").read_text(encoding="utf-8"))
PROVIDERS = [
    "none", pytest.param("local", marks=pytest.mark.skipif(not MODELS, reason="VAULT_TEST_MODELS names no folder with the model"))
]  # fmt: skip

Matches = Mapping[str, float | None]


def _of(results: Any) -> Matches:
    return {one.id: one.match for one in results}


DOORS: dict[str, Callable[[Vault, str], Matches]] = {
    "recall": lambda vault, turn: _of(vault.recall(turn, count=False).results),  # type: ignore[union-attr]
    "search": lambda vault, turn: _of(one for one in vault.search(turn).results if one.match is not None),
    "read": lambda vault, turn: {one.memory_id: one.match for one in vault.read(turn, semantic_hops=0).results},
    "read, ambient": lambda vault, turn: {one.memory_id: one.match for one in vault.read(turn, mode="ambient").results},
    "bring to mind": lambda vault, turn: {one.id: one.relevance_score for one in vault.bring_to_mind(turn).results},
    "turn": lambda vault, turn: {one.id: one.match for one in vault.turn("s", "u1", "", turn).recalled if one.why == "similar"},
}


@contextmanager
def _open(root: Path, provider: str, tale: str) -> Iterator[Vault]:
    environ = {"VAULT_PROVIDER": provider, "VAULT_MODELS": MODELS, "HOME": str(root.parent)}
    with Vault.open(root, environ=environ, user="u1") as vault:
        for note in TALES[tale]["notes"]:
            vault.remember(note, kind="fact")
        if provider != "none":
            assert vault.embedding.vectors.catch_up().behind == 0
        vault.is_current = lambda: True
        yield vault


# Each door again, with whether a memory is weak in place of how well it fits.
WEAK: dict[str, Callable[[Vault, str], Mapping[str, bool | None]]] = {
    "recall": lambda vault, turn: _weak(vault.recall(turn, count=False).results),  # type: ignore[union-attr]
    "search": lambda vault, turn: _weak(one for one in vault.search(turn).results if one.match is not None),
    "read": lambda vault, turn: {one.memory_id: one.weak for one in vault.read(turn, semantic_hops=0).results},
    "read, ambient": lambda vault, turn: {one.memory_id: one.weak for one in vault.read(turn, mode="ambient").results},
    "bring to mind": lambda vault, turn: _weak(vault.bring_to_mind(turn).results),
    "turn": lambda vault, turn: _weak(one for one in vault.turn("s", "u1", "", turn).recalled if one.why == "similar"),
}


def _weak(results: Any) -> Mapping[str, bool | None]:
    return {one.id: one.weak for one in results}


@pytest.mark.parametrize("tale", ["tale", "office"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_memory_is_weak_or_not_at_every_door(root: Path, provider: str, tale: str) -> None:
    said: set[bool | None] = set()
    with _open(root, provider, tale) as vault:
        for turn, _ in TALES[tale]["turns"]:
            told = {name: door(vault, turn) for name, door in WEAK.items()}
            for identity, weak in told["recall"].items():
                others = {name: found[identity] for name, found in told.items() if identity in found}
                assert {*others.values()} == {weak}, (turn, others)
                said.add(weak)
            # And where it is told what became of one.
            why = vault.recall(turn, why_not=next(iter(told["recall"])), count=False).why_not if told["recall"] else None  # type: ignore[union-attr]
            assert why is None or why.weak == told["recall"][why.id]
    assert said == {True, False}


@pytest.mark.parametrize("tale", ["tale", "office"])
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_pair_has_one_figure_at_every_door(root: Path, provider: str, tale: str) -> None:
    compared = 0
    with _open(root, provider, tale) as vault:
        for turn, _ in TALES[tale]["turns"]:
            told = {name: door(vault, turn) for name, door in DOORS.items()}
            for identity, match in told["recall"].items():
                others = {name: found[identity] for name, found in told.items() if identity in found}
                assert {*others.values()} == {match}, (turn, others)
                compared += len(others) - 1
            for name, found in told.items():
                assert all(match is not None and match >= LEAST for match in found.values()), (name, turn)
    assert compared > 60


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_has_nothing_of_the_question_is_not_sent(root: Path, provider: str) -> None:
    with _open(root, provider, "office") as vault:
        for question in ("zebra migration timetable", "how deep is the Baltic?", "a recipe for plum dumplings"):
            for name, door in DOORS.items():
                assert len(door(vault, question)) <= (0 if provider == "none" else 2), (name, question)
