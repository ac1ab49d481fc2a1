"""Every weight and threshold of recall in one place, each with its reason; three profiles, one table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from vault_tool.util.structs import Struct

# Memories below this match are sent through no door: neither they nor their neighbours and links have anything of the question.
# A memory with a tenth of the question's words, or with a meaning two deviations from chance, is above it.
LEAST = 0.01


class Weights(Struct, kw_only=True):
    """The weights of one profile. One setting was measured on conversations and on long messages, chosen with each conversation
    left out in turn. The numbers are round, from the middle of the range that is equally good; a quarter more or less of any
    weight of the fusion changes the figures by less than a point.
    """

    words: float = 2.4
    """The best full-text hit, in standard deviations of cosine; others in proportion. Scores of words have no scale of
    their own, so the best of each answer sets it."""
    least_words: float = 0.2
    """The share of the question's words that the best hit must have to count in full: one chance word is no evidence."""
    breadth: float = 0.2
    """The weight of a hit with many of the question's words, against a hit with one of them often."""
    meaning: float = 0.8
    """One standard deviation of cosine above the usual cosine of the question with a memory."""
    head: float = 0.6
    """The part of a memory's cosine that comes from its first passage: long texts begin with their topic."""
    passage: float = 0.4
    """The part from its best passage; the rest, up to one, comes from the mean of all passages. The best passage alone
    finds chance sentences in long texts, the first alone misses their ends."""

    beside: float = 0.3
    """The part of its strength that a memory lends to the ones recorded just before and just after it in the same session:
    a text next to a hit is evidence, and an answer follows its question."""
    beyond: float = 0.1
    """The part that it lends to the next but one on either side."""
    own_words: int = 150
    """A memory with so many words borrows nothing; a shorter one by the root of the missing share."""
    session: float = 0.3
    """The part of its rank that the best hit of a session lends to the whole session: evidence comes in clusters."""
    exact: float = 12.0
    """A title, file name or alias that is the question: more than words and meaning add up to."""
    same: float = 5.0
    """A title, file name or alias that is the question but for endings and function words; or a heading that is the question."""
    handle: float = 2.0
    """A title, file name or alias that is nearly the question, times its likeness."""
    heading: float = 0.5
    tag: float = 0.4
    """One of its tags is in the question."""
    links: float = 0.3
    """Links from 31 notes or more."""
    named: float = 0.6
    """A memory tagged with, or said by, the one subject that the question names."""
    time: float = 3.0
    """A memory from a day that the question names; less for a month or a year, which hold more memories."""
    wish: float = 1.6
    """A preference or a standing instruction, if the question asks for advice."""

    gate: bool = True
    local_utility: float = 0.5
    """Utility in contexts like this one, centred on 0: it counts more than the global one."""
    global_utility: float = 0.2
    importance: float = 0.10
    """Small for a question: the memory that fits best must not lose to one that is merely important."""
    recency: float = 0.05
    newness: float = 0.05
    """A memory that no consolidation has seen yet."""
    standing: float = 0.05
    """Confidence, the model that concluded it, and frequent use: such memories sink less with age."""
    frequency: float = 0.0
    context: float = 0.0
    covered: float = 0.75
    """The part of its score that an observation keeps if a recalled understanding covers it."""

    weak: float = 0.6
    """Results below this certainty are flagged. On folders of notes, at most a quarter of the wrong first answers lie above it,
    and at most a fifth of the right ones below."""
    least: float = LEAST
    """Below this match nothing is returned."""
    preference: float = 0.15
    """The amount by which the least match of preferences is lower: they apply to questions that do not mention them."""
    flood: float = 0.5
    """Lookalikes from one source make at most this part of the answer."""
    alike: float = 0.5
    """The likeness from which two results of one source count as lookalikes."""

    chain_from: int = 3
    """The number of best hits from which chains start."""
    chain_first: float = 0.55
    """The least match of the pair at the first hop; each further hop requires more."""
    chain_step: float = 0.10
    chain_lends: float = 0.35
    """The part of its rank that a hit lends to a memory that it leads to, times their nearness: such memories fill an answer,
    they do not lead it."""
    chain_most: int = 9
    """Three hits grow to at most this many."""
    companions: int = 3
    """The most results that explicit links of one kind add to one hit."""


TARGETED = Weights()
# For memories shown without a question: an empty answer is fine, and recency, use and importance count more.
AMBIENT = replace(
    TARGETED,
    importance=0.35,
    recency=0.30,
    frequency=0.20,
    context=0.15,
    least=0.70,
    companions=2,
)
# For the page that every prompt loads: only the standing of a memory decides.
CORE = replace(AMBIENT, least=0.0, weak=0.0)

PROFILES: Mapping[str, Weights] = MappingProxyType({"targeted": TARGETED, "ambient": AMBIENT, "core": CORE})
