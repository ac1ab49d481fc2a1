"""A memory under consideration: what each lane said of it, and what became of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import msgspec
from msgspec import field

from vault_tool.model.snapshot import Entry

# A memory among several vaults: its scope and its path.
Key: TypeAlias = tuple[str, str]


class Candidate(msgspec.Struct):
    """One memory in the running. `words` is its full-text score as a share of what is attainable, `covered` the part of the
    question's words that it has (by rarity; None: nobody looked), `cosine` is in standard deviations above what the
    question has in common with any memory (None: it has no vector yet). `mention` is what it counts that a conversation mentions
    it, as a share of a question's words.

    `heard` is such a count of what somebody asks, and `nearest` the deviations of the sentence that is nearest to it (None: no
    sentence was compared): these count in its match alone, which so is one whoever asks, and in no order. Where `rare` is
    below 1, its words are no more than chance.

    `related` says that it is what all of several subjects that the question names have to do with each other.

    `asked` is what `words` and `covered` were before a mention counted for more: whether it is sure to answer is told by these,
    whoever asks.

    `exact` says that the question is its title, file name or alias; `handle` and `heading` how nearly it is one of these or a
    heading (0..1), `tag` that it names one of its tags, `links` how many notes link to it.

    `timely` (0..1) is how nearly it is of a time that the question names, and `dated` (0..1) the part of the question's
    words that this answers. `wished` says that it tells what somebody
    wants in general, and that the question asks for advice.

    `session` is the conversation that it was recorded in. `length` is about how many words it has, known where others of its
    session are in the running.

    Each `by_...` is what one thing adds to its rank, and `factors` is everything else that made the score: for `explain`.
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
        """How well the question's words are there: their score and the part of them that it is made of, as a geometric mean.

        One word that stands in a title and often can score more than all the others would: it is still one word. `breadth`
        (0..1) is the weight of the part.
        """
        return _mean(self.words, self.covered, breadth)

    def asked_worded(self, breadth: float) -> float:
        """The same without what a mention counts."""
        return _mean(*(self.asked or (self.words, self.covered)), breadth)

    def answered(self, breadth: float) -> float:
        """How well the asked words are there that are not answered by its date."""
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


# Those in the running of one session, each by its place in the order in which they were recorded.
Line: TypeAlias = Mapping[int, Candidate]
