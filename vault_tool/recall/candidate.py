"""A memory that may become a result: the values of each lane, and the rank, match and score made from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from msgspec import field

from vault_tool.model.snapshot import Entry

# A memory among several vaults: its scope and its path.
Key: TypeAlias = tuple[str, str]


class Candidate(msgspec.Struct):
    """One memory that may become a result. `words` is its full-text score as a share of the attainable one, `covered` the part
    of the question's words that it has (by rarity; None: not looked up). `cosine` is in standard deviations above the usual
    cosine of the question with a memory (None: it has no vector yet). `mention` is the weight of a conversation's mention of the
    memory, as a share of a question's words.

    `heard` is the same weight for a question, and `nearest` the deviations of its nearest sentence (None: no sentence was
    compared). These two count in the match only, so that a match is the same at every door, and never in the order. If `rare`
    is below 1, the words are no more than chance.

    `related` says that the memory is the relationship of all the subjects that the question names.

    `asked` keeps `words` and `covered` from before a mention raised them: certainty is computed from these at every door.

    `exact` says that the question is the memory's title, file name or alias. `handle` and `heading` (0..1) are the likeness of
    the question to one of these or to a heading, `tag` says that it names one of the memory's tags, and `links` counts the notes
    that link to the memory.

    `timely` (0..1) says how well the memory fits a time that the question names, `dated` (0..1) is the part of the question's
    words that name it. `wished` says that the memory is a general preference, and that the question asks for advice.

    `session` is the conversation in which the memory was recorded. `length` is the approximate number of its words, known if
    others of its session are candidates.

    Each `by_...` is the part of the rank from one source; `factors` has all other parts of the score, for `explain`.
    """

    key: Key
    entry: Entry
    session: str = ""
    words: float = 0.0
    covered: float | None = None
    rare: float = 0.0
    mention: float = 0.0
    heard: float = 0.0
    nearest: float | None = None
    cosine: float | None = None
    perspective: str | None = None
    named: float = 0.0
    related: bool = False
    asked: tuple[float, float | None] | None = None
    exact: bool = False
    handle: float = 0.0
    heading: float = 0.0
    tag: bool = False
    timely: float = 0.0
    dated: float = 0.0
    wished: bool = False
    links: int = 0
    length: int = 0
    by_words: float = 0.0
    by_meaning: float = 0.0
    by_neighbours: float = 0.0
    by_name: float = 0.0
    by_time: float = 0.0
    by_wish: float = 0.0
    by_handle: float = 0.0
    by_links: float = 0.0
    by_session: float = 0.0
    strength: float = 0.0
    rank: float = 0.0
    match: float = 0.0
    certainty: float = 0.0
    score: float = 0.0
    why: tuple[str, ...] = ()
    factors: dict[str, float] = field(default_factory=dict)

    def worded(self, breadth: float) -> float:
        """The fit of the question's words: the geometric mean of the full-text score and the part of the words that it is from.

        One word that is frequent and in a title can score more than all the others together, yet it is one word. `breadth`
        (0..1) is the weight of the part.
        """
        return _mean(self.words, self.covered, breadth)

    def asked_worded(self, breadth: float) -> float:
        """The fit of the question's words without the effect of a mention."""
        return _mean(*(self.asked or (self.words, self.covered)), breadth)

    def answered(self, breadth: float) -> float:
        """The fit of the question's words, except those that the memory's date answers."""
        words = self.asked_worded(breadth)
        return min(1.0, words / (1 - self.dated)) if self.dated < 1 else words

    def parts(self) -> dict[str, float]:
        """The parts of its rank, by name; the rank is their sum."""
        return {
            "words": self.by_words,
            "meaning": self.by_meaning,
            "neighbours": self.by_neighbours,
            "named": self.by_name,
            "time": self.by_time,
            "wish": self.by_wish,
            "called": self.by_handle,
            "links": self.by_links,
            "session": self.by_session,
        }


def _mean(words: float, covered: float | None, breadth: float) -> float:
    return words if covered is None else float(words ** (1 - breadth) * covered**breadth)


# The candidates of one session, by their place in the order of recording.
Line: TypeAlias = Mapping[int, Candidate]
