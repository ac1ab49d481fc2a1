"""Similarities by vectors, on one scale for every model; degraded with a reason where vectors are missing."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from vault_tool.errors import VaultError
from vault_tool.index.vectors.hits import GENERAL
from vault_tool.recall.match import NEARER, NO_WORDS, beyond
from vault_tool.recall.weights import Weights
from vault_tool.util.hints import step
from vault_tool.util.text import counted
from vault_tool.vault.context import Context
from vault_tool.vault.vector_upkeep import catch_up_briefly

if TYPE_CHECKING:
    from vault_tool.index.vectors.exact_search import PerspectiveScores, Similarities, Windows
    from vault_tool.index.vectors.hits import Background, Vector
    from vault_tool.index.vectors.service import Vectors

T = TypeVar("T")

# Of so many notes an implicit chain looks at all; in a larger vault at those that bear on the question.
_ALL = 4_000

# So many texts' worth of what is known of the model stands beside a small vault's own spread.
_SMALL = 50.0


class Likeness(NamedTuple):
    """How near one memory is: standard deviations above what the question has in common with any text."""

    value: float
    perspective: str


class VectorScores:
    """One question asked of one vault's vectors."""

    def __init__(self, vault: Context, similarities: Similarities, weights: Weights) -> None:
        self._vault = vault
        self._found = similarities
        self._weights = weights
        self._missing: list[str] = []
        self._backgrounds: dict[str, Background] = {}
        self._windows: Windows | None = None

    @cached_property
    def _spread(self) -> Mapping[str, tuple[int, float, float]]:
        return self._found.spread()

    @cached_property
    def _scales(self) -> Mapping[str, tuple[float, float]]:
        return {angle: _scale(self._background(angle), *numbers) for angle, numbers in self._spread.items() if numbers[0]}

    def _background(self, perspective: str) -> Background:
        if perspective not in self._backgrounds:
            self._backgrounds[perspective] = self._vault.embedding.vectors.background(perspective)
        return self._backgrounds[perspective]

    @property
    def _texts(self) -> int:
        return max((count for count, _, _ in self._spread.values()), default=0)

    @property
    def missing_sources(self) -> tuple[str, ...]:
        """The reasons why its answers so far are incomplete: read it last."""
        return tuple(dict.fromkeys((*self._missing, *stand_in(self._vault.embedding.vectors))))

    def begin(self) -> None:
        """Have the nearest looked for beside other work from now on; `top` then tells them."""
        self._heard(self._found.begin)

    def top(self, limit: int) -> list[str]:
        """The paths that are nearest, best first."""
        return [hit.path for hit in self._heard(lambda: self._found.leading(limit)) or ()]

    def read(self, sentences: Sequence[str], until: float) -> None:
        """Have the sentences of a conversation embedded, to ask each of them."""
        self._windows = self._heard(lambda: self._windowed(sentences, until))

    def _windowed(self, sentences: Sequence[str], until: float) -> Windows:
        vectors = self._vault.embedding.vectors.sentences(sentences, until - time.monotonic())
        return self._found.windows(vectors, self._background(GENERAL), _SMALL)

    def nearest_sentence(self, paths: Collection[str], sentences: Sequence[str], until: float) -> dict[str, float]:
        """For each of these notes the deviations of the sentence that is nearest to it; empty where sentences have no vectors.

        What is read for this holds back nothing else.
        """
        if not self._texts:
            return {}
        windows = self._windows or self._heard(lambda: self._windowed(sentences, until))
        return (self._heard(lambda: windows.of(paths)) or {}) if windows is not None else {}

    def beyond(self, words: Mapping[str, float], limit: int) -> dict[str, float]:
        """By how much more than by chance a conversation bears on notes: on those that share `words` with it, each by how
        far that is beyond chance, and on the `limit` nearest.
        """
        windows = self._windows
        if windows is None:
            return dict(words)
        similar = self._heard(lambda: windows.of({*windows.leading(limit), *words})) or {}
        both = {path: beyond(words.get(path, NO_WORDS), deviations) for path, deviations in similar.items()}
        return {**words, **both}

    def of(self, paths: Collection[str]) -> dict[str, Likeness]:
        """How near each of these is, in its best perspective; those without vectors are left out."""
        likenesses: dict[str, Likeness] = {}
        for stands in self._heard(lambda: list(self._found.scores(paths))) or ():
            mean, deviation = self._scales[stands.perspective]
            values = (self._blended(stands) - mean) / deviation
            for path, value in zip(stands.paths, values.tolist(), strict=True):
                known = likenesses.get(path)
                if known is None or value > known.value:
                    likenesses[path] = Likeness(value, stands.perspective)
        if self._windows is None:
            return likenesses
        most = self._windows.of(likenesses)
        return {
            path: likeness._replace(value=min(likeness.value, most.get(path, likeness.value) + NEARER))
            for path, likeness in likenesses.items()
        }

    def _blended(self, stands: PerspectiveScores) -> Vector:
        """A long text's likeness, blended from its head, its best passage, and the whole."""
        head, passage = self._weights.head, self._weights.passage
        blended: Vector = head * stands.head + passage * stands.best + (1 - head - passage) * stands.whole
        return blended

    def nearest(self, paths: Collection[str], limit: int, among: Collection[str]) -> dict[str, list[tuple[str, float]]]:
        """For each of these the nearest others, with standard deviations above what unrelated texts have in common.

        All of a vault are looked at where that takes a few milliseconds, else `among`.
        """
        background = self._background(GENERAL)
        every, nearest = self._vault.embedding.vectors.nearest_of, self._found.nearest_of
        near = self._heard(lambda: every(paths, limit) if self._texts <= _ALL else nearest(paths, limit, among)) or {}
        return {
            path: [(hit.path, (hit.cosine - background.mean) / max(background.sd, 0.01)) for hit in hits]
            for path, hits in near.items()
        }

    def _heard(self, call: Callable[[], T]) -> T | None:
        """The vectors' answer; None where their files are removed meanwhile: the words answer, with a notice."""
        try:
            return call()
        except VaultError as fault:
            self._missing.append(f"no embeddings: {fault.marked}")
            return None


def ask(vault: Context, ways: Sequence[str], weights: Weights, until: float) -> tuple[VectorScores | None, tuple[str, ...]]:
    """The vectors' answer to a question (in one or several ways to put it), or None with the reason, and what they lack.

    Embeds what was written just now first, and waits for all of it `until` then, by the monotonic clock.
    """
    if not vault.embedding.has_vectors or vault.embedding.vectors.embedder is None:
        return None, ("no embeddings",)
    vectors = vault.embedding.vectors
    try:
        behind = catch_up_briefly(vault, until)
        if not vectors.ready:
            others = f"the files of {vectors.outdated} are others now, " if vectors.outdated else ""
            return None, (f"no embeddings: {others}{counted(behind, 'note')} to embed; {step('embed')}",)
        asked = VectorScores(vault, vectors.similarities(vectors.query(*ways, seconds=until - time.monotonic())), weights)
    except VaultError as fault:
        if vectors.model_being_filled:
            pending = f"those of {vectors.model_being_filled} are not made yet: {step('embed')}"
            return None, (f"no embeddings: {pending} (meanwhile {vectors.model} was asked: {fault.message})",)
        return None, (f"no embeddings: {fault.marked}",)
    return asked, waiting(behind, vectors)


def waiting(behind: int, vectors: Vectors) -> tuple[str, ...]:
    """The notice of an answer while so many notes are not embedded, or not for every perspective."""
    late = vectors.incomplete_perspectives() if behind else ()
    by = f" by the perspective{'s' if len(late) > 1 else ''} {', '.join(late)}" if late else ""
    return (f"not embedded yet{by}: {counted(behind, 'note')}",) if behind else ()


def stand_in(vectors: Vectors) -> tuple[str, ...]:
    """The notice of an answer whose best were proposed by Chroma, which may miss some, or by the exact store in its place."""
    if not vectors.approximate:
        return ()
    if vectors.fault:
        return (f"exact search instead of {vectors.store}: {vectors.fault}",)
    return (f"approximate ({vectors.store})",)


def degraded_reasons(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The reasons of several vaults, each said once."""
    return tuple(dict.fromkeys(reason for reasons_of in several for reason in reasons_of))


def _scale(known: Background, count: int, mean: float, deviation: float) -> tuple[float, float]:
    """Mean and deviation to measure cosines by: the question's own, with what is known of unrelated texts in a small vault."""
    share = count / (count + _SMALL)
    middle = share * mean + (1 - share) * known.mean
    spread = sqrt(share * deviation**2 + (1 - share) * known.sd**2)
    return middle, max(spread, 0.02)
