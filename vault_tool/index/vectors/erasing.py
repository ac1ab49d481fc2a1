"""Erasing notes from every set of vectors at once, where a retired text is otherwise kept for a while in case it comes back."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from vault_tool.index.seals import discard
from vault_tool.index.vectors import vector_set
from vault_tool.index.vectors.vector_set import VectorSet


def erase(cache: Path, paths: Collection[str], wait: float) -> None:
    """Erase these notes, and all texts that no note has any more, from the sets of all models.

    Chroma's copy below `cache` is removed whole: it is made again from the sets. Raises Busy and StorageError.
    """
    for folder, model, dimensions in vector_set.folders(cache):
        vectors = VectorSet(folder, model, dimensions, wait)
        try:
            with vectors.writing() as ledger, ledger.transaction():
                ledger.drop_notes(paths, 0.0)
                # It names the last note that was looked at; without it all are compared once more.
                ledger.say(mark="")
            dropped = frozenset(key for key, _ in vectors.ledger().retired())
            for instruction in vectors.ledger().partitions() if dropped else ():
                vectors.compact(instruction, dropped)
            with vectors.writing() as ledger, ledger.transaction():
                ledger.forget_keys(dropped)
        finally:
            vectors.close()
    for copy in cache.glob("chroma*"):
        discard(copy)
