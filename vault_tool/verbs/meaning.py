"""What vectors say of a question, as far as there are any: on one scale for every model, and degraded with a reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from vault_tool.errors import Busy, EmbeddingUnavailable, StorageError
from vault_tool.recall.weights import Weights
from vault_tool.verbs.context import Context

if TYPE_CHECKING:
    from vault_tool.index.vectors.exact import Similarities

CATCH_UP_SECONDS = 0.3
"""How long an answer may embed what was written just before; the rest is counted as behind."""

_SMALL = 50.0
"""So many texts' worth of what is known of the model stands beside a small vault's own spread."""


@dataclass(frozen=True, slots=True)
class Likeness:
    """How near one memory is: standard deviations above what the question has in common with any text."""

    value: float
    perspective: str


class Meaning:
    """One question asked of one vault's vectors."""

    def __init__(self, vault: Context, found: Similarities, weights: Weights) -> None:
        self._vault = vault
        self._found = found
        self._weights = weights
        self._scales = {
            perspective: _scale(vault, perspective, *numbers) for perspective, numbers in found.spread().items() if numbers[0]
        }

    def top(self, limit: int) -> list[str]:
        """The paths that are nearest, best first."""
        return [hit.path for hit in self._found.top(limit)]

    def of(self, paths: Collection[str]) -> dict[str, Likeness]:
        """How near each of these is, in its best perspective; those without vectors are left out."""
        found: dict[str, Likeness] = {}
        for path, perspective, cosines in self._found.passages(paths):
            mean, deviation = self._scales[perspective]
            value = (self._blended(cosines) - mean) / deviation
            if path not in found or value > found[path].value:
                found[path] = Likeness(value, perspective)
        return found

    def _blended(self, cosines: Mapping[int, float]) -> float:
        """Of a long text its head, all of it, and its best passage, each for its part."""
        values = cosines.values()
        best, whole = max(values), sum(values) / len(cosines)
        weights = self._weights
        return weights.head * cosines.get(0, whole) + weights.passage * best + (1 - weights.head - weights.passage) * whole

    def nearest(self, paths: Collection[str], limit: int) -> dict[str, list[tuple[str, float]]]:
        """For each of these the nearest others, with standard deviations above what unrelated texts have in common."""
        background = self._vault.vectors.background()
        near = self._vault.vectors.nearest_of(paths, limit)
        return {
            path: [(hit.path, (hit.cosine - background.mean) / max(background.sd, 0.01)) for hit in hits]
            for path, hits in near.items()
        }


def ask(vault: Context, text: str, weights: Weights) -> tuple[Meaning | None, tuple[str, ...]]:
    """The vectors' answer, or None with the reason, and what they lack. Embeds what was written just now first."""
    vectors = vault.vectors
    if vectors.embedder is None:
        return None, ("no embeddings",)
    from vault_tool.index.vectors.port import StoreUnavailable  # only where there is an embedder

    try:
        behind = vectors.behind()
        if behind and (vectors.stored or behind <= _FEW) and not vectors.embedder.remote:
            vectors.catch_up(seconds=CATCH_UP_SECONDS)
            behind = vectors.behind()
        if not vectors.ready:
            return None, (f"no embeddings: {behind} notes wait for `vt embed`",)
        found = vectors.similarities(vectors.query(text))
    except (EmbeddingUnavailable, StoreUnavailable, StorageError, Busy) as fault:
        return None, (f"no embeddings: {fault}",)
    return Meaning(vault, found, weights), ((f"{behind} notes are not embedded yet",) if behind else ())


_FEW = 50
"""A vault of so few notes is embedded by its first question."""


def reasons(several: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The reasons of several vaults, each said once."""
    return tuple(dict.fromkeys(reason for some in several for reason in some))


def _scale(vault: Context, perspective: str, count: int, mean: float, deviation: float) -> tuple[float, float]:
    """Mean and deviation to measure cosines by: the question's own, with what is known of unrelated texts in a small vault."""
    known = vault.vectors.background(perspective)
    share = count / (count + _SMALL)
    middle = share * mean + (1 - share) * known.mean
    spread = sqrt(share * deviation**2 + (1 - share) * known.sd**2)
    return middle, max(spread, 0.02)
