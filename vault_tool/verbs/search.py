"""`search`: full text over the vault, best first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vault_tool.index.catalog import Page
from vault_tool.index.lexical import LexicalHit
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import parse_time
from vault_tool.util.text import normal_name
from vault_tool.verbs import resolve
from vault_tool.verbs.context import Context, Freshness
from vault_tool.verbs.look import EYES_FIRST
from vault_tool.verbs.parameters import require_limit

SEARCHED = (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING, RecordClass.SUBJECT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One result: `score` is the BM25 weight of the words found (comparable within one answer)."""

    id: str | None
    kind: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None
    matched_content: str
    score: float
    path: str
    created: str
    origin: str
    stale: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResults:
    """The answer of `search`."""

    query: str
    results: tuple[Found, ...]
    freshness: Freshness
    notice: str = EYES_FIRST


def search(
    vault: Context,
    query: str,
    limit: int = 10,
    *,
    kinds: Sequence[str] = (),
    subject_names: Sequence[str] = (),
    everything: bool = False,
) -> SearchResults:
    """Memories, subjects and pages with the words of `query`; `"in quotes"` is an exact phrase, `begin*` a prefix.

    `kinds` keeps some types or classes (`page` for pages), `subject_names` what is tagged with all of them.
    Superseded and expired memories are history, not answers: `everything` shows them too.
    """
    require_limit(limit)
    freshness = vault.fresh()
    wanted = {kind.casefold() for kind in kinds}
    subjects = [frozenset(resolve.names_for(vault, name)) for name in subject_names]
    found: list[Found] = []
    reach = limit * 2 + 10
    # Filters are applied to what the index ranks: reach further until enough pass or nothing more is there.
    while True:
        hits = vault.index.search(query, reach)
        found = list(_kept(vault, hits, wanted, subjects, everything))[:limit]
        if len(found) >= limit or len(hits) < reach:
            return SearchResults(query=query, results=tuple(found), freshness=freshness)
        reach *= 4


def _kept(
    vault: Context, hits: Sequence[LexicalHit], wanted: set[str], subjects: Sequence[frozenset[str]], everything: bool
) -> Iterator[Found]:
    catalog = vault.index.catalog
    now = vault.clock.now()
    for hit in hits:
        path, score = hit.path, hit.score
        entry = catalog.by_path(path)
        if entry is None:
            if (not wanted or "page" in wanted) and not subjects:
                yield from (_page(page, score) for page in [catalog.page(path)] if page)
            continue
        if entry.record_class not in SEARCHED and not wanted & {entry.type.casefold(), entry.record_class.value}:
            continue
        if wanted and not wanted & {entry.type.casefold(), entry.record_class.value}:
            continue
        tagged = {normal_name(name) for name in (*entry.subjects, entry.text("name"))}
        if any(tagged.isdisjoint(names) for names in subjects):
            continue
        expires = parse_time(entry.text("expires"))
        if not everything and ((expires and expires <= now) or vault.superseded_by(entry.id)):
            continue
        yield _found(entry, score)


def _found(entry: Entry, score: float) -> Found:
    return Found(
        id=entry.id,
        kind=entry.record_class.value,
        type=entry.type,
        title=entry.title,
        subjects=entry.subjects,
        summary=entry.text("summary") or None,
        matched_content=entry.preview,
        score=round(score, 4),
        path=entry.path,
        created=entry.text("created"),
        origin=entry.text("origin") or "owner",
        stale=entry.stale,
    )


def _page(page: Page, score: float) -> Found:
    return Found(
        id=None,
        kind="page",
        type="page",
        title=page.title,
        subjects=(),
        summary=None,
        matched_content=page.preview,
        score=round(score, 4),
        path=page.path,
        created="",
        origin="owner",
    )
