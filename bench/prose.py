"""Made-up prose whose words are as unequally common as in real text."""

from __future__ import annotations

import itertools
import random
import uuid
from collections.abc import Sequence

_SIZE = 20_000
_SENTENCE = (6, 16)
_BEGINNINGS = ("ab", "back", "cross", "down", "fore", "mis", "out", "over", "side", "under", "un", "up")
_MIDDLES = ("bind", "build", "cache", "draft", "fetch", "graph", "index", "merge", "parse", "queue", "shard", "stream", "token")
_ENDS = ("", "s", "ed", "er", "ers", "ing", "able", "less", "ment", "ly")


class Prose:
    """Words, sentences and ids that depend on a seed alone. The word of rank r is drawn 1/r as often as the first (Zipf)."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._words = self._vocabulary()
        self._weights = list(itertools.accumulate(1 / rank for rank in range(1, _SIZE + 1)))

    def words(self, count: int) -> list[str]:
        """`count` words, common ones often."""
        return self.random.choices(self._words, cum_weights=self._weights, k=count)

    def phrase(self, fewest: int, most: int) -> str:
        """Some words as a title has them: a capital first, no full stop."""
        return " ".join(self.words(self.random.randint(fewest, most))).capitalize()

    def text(self, count: int) -> str:
        """`count` words in sentences on one line."""
        words = self.words(count)
        sentences = []
        while words:
            length = self.random.randint(*_SENTENCE)
            sentences.append(" ".join(words[:length]).capitalize() + ".")
            del words[:length]
        return " ".join(sentences)

    def identity(self) -> str:
        """A version 4 UUID."""
        return str(uuid.UUID(int=self.random.getrandbits(128), version=4))

    def one_of(self, choices: Sequence[str]) -> str:
        """One of several texts."""
        return self.random.choice(choices)

    def _vocabulary(self) -> list[str]:
        made = ["".join(parts) for parts in itertools.product(_BEGINNINGS, _MIDDLES, _ENDS)]
        pairs = (f"{self.random.choice(_MIDDLES)}{self.random.choice(_MIDDLES)}{number}" for number in itertools.count())
        made.extend(itertools.islice(pairs, _SIZE - len(made)))
        self.random.shuffle(made)
        return made
