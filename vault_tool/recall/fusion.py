"""From what the lanes said to one strength that orders: words and meaning on one scale, neighbours, names, sessions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt

from vault_tool.recall.candidate import Candidate, Key, Neighbours
from vault_tool.recall.weights import Weights


def fuse(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Set each candidate's `strength`: the share of the best full-text score, and cosine in standard deviations.

    Both weigh the same at about their best. Reciprocal ranks would throw away by how much one is better than the next.
    """
    pool = list(candidates)
    worded = [one.worded(weights.breadth) for one in pool]
    # Where no text has much of the question, the best of the bad must not count as a whole match.
    best = max([weights.least_words, *worded])
    for one, words in zip(pool, worded, strict=True):
        by_words = weights.words * words / best
        by_meaning = weights.meaning * (one.cosine or 0.0)
        one.strength = one.rank = by_words + by_meaning
        one.factors.update({"words": by_words, "meaning": by_meaning})


def lend(candidates: Mapping[Key, Candidate], neighbours: Neighbours, weights: Weights) -> None:
    """Add to each `rank` what the memory borrows of those recorded just before and after it, by how short it is."""
    for key, one in candidates.items():
        borrowed = 0.0
        for side in neighbours.get(key, ()):
            for share, other in zip((weights.beside, weights.beyond), side, strict=False):
                # Its own strength, not its rank so far: what one borrows must not depend on who borrowed before.
                lender = candidates.get(other)
                borrowed += share * max(0.0, lender.strength) if lender else 0.0
        # `Yes, at noon.` means nothing without the line before it; a page speaks for itself.
        own = sqrt(max(0.0, 1 - one.length / weights.own_words))
        one.factors["neighbours"] = borrowed * own
        one.rank += borrowed * own


def favour_named(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add what the subject that the question names is worth."""
    for one in candidates:
        one.factors["named"] = weights.named * one.named
        one.rank += weights.named * one.named


def lift_sessions(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add to each `rank` a part of the best of its session."""
    pool = [one for one in candidates if one.entry.text("session")]
    best: dict[tuple[str, str], float] = {}
    # All of the best first, then the lifts: what a session lends must not grow while it is lent.
    for one in pool:
        place = (one.key[0], one.entry.text("session"))
        best[place] = max(best.get(place, 0.0), one.rank)
    for one in pool:
        lift = weights.session * best[one.key[0], one.entry.text("session")]
        one.factors["session"] = lift
        one.rank += lift
