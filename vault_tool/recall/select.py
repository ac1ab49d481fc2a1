"""Selection of the ranked memories: exact copies folded, floods held back, within a limit and a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from math import ceil
from typing import Any, Generic, TypeVar

from vault_tool.recall.question import words_of
from vault_tool.recall.weights import Weights
from vault_tool.util.structs import Struct

_One = TypeVar("_One")

# More memories than any vault has, whatever limit a file names.
_ALL = 2**31


class CopyText(Struct, Generic[_One]):
    """A memory with what copies are told by. Two are copies only where all of `same` is equal (None: it has no copies), and
    of copies the one with the highest `stands` does. `text` is its beginning, and `source` where it came from ("" for
    what a person wrote or reviewed): by these lookalikes are told.
    """

    of: _One
    text: str
    source: str = ""
    same: Hashable = None
    stands: tuple[Any, ...] = ()


class Selected(Struct, Generic[_One]):
    """One that is answered, with the exact copies that it stands for."""

    of: _One
    folded: tuple[_One, ...] = ()


def pick(ranked: Iterable[CopyText[_One]], limit: int, weights: Weights) -> list[Selected[_One]]:
    """The best `limit`, each for its exact copies in the place of the best of them, and one source's lookalikes held to their
    part.

    What is held back still comes after everything else, where there is room.
    """
    groups: list[list[CopyText[_One]]] = []
    held: list[list[CopyText[_One]]] = []
    copies: dict[Hashable, list[CopyText[_One]]] = {}
    words: list[tuple[CopyText[_One], frozenset[str]]] = []
    most = max(1, ceil(min(limit, _ALL) * weights.flood))
    for candidate in ranked:
        if candidate.same is not None and candidate.same in copies:
            copies[candidate.same].append(candidate)
            continue
        if len(groups) >= limit:
            # A newer copy may come after all that is answered.
            continue
        own_words = words_of(candidate.text) if candidate.source else frozenset()
        several = [candidate]
        if _floods(candidate, own_words, words, most, weights):
            held.append(several)
        else:
            groups.append(several)
            words.append((candidate, own_words))
        if candidate.same is not None:
            copies[candidate.same] = several
    return [_standing(several) for several in [*groups, *held[: limit - len(groups)]]]


def _standing(copies: list[CopyText[_One]]) -> Selected[_One]:
    """The one of several copies that stands for all others."""
    first = max(copies, key=lambda copy: copy.stands)
    return Selected(first.of, tuple(copy.of for copy in copies if copy is not first))


def is_copy(copy: CopyText[_One], other: CopyText[_One]) -> bool:
    """Whether two memories are one result."""
    return copy.same is not None and copy.same == other.same


def alike(words: frozenset[str], other: frozenset[str]) -> float:
    """The share of words that two texts have in common, of all they have (Jaccard 1901)."""
    common = len(words & other)
    return common / (len(words) + len(other) - common) if words or other else 0.0


def _floods(
    candidate: CopyText[_One],
    words: frozenset[str],
    chosen: Sequence[tuple[CopyText[_One], frozenset[str]]],
    most: int,
    weights: Weights,
) -> bool:
    if not candidate.source:
        return False
    near = sum(other.source == candidate.source and alike(words, theirs) >= weights.alike for other, theirs in chosen)
    return near >= most


def within_budget(
    ranked: Sequence[_One], budget: int | None, cost: Callable[[_One], int], shortened: Callable[[_One, int], _One | None]
) -> list[_One]:
    """The best that fit a budget of tokens; of a first one that is too long so much as fits, which `shortened` makes of it."""
    if budget is None:
        return list(ranked)
    fitting: list[_One] = []
    spent = 0
    for candidate in ranked:
        spent += cost(candidate)
        if spent > budget:
            # And no shorter one after it: a worse answer must not win by being brief.
            if not fitting and (first := shortened(candidate, budget)) is not None:
                fitting.append(first)
            break
        fitting.append(candidate)
    return fitting
