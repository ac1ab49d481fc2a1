"""Values of a question by meaning: vectors, hits, and the likeness of unrelated texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from vault_tool.errors import Exit, VaultError
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    import numpy

# One text as the model sees it: normalised, so that a product is a cosine.
Vector: TypeAlias = "numpy.ndarray[Any, numpy.dtype[numpy.float32]]"

# Several vectors, one a row.
Matrix: TypeAlias = "numpy.ndarray[Any, numpy.dtype[numpy.float32]]"

# The perspective without an instruction, which every model has.
GENERAL = "general"

# Before the name that a forgotten note has at a server: no other name of it is kept until the server has deleted it.
GONE = "gone:"


class VectorHit(NamedTuple):
    """One file by its best passage (counted from 0) and perspective; `cosine` is from -1 to 1."""

    path: str
    cosine: float
    perspective: str = GENERAL
    passage: int = 0


class StoreUnavailable(VaultError):
    """This store cannot answer now, for the reason it says; another can."""

    exit_code = Exit.IO


class NoSuchCollection(StoreUnavailable):
    """A server answers, and has no collection of that name."""


class KnownDown(StoreUnavailable):
    """A server failed less than a minute ago, which was told then."""


class Background(Struct):
    """The cosine that two unrelated texts of a vault have: what a match must stand out from.

    Quantiles are of the same pairs; `n` counts them, 0 where the numbers are not of this vault but a model's own.
    """

    mean: float
    sd: float
    q90: float
    q99: float
    q999: float
    n: int
