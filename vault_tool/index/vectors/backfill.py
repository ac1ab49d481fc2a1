"""Embedding what is not embedded yet: batch by batch, each kept before the next, refused texts tried again after a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.files import secrets
from vault_tool.index.embedding.embedder import Embedder, Role
from vault_tool.index.vectors import sets
from vault_tool.index.vectors.passages import FEW, Notes
from vault_tool.index.vectors.vector_set import VectorSet
from vault_tool.util.deferred import numpy as np
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from vault_tool.index.vectors.hits import Matrix

# Texts a call, and the most that a kill can cost.
BATCH = 50

_AHEAD = 5000

# Called with how many texts are done and how many there are.
Progress = Callable[[int, int], None]


class CaughtUp(Struct, kw_only=True):
    """The result of embedding: texts embedded and refused now, notes still behind, and why it ended early (empty: it did not).

    `busy` says that it ended because another process is at it.
    """

    embedded: int = 0
    refused: int = 0
    behind: int = 0
    stopped: str = ""
    busy: bool = False

    @property
    def whole(self) -> bool:
        """Whether every note has its vectors, those with refused texts aside."""
        return not self.behind and not self.stopped


class Bounds(Struct):
    """How many texts to embed (None: all), until when to begin with more, and until when a caller waits (None: none waits)."""

    texts: int | None = None
    until: float = inf
    waited: float | None = None

    def left(self) -> float | None:
        """The seconds that the caller still waits."""
        return None if self.waited is None else self.waited - time.monotonic()


class DimensionChanged(Exception):
    """The model makes vectors of another length than those that there are."""

    def __init__(self, dimensions: int) -> None:
        super().__init__(dimensions)
        self.dimensions = dimensions


class ModelChanged(Exception):
    """The model's files became others under the same name, so that their vectors belong to another set."""


class Backfill:
    """One go at filling the partitions of a set, within bounds."""

    def __init__(self, vectors: VectorSet, embedder: Embedder, notes: Notes, bounds: Bounds, now: float) -> None:
        self._set = vectors
        self._embedder = embedder
        self._notes = notes
        self._left = bounds.texts
        self._bounds = bounds
        self._now = now
        self._state = ""
        """The files of the model that are known to have made this set."""
        self._with_secrets: set[bytes] = set()
        self.embedded = 0
        self.refused = 0

    def fill(self, instructions: Collection[str], progress: Progress | None, *, again: bool) -> bool:
        """Embed what the partition of each instruction wants; whether nothing is left. `again`: all refused texts are tried now.

        Raises EmbeddingUnavailable, DimensionChanged and ModelChanged.
        """
        self._set.want(instructions)
        most = self._bounds.texts
        unread = self._notes.noted(self._set, self._embedder.window, None if most is None else max(most, FEW))
        refused_last = self._set.ledger().doubted
        self._retry_refused(at_once=again)
        ledger = self._set.ledger()
        total = self.embedded + sum(ledger.count_wanted(ledger.partition(instruction).number) for instruction in instructions)

        def done(count: int) -> None:
            if progress is not None:
                progress(count, max(total, count))

        whole = all(self._fill(instruction, done) for instruction in instructions)
        if refused_last and not again and self.embedded:
            # The model does texts again: what it refused last may have been its own fault.
            self._retry_refused(at_once=True)
            whole = all(self._fill(instruction, done) for instruction in instructions)
        return whole and not unread

    def _retry_refused(self, *, at_once: bool) -> None:
        """Have refused texts tried again, if it is time for it."""
        if self._set.ledger().refusals():
            with self._set.writing() as ledger, ledger.transaction():
                ledger.retry_refused(self._now, at_once=at_once)

    def _fill(self, instruction: str, done: Callable[[int], None]) -> bool:
        """Embed what one partition wants; false when it ended before that."""
        number = self._set.ledger().partition(instruction).number
        passed: set[bytes] = set()
        while True:
            pending = [row for row in self._set.ledger().wanted(number, _AHEAD) if row[0] not in passed]
            if not pending or not self._may_go_on():
                return not self._set.ledger().count_wanted(number)
            # A note is read whole: with its later passages among the wanted, it would bring these before others' first ones.
            pending = self._most_linked_first([row for row in pending if row[2] == 0] or pending)
            for batch in _in_batches(self._texts(pending), BATCH):
                if not self._may_go_on():
                    return False
                self._embed(instruction, number, dict(batch[: self._left] if self._left is not None else batch))
                done(self.embedded + self.refused)
            # What could not be read now is not asked for again in this go, or it would never end.
            passed.update(key for key, _, _ in pending)

    def _most_linked_first(self, pending: list[tuple[bytes, str, int]]) -> list[tuple[bytes, str, int]]:
        links = self._notes.links([path for _, path, _ in pending])
        return sorted(pending, key=lambda row: -links.get(row[1], 0)) if links else pending

    def _may_go_on(self) -> bool:
        return (self._left is None or self._left > 0) and time.monotonic() < self._bounds.until

    def _texts(self, pending: Sequence[tuple[bytes, str, int]]) -> Iterator[tuple[bytes, str]]:
        """The wanted texts; a note whose file says something else by now is left to the next comparison."""
        missing = {key for key, _, _ in pending}
        for texts in self._notes.texts(list(dict.fromkeys(path for _, path, _ in pending)), self._embedder.window):
            # The lines after the first of a private key look like nothing: what is told by one passage goes for all of a note.
            if any(self._secret(text) for text in texts.values()):
                self._with_secrets.update(texts)
            for key, text in texts.items():
                if key in missing:
                    missing.discard(key)
                    yield key, text
        if missing:
            with self._set.writing() as ledger, ledger.transaction():
                ledger.doubt({path for key, path, _ in pending if key in missing})

    def _embed(self, instruction: str, partition: int, texts: Mapping[bytes, str]) -> None:
        reasons = {key: "its note holds what looks like a secret" for key in texts if key in self._with_secrets}
        keys = [key for key in texts if key not in reasons]
        if keys:
            done = self._embedder.embed([texts[key] for key in keys], Role.DOCUMENT, instruction, self._bounds.left())
            if len(done.vectors) != len(keys):
                raise EmbeddingUnavailable(f"{self._embedder.name} gave {len(done.vectors)} vectors for {len(keys)} texts")
            if done.state and done.state != self._state:
                if not sets.fits(self._set.folder, self._embedder):
                    raise ModelChanged
                self._state = done.state
            good = [n for n in range(len(keys)) if n not in done.refused]
            reasons |= {keys[n]: why for n, why in done.refused.items()}
            if good and done.vectors.shape[1] != self._set.dimensions:
                raise DimensionChanged(int(done.vectors.shape[1]))
            bad = _not_unit(done.vectors, good)
            reasons |= {keys[n]: "its vector is no direction" for n in bad}
            good = [n for n in good if n not in bad]
            if good:
                self.embedded += self._set.add(instruction, [keys[n] for n in good], done.vectors[good])
        if reasons:
            self.refused += len(reasons)
            with self._set.writing() as ledger, ledger.transaction():
                ledger.refuse(partition, reasons, self._now)
        if self._left is not None:
            self._left -= len(texts)

    def _secret(self, text: str) -> bool:
        return self._embedder.remote and bool(secrets.scan(text))


def _not_unit(vectors: Matrix, good: Sequence[int]) -> set[int]:
    """Those of the rows that are no directions: one such vector would spoil every answer."""
    lengths = np.linalg.norm(vectors, axis=1) if len(good) else ()
    return {n for n in good if not 0.98 < float(lengths[n]) < 1.02}


def _in_batches(items: Iterator[tuple[bytes, str]], size: int) -> Iterator[list[tuple[bytes, str]]]:
    batch: list[tuple[bytes, str]] = []
    for item in items:
        batch.append(item)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
