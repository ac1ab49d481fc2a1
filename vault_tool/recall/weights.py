"""Every weight and threshold of recall in one place, each with its reason; three profiles, one table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from vault_tool.util.structs import Struct

# Below this match nothing is sent, by any door, though somebody asks: such a memory has nothing of the question, nor does what is
# beside it or linked to it. It has a tenth of the question's words, or a meaning two deviations from chance, that fits by more.
LEAST = 0.01


class Weights(Struct, kw_only=True):
    """How one profile weighs what it found. Measured on conversations and long messages alike with one setting: chosen with each
    conversation left out in turn, round numbers from the middle of what is as good; a quarter more or less of any of the
    fusion's changes the figures by less than a point.
    """

    words: float = 2.4
    """The best full-text hit, in standard deviations of cosine; others in proportion. Scores of words have no scale of
    their own, so the best of each answer sets it."""
    least_words: float = 0.2
    """The share of the question's words that the best hit must have to count in full: one chance word is no evidence."""
    breadth: float = 0.2
    """How much it counts that a hit has many of the question's words, against one of them often."""
    meaning: float = 0.8
    """One standard deviation of cosine above what the question has in common with any memory."""
    head: float = 0.6
    """The part of a memory's cosine that its first passage makes: long texts say first what they are about."""
    passage: float = 0.4
    """The part that its best passage makes; what is left of one is the mean of all. A best passage alone finds chance
    sentences in long texts, the head alone misses what stands at their end."""

    beside: float = 0.3
    """What a memory borrows of the one recorded just before and just after it in the same session: what was said next to a
    hit is evidence, and an answer follows its question."""
    beyond: float = 0.1
    """The same of the next but one on either side."""
    own_words: int = 150
    """From so many words on a memory speaks for itself and borrows nothing; below by the root of what is missing."""
    session: float = 0.3
    """What the best hit of a session lends to all of it: evidence comes in clusters."""
    exact: float = 12.0
    """A title, file name or alias that is the question: more than words and meaning are together."""
    same: float = 5.0
    """The same but for endings and function words; or a heading that is the question."""
    handle: float = 2.0
    """A title, file name or alias that nearly is the question, by how nearly."""
    heading: float = 0.5
    tag: float = 0.4
    """One of its tags is in the question."""
    links: float = 0.3
    """Being linked to by 31 notes or more."""
    named: float = 0.6
    """What is tagged with, or was said by, the one subject that the question names."""
    time: float = 3.0
    """Being of a day that the question names; of a month or a year less, for more is of it."""
    wish: float = 1.6
    """Being a preference or a standing instruction, where advice is asked for."""

    gate: bool = True
    local_utility: float = 0.5
    """Utility in contexts like this one, centred on 0: it counts more than the global one."""
    global_utility: float = 0.2
    importance: float = 0.10
    """Gentle where somebody asks: what fits best must not lose to what is merely important."""
    recency: float = 0.05
    newness: float = 0.05
    """What no consolidation has seen yet, until one does."""
    standing: float = 0.05
    """Confidence, the model that concluded it, and frequent use: who sinks less with age."""
    frequency: float = 0.0
    context: float = 0.0
    covered: float = 0.75
    """What remains of an observation that a recalled understanding covers: the synthesis speaks for it."""

    weak: float = 0.6
    """Below this certainty a result is flagged: at most a quarter of the first answers that are wrong are surer, on folders of
    notes, and at most a fifth of those that are right are less sure."""
    least: float = LEAST
    """Below this match nothing is returned."""
    preference: float = 0.15
    """By how much preferences are let in more easily: they apply without being asked about."""
    flood: float = 0.5
    """Of lookalikes from one source at most this part of the answer."""
    alike: float = 0.5
    """Likeness from which two results of one source count as lookalikes."""

    chain_from: int = 3
    """How many of the best hits a chain starts from."""
    chain_first: float = 0.55
    """How near (match of the pair) the nearest memory must be; each further hop asks for more."""
    chain_step: float = 0.10
    chain_lends: float = 0.35
    """What a hit lends to what it leads to, times how near that is: association fills an answer, it does not lead it."""
    chain_most: int = 9
    """Three hits grow to at most this many."""
    companions: int = 3
    """Most results that come with one hit by explicit links of one kind."""


TARGETED = Weights()
# Nobody asked: silence is a good answer, and what comes up unasked is weighed by recency, use and importance too.
AMBIENT = replace(
    TARGETED,
    importance=0.35,
    recency=0.30,
    frequency=0.20,
    context=0.15,
    least=0.70,
    companions=2,
)
# What a prompt always loads: the standing of a memory alone decides.
CORE = replace(AMBIENT, least=0.0, weak=0.0)

PROFILES: Mapping[str, Weights] = MappingProxyType({"targeted": TARGETED, "ambient": AMBIENT, "core": CORE})
