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
    worded = [candidate.worded(weights.breadth) for candidate in candidates]
    # Where no text has much of the question, the best of the bad must not count as a whole match.
    best = max([weights.least_words, *worded])
    # A heading that several have is not what one is called.
    shared = sum(candidate.heading > _SAME for candidate in candidates)
    for candidate, words in zip(candidates, worded, strict=True):
        candidate.by_words = weights.words * words / best
        candidate.by_meaning = weights.meaning * (candidate.cosine or 0.0)
        candidate.by_handle = called(candidate, shared, weights)
        candidate.strength = candidate.by_words + candidate.by_meaning
        candidate.rank = candidate.strength + candidate.by_handle


def called(candidate: Candidate, shared: int, weights: Weights) -> float:
    """The rank a candidate gains because the question is its name, or nearly."""
    if candidate.exact:
        return weights.exact
    same = 1.0 if candidate.handle > _SAME else 1 / shared if candidate.heading > _SAME else 0.0
    return (
        weights.handle * candidate.handle
        + weights.heading * candidate.heading
        + weights.tag * candidate.tag
        + weights.same * same
    )


def favour_linked(best: Iterable[Candidate], weights: Weights) -> None:
    """Add what it is worth to be linked to: a note that many link to is more likely meant."""
    for candidate in best:
        candidate.by_links = weights.links * min(1.0, log2(1 + candidate.links) / _MUCH_LINKED)
        candidate.rank += candidate.by_links


def boost_neighbours(lines: Iterable[Line], weights: Weights) -> None:
    """Add to each `rank` what the memory borrows of those recorded just before and after it, by how short it is."""
    for line in lines:
        # Their strength, not their rank so far: what one borrows must not depend on who borrowed before.
        strengths = {place: neighbour.strength for place, neighbour in line.items() if neighbour.strength > 0}
        lent = strengths.get
        for place, neighbour in line.items():
            beside = lent(place - 1, 0.0) + lent(place + 1, 0.0)
            beyond = lent(place - 2, 0.0) + lent(place + 2, 0.0)
            # `Yes, at noon.` means nothing without the line before it; a page speaks for itself.
            own = sqrt(max(0.0, 1 - neighbour.length / weights.own_words))
            neighbour.by_neighbours = (weights.beside * beside + weights.beyond * beyond) * own
            neighbour.rank += neighbour.by_neighbours


def favour_named(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add what the subject that the question names is worth."""
    for candidate in candidates:
        if candidate.named:
            candidate.by_name = weights.named * candidate.named
            candidate.rank += candidate.by_name


def favour_timely(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add what it is worth to be of a time that the question names."""
    for candidate in candidates:
        if candidate.timely:
            candidate.by_time = weights.time * candidate.timely
            candidate.rank += candidate.by_time


def favour_wishes(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add what a preference or a standing instruction is worth where advice is asked for."""
    for candidate in candidates:
        if candidate.wished:
            candidate.by_wish = weights.wish
            candidate.rank += candidate.by_wish


def lift_sessions(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add to each `rank` a part of the best of its session; all are of one vault."""
    pool = [candidate for candidate in candidates if candidate.session]
    best: dict[str, float] = {}
    # All of the best first, then the lifts: what a session lends must not grow while it is lent.
    for candidate in pool:
        if candidate.rank > best.get(candidate.session, 0.0):
            best[candidate.session] = candidate.rank
    for candidate in pool:
        candidate.by_session = weights.session * best.get(candidate.session, 0.0)
        candidate.rank += candidate.by_session
