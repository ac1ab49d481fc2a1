"""How well a memory fits a question on an absolute scale, so that thresholds mean the same in every vault."""

from __future__ import annotations

from math import exp

from vault_tool.recall.candidate import Candidate

BREADTH = 2 / 3
"""How much it counts that many of a question's words are there, against how much those say that are."""

BOTH = 2.8
"""What the whole of a question's words counts, in standard deviations of cosine, where meaning speaks too."""

CALLED, MOST_CALLED = 1.0, 3.0
"""What it counts, in standard deviations, that the question nearly is what a memory is called; and up to which."""

WORDS_ALONE = (2.7, 3.5)
"""Without vectors: where nothing matches, and what the whole of the words adds. As strict as both lanes are together."""

WORDS_AGAINST = (1.4, 4.8)
"""The same of words that stand against a meaning which does not agree: stricter, but exact names and codes still pass."""

MIDDLE, WIDTH = 4.2, 0.5
"""Where a match is a half, and how fast it grows from there."""


def match(candidate: Candidate) -> float:
    """0..1 from the two lanes: how well the question's words are there, and by how much the meaning stands out from what the
    question has in common with any memory. Either can carry a match, together they are stricter.
    """
    if candidate.exact:
        return 1.0
    words = candidate.worded(BREADTH)
    called = CALLED * min(candidate.by_handle, MOST_CALLED)
    if candidate.cosine is None:
        return squash(WORDS_ALONE[0] + WORDS_ALONE[1] * words + called, MIDDLE, WIDTH)
    against = WORDS_AGAINST[0] + WORDS_AGAINST[1] * words
    return squash(max(BOTH * words + candidate.cosine, against) + called, MIDDLE, WIDTH)


MENTIONED = (0.525, 0.083)
"""What a mention counts as a share of the words: one that is just more than chance, and each unit of evidence (a factor of e
against chance) beyond that. From 0.3 on it comes up unprompted, from 5 on it is a strong match."""

NAMED_ALONE = 0.6
"""What the understanding of a subject counts, as such a share, where a conversation names the subject and says no more."""


def mentioned(beyond: float) -> float:
    """What it counts, as a share of a question's words, that a conversation mentions a memory, by evidence `beyond` chance."""
    return min(1.0, MENTIONED[0] + MENTIONED[1] * beyond)


def squash(value: float, middle: float, width: float) -> float:
    """A number on the scale 0..1: a half at `middle`, the steeper the smaller `width` is (logistic)."""
    return 1 / (1 + exp(-(value - middle) / width))


def pair_match(value: float) -> float:
    """0..1: how near two memories are, from the standard deviations above what unrelated texts have in common."""
    return squash(value, *_PAIR)


_PAIR = (3.5, 0.6)
