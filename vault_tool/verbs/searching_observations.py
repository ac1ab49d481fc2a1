"""`search_observations`: within the evidence on some subjects, by words or by meaning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_tool.errors import UsageError, VaultError
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import parse_time
from vault_tool.util.text import one_line
from vault_tool.verbs import resolve
from vault_tool.verbs.context import Context, Freshness
from vault_tool.verbs.look import EYES_FIRST, body_of
from vault_tool.verbs.parameters import require_limit

MODES = ("text", "embedding")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObservation:
    """One observation; `score` is a BM25 weight by words and a cosine by meaning, comparable within one answer."""

    id: str
    content: str
    title: str
    subject_names: tuple[str, ...]
    kind: str
    score: float
    matched_perspective: str | None
    observed_at: str
    created: str
    origin: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundObservations:
    """The answer of `search_observations`; `mode` is how it was searched in the end."""

    query: str
    mode: str
    results: tuple[FoundObservation, ...]
    freshness: Freshness
    degraded: tuple[str, ...] = ()
    notice: str = EYES_FIRST


def search_observations(
    vault: Context, subject_names: Sequence[str], query: str, *, mode: str = "text", limit: int = 10
) -> FoundObservations:
    """The observations tagged with all of the subjects that fit `query`, best first; without subjects, of the whole vault.

    `mode` is `text` (words, "phrases", prefix*) or `embedding` (meaning); where nothing is embedded the words decide,
    and `degraded` says so. Expired observations are left out.
    """
    require_limit(limit)
    if mode not in MODES:
        raise UsageError(f"`{one_line(mode, 40)}` is no mode of search", "the modes are text and embedding")
    if not query.strip():
        raise UsageError("there is nothing to search for: the query is empty", "give a few words")
    freshness = vault.fresh()
    allowed = _tagged(vault, subject_names)
    scores, degraded = _by_meaning(vault, query, limit, allowed) if mode == "embedding" else (None, ())
    by_meaning = scores is not None
    hits = scores if scores is not None else {path: (score, None) for path, score in _by_words(vault, query, limit, allowed)}
    results = tuple(_found(vault, allowed[path], *hit) for path, hit in hits.items())
    return FoundObservations(
        query=query, mode="embedding" if by_meaning else "text", results=results, freshness=freshness, degraded=degraded
    )


def _tagged(vault: Context, subject_names: Sequence[str]) -> dict[str, Entry]:
    """The observations to search, by path."""
    catalog, now = vault.index.catalog, vault.clock.now()
    named = [subject_names] if isinstance(subject_names, str) else subject_names
    groups = [resolve.names_for(vault, resolve.existing_subject(vault, name).title) for name in named]
    found = catalog.tagged(groups) if groups else catalog.of_class(RecordClass.OBSERVATION)
    ends = ((entry, parse_time(entry.text("expires"))) for entry in found if entry.record_class is RecordClass.OBSERVATION)
    return {entry.path: entry for entry, end in ends if end is None or end > now}


def _by_words(vault: Context, query: str, limit: int, allowed: dict[str, Entry]) -> Iterator[tuple[str, float]]:
    """The best by full text: the index ranks all observations, so it is asked for more until enough are allowed."""
    reach = limit * 2 + 10
    while True:
        hits = vault.index.search(query, reach, (RecordClass.OBSERVATION.value,))
        kept = [(hit.path, hit.score) for hit in hits if hit.path in allowed]
        if len(kept) >= limit or len(hits) < reach:
            yield from kept[:limit]
            return
        reach *= 4


def _by_meaning(
    vault: Context, query: str, limit: int, allowed: dict[str, Entry]
) -> tuple[dict[str, tuple[float, str | None]] | None, tuple[str, ...]]:
    """The best by vectors, or None and why they cannot answer."""
    from vault_tool.index.vectors.port import StoreUnavailable  # what compares meanings loads slowly

    vectors = vault.vectors
    if not vectors.ready:
        return None, ("no embeddings",)
    try:
        hits = vectors.similarities(vectors.query(query)).top(limit, allowed.keys())
    except (VaultError, StoreUnavailable) as fault:
        return None, (f"no embeddings: {one_line(str(fault), 120)}",)
    behind = vectors.behind()
    waiting = (f"{behind} {'note is' if behind == 1 else 'notes are'} not embedded yet",) if behind else ()
    return {hit.path: (hit.cosine, hit.perspective) for hit in hits}, waiting


def _found(vault: Context, entry: Entry, score: float, perspective: str | None) -> FoundObservation:
    return FoundObservation(
        id=entry.id,
        content=body_of(vault, entry),
        title=entry.title,
        subject_names=entry.subjects,
        kind=entry.type,
        score=round(score, 4),
        matched_perspective=perspective,
        observed_at=entry.text("observed") or entry.text("created"),
        created=entry.text("created"),
        origin=entry.text("origin") or "owner",
        path=entry.path,
    )
