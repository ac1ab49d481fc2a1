"""What of the ranked memories is answered: near copies folded, floods held back, within a limit and a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Generic, TypeVar

from vault_tool.recall.question import words_of
from vault_tool.recall.weights import Weights

_One = TypeVar("_One")

_NEARLY = 1 - 1e-9
# More memories than any vault has, whatever limit a file names.
_ALL = 2**31


@dataclass(frozen=True, slots=True)
class CopyText(Generic[_One]):
    """A memory with what copies are told by: its text, where it came from ("" for what a person wrote or reviewed), and what
    else makes it a memory of its `own`: nothing is a copy of what differs in that.
    """

    of: _One
    text: str
    source: str = ""
    own: Hashable = None


@dataclass(frozen=True, slots=True)
class Selected(Generic[_One]):
    """One that is answered, with how many near copies it stands for."""

    of: _One
    folded: int = 0


def pick(ranked: Iterable[CopyText[_One]], limit: int, weights: Weights) -> list[Selected[_One]]:
    """The best `limit`, near copies folded into the first of them, and one source's lookalikes held to their part.

    What is held back still comes after everything else, where there is room.
    """
    kept: list[tuple[CopyText[_One], frozenset[str]]] = []
    copies: list[int] = []
    held: list[tuple[CopyText[_One], frozenset[str]]] = []
    most = max(1, ceil(min(limit, _ALL) * weights.flood))
    for one in ranked:
        if len(kept) >= limit:
            break
        words = words_of(one.text)
        # Against what is kept alone: folding into what was held back would hide both.
        same = (at for at, (two, other) in enumerate(kept) if one.own == two.own and _is_alike(words, other, weights.fold))
        twin = next(same, None)
        if twin is not None:
            copies[twin] += 1
        elif _floods(one, words, kept, most, weights):
            held.append((one, words))
        else:
            kept.append((one, words))
            copies.append(0)
    room = limit - len(kept)
    whole = [Selected(one.of, count) for (one, _), count in zip(kept, copies, strict=True)]
    return whole + [Selected(one.of) for one, _ in held[:room]]


def is_copy(one: CopyText[_One], other: CopyText[_One], weights: Weights) -> bool:
    """Whether one memory is folded into another that stands before it."""
    return one.own == other.own and _is_alike(words_of(one.text), words_of(other.text), weights.fold)


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common, of all they have (Jaccard 1901)."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if one or other else 0.0


def _is_alike(one: frozenset[str], other: frozenset[str], least: float) -> bool:
    """Whether two texts have at least this share in common; most are too unlike in length to be looked at."""
    fewer, more = (len(one), len(other)) if len(one) < len(other) else (len(other), len(one))
    return fewer >= least * more * _NEARLY and alike(one, other) >= least


def _floods(
    one: CopyText[_One], words: frozenset[str], kept: Sequence[tuple[CopyText[_One], frozenset[str]]], most: int, weights: Weights
) -> bool:
    if not one.source:
        return False
    near = sum(other.source == one.source and alike(words, theirs) >= weights.alike for other, theirs in kept)
    return near >= most


def within_budget(found: Sequence[_One], budget: int | None, cost: Callable[[_One], int]) -> list[_One]:
    """The best that fit a budget of tokens; the first is always given, however long."""
    if budget is None:
        return list(found)
    kept: list[_One] = []
    spent = 0
    for one in found:
        spent += cost(one)
        if kept and spent > budget:
            # And no shorter one after it: a worse answer must not win by being brief.
            break
        kept.append(one)
    return kept
