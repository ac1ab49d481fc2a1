"""`search_observations`: within the evidence on some subjects, by words or by meaning."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from vault_tool.errors import UsageError, VaultError
from vault_tool.index.visibility import visible
from vault_tool.model.details import Details
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.question import without_framing
from vault_tool.util.text import one_line
from vault_tool.vault import resolve
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.perhaps_changed import newer_first
from vault_tool.vault.request import Answer, looks, verb
from vault_tool.vault.retrieval.vector_scores import stand_in, waiting
from vault_tool.vault.statuses import statuses
from vault_tool.vault.vector_upkeep import catch_up_briefly
from vault_tool.vault.viewer import request_of

MODES = ("text", "embedding")


class _Ranked(Protocol):
    """A hit of any index."""

    @property
    def path(self) -> str:
        """The file that was hit."""


_Hit = TypeVar("_Hit", bound=_Ranked)


class FoundObservation(HasStatus, kw_only=True):
    """One observation; `score` is a BM25 weight by words and a cosine by meaning, comparable within one answer."""

    id: str
    content: str
    details: Details
    title: str
    subjects: tuple[str, ...]
    type: str
    score: float
    matched_perspective: str | None
    observed: str
    confidence: float
    created: str
    origin: str
    path: str


class FoundObservations(Answer, kw_only=True):
    """The answer of `search_observations`; `mode` is how it was searched in the end."""

    stands_before = "degraded"

    query: str
    mode: str
    results: tuple[FoundObservation, ...]
    degraded: tuple[str, ...] = ()
    notice: str = HYPOTHESIS_NOTICE


@verb
@looks
def search_observations(
    vault: Context, subject_names: Sequence[str], query: str, *, mode: str = "text", limit: int = 10
) -> FoundObservations:
    """The observations tagged with all of the subjects that fit `query`, best first; without subjects, of the whole vault.

    `mode` is `text` (words, "phrases", prefix*) or `embedding` (meaning); where nothing is embedded the words decide,
    and `degraded` says so. Expired observations are left out.
    """
    if mode not in MODES:
        raise UsageError(f"`{one_line(mode, 40)}` is no mode of search", "the modes are text and embedding")
    if not query.strip():
        raise UsageError("there is nothing to search for: the query is empty", "give a few words")
    allowed = _tagged(vault, subject_names)
    by_meaning, degraded = _by_meaning(vault, query, limit, allowed) if mode == "embedding" else (None, ())
    results = _after_their_changes(vault, _by_words(vault, query, limit, allowed) if by_meaning is None else by_meaning)[:limit]
    used = "text" if by_meaning is None else "embedding"
    return FoundObservations(query=query, mode=used, results=tuple(results), degraded=degraded)


def _after_their_changes(vault: Context, results: Sequence[FoundObservation]) -> list[FoundObservation]:
    """The results, each after what overtook it."""
    by_id = {result.id: result for result in results}
    placed: dict[str, FoundObservation] = {}
    for result in results:
        for newer in result.status_by[:1] if result.status == "overtaken" else ():
            change = next(iter(_current(vault, vault.index.catalog.get(newer)).values()), None)
            if newer in by_id:
                placed.setdefault(newer, by_id[newer])
            elif change is not None:
                placed.setdefault(newer, *_told(vault, [(change, result.score, None)]))
        placed.setdefault(result.id, result)
    return newer_first(placed.values())


def _tagged(vault: Context, subject_names: Sequence[str]) -> dict[str, Entry] | None:
    """The observations to search, by path; None for all of them, which are too many to be read for one answer."""
    named = [subject_names] if isinstance(subject_names, str) else subject_names
    groups = [resolve.names_for(vault, resolve.existing_subject(vault, name).title) for name in named]
    return _current(vault, vault.index.catalog.tagged(groups)) if groups else None


def _current(vault: Context, entries: Iterable[Entry]) -> dict[str, Entry]:
    """The observations among these that have not expired, by path."""
    request = request_of(vault)
    observations = (entry for entry in entries if entry.record_class is RecordClass.OBSERVATION)
    return {entry.path: entry for entry in observations if visible(entry, request, "observed") is None}


def _by_words(vault: Context, query: str, limit: int, allowed: dict[str, Entry] | None) -> list[FoundObservation]:
    """The best by full text, which ranks all observations."""
    kinds = (RecordClass.OBSERVATION.value,)
    matches = _first(vault, limit, allowed, lambda reach: vault.index.search(without_framing(query), reach, kinds))
    return _told(vault, [(entry, hit.score, None) for hit, entry in matches])


def _by_meaning(
    vault: Context, query: str, limit: int, allowed: dict[str, Entry] | None
) -> tuple[list[FoundObservation] | None, tuple[str, ...]]:
    """The best by vectors, or None and why they cannot answer."""
    if not vault.embedding.has_vectors:
        return None, ("no embeddings",)
    vectors = vault.embedding.vectors
    until = time.monotonic() + vault.settings.embedding_wait
    behind = catch_up_briefly(vault, until)
    if not vectors.ready:
        return None, ("no embeddings",)
    within = None if allowed is None else allowed.keys()
    try:
        near = vectors.similarities(vectors.query(query, seconds=until - time.monotonic()))
        matches = _first(vault, limit, allowed, lambda reach: near.top(reach, within))
    except VaultError as fault:
        return None, (f"no embeddings: {one_line(fault.marked, 120)}",)
    reasons = (*waiting(behind, vectors), *stand_in(vectors))
    return _told(vault, [(entry, hit.cosine, hit.perspective) for hit, entry in matches]), reasons


def _first(
    vault: Context, limit: int, allowed: dict[str, Entry] | None, ask: Callable[[int], Sequence[_Hit]]
) -> list[tuple[_Hit, Entry]]:
    """The first hits that may answer: what ranks everything is asked for more until there are enough."""
    reach = limit * 2 + 10
    while True:
        hits = ask(reach)
        entries = (
            _current(vault, vault.index.catalog.by_paths([hit.path for hit in hits]).values()) if allowed is None else allowed
        )
        matches = [(hit, entries[hit.path]) for hit in hits if hit.path in entries]
        if len(matches) >= limit or len(hits) < reach:
            return matches[:limit]
        reach *= 4


def _told(vault: Context, matches: Sequence[tuple[Entry, float, str | None]]) -> list[FoundObservation]:
    """Observations with their scores, and from which angle they fit, as they are answered."""
    known = statuses(vault, [entry for entry, _, _ in matches])
    return [_found(vault, entry, known[entry.path], score, perspective) for entry, score, perspective in matches]


def _found(vault: Context, entry: Entry, status: HasStatus, score: float, perspective: str | None) -> FoundObservation:
    return Memory(vault, entry, status).told(FoundObservation, score=round(score, 4), matched_perspective=perspective)
