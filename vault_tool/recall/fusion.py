"""The fusion of the lanes into one rank: words and meaning on one scale, then neighbours, names and sessions."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from math import log2, sqrt

from vault_tool.recall.candidate import Candidate, Line
from vault_tool.recall.weights import Weights

_SAME = 0.999
_MUCH_LINKED = 5.0


def fuse(candidates: Collection[Candidate], weights: Weights) -> None:
    """Set each candidate's `strength`: the share of the best full-text score, and cosine in standard deviations.

    Both weigh about the same at their best. Reciprocal ranks would lose the distance between one candidate and the next.
    """
    worded = [candidate.worded(weights.breadth) for candidate in candidates]
    # If no text has many of the question's words, the best of them must not count as a whole match.
    best = max([weights.least_words, *worded])
    # A heading that several candidates have is not the name of one.
    shared = sum(candidate.heading > _SAME for candidate in candidates)
    for candidate, words in zip(candidates, worded, strict=True):
        candidate.by_words = weights.words * words / best
        candidate.by_meaning = weights.meaning * (candidate.cosine or 0.0)
        candidate.by_handle = called(candidate, shared, weights)
        candidate.strength = candidate.by_words + candidate.by_meaning
        candidate.rank = candidate.strength + candidate.by_handle


def called(candidate: Candidate, shared: int, weights: Weights) -> float:
    """The rank that a candidate gains because the question is its name, or nearly so."""
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
    """Add the worth of links to each `rank`: a question more likely means a note that many notes link to."""
    for candidate in best:
        candidate.by_links = weights.links * min(1.0, log2(1 + candidate.links) / _MUCH_LINKED)
        candidate.rank += candidate.by_links


def boost_neighbours(lines: Iterable[Line], weights: Weights) -> None:
    """Add to each `rank` a part of the strengths of the memories recorded just before and after it; more for a short memory."""
    for line in lines:
        # Neighbours lend a part of their strength, not of their rank: else the result would depend on the order of lending.
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
    """Add the worth of the subject that the question names to the `rank` of its memories."""
    for candidate in candidates:
        if candidate.named:
            candidate.by_name = weights.named * candidate.named
            candidate.rank += candidate.by_name


def favour_timely(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add the worth of a time that the question names to the `rank` of memories from that time."""
    for candidate in candidates:
        if candidate.timely:
            candidate.by_time = weights.time * candidate.timely
            candidate.rank += candidate.by_time


def favour_wishes(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add the worth of a wish to the `rank` of preferences and standing instructions, if the question asks for advice."""
    for candidate in candidates:
        if candidate.wished:
            candidate.by_wish = weights.wish
            candidate.rank += candidate.by_wish


def lift_sessions(candidates: Iterable[Candidate], weights: Weights) -> None:
    """Add to each `rank` a part of the best of its session; all are of one vault."""
    pool = [candidate for candidate in candidates if candidate.session]
    best: dict[str, float] = {}
    # The best of every session is found before any rank is lifted, so that a lift does not increase the next one.
    for candidate in pool:
        if candidate.rank > best.get(candidate.session, 0.0):
            best[candidate.session] = candidate.rank
    for candidate in pool:
        candidate.by_session = weights.session * best.get(candidate.session, 0.0)
        candidate.rank += candidate.by_session
