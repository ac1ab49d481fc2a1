"""The usual cosine of two unrelated texts of this vault: the scale against which a match stands out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from vault_tool.index.vectors.hits import Background, Matrix
from vault_tool.index.vectors.vector_set import VectorSet
from vault_tool.util.deferred import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


# Texts that are compared with each other; 300,000 pairs pin the 99.9th percentile to about 0.003.
SAMPLE = 800

# A partition is measured again when it has grown or shrunk by so much.
_GROWN = 0.1

# Texts below which a vault is too small to say what unrelated is.
ENOUGH = 200

# Of known models, by the beginning of their names: MiniLM's and multilingual-e5-small's measured over conversations on many
# subjects, 1.1 million pairs and .6 million; the others estimated from the range that their vectors are known to keep to, on the
# strict side.
SHIPPED = {
    "all-minilm": Background(0.14, 0.13, 0.32, 0.52, 0.70, 0),
    "multilingual-e5": Background(0.77, 0.02, 0.87, 0.91, 0.94, 0),
    "nomic-embed-text": Background(0.50, 0.09, 0.62, 0.74, 0.82, 0),
    "text-embedding-3-small": Background(0.20, 0.12, 0.35, 0.52, 0.66, 0),
}

# For a model that nobody measured: so strict that only what is near the same text counts, until the vault itself can say.
UNKNOWN = Background(0.55, 0.10, 0.68, 0.80, 0.88, 0)


def shipped(model: str) -> Background:
    """The default measures of a model (`provider:name`) before the vault has its own."""
    name = model.partition(":")[2].lower() or model.lower()
    return next((known for start, known in SHIPPED.items() if name.startswith(start)), UNKNOWN)


def measured(vectors: Matrix, owners: Sequence[object]) -> Background | None:
    """The background of a sample: every pair whose owners differ. None for too small a sample."""
    if len(vectors) < ENOUGH:
        return None
    cosines = vectors @ vectors.T
    codes = {owner: number for number, owner in enumerate(dict.fromkeys(owners))}
    whose = np.array([codes[owner] for owner in owners])
    apart = np.triu(whose[:, None] != whose[None, :], 1)
    pairs = cosines[apart].astype(np.float64)
    if not len(pairs):
        return None
    q90, q99, q999 = (float(q) for q in np.quantile(pairs, [0.9, 0.99, 0.999]))
    return Background(float(pairs.mean()), float(pairs.std()), q90, q99, q999, len(pairs))


def calibrate(vectors: VectorSet) -> None:
    """Measure the background of each partition that has grown enough since it was measured last."""
    for instruction, partition in vectors.ledger().partitions().items():
        known = vectors.ledger().meta(f"measured {partition.number}")
        if known and abs(partition.rows - int(known)) <= _GROWN * int(known):
            continue
        view = vectors.view(instruction)
        if view is None or partition.rows < ENOUGH:
            continue
        sample = [(key, row) for key, row in vectors.ledger().sample(partition.number, SAMPLE) if row < len(view.rows)]
        owners = vectors.ledger().owners([key for key, _ in sample])
        whose = [min(owners.get(key, [("", 0)]))[0] for key, _ in sample]
        measures = measured(view.rows.vectors[[row for _, row in sample]], whose)
        with vectors.writing() as ledger, ledger.transaction():
            ledger.put_partition(replace(ledger.partition(instruction), background=measures))
            ledger.say(**{f"measured {partition.number}": str(partition.rows)})
