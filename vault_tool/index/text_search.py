"""Full-text search that is never behind: waiting changes are written first, or answered from beside the index."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from vault_tool.config import Config
from vault_tool.errors import Busy, StorageError
from vault_tool.index.catalog import Catalog
from vault_tool.index.fulltext import inverted_index
from vault_tool.index.fulltext.documents import NO_NAME_MATCH, NameMatch, SearchDocument, TextHit
from vault_tool.index.seals import IndexState, SealedFile, discard
from vault_tool.index.store import Replaced, Store
from vault_tool.util.native_errors import NoPanics

if TYPE_CHECKING:
    from vault_tool.index.fulltext.inverted_index import InvertedIndex

# Up to so many waiting changes are cheaper to answer for from beside the index than to write.
_FEW = 100

# Seconds to wait for another process's commit before answering beside the index.
_QUICK_WAIT = 0.1


# How much of a question is there is looked up where the words alone could pass for an answer: from this share on,
_TELLING = 0.15
# and for so many of the best.
_COVERED = 64

_HEAD_BYTES = 320
_LEAST_BYTES = 100


class TermMatch(NamedTuple):
    """The match of one file's words with a question: its score as a share of what a file with every word would have, and
    the part of the question's words that it has at all, where that was looked up; how nearly the question calls it; and how
    rare what it has is, as a multiple of the least by which that may be more than chance.
    """

    share: float
    covered: float | None = None
    called: NameMatch = NameMatch()
    rare: float = 0.0


@lru_cache(maxsize=8)
def _sealed(cache: Path, nonce: str) -> SealedFile:
    folder = cache / "lexical"
    return SealedFile(folder / nonce, folder / f"{nonce}.seal")


class Spoilt(Exception):
    """The full-text index cannot be trusted: it must be built anew."""


class TextSearch:
    """The full-text index that belongs to a catalogue's build."""

    def __init__(self, store: Store, config: Config) -> None:
        self._store = store
        self._config = config
        self._open: tuple[SealedFile, list[list[Any]], InvertedIndex] | None = None
        self._typical: tuple[str, float] | None = None
        self._held = False
        self._looked_at: Catalog | None = None

    @contextmanager
    def consistent_read(self) -> Iterator[None]:
        """Look at the catalogue and at the index once for all that is asked until the end."""
        self._held = True
        try:
            with self._store.consistent_read():
                yield
        finally:
            self._held, self._looked_at = False, None

    def close(self) -> None:
        """Let go of the files."""
        self._open = None

    def sealed(self, nonce: str) -> SealedFile:
        """The folder of one build's index, and its seal."""
        return _sealed(self._store.cache, nonce)

    def search(
        self,
        catalog: Catalog,
        text: str,
        limit: int,
        classes: Collection[str] | None,
        types: Collection[str] | None,
        near: bool = False,
        waiting: bool = False,
    ) -> list[TextHit]:
        """The best files for a person's text as of the last refresh. Raises Spoilt when the index must be built anew."""
        # In this order: what another process commits between the two is in the index by the time it is opened.
        pending = catalog.pending() if waiting else {}
        beside = pending if waiting and len(pending) <= _FEW else self.caught_up(catalog)
        with self._distrusting(catalog):
            return self._index(catalog).search(text, limit, classes, types, beside, near=near)

    def term_match(
        self, catalog: Catalog, text: str, limit: int, classes: Collection[str], whole: str = ""
    ) -> dict[str, TermMatch]:
        """How the words of the best files stand to a question, best first. Raises Spoilt as `search` does.

        `whole` is the question with the words that frame it, which are not looked for.
        """
        beside = self.caught_up(catalog)
        with self._distrusting(catalog):
            index = self._index(catalog)
            hits = index.search(text, limit, classes, None, beside, near=True)
            # As a share of what a text with every word would score, short and long questions are judged alike.
            weights = index.weights(text)
            attainable = sum(weights.values()) or 1.0
            shares = {hit.path: hit.score / attainable for hit in hits}
            telling = [path for path, share in shares.items() if share >= _TELLING][:_COVERED]
            covered = index.coverage(weights, telling, beside)
            called = index.called(text, whole, list(shares)[:_COVERED], beside)
            rarity = attainable / log(max(2, index.count))
        return {
            path: TermMatch(share, coverage := covered.get(path), called.get(path, NO_NAME_MATCH), rarity * (coverage or 0.0))
            for path, share in shares.items()
        }

    def shared(self, catalog: Catalog, text: str, others: Sequence[str]) -> tuple[int, list[int]]:
        """How many words of a question are looked for, and how many of them each of these texts has; Spoilt as `search`."""
        with self._distrusting(catalog):
            return self._index(catalog).shared(text, others)

    def mentioned(
        self, catalog: Catalog, sentences: Sequence[Mapping[str, float]], limit: int, classes: Collection[str],
        among: Collection[str] | None = None,
    ) -> dict[str, float]:  # fmt: skip
        """The likeness of files to the sentences of a conversation, beyond chance. Raises Spoilt as `search` does."""
        beside = self.caught_up(catalog)
        with self._distrusting(catalog):
            return self._index(catalog).mentioned(sentences, limit, classes, partial(self._longer, catalog), beside, among)

    def _longer(self, catalog: Catalog, paths: Collection[str]) -> dict[str, float]:
        """By what logarithm these files are longer than files are here on average; 0 for one that is not."""
        build = catalog.meta("nonce")
        if self._typical is None or self._typical[0] != build:
            self._typical = build, max(_LEAST_BYTES, catalog.mean_size() - _HEAD_BYTES)
        _, typical = self._typical
        entries = catalog.cached_by_paths(paths).values()
        return {entry.path: max(0.0, log(max(1, entry.size - _HEAD_BYTES) / typical)) for entry in entries}

    def usable(self, catalog: Catalog) -> bool:
        """Whether the index of this build can be trusted; the caller holds the build lock."""
        try:
            self._index(catalog, locked=True)
        except Spoilt:
            return False
        return True

    def caught_up(self, catalog: Catalog) -> Mapping[str, SearchDocument | None]:
        """Write the waiting changes; returns those that must be answered beside it, because another process is at it."""
        pending = catalog.pending()
        if not pending:
            return pending
        try:
            with self._store.building(_QUICK_WAIT):
                self._commit(catalog)
        except (Busy, Replaced, StorageError):
            return pending
        return {}

    def _commit(self, catalog: Catalog) -> None:
        nonce, seq = catalog.nonce, catalog.seq()
        sealed, index = self.sealed(nonce), self._index(catalog, locked=True)
        with self._distrusting(catalog), sealed.writing(nonce):
            index.apply(catalog.pending())
        self._open = sealed, sealed.fingerprint(), index
        # Only now: a crash before this writes the same documents once more, which changes nothing.
        with self._store.writing(catalog), catalog.transaction():
            catalog.connection.execute("DELETE FROM lexical_pending WHERE seq <= ?", (int(seq),))

    @contextmanager
    def _distrusting(self, catalog: Catalog) -> Iterator[None]:
        """Break the seal and raise Spoilt where the index turns out to be none: parts of it are read when first asked."""
        try:
            with NoPanics():
                yield
        except (OSError, ValueError) as fault:
            self._open = None
            discard(self.sealed(catalog.nonce).seal)
            raise Spoilt from fault

    def _index(self, catalog: Catalog, locked: bool = False) -> InvertedIndex:
        """The open index, as it was last committed by whatever process."""
        if self._open is not None and self._looked_at is catalog:
            return self._open[2]
        self._looked_at = catalog if self._held else None
        nonce = catalog.nonce
        sealed = self.sealed(nonce)
        now = sealed.fingerprint()
        state = sealed.state(nonce, now)
        if self._open is not None and self._open[0] == sealed and self._open[1] == now and state is IndexState.INTACT:
            return self._open[2]
        if state is IndexState.SPOILT and not locked:
            state = self._looked_again(sealed, nonce)
        self._open = None
        try:
            index = inverted_index.InvertedIndex(sealed.path, self._config.language)
        except (OSError, ValueError) as fault:
            raise Spoilt from fault
        if state is IndexState.SPOILT or (state is IndexState.INTERRUPTED and not self._adds_up(catalog, index)):
            raise Spoilt
        self._open = sealed, now, index
        return index

    def _looked_again(self, sealed: SealedFile, nonce: str) -> IndexState:
        """The state without a writer at work: an index that looks spoilt may be between a write and its seal."""
        with suppress(Busy, StorageError), self._store.building(_QUICK_WAIT):
            return sealed.state(nonce)
        return sealed.state(nonce)

    def _adds_up(self, catalog: Catalog, index: InvertedIndex) -> bool:
        """Whether an index that a crash interrupted holds all documents but those that still wait."""
        counts = catalog.counts()
        return abs(index.count - counts.documents) <= len(catalog.pending())
