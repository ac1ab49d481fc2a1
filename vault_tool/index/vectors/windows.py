"""How near each note is to the sentences of a conversation, and to each two of them that follow each other."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from vault_tool.index.vectors.vector_store import Background, Matrix, Vector
from vault_tool.util.deferred import deferred

if TYPE_CHECKING:
    import numpy as np

    from vault_tool.index.vectors.exact_search import Similarities
else:
    np = deferred("numpy")  # 0.2 s

# The least deviation that cosines are measured by.
_LEAST = 0.02


class Windows:
    """Of each note's first passage the deviations above what the sentence, or the pair, that it is nearest to has in common
    with any note. A small vault's own mean stands beside what is known of unrelated texts, worth `small` texts.
    """

    def __init__(self, found: Similarities, sentences: Matrix, known: Background, small: float) -> None:
        self._found = found
        self._numbers, vectors = found.first_passages()
        cosines = vectors @ sentences.T
        # A pair's vector is the mean of its two, so that its cosines follow from theirs.
        lengths = np.maximum(np.linalg.norm(sentences[:-1] + sentences[1:], axis=1), _LEAST)
        cosines = np.hstack([cosines, (cosines[:, :-1] + cosines[:, 1:]) / lengths])
        share = len(cosines) / (len(cosines) + small)
        mean = share * cosines.mean(axis=0) + (1 - share) * known.mean
        # What is foreign to a vault is far from all of it alike: by so narrow a spread something would always stand out.
        deviation = np.maximum(cosines.std(axis=0), max(known.sd, _LEAST))
        self._deviations: Vector = ((cosines - mean) / deviation).max(axis=1)

    def leading(self, limit: int) -> list[str]:
        """The paths of the nearest notes, best first."""
        return [hit.path for hit in self._found.best_of(self._numbers, self._deviations, limit)]

    def of(self, paths: Collection[str]) -> dict[str, float]:
        """The deviations of each of these notes whose first passage has a vector."""
        rows = self._found.head_rows(paths)
        at = np.searchsorted(self._numbers, list(rows.values()))
        return dict(zip(rows, self._deviations[at].tolist(), strict=True))
