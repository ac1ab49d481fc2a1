"""From what the lanes said to one strength that orders: words and meaning on one scale, neighbours, names, sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import log2, sqrt

from vault_tool.recall.candidate import Candidate, Line
from vault_tool.recall.weights import Weights

_SAME = 0.999
_MUCH_LINKED = 5.0


def fuse(candidates: Collection[Candidate], weights: Weights) -> None:
    """Set each candidate's `strength`: the share of the best full-text score, and cosine in standard deviations.

    Both weigh the same at about their best. Reciprocal ranks would throw away by how much one is better than the next.
    """
    worded = [one.worded(weights.breadth) for one in candidates]
    # Where no text has much of the question, the best of the bad must not count as a whole match.
    best = max([weights.least_words, *worded])
    # A heading that several have is not what one is called.
    shared = sum(one.heading > _SAME for one in candidates)
    for one, words in zip(candidates, worded, strict=True):
        one.by_words = weights.words * words / best
        one.by_meaning = weights.meaning * (one.cosine or 0.0)
        one.by_handle = called(one, shared, weights)
        one.strength = one.by_words + one.by_meaning
        one.rank = one.strength + one.by_handle


def called(one: Candidate, shared: int, weights: Weights) -> float:
    """What it is worth that the question is what a memory is called, or nearly."""
    if one.exact:
        return weights.exact
    same = 1.0 if one.handle > _SAME else 1 / shared if one.heading > _SAME else 0.0
    return weights.handle * one.handle + weights.heading * one.heading + weights.tag * one.tag + weights.same * same


def favour_linked(best: Iterable[Candidate], weights: Weights) -> None:
    """Add what it is worth to be linked to: a note that many link to is more likely meant."""
    for one in best:
        one.by_links = weights.links * min(1.0, log2(1 + one.links) / _MUCH_LINKED)
        one.rank += one.by_links


def lend(lines: Iterable[Line], weights: Weights) -> None:
    """Add to each `rank` what the memory borrows of those recorded just before and after it, by how short it is."""
    for line in lines:
        # Their strength, not their rank so far: what one borrows must not depend on who borrowed before.
        strengths = {place: one.strength for place, one in line.items() if one.strength > 0}
        lent = strengths.get
        for place, one in line.items():
            beside = lent(place - 1, 0.0) + lent(place + 1, 0.0)
            beyond = lent(place - 2, 0.0) + lent(place + 2, 0.0)
            # `Yes, at noon.` means nothing without the line before it; a page speaks for itself.
            own = sqrt(max(0.0, 1 - one.length / weights.own_words))
            one.by_neighbours = (weights.beside * beside + weights.beyond * beyond) * own
            one.rank += one.by_neighbours


def favour_named(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add what the subject that the question names is worth."""
    for one in candidates:
        if one.named:
            one.by_name = weights.named * one.named
            one.rank += one.by_name


def favour_timely(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add what it is worth to be of a time that the question names."""
    for one in candidates:
        if one.timely:
            one.by_time = weights.time * one.timely
            one.rank += one.by_time


def favour_wishes(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add what a preference or a standing instruction is worth where advice is asked for."""
    for one in candidates:
        if one.wished:
            one.by_wish = weights.wish
            one.rank += one.by_wish


def lift_sessions(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add to each `rank` a part of the best of its session; all are of one vault."""
    pool = [one for one in candidates if one.session]
    best: dict[str, float] = {}
    # All of the best first, then the lifts: what a session lends must not grow while it is lent.
    for one in pool:
        if one.rank > best.get(one.session, 0.0):
            best[one.session] = one.rank
    for one in pool:
        one.by_session = weights.session * best.get(one.session, 0.0)
        one.rank += one.by_session
