"""Many texts in batches: invalid vectors are refused one by one, and a bad batch is halved until the bad text is alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence, Sized
from typing import TYPE_CHECKING, TypeAlias

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.embedder import Embedded
from vault_tool.util.deferred import numpy as np
from vault_tool.util.text import one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

Numbers: TypeAlias = Sequence[float]
# One call to a provider: vectors in order, BadBatch where a text may be at fault, else EmbeddingUnavailable.
Ask: TypeAlias = Callable[[Sequence[str]], Sequence[Numbers]]

# Texts refused, with none done in between, after which the provider is asked whether it does any text at all.
GIVE_UP = 6

# A text that every model does: where it is refused, the provider is at fault and not the texts.
PLAIN = "water"


# No vector is wider: what a server sends is not to fill the memory or the disk.
MOST_DIMENSIONS = 16_384

_NOTHING = 1e-12


class BadBatch(Exception):
    """The provider could not do these texts together; the sentence says why, as it put it."""


def in_batches(texts: Sequence[str], ask: Ask, size: int, dimensions: int | None, who: str) -> Embedded:
    """A unit vector a text, asked for `size` at a time. A text without a usable vector is refused with its reason.

    `dimensions` is what a vector must have, or None to believe the first batch. At most two calls a text are made.
    Raises EmbeddingUnavailable when the provider does, or when nothing it says is of use.
    """
    work = _Work(ask, dimensions, who)
    for start in range(0, len(texts), size):
        work.do(texts[start : start + size], start)
    return work.embedded(len(texts))


class _Work:
    """The vectors that have come in so far."""

    def __init__(self, ask: Ask, dimensions: int | None, who: str) -> None:
        self._ask = ask
        self._dimensions = dimensions
        self._who = who
        self._rows: dict[int, NDArray[np.float32]] = {}
        self._refused: dict[int, str] = {}
        self._in_a_row = 0

    def do(self, texts: Sequence[str], start: int) -> None:
        try:
            rows = self._answered(texts)
        except BadBatch as fault:
            self._halve(texts, start, one_line(str(fault), 120))
            return
        if self._dimensions is None:
            self._dimensions = _usual_size(rows)
            if self._dimensions is not None and self._dimensions > MOST_DIMENSIONS:
                raise EmbeddingUnavailable(f"{self._who} makes vectors of {self._dimensions:,} numbers", "choose another model")
        refused = [why for at, row in enumerate(rows, start) if (why := self._take(at, row))]
        self._fared(len(rows) - len(refused), refused)

    def _answered(self, texts: Sequence[str]) -> Sequence[Numbers]:
        rows = self._ask(texts)
        if len(rows) != len(texts) or not all(isinstance(row, Sized) for row in rows):
            raise BadBatch(f"{sum(isinstance(row, Sized) for row in rows)} vectors came for {len(texts)} texts")
        return rows

    def _halve(self, texts: Sequence[str], start: int, reason: str) -> None:
        if len(texts) > 1:
            middle = len(texts) // 2
            self.do(texts[:middle], start)
            self.do(texts[middle:], start + middle)
            return
        self._refused[start] = reason
        self._fared(0, [reason])

    def _take(self, at: int, row: Numbers) -> str:
        """Keep a row; why it is none, or nothing."""
        unit = _unit(row, self._dimensions)
        if isinstance(unit, str):
            self._refused[at] = unit
            return unit
        self._rows[at] = unit
        return ""

    def _fared(self, good: int, refused: Sequence[str]) -> None:
        self._in_a_row = 0 if good else self._in_a_row + len(refused)
        if self._in_a_row >= GIVE_UP:
            self._doubt(refused[-1])

    def _doubt(self, reason: str) -> None:
        """Go on if a plain text is done well: then it is the texts that cannot be done. EmbeddingUnavailable if it is not."""
        try:
            done = not isinstance(_unit(self._answered([PLAIN])[0], self._dimensions), str)
        except BadBatch:
            done = False
        if not done:
            raise EmbeddingUnavailable(f"{self._who} does no text: {reason}", "see its own log; notes are caught up later")
        self._in_a_row = 0

    def embedded(self, count: int) -> Embedded:
        if self._in_a_row and not self._rows:
            self._doubt(self._refused[max(self._refused)])
        vectors = np.zeros((count, self._dimensions or 0), np.float32)
        for at, row in self._rows.items():
            vectors[at] = row
        return Embedded(vectors, self._refused)


def _usual_size(rows: Sequence[Numbers]) -> int | None:
    """The size that most vectors have: one short one is the exception, also where it comes first."""
    sizes = Counter(len(row) for row in rows if len(row))
    return sizes.most_common(1)[0][0] if sizes else None


def _unit(row: Numbers, dimensions: int | None) -> NDArray[np.float32] | str:
    """The row at length 1, or why it is no vector."""
    if not len(row):
        return "the vector is empty"
    if len(row) != (dimensions or len(row)):
        return f"the vector has {len(row)} numbers where {dimensions} belong"
    try:
        numbers = np.asarray(row, np.float64)
    except (TypeError, ValueError, OverflowError):
        return "the vector holds what is no number"
    if numbers.ndim != 1:
        return "the vector holds what is no number"
    if not np.isfinite(numbers).all():
        return "the vector holds a NaN or an infinity"
    largest = np.abs(numbers).max()
    if largest < _NOTHING:
        return "the vector has no direction"
    numbers /= largest  # or squares of huge numbers would overflow
    unit: NDArray[np.float32] = (numbers / np.linalg.norm(numbers)).astype(np.float32)
    return unit
