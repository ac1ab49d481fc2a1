"""What answers a question by meaning: hits, filters, and the interface that every store of vectors has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from vault_tool.errors import Exit, VaultError

if TYPE_CHECKING:
    import numpy

# One text as the model sees it: normalised, so that a product is a cosine.
Vector: TypeAlias = "numpy.ndarray[Any, numpy.dtype[numpy.float32]]"

# Several vectors, one a row.
Matrix: TypeAlias = "numpy.ndarray[Any, numpy.dtype[numpy.float32]]"

# The perspective without an instruction, which every model has.
GENERAL = "general"


class VectorHit(NamedTuple):
    """One file by its best passage (counted from 0) and perspective; `cosine` is from -1 to 1."""

    path: str
    cosine: float
    perspective: str = GENERAL
    passage: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """What a hit must be; an empty part asks nothing. Subjects are normalised names, of which any will do.

    `since` and `until` are times as records write them; a note has the time it was observed, else that it was created.
    """

    classes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    subjects: tuple[str, ...] = ()
    project: str = ""
    since: str = ""
    until: str = ""

    def __bool__(self) -> bool:
        return any((self.classes, self.types, self.subjects, self.project, self.since, self.until))


class VectorStore(Protocol):
    """Where vectors are searched. Raises StoreUnavailable when it cannot answer now."""

    @property
    def name(self) -> str:
        """`exact`, `chroma` or the address of a server."""

    @property
    def approximate(self) -> bool:
        """Whether the best may be missed."""

    def search(self, queries: Mapping[str, Vector], limit: int, within: Where | None = None) -> list[VectorHit]:
        """The best files over all perspectives asked and all passages, best first, each once."""


class StoreUnavailable(VaultError):
    """This store cannot answer now, for the reason it says; another can."""

    exit_code = Exit.IO


@dataclass(frozen=True, slots=True)
class Background:
    """The cosine that two unrelated texts of a vault have: what a match must stand out from.

    Quantiles are of the same pairs; `n` counts them, 0 where the numbers are not of this vault but a model's own.
    """

    mean: float
    sd: float
    q90: float
    q99: float
    q999: float
    n: int
