"""How well a memory fits a question, and how sure it is that it answers it: absolute scales, the same in every vault."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import nlargest
from math import exp

from vault_tool.recall.candidate import Candidate

# How much it counts that many of a question's words are there, against how much those say that are.
BREADTH = 2 / 3

# What the whole of a question's words counts, in standard deviations of cosine, where meaning speaks too.
BOTH = 2.8

# What it counts, in standard deviations, that the question nearly is what a memory is called; and up to which.
CALLED, MOST_CALLED = 1.0, 3.0

# Without vectors: where nothing matches, and what the whole of the words adds. As strict as both lanes are together.
WORDS_ALONE = (2.7, 3.5)

# The same of words that stand against a meaning which does not agree: stricter, but exact names and codes still pass.
WORDS_AGAINST = (1.4, 4.8)

# From so many deviations on a meaning agrees: then words count at least as much as they would alone. Where few notes are
# much alike none can stand out by more.
AGREES = 1.5

# By so many deviations a text may count nearer by the question's own spread than its nearest sentence is by that of unrelated
# notes: what is foreign to a vault is far from all of it alike, so that by the former something always stands out.
NEARER = 1.0

# Where a match is a half, and how fast it grows from there.
MIDDLE, WIDTH = 4.2, 0.5


# What the whole of a question's words counts in how strongly a memory fits, and one standard deviation of cosine.
STRONG_WORDS, STRONG_MEANING = 2.4, 0.5

# An answer stands out where it fits better than the third best does: two that say the same do not hide each other.
AMONG = 3

# What stands for the third best where there is none: half of the words, or whatever is alone would answer anything.
FEW = STRONG_WORDS / 2

# What that counts, beside the whole of the words. How near in meaning a best text is says little: in a vault of many topics
# that of any question is.
STANDS_OUT = 2.5

# The same of what a conversation mentions: it touches on much, so that a memory stands for itself, from a mention of .94 on.
CONVERSATION_BASELINE = 1.67

# By how much more is asked where meaning speaks too: of many texts one is always a little nearer than the rest.
MEANT = 1.3

# Where certainty is a half, and how fast it grows from there.
CERTAIN = (2.08, 0.8)

_ALL = 0.99


def match(candidate: Candidate) -> float:
    """0..1 from the two lanes: how well the question's words are there, and by how much the meaning stands out from what the
    question has in common with any memory. Either can carry a match, together they are stricter.
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
    # What has no word of the question has its meaning alone.
    agreed = alone if words and cosine >= AGREES else 0.0
    # A mention was held against chance already, by its words and by its meaning.
    mention = WORDS_ALONE[0] + WORDS_ALONE[1] * mentioned if mentioned else 0.0
    return squash(max(BOTH * words + cosine, against, agreed, mention) + called, MIDDLE, WIDTH)


# What it counts, in standard deviations, to be of a time that the question names: enough to be given without a word of it.
TIMELY = 1.0

# The same for what somebody wants in general where advice is asked, if it shares a word or is this near in meaning.
WISHED, WISHED_FROM = 1.0, 1.0

# What it counts in how sure a memory is to be of a time that is named.
DATED = 2.0

# What was said beside a memory that fits, in the same session, fits by this part as well.
BESIDE = 0.2


def touched(candidate: Candidate) -> bool:
    """Whether a memory has anything of the question itself: a word, a name, a time, or a meaning above the background's."""
    own = candidate.words or candidate.heard or candidate.by_handle or candidate.named or candidate.timely or candidate.wished
    return bool(own) or (candidate.cosine or 0.0) > 0


# What a mention counts as a share of the words: one that is just more than chance, and each unit of evidence (a factor of e
# against chance) beyond that. From 0.3 on it comes up unprompted, from 5 on it is a strong match.
MENTIONED = (0.525, 0.083)

# What the understanding of a subject counts, as such a share, where a conversation names the subject and says no more.
NAMED_ALONE = 0.6


# From how many deviations on it speaks for a memory that it is near to a sentence, and what each counts beside words.
MEANT_FROM, MEANT_COUNTS = 2.5, 2.5

# The least that words can say against it: a memory may be meant without one of them.
NO_WORDS = -5.0


def beyond(words: float, deviations: float) -> float:
    """By how much more than by chance a conversation bears on a memory, by words and by a meaning that agrees, or is against."""
    meant = MEANT_COUNTS * (deviations - MEANT_FROM)
    return max(NO_WORDS, words) + (max(0.0, meant) if deviations >= AGREES else meant)


def mentioned(beyond: float) -> float:
    """The share of a question's words that a conversation's mention of a memory counts for, by evidence `beyond` chance."""
    return min(1.0, MENTIONED[0] + MENTIONED[1] * beyond)


def baseline(candidates: Iterable[Candidate]) -> float:
    """How strongly the third best fits what is asked: what an answer must stand out from."""
    best = nlargest(AMONG, (_strength(candidate, candidate.answered(BREADTH)) for candidate in candidates))
    return best[-1] if len(best) == AMONG else FEW


def certainty(candidate: Candidate, others: float = 0.0, *, page: bool = False) -> float:
    """0..1: how sure it is that a memory answers, by its words, its names, and how far it stands out from the crowd.

    What a conversation mentions counts on a `page` alone, which is no question: else one is as sure whoever asks.
    """
    if candidate.exact:
        return 1.0
    mention = candidate.mention if page else NAMED_ALONE if candidate.related else 0.0
    covered = candidate.covered if page or candidate.asked is None else candidate.asked[1]
    # Of the very subject, and all that is asked, or of all the subjects and nothing else: however many say the same.
    if candidate.related or (candidate.named and (covered or 0.0) > _ALL):
        others = 0.0
    words = candidate.worded(BREADTH) if page else candidate.answered(BREADTH)
    called = CALLED * min(candidate.by_handle, MOST_CALLED)
    sure = words + STANDS_OUT * (_strength(candidate, words) - others) - (MEANT if candidate.cosine is not None else 0.0)
    if mention:
        sure = max(sure, mention + STANDS_OUT * (STRONG_WORDS * mention - others))
    return squash(sure + called + DATED * candidate.timely, *CERTAIN)


def _strength(candidate: Candidate, words: float) -> float:
    """How strongly words and meaning fit, each for itself: what is unlike the question takes nothing away."""
    return STRONG_WORDS * words + STRONG_MEANING * max(0.0, candidate.cosine or 0.0)


def squash(value: float, middle: float, width: float) -> float:
    """A number on the scale 0..1: a half at `middle`, the steeper the smaller `width` is (logistic)."""
    return 1 / (1 + exp(-(value - middle) / width))


def pair_match(value: float) -> float:
    """0..1: how near two memories are, from the standard deviations above what unrelated texts have in common."""
    return squash(value, *_PAIR)


_PAIR = (3.5, 0.6)
