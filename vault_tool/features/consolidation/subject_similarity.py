"""Similarity of subjects in meaning, by the vectors of their files; None where it is not measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vault_tool.index.relations import Region
from vault_tool.vault.context import Context
from vault_tool.vault.retrieval.vector_scores import waiting
from vault_tool.vault.vector_upkeep import catch_up_briefly

# The warning of an answer without similarities.
NO_EMBEDDINGS = "no embeddings: similarity is left out"

Pair = tuple[str, str]


def between(vault: Context, regions: Sequence[Region], others: Sequence[Region]) -> Mapping[Pair, float]:
    """The cosine (-1..1) between the summaries of subjects, by their keys; nothing for one without a file or a vector."""
    left = {region.entry.path: region.key for region in regions if region.entry}
    right = {region.entry.path: region.key for region in others if region.entry}
    if not (left and right and measures(vault)):
        return {}
    matrix = vault.embedding.vectors.between(list(left), list(right))
    cosines: dict[Pair, float] = {}
    for row, left_key in enumerate(left.values()):
        for column, theirs in enumerate(right.values()):
            value = float(matrix[row][column])
            if value != 0.0:
                cosines[left_key, theirs] = round(value, 4)
    return cosines


def prepared(vault: Context) -> tuple[str, ...]:
    """Embed what was written just now, and say of what an answer with similarities then falls short."""
    if not vault.embedding.has_vectors:
        return (NO_EMBEDDINGS,)
    behind = catch_up_briefly(vault)
    return waiting(behind, vault.embedding.vectors) if measures(vault) else (NO_EMBEDDINGS,)


def measures(vault: Context) -> bool:
    """Whether there are vectors to measure with."""
    return vault.embedding.has_vectors and vault.embedding.vectors.ready


def unusual(vault: Context) -> float:
    """The cosine that of a thousand pairs of unrelated texts here one has; what is nearer hardly is by chance."""
    return vault.embedding.vectors.background().q999 if measures(vault) else 1.0


def usual(vault: Context) -> float:
    """The cosine that one of ten pairs of unrelated texts here has: summaries are short, and what is nearer has to do with it."""
    return vault.embedding.vectors.background().q90 if measures(vault) else 0.0
