"""How well a memory fits a question on an absolute scale, so that thresholds mean the same in every vault."""

from __future__ import annotations

from math import exp

from vault_tool.recall.candidate import Candidate

BOTH = 2.0
"""What the whole of a question's words counts, in standard deviations of cosine, where meaning speaks too."""

WORDS_ALONE = (2.2, 4.6)
"""Without vectors: where nothing matches, and what the whole of the words adds. As strict as both lanes are together."""

CAREFUL = 1.5
"""By so much stricter are words that stand against a meaning which does not agree: exact names and codes still pass."""

MIDDLE, WIDTH = 4.0, 0.5
"""Where a match is a half, and how fast it grows from there. Of questions asked of the wrong conversation about a fifth come
this far; of those asked of the right one, four fifths."""


def match(candidate: Candidate) -> float:
    """0..1 from the two lanes: the rarity-weighted part of the question's words that it has, and by how much its meaning
    stands out from what the question has in common with any memory. Either can carry a match, together they are stricter.
    """
    nothing, whole = WORDS_ALONE
    alone = nothing + whole * candidate.words
    if candidate.cosine is None:
        return squash(alone, MIDDLE, WIDTH)
    return squash(max(BOTH * candidate.words + candidate.cosine, alone - CAREFUL), MIDDLE, WIDTH)


def squash(value: float, middle: float, width: float) -> float:
    """A number on the scale 0..1: a half at `middle`, the steeper the smaller `width` is (logistic)."""
    return 1 / (1 + exp(-(value - middle) / width))


def pair_match(value: float) -> float:
    """0..1: how near two memories are, from the standard deviations above what unrelated texts have in common."""
    return squash(value, *_PAIR)


_PAIR = (3.5, 0.6)
