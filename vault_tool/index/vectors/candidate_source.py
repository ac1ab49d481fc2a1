"""Who proposes the best for a question where the exact store is not to look at every row itself: Chroma, if it can."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vault_tool.index.vectors.sets import Sets
from vault_tool.index.vectors.vector_store import StoreUnavailable, Vector, Where
from vault_tool.machine import EXACT
from vault_tool.util.deferred import deferred

if TYPE_CHECKING:
    from vault_tool.index.vectors import chroma, chroma_client
    from vault_tool.index.vectors.chroma import ChromaStore
else:
    chroma_client = deferred("vault_tool.index.vectors.chroma_client")  # 10 ms, for those who chose Chroma
    chroma = deferred("vault_tool.index.vectors.chroma")  # as above


class CandidateSource:
    """The store that a setting names, beside the set of vectors that answers now: `exact` proposes nothing."""

    def __init__(self, store: str, root: Path, cache: Path, sets: Sets, instructions: Mapping[str, str]) -> None:
        self.store = store
        self.fault = ""
        """Why it did not answer the last question; empty when all is well."""
        self._root = root
        self._cache = cache
        self._sets = sets
        self._instructions = instructions
        self._chroma: ChromaStore | None = None

    def close(self) -> None:
        """Let go of its files."""
        if self._chroma is not None:
            self._chroma.close()
            self._chroma = None

    @property
    def approximate(self) -> bool:
        """Whether the best may be missed."""
        return self.store != EXACT

    def equalise(self, seconds: float | None) -> int:
        """See `ChromaStore.equalise`; nothing where there is none."""
        store = self._asked()
        return store.equalise(seconds) if store is not None else 0

    def missing_count(self) -> int:
        """See `ChromaStore.behind`; 0 where there is none."""
        store = self._asked()
        return store.missing_count() if store is not None else 0

    def candidates(self, queries: Mapping[str, Vector], within: Where | None = None) -> Callable[[int], Collection[str]] | None:
        """What proposes the best so many files, or None where all are looked at. It raises StoreUnavailable, and notes why."""
        store = self._asked()
        if store is None:
            return None

        def propose(limit: int) -> Collection[str]:
            self.fault = ""
            try:
                return store.candidates(queries, limit, within)
            except StoreUnavailable as fault:
                self.fault = str(fault)
                raise

        return propose

    def _asked(self) -> chroma.ChromaStore | None:
        found = self._sets.found()
        if not self.approximate or found is None:
            return None
        if self._chroma is None or self._chroma.vectors is not found[0]:
            self.close()
            self._chroma = chroma.ChromaStore(
                chroma_client.home(self.store, self._root, self._cache), found[0], self._instructions
            )
        return self._chroma
