"""The work of the figures about small vaults, long days and results, in a process of its own; `bench.tasks` lists it."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench.machine import Failed, in_turn
from bench.prose import Prose
from vault_tool import Vault
from vault_tool.mcp.answering import text_and_values
from vault_tool.mcp.tools import Caller
from vault_tool.model.types import RecordClass

_RESULTS = 10
_WORDS = 6


def small(root: Path, identity: str, large: Path, other: str, runs: int) -> dict[str, Any]:
    """`get` and a counted `recall` in two vaults by turns, whose watchers vouch; each question another."""
    with Vault.open(root, session="small") as one, Vault.open(large, session="large") as two:
        for vault in (one, two):
            vault.fresh()
        asked = [_Questions(vault, 2 * runs + 2) for vault in (one, two)]
        works = (
            lambda: one.get(identity),
            lambda: two.get(other),
            lambda: one.recall(asked[0]()),
            lambda: two.recall(asked[1]()),
        )
        got, got_large, told, told_large = in_turn(runs, *works, warm=True)
    return {"get": got, "get-large": got_large, "recall": told, "recall-large": told_large}


class _Questions:
    """Questions of words of a vault's notes, one after the other."""

    def __init__(self, vault: Vault, count: int) -> None:
        entries = [one for one in vault.index.catalog.snapshot().entries if one.record_class is RecordClass.OBSERVATION]
        self._previews = [one.preview for one in entries[:: max(1, len(entries) // count)]]
        self._at = 0

    def __call__(self) -> str:
        self._at += 1
        return f"what about {' '.join(self._previews[self._at % len(self._previews)].split()[2 : 2 + _WORDS])}?"


def results(root: Path, runs: int) -> dict[str, Any]:
    """The processor time of a tool's answer with ten results, and of one with none, by turns."""
    with Vault.open(root) as vault:
        vault.fresh()
        vault.is_current = lambda: True
        caller, questions = Caller(session="results"), _Questions(vault, 2 * runs + 2)
        prose = Prose(7)

        def ask(question: str, most: int) -> int:
            _, made = text_and_values(vault, "recall", {"query": question, "limit": _RESULTS}, caller)
            found = len(made.get("results", ()))
            if found > most:
                raise Failed(f"a question of no word of the vault found {found} memories")
            return found

        ten, none, hits = [], [], []
        for turn in range(runs + 1):
            words = " ".join(f"{word}{uuid.uuid4().hex[:6]}" for word in prose.words(_WORDS))
            question = questions()
            begun = time.process_time()
            hits.append(ask(question, _RESULTS))
            middle = time.process_time()
            ask(f"what about {words}?", 0)
            if turn:  # the first loads what later ones have
                ten.append(middle - begun)
                none.append(time.process_time() - middle)
    return {"ten": ten, "none": none, "hits": hits}


def day(first: Path, second: Path, last: Path, some: int, many: int, runs: int) -> dict[str, Any]:
    """Two vaults are told so many memories one by one; then each of three is told one more, by turns."""
    return dict(zip(("first", "second", "last"), _one_more(runs, (first, 0), (second, some), (last, many)), strict=True))


def month(full: Path, spread: Path, runs: int) -> dict[str, Any]:
    """One memory more in each of two vaults, by turns."""
    return dict(zip(("many", "few"), _one_more(runs, (full, 0), (spread, 0)), strict=True))


def _one_more(runs: int, *told: tuple[Path, int]) -> list[list[float]]:
    with ExitStack() as stack:
        works = [_remembering(stack.enter_context(Vault.open(root, session="day")), count) for root, count in told]
        return in_turn(runs, *works, warm=True)


def _remembering(vault: Vault, count: int) -> Callable[[], None]:
    """What tells a vault one memory, once it was told so many."""
    subject = next(iter(vault.get_subjects().results)).name

    def remember() -> None:
        done = vault.remember(f"Measured memory {uuid.uuid4()}. It is of the usual length.", [subject], kind="fact")
        if not done.committed:
            raise Failed(f"remember did not commit: {done.reason}")

    for _ in range(count):
        remember()
    return remember
