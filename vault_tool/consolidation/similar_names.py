"""Names that are nearly the same, and so could make a second subject for the same thing unnoticed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from difflib import SequenceMatcher
from itertools import combinations

from vault_tool.util.text import normal_name

# The ratio of matching characters (Ratcliff and Obershelp 1988) from which two names are a near miss.
CLOSE = 0.86

# The longest name in characters whose spelling is compared: the cost of a comparison grows with the square of the length.
_LONGEST = 200

_SHORTEST_STEM = 3
_SHORTEST_ACRONYM = 3
_ENDING = 4


def similar_names(name: str, others: Iterable[str], limit: int = 5) -> list[str]:
    """The names of `others` that are nearly `name` but not the same after normalisation, nearest first.

    Two names are near if they have the same letters with other spacing, if one abbreviates the other word by word
    (`wealth sim`, `wealth simulator`), or if their spelling differs a little.
    """
    normalised = normal_name(name)
    scored = [(score, other) for other in others if (score := nearness(normalised, normal_name(other))) > 0]
    return [other for _, other in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:limit]]


def near_pairs(names: Iterable[str], of: Collection[str] | None = None) -> Iterator[tuple[str, str, float]]:
    """The pairs of normalised names that are nearly the same, each once, with their nearness (0..1).

    With `of`, only pairs with one of these names. Names are compared only if they share a beginning, an ending, the beginning
    of a word, or their initials: so the cost grows with the number of similar names, and only a name misspelt at both ends is
    missed.
    """
    alike: dict[str, set[str]] = defaultdict(set)
    for name in names:
        for mark in _marks(name):
            alike[mark].add(name)
    seen: set[tuple[str, str]] = set()
    for group in alike.values():
        for pair in _pairs_of(group, of):
            if pair not in seen:
                seen.add(pair)
                score = pair_nearness(*pair)
                if score:
                    yield (*pair, score)


def _pairs_of(group: Collection[str], of: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """The pairs of a group, each in alphabetical order; with `of`, only pairs with one of these names."""
    if of is None:
        return combinations(sorted(group), 2)
    return ((min(name, other), max(name, other)) for name in of if name in group for other in group if other != name)


def nearness(name: str, theirs: str) -> float:
    """The nearness of two normalised names, 0..1; 0 for equal or unrelated ones."""
    if not name or not theirs or name == theirs:
        return 0.0
    if name.replace(" ", "") == theirs.replace(" ", ""):
        return 1.0
    if _abbreviates(name.split(), theirs.split()) or _abbreviates(theirs.split(), name.split()):
        return 0.95
    # A cheap bound first: names of very different length cannot come close.
    shorter, longer = sorted((len(name), len(theirs)))
    if longer > _LONGEST or 2 * shorter < CLOSE * (shorter + longer):
        return 0.0
    ratio = SequenceMatcher(None, name, theirs, autojunk=False).ratio()
    return ratio if ratio >= CLOSE else 0.0


def pair_nearness(name: str, other: str) -> float:
    """The nearness of two names in a search among all subjects: also for another word order, and for initials."""
    if sorted(name.split()) == sorted(other.split()) and name != other:
        return 0.98
    if other in _initials(name) or name in _initials(other):
        return 0.9
    return nearness(name, other)


def _marks(name: str) -> set[str]:
    joined = name.replace(" ", "")
    words = {f"w:{word[:_SHORTEST_STEM]}" for word in name.split()}
    whole = {f"i:{form}" for form in (*_initials(name), joined)}
    return {f"w:{joined[:_SHORTEST_STEM]}", f"e:{joined[-_ENDING:]}"} | words | whole


def _initials(name: str) -> tuple[str, ...]:
    """The initials of a name, if it has enough words for an acronym."""
    words = name.split()
    return ("".join(word[0] for word in words),) if len(words) >= _SHORTEST_ACRONYM else ()


def _abbreviates(short: list[str], long: list[str]) -> bool:
    """Whether each word of `short` is a prefix of the word of `long` at the same place."""
    if len(short) != len(long):
        return False
    return all(b.startswith(a) and len(a) >= _SHORTEST_STEM for a, b in zip(short, long, strict=True))
