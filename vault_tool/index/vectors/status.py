"""How a vault stands by meaning, as values."""

from __future__ import annotations

from collections.abc import Mapping

from vault_tool.index.vectors.vector_ledger import Refusal
from vault_tool.util.structs import Struct


class SetStatus(Struct, kw_only=True):
    """One model's vectors on disk; `serving` says whether they answer now."""

    model: str
    dimensions: int
    bytes: int
    serving: bool


class VectorStatus(Struct, kw_only=True):
    """How a vault stands by meaning: who answers, with which perspectives, what is missing and what it all costs on disk."""

    store: str
    approximate: bool
    model: str
    dimensions: int
    perspectives: tuple[str, ...]
    coverage: Mapping[str, int]
    """How many notes have all their vectors, by perspective."""
    notes: int
    behind: int
    refused: tuple[Refusal, ...]
    sets: tuple[SetStatus, ...]
    filling: str = ""
    outdated: str = ""
    """The model whose files became others under the same name, so that its vectors answer nothing and are made anew."""
    fault: str = ""
    mirror_behind: int = 0
    """How many notes Chroma, where it is to answer, does not have as they are (counted up to a few thousand)."""
    mirror_bytes: int = 0
