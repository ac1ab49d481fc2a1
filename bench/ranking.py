"""How good a ranking is, and the plain rankers that ours is held against, on the same rows."""

from __future__ import annotations

import math
import random
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

CUTS = (5, 10, 20)
_K1, _B = 1.2, 0.75
_RRF = 60
_RESAMPLES = 2000
_STOPPED = frozenset(
    "a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was "  # noqa: SIM905
    "will with".split()
)
"""The stop words of Lucene's English analyser."""


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over the questions that have an answer: recall at each cut, nDCG at 10 (binary gains), reciprocal rank."""

    questions: int
    recall: Mapping[int, float]
    ndcg: float
    mrr: float
    low: float
    high: float
    """The 95 % interval of recall at 10, by resampling the questions."""


def measure(ranked: Sequence[tuple[Sequence[str], Sequence[str]]]) -> Quality:
    """The quality of rankings: pairs of the evidence's ids and the ranked ids, best first."""
    recalls = {cut: [_recall(evidence, found, cut) for evidence, found in ranked] for cut in CUTS}
    low, high = _interval(recalls[10])
    return Quality(
        len(ranked),
        {cut: _mean(values) for cut, values in recalls.items()},
        _mean([_ndcg(evidence, found) for evidence, found in ranked]),
        _mean([_reciprocal(evidence, found) for evidence, found in ranked]),
        low,
        high,
    )


def _recall(evidence: Sequence[str], found: Sequence[str], cut: int) -> float:
    return len(set(evidence) & set(found[:cut])) / len(set(evidence))


def _ndcg(evidence: Sequence[str], found: Sequence[str], cut: int = 10) -> float:
    wanted = set(evidence)
    gained = sum(1 / math.log2(place + 2) for place, one in enumerate(found[:cut]) if one in wanted)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(cut, len(wanted))))


def _reciprocal(evidence: Sequence[str], found: Sequence[str]) -> float:
    return next((1 / place for place, one in enumerate(found, 1) if one in set(evidence)), 0.0)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    chosen = random.Random(0)
    means = sorted(_mean(chosen.choices(values, k=len(values))) for _ in range(_RESAMPLES)) if values else [0.0]
    return means[int(0.025 * len(means))], means[int(0.975 * len(means))]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


class Bm25:
    """BM25 in Lucene's form over whole texts, with stemming and English stop words."""

    def __init__(self, texts: Mapping[str, str], stem: Callable[[str], Sequence[str]]) -> None:
        self._stem = stem
        self._counts = {key: Counter(self._tokens(text)) for key, text in texts.items()}
        self._holding: dict[str, list[str]] = defaultdict(list)
        for key, counts in self._counts.items():
            for token in counts:
                self._holding[token].append(key)
        self._mean = _mean([counts.total() for counts in self._counts.values()]) or 1.0

    def ranked(self, question: str, limit: int) -> list[str]:
        """The best keys, best first."""
        scores: dict[str, float] = defaultdict(float)
        for token in dict.fromkeys(self._tokens(question)):
            holding = self._holding.get(token, ())
            rarity = math.log(1 + (len(self._counts) - len(holding) + 0.5) / (len(holding) + 0.5))
            for key in holding:
                counts = self._counts[key]
                length = 1 - _B + _B * counts.total() / self._mean
                scores[key] += rarity * counts[token] * (_K1 + 1) / (counts[token] + _K1 * length)
        return sorted(scores, key=lambda key: (-scores[key], key))[:limit]

    def _tokens(self, text: str) -> list[str]:
        return [token for token in self._stem(text) if token not in _STOPPED]


_QUESTION_WORDS = _STOPPED | frozenset(
    "what when where who whom whose which why how did do does done was were has have had can could would should will shall may "  # noqa: SIM905
    "might i me my mine we us our ours you your yours he she him her his hers its them our tell about from any some".split()
)
"""The words that a question is made of, beside the stop words: they tell nothing of its answer."""

_LETTERS = re.compile(r"[^\W_]+")


class Fts5:
    """SQLite's FTS5 as most tools use it: porter, all words of a question joined by OR but those that make it a question."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._rows = sqlite3.connect(":memory:")
        self._rows.execute("CREATE VIRTUAL TABLE rows USING fts5(key UNINDEXED, text, tokenize = 'porter unicode61')")
        self._rows.executemany("INSERT INTO rows VALUES (?, ?)", texts.items())

    def ranked(self, question: str, limit: int) -> list[str]:
        """The best keys, best first."""
        words = dict.fromkeys(word for word in _LETTERS.findall(question.casefold()) if word not in _QUESTION_WORDS)
        if not words:
            return []
        query = "SELECT key FROM rows WHERE rows MATCH ? ORDER BY bm25(rows), key LIMIT ?"
        return [row[0] for row in self._rows.execute(query, (" OR ".join(f'"{word}"' for word in words), limit))]


def fused(rankings: Sequence[Sequence[str]], limit: int) -> list[str]:
    """Reciprocal rank fusion of equal weights (Cormack et al. 2009)."""
    scores: dict[str, float] = defaultdict(float)
    for ranking in rankings:
        for place, key in enumerate(ranking, 1):
            scores[key] += 1 / (_RRF + place)
    return sorted(scores, key=lambda key: (-scores[key], key))[:limit]
