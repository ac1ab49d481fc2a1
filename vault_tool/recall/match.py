"""The match of a memory with a question, and the certainty that it answers it: absolute scales, the same in every vault."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest
from math import exp

from vault_tool.recall.candidate import Candidate

# The weight of how many of the question's words a text has, against the weight of how telling these words are.
BREADTH = 2 / 3

# The weight of all words of a question, in standard deviations of cosine, where there is a cosine too.
BOTH = 2.8

# The weight, in standard deviations, of a question that is nearly the memory's name; and the most that counts.
CALLED, MOST_CALLED = 1.0, 3.0

# Without vectors: the value with no word, and what all words add. As strict as both lanes are together.
WORDS_ALONE = (2.7, 3.5)

# The same two values if the meaning does not agree with the words: stricter, but exact names and codes still pass.
WORDS_AGAINST = (1.4, 4.8)

# The meaning agrees from so many deviations on: then words count at least as much as they would alone. In a small vault of
# similar notes no note can stand out by more.
AGREES = 1.5

# A text's cosine, measured against the question's own spread, counts at most so many deviations more than its nearest sentence
# does against unrelated notes. A question foreign to the vault is far from all notes, and one of them is always the nearest.
NEARER = 1.0

# The value at which a match is a half, and the width of the slope there.
MIDDLE, WIDTH = 4.2, 0.5


# The weights in a memory's strength: of all words of the question, and of one standard deviation of cosine.
STRONG_WORDS, STRONG_MEANING = 2.4, 0.5

# An answer stands out if it fits better than the third best does: so two memories that say the same do not hide each other.
AMONG = 3

# The strength in place of the third best if there is none: half of the words. Without it a lone memory would answer anything.
FEW = STRONG_WORDS / 2

# The weight of standing out, beside all words. The nearness of the best text alone says little: in a vault of many topics
# some text is near to any question.
STANDS_OUT = 2.5

# The same baseline for a conversation: it touches on many topics, so a memory stands for itself, from a mention of .94 on.
CONVERSATION_BASELINE = 1.67

# The amount subtracted where there is a cosine too: among many texts one is always a little nearer than the rest.
MEANT = 1.3

# The value at which certainty is a half, and the width of the slope there.
CERTAIN = (2.08, 0.8)

_ALL = 0.99


def match(candidate: Candidate) -> float:
    """The match (0..1) from the two lanes: the share of the question's words in the memory, and the deviations by which its
    cosine exceeds that of any memory with the question. Either lane can carry a match; together they are stricter.
    """
    if candidate.exact:
        return 1.0
    mentioned = max(candidate.mention, candidate.heard)
    words = max(candidate.worded(BREADTH), mentioned)
    called = CALLED * min(candidate.by_handle, MOST_CALLED) + TIMELY * candidate.timely
    if candidate.wished and (words or (candidate.cosine or 0.0) >= WISHED_FROM):
        called += WISHED
    alone = WORDS_ALONE[0] + WORDS_ALONE[1] * words
    if candidate.cosine is None:
        return squash(alone + called, MIDDLE, WIDTH) if words or called else 0.0
    cosine = candidate.cosine if candidate.nearest is None else min(candidate.cosine, candidate.nearest + NEARER)
    against = WORDS_AGAINST[0] + WORDS_AGAINST[1] * words
    # A memory without a word of the question is judged by its meaning alone.
    agreed = alone if words and cosine >= AGREES else 0.0
    # A mention was already compared with chance, by its words and by its meaning.
    mention = WORDS_ALONE[0] + WORDS_ALONE[1] * mentioned if mentioned else 0.0
    return squash(max(BOTH * words + cosine, against, agreed, mention) + called, MIDDLE, WIDTH)


# The weight, in standard deviations, of a time that the question names: enough for a match without any of its words.
TIMELY = 1.0

# The weight of a preference in a question for advice, and the nearness in meaning from which it counts if no word is shared.
WISHED, WISHED_FROM = 1.0, 1.0

# The weight of a named time in certainty.
DATED = 2.0

# The part of a memory's match that its neighbours in the same session get.
BESIDE = 0.2


def touched(candidate: Candidate) -> bool:
    """Whether a memory has anything of the question itself: a word, a name, a time, or a meaning above the background's."""
    own = candidate.words or candidate.heard or candidate.by_handle or candidate.named or candidate.timely or candidate.wished
    return bool(own) or (candidate.cosine or 0.0) > 0


# The share of words that a mention stands for: a mention just above chance, and each unit of evidence (a factor of e against
# chance) beyond that. From 0.3 units on a memory comes up unprompted, from 5 on it is a strong match.
MENTIONED = (0.525, 0.083)

# The same share for the understanding of a subject, if a conversation only names that subject.
NAMED_ALONE = 0.6


# The deviations from which nearness to a sentence is evidence for a memory, and the weight of each beside words.
MEANT_FROM, MEANT_COUNTS = 2.5, 2.5

# The most evidence that words can be against a memory: a conversation may mean it without using any of its words.
NO_WORDS = -5.0


def beyond(words: float, deviations: float) -> float:
    """The evidence beyond chance that a conversation bears on a memory: of the words, plus the meaning for or against it."""
    meant = MEANT_COUNTS * (deviations - MEANT_FROM)
    return max(NO_WORDS, words) + (max(0.0, meant) if deviations >= AGREES else meant)


def mentioned(beyond: float) -> float:
    """The share of a question's words that a conversation's mention of a memory counts for, by evidence `beyond` chance."""
    return min(1.0, MENTIONED[0] + MENTIONED[1] * beyond)


def baseline(candidates: Iterable[Candidate]) -> float:
    """The strength of the third best memory, from which an answer must stand out."""
    best = nlargest(AMONG, (_strength(candidate, candidate.answered(BREADTH)) for candidate in candidates))
    return best[-1] if len(best) == AMONG else FEW


def certainty(candidate: Candidate, others: float = 0.0, *, page: bool = False) -> float:
    """The certainty (0..1) that a memory answers, by its words, its names, and how far it stands out from the others.

    Mentions in a conversation count only for a `page`, which asks no question; so a question has the same certainty at any door.
    """
    if candidate.exact:
        return 1.0
    mention = candidate.mention if page else NAMED_ALONE if candidate.related else 0.0
    covered = candidate.covered if page or candidate.asked is None else candidate.asked[1]
    # The relationship of all the question's subjects need not stand out, nor a memory of its subject with all of its words.
    if candidate.related or (candidate.named and (covered or 0.0) > _ALL):
        others = 0.0
    words = candidate.worded(BREADTH) if page else candidate.answered(BREADTH)
    called = CALLED * min(candidate.by_handle, MOST_CALLED)
    sure = words + STANDS_OUT * (_strength(candidate, words) - others) - (MEANT if candidate.cosine is not None else 0.0)
    if mention:
        sure = max(sure, mention + STANDS_OUT * (STRONG_WORDS * mention - others))
    return squash(sure + called + DATED * candidate.timely, *CERTAIN)


def _strength(candidate: Candidate, words: float) -> float:
    """The strength of words and meaning, each counted by itself: a meaning unlike the question subtracts nothing."""
    return STRONG_WORDS * words + STRONG_MEANING * max(0.0, candidate.cosine or 0.0)


def squash(value: float, middle: float, width: float) -> float:
    """A number on the scale 0..1: a half at `middle`, the steeper the smaller `width` is (logistic)."""
    return 1 / (1 + exp(-(value - middle) / width))


def pair_match(value: float) -> float:
    """The nearness (0..1) of two memories, from the standard deviations of their cosine above that of unrelated texts."""
    return squash(value, *_PAIR)


_PAIR = (3.5, 0.6)
