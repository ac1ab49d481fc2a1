"""Names that are nearly one: what could make a twin of a subject without anybody noticing."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from vault_tool.util.text import normal_name

CLOSE = 0.86
"""The ratio of matching characters (Ratcliff and Obershelp 1988) from which two names are a near miss."""

_SHORTEST_STEM = 3


def similar_names(name: str, others: Iterable[str], limit: int = 5) -> list[str]:
    """Those of `others` that are nearly `name` but not the same after normalisation, nearest first.

    Near are: the same letters with other spacing, one a word-by-word abbreviation of the other
    (`wealth sim`, `wealth simulator`), or a small difference in spelling.
    """
    mine = normal_name(name)
    scored = [(score, other) for other in others if (score := _nearness(mine, normal_name(other))) > 0]
    return [other for _, other in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:limit]]


def _nearness(mine: str, theirs: str) -> float:
    if not mine or not theirs or mine == theirs:
        return 0.0
    if mine.replace(" ", "") == theirs.replace(" ", ""):
        return 1.0
    if _abbreviates(mine.split(), theirs.split()) or _abbreviates(theirs.split(), mine.split()):
        return 0.95
    # A cheap bound first: names of very different length cannot come close.
    if 2 * min(len(mine), len(theirs)) < CLOSE * (len(mine) + len(theirs)):
        return 0.0
    ratio = SequenceMatcher(None, mine, theirs, autojunk=False).ratio()
    return ratio if ratio >= CLOSE else 0.0


def _abbreviates(short: list[str], long: list[str]) -> bool:
    """Whether each word of `short` begins the word of `long` in its place, some word being cut."""
    if len(short) != len(long):
        return False
    return all(b.startswith(a) and len(a) >= _SHORTEST_STEM for a, b in zip(short, long, strict=True))
