"""What of the ranked memories is answered: exact copies folded, floods held back, within a limit and a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Generic, TypeVar

from vault_tool.recall.question import words_of
from vault_tool.recall.weights import Weights

_One = TypeVar("_One")

# More memories than any vault has, whatever limit a file names.
_ALL = 2**31


@dataclass(frozen=True, slots=True)
class CopyText(Generic[_One]):
    """A memory with what copies are told by. Two are copies only where all of `same` is equal (None: it has no copies), and
    of copies the one with the highest `stands` does. `text` is its beginning, and `source` where it came from ("" for
    what a person wrote or reviewed): by these lookalikes are told.
    """

    of: _One
    text: str
    source: str = ""
    same: Hashable = None
    stands: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Selected(Generic[_One]):
    """One that is answered, with the exact copies that it stands for."""

    of: _One
    folded: tuple[_One, ...] = ()


def pick(ranked: Iterable[CopyText[_One]], limit: int, weights: Weights) -> list[Selected[_One]]:
    """The best `limit`, each for its exact copies in the place of the best of them, and one source's lookalikes held to their
    part.

    What is held back still comes after everything else, where there is room.
    """
    kept: list[list[CopyText[_One]]] = []
    held: list[list[CopyText[_One]]] = []
    copies: dict[Hashable, list[CopyText[_One]]] = {}
    words: list[tuple[CopyText[_One], frozenset[str]]] = []
    most = max(1, ceil(min(limit, _ALL) * weights.flood))
    for one in ranked:
        if one.same is not None and one.same in copies:
            copies[one.same].append(one)
            continue
        if len(kept) >= limit:
            # A newer copy may come after all that is answered.
            continue
        said = words_of(one.text) if one.source else frozenset()
        several = [one]
        if _floods(one, said, words, most, weights):
            held.append(several)
        else:
            kept.append(several)
            words.append((one, said))
        if one.same is not None:
            copies[one.same] = several
    return [_standing(several) for several in [*kept, *held[: limit - len(kept)]]]


def _standing(copies: list[CopyText[_One]]) -> Selected[_One]:
    """The one of several copies that stands for all others."""
    first = max(copies, key=lambda one: one.stands)
    return Selected(first.of, tuple(one.of for one in copies if one is not first))


def is_copy(one: CopyText[_One], other: CopyText[_One]) -> bool:
    """Whether two memories are one result."""
    return one.same is not None and one.same == other.same


def alike(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common, of all they have (Jaccard 1901)."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if one or other else 0.0


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
