"""`search`: memories by meaning and words, subjects and pages by words, best first."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, ClassVar, Unpack

from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import UsageError, VaultError
from vault_tool.files import frontmatter, reader
from vault_tool.index.catalog import PAGE, UNREADABLE, Catalog, Page
from vault_tool.index.fulltext.documents import TextHit
from vault_tool.index.visibility import visible
from vault_tool.model.details import Details
from vault_tool.model.fields import Narrowing
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall import passage
from vault_tool.recall.question import without_framing
from vault_tool.util.text import one_line
from vault_tool.util.vault_names import HERE
from vault_tool.vault import resolve
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus, bodies_of
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory, copied
from vault_tool.vault.lean import Short, answer, lean_details, leaned, provenance_note, title_if_new, without_empty
from vault_tool.vault.parameters import spelled_out
from vault_tool.vault.perhaps_changed import newer_first
from vault_tool.vault.request import Answer, for_user, in_time, looks, verb
from vault_tool.vault.retrieval import engine, several
from vault_tool.vault.retrieval.filters import Filters, require_kinds, unknown
from vault_tool.vault.retrieval.query import Query, Recalled, narrowed
from vault_tool.vault.statuses import CURRENT, statuses

MODES = ("auto", "text")
_MEMORIES = frozenset({RecordClass.OBSERVATION.value, RecordClass.UNDERSTANDING.value})
_EXACT = re.compile(r'"|\*(?:\s|$)')
_SHOWN = 240

SEARCHED = (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING, RecordClass.SUBJECT)


class SearchResult(HasStatus, kw_only=True):
    """One result: `score` orders within one answer, `match` (0..1) says how well a memory fits, `weak` whether it is not sure
    to answer and `weak_why` for what, as recall does (None for what words alone found); `matched_perspective` is the angle from
    which its meaning fits.

    A search hides nothing that fits: what is believed to be false is there too, and its status says so.
    """

    told_where_any: ClassVar = ("vaults",)

    id: str | None
    record_class: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None
    matched_content: str
    matched_perspective: str | None = None
    score: float
    match: float | None = None
    weak: bool | None = None
    weak_why: str = ""
    scope: str = "repo"
    path: str
    created: str
    observed: str = ""
    confidence: float | None = None
    details: Details = field(default_factory=dict)
    origin: str
    reviewed: bool = False
    stale: bool = False
    vaults: tuple[str, ...] = ()

    def lean(self, short: Short) -> dict[str, Any]:
        """The fields that an agent needs; a page has no id but its path."""
        short = short if self.scope == "repo" else str
        name = {"path": self.path} if self.id is None else {"id": short(self.id)}
        return without_empty({
            **name, "vaults": self.vaults, "class": self.record_class, "type": self.type,
            **title_if_new(self.title, self.matched_content), **lean_details(self.details, short), "subjects": self.subjects,
            "match": None if self.match is None else round(self.match, 2), "weak": self.weak,
            "weak_why": self.weak_why, "observed": self.observed[:10],
            **self.lean_status(short), "stale": self.stale,
            **provenance_note(self.origin, self.reviewed),
        })  # fmt: skip


class SearchResults(Answer, kw_only=True):
    """The answer of `search`."""

    stands_before = "degraded"

    query: str
    results: tuple[SearchResult, ...]
    degraded: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    notice: str = HYPOTHESIS_NOTICE

    def lean(self, short: Short) -> dict[str, Any]:
        """The results alone."""
        return answer(leaned(self.results, short), self.degraded)


@verb
@looks
@for_user
@in_time
@spelled_out
def search(
    vault: Context,
    query: str,
    limit: int = 10,
    *,
    session: str | None = None,
    user: str | None = None,
    mode: str = "auto",
    everything: bool = False,
    include_global: bool = True,
    vaults: Sequence[str] = (),
    as_of: str | None = None,
    **narrowing: Unpack[Narrowing],
) -> SearchResults:
    """The memories and pages that match `query` by meaning and words, best first; understandings precede what they cover.

    Subjects and pages are found by their words. `"in quotes"` (an exact phrase), `begin*` (a prefix) and `mode` `text`
    search by words alone. The filters are those of `recall`, and `kinds` has `page` for pages; a page has no tags, project
    or date, so any filter but `kinds` leaves it out. Superseded and expired memories are history, not answers:
    `everything` shows them too, by words. `vaults` are other vaults that are asked too, as in `recall`; `as_of` asks what was
    known at a time, of this vault alone.
    """
    if mode not in MODES:
        raise UsageError(f"`{one_line(mode, 40)}` is no mode of search", f"the modes are {', '.join(MODES)}")
    if vaults:
        same: dict[str, Any] = {"session": session, "mode": mode, "everything": everything, "include_global": False}
        asked = Query(query=query, limit=limit, vaults=tuple(vaults), include_global=include_global)
        return _of_several(vault, asked, lambda place: search(place, query, limit, **same, **narrowing))
    asked = Query(
        query=query, session=session, limit=limit, include_global=include_global, hops=0, problem_links=False,
        update_links=False, **narrowed(narrowing),
    )  # fmt: skip
    require_kinds([place for place, _ in engine.scopes(vault, include_global=include_global)], asked.kinds)
    for name in asked.subject_names:
        resolve.require_tagged(vault, name)
    by_words = _by_words(vault, asked, everything)
    if mode == "text" or everything or _EXACT.search(query):
        hints = () if by_words else tuple(unknown([vault], asked))
        return SearchResults(query=query, results=_with_statuses(vault, _with_passages(vault, by_words, query)), warnings=hints)

    answer = engine.gather(vault, asked)
    memories = tuple(_recalled(result, query) for result in answer.results)
    listed = {memory.path for memory in memories}
    fits = answer.fits([hit.path for hit in by_words if hit.path not in listed])
    fitting = [replace(hit, **fits[hit.path]._asdict()) if hit.path in fits else hit for hit in by_words]
    fitting = [hit for hit in fitting if hit.match is None or hit.match >= engine.LEAST]
    ranked = {memory.path for memory in memories}
    results = _with_statuses(vault, _with_passages(vault, _merged(memories, fitting)[:limit], query, ranked), ranked)
    return SearchResults(query=query, results=results, degraded=answer.degraded, warnings=() if results else answer.warnings)


def _of_several(vault: Context, asked: Query, ask: Callable[[Context], SearchResults]) -> SearchResults:
    """The results of this vault and of others that are named."""

    def in_part(place: Context) -> several.Part:
        theirs = ask(place)
        return several.part_of(place, theirs.results, theirs.degraded)

    asking = several.asked_beside(vault, asked, in_part)
    own = ask(vault)
    parts, missing = several.told(vault, asking, own.degraded)
    results = several.merged({HERE: several.part_of(vault, own.results), **parts})[: asked.limit]
    return replace(
        own, results=tuple(results), degraded=(*own.degraded, *missing), warnings=() if results else own.warnings
    )  # fmt: skip


def _with_statuses(vault: Context, results: Sequence[SearchResult], asked: Collection[str] = ()) -> tuple[SearchResult, ...]:
    """The same, where those that only words found have their status; of those at the paths that are `asked` it is known."""
    others = [result.path for result in results if result.record_class in _MEMORIES and result.path not in asked]
    known = statuses(vault, vault.index.catalog.cached_by_paths(others).values()) if others else {}
    updated = (replace(result, **known[result.path].status_fields()) if result.path in known else result for result in results)
    return tuple(newer_first(updated))


def _merged(memories: tuple[SearchResult, ...], by_words: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
    """Memories with what only words find among them: subjects and pages, weighed against the best of all words.

    Memories that recall left out (copies of another, what every session reads anyway) come last: a search hides nothing.
    """
    most = max((hit.score for hit in by_words), default=1.0) or 1.0
    top = max((memory.score for memory in memories), default=most)
    least = min((memory.score for memory in memories), default=top)
    listed = {memory.path for memory in memories}
    others = (replace(hit, score=round(top * hit.score / most, 4)) for hit in by_words if hit.path not in listed)
    among = (replace(other, score=min(other.score, least)) if other.record_class in _MEMORIES else other for other in others)
    return tuple(
        sorted(
            (*memories, *among),
            key=lambda result: (result.record_class in _MEMORIES and result.path not in listed, -result.score),
        )
    )


def _by_words(vault: Context, asked: Query, everything: bool) -> tuple[SearchResult, ...]:
    """Full-text hits that pass the filters: reaches further down the ranking until enough pass or nothing is left."""
    filters = Filters(vault, asked)
    reach = asked.limit * 2 + 10
    while True:
        hits = vault.index.search(without_framing(asked.query), reach)
        passing = list(islice(_passing(vault, hits, filters, asked, everything), asked.limit))
        if len(passing) >= asked.limit or len(hits) < reach:
            return tuple(passing)
        reach *= 4


def _passing(vault: Context, hits: Sequence[TextHit], filters: Filters, asked: Query, everything: bool) -> Iterator[SearchResult]:
    catalog = vault.index.catalog
    kinds = {kind.casefold() for kind in asked.kinds}
    for hit in hits:
        path, score = hit.path, hit.score
        entry = catalog.by_path(path)
        if entry is None:
            if (not kinds or PAGE in kinds) and not filters.of_heads:
                yield from (_page(page, score, catalog) for page in [catalog.page(path)] if page)
            continue
        if (entry.record_class not in SEARCHED and not kinds) or not filters.wants(entry):
            continue
        if not everything and visible(entry, filters.request, "searched"):
            continue
        yield _found(vault, entry, score)


def _found(vault: Context, entry: Entry, score: float) -> SearchResult:
    return Memory(vault, entry, CURRENT, vault.standings.judged(entry)).told(
        SearchResult, scope="repo", score=round(score, 4),
        matched_content=entry.preview or entry.text("summary") or ", ".join(entry.texts("aliases")) or entry.title,
    )  # fmt: skip


def _recalled(recalled: Recalled, query: str) -> SearchResult:
    return copied(SearchResult, recalled, matched_content=_excerpt(recalled.content, query))


def _with_passages(
    vault: Context, results: Sequence[SearchResult], query: str, ranked: Collection[str] = ()
) -> list[SearchResult]:
    """The same, where those that only words found (all but those at the paths that are `ranked`) show what was found, and no
    longer how they begin.
    """
    begun = {result.path for result in results if result.matched_content.endswith("…") and result.path not in ranked}
    if not begun:
        return list(results)
    texts = bodies_of(vault, vault.index.catalog.cached_by_paths(begun).values())
    for path in begun - texts.keys():
        with suppress(OSError, VaultError):
            texts[path] = frontmatter.read_body(reader.read(vault.root, path))
    return [
        replace(result, matched_content=_excerpt(texts[result.path], query)) if texts.get(result.path) else result
        for result in results
    ]


def _excerpt(text: str, query: str) -> str:
    """The text on one line; of a long one the passage that the query is about."""
    return one_line(text, _SHOWN) if len(text) <= _SHOWN else passage.excerpt(text, query, _SHOWN)


def _page(page: Page, score: float, catalog: Catalog) -> SearchResult:
    return SearchResult(
        id=None,
        record_class="page",
        type="page",
        title=page.title,
        subjects=(),
        summary=None,
        matched_content=page.preview,
        score=round(score, 4),
        path=page.path,
        created="",
        origin="owner",
        # Its head cannot be read, and no commit says what it said.
        stale=catalog.files([page.path])[page.path].kind == UNREADABLE,
    )
