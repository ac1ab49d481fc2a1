"""Companions of a hit: its implicit chain (nearest, then nearest again) and its explicit links, solutions before cautions."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import inf

from msgspec.structs import replace

from vault_tool.index import claims
from vault_tool.index.catalog import Catalog
from vault_tool.index.claims import Claim
from vault_tool.index.relations import references
from vault_tool.model.authority import Act, Effect, authority, by_origin
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall.candidate import Candidate, Key
from vault_tool.recall.match import pair_match
from vault_tool.recall.score import MIDDLING, STAYS, companion_share
from vault_tool.recall.weights import Weights
from vault_tool.util.structs import Struct
from vault_tool.vault.retrieval import retrievers
from vault_tool.vault.retrieval.query import Part, Query
from vault_tool.vault.retrieval.retrievers import Pool

_CHANGES = ("change_targets",)
_SOLVED = ("problem",)
_JOINS = ("from_id", "to_id")
_EVIDENCE = ("related_to",)
_TYPES_OF_LINK: dict[str, Part] = {"SOLVES": "solution", "ATTEMPTED": "caution", "CHANGES": "update"}


class Link(Struct):
    """Why a memory came along: what it is to the answer, with which result, and in words; `evidence` says that it is evidence
    for that result.
    """

    role: Part
    of: str
    why: str
    keeps: float
    evidence: bool = False


def implicit(pool: Pool, hits: Sequence[Candidate], asked: Query, weights: Weights) -> dict[Key, Link]:
    """From each strong hit the nearest other memory, from that the nearest again, each hop asking for more.

    What is found this way is ranked at what its hit lends it, if that is more than its own.
    """
    links: dict[Key, Link] = {}
    ends = list(hits[: weights.chain_from])
    seen = {candidate.key for candidate in ends}
    most = weights.chain_most - len(ends)
    for hop in range(asked.hops if pool.meaning else 0):
        least = weights.chain_first + hop * weights.chain_step
        steps = _nearest(pool, ends, seen, least)[: most - len(links)]
        added = {other.key: other for other in retrievers.add(pool, [entry for _, entry, _ in steps])}
        ends = []
        for end, entry, likeness in steps:
            other = added.get((pool.scope, entry.path))
            if other is None or other.key in seen:
                continue
            seen.add(other.key)
            other.rank = max(other.rank, weights.chain_lends * likeness * end.rank)
            links[other.key] = Link("chain", end.entry.id, f"near {end.entry.title}", weights.chain_lends * likeness)
            ends.append(other)
    return links


def _nearest(pool: Pool, ends: Sequence[Candidate], seen: set[Key], least: float) -> list[tuple[Candidate, Entry, float]]:
    """For each end the nearest memory that is not in the chain yet, if it is near enough."""
    if pool.meaning is None or not ends:
        return []
    among = [candidate.entry.path for candidate in pool.candidates.values()]
    near = pool.meaning.nearest([end.entry.path for end in ends], len(seen) + 2, among)
    entries = _entries(pool, {path for hits in near.values() for path, _ in hits})
    steps = []
    for end in ends:
        for path, value in near.get(end.entry.path, ()):
            entry = entries.get(path)
            # The nearest to a memory is often the one that led here.
            if entry is None or (pool.scope, path) in seen:
                continue
            if pair_match(value) >= least:
                steps.append((end, entry, pair_match(value)))
            break
    return steps


def _entries(pool: Pool, paths: Collection[str]) -> dict[str, Entry]:
    """The entries of some files; those in the running are known already."""
    known = {path: pool.candidates[pool.scope, path].entry for path in paths if (pool.scope, path) in pool.candidates}
    return known | pool.catalog.cached_by_paths([path for path in paths if path not in known])


def explicit(pool: Pool, hits: Sequence[Candidate], asked: Query, weights: Weights) -> dict[Key, Link]:
    """The memories the hits are linked to by name: updates, problems with solutions and failed tactics, evidence, edges."""
    linked: list[tuple[Candidate, Link, Entry]] = []
    pointed = pointing_at(pool, {hit.entry.id for hit in hits})
    for hit in hits:
        counts: dict[Part, int] = {}
        for link, entry in _linked(pool.catalog, hit.entry, pointed.get(hit.entry.id, ()), asked):
            if entry.id == hit.entry.id or counts.get(link.role, 0) >= weights.companions:
                continue
            counts[link.role] = counts.get(link.role, 0) + 1
            linked.append((hit, link, entry))
    retrievers.add(pool, [entry for _, _, entry in linked], {entry.id for _, link, entry in linked if link.role == "update"})
    hit_ids = {hit.entry.id for hit in hits}
    links: dict[Key, Link] = {}
    for hit, link, entry in linked:
        other = pool.candidates.get((pool.scope, entry.path))
        if other is not None:
            keeps = link.keeps if entry.id not in hit_ids else min(link.keeps, STAYS["related"])
            other.rank = max(other.rank, keeps * hit.rank)
            links.setdefault(other.key, link)
    return links


def pointing_at(pool: Pool, identities: Collection[str]) -> dict[str, list[tuple[str, Entry]]]:
    """The entries that point at each of these in a way that counts here, with the field; looked up once for an answer."""
    missing = {identity for identity in identities if identity not in pool.pointed}
    if missing:
        pointing = pool.catalog.pointing_at_each(missing, (*_CHANGES, *_SOLVED, *_JOINS, *_EVIDENCE))
        pool.pointed.update((identity, pointing.get(identity, [])) for identity in missing)
    return {identity: pool.pointed[identity] for identity in identities}


def _linked(catalog: Catalog, entry: Entry, pointed: Sequence[tuple[str, Entry]], asked: Query) -> Iterator[tuple[Link, Entry]]:
    """The memories a memory is linked to; `pointed` are the entries that point at it, with their field."""
    if asked.update_links:
        changing, contesting = claims.let_through(catalog, [Claim(change, entry) for change in _by(pointed, _CHANGES)])
        yield from _updates(catalog, entry, [claim.change for claim in changing])
        for claim in contesting:
            yield _link("related", entry, f"says that it changes {entry.title}"), claim.change
        changed = claims.let_through(catalog, claims.claims_by(catalog, [entry], {}))
        for holds, several in zip((True, False), changed, strict=True):
            for claim in several:
                says = "changed by" if holds else "contested by"
                yield _link("related", entry, f"{says} {entry.title}"), claim.target
    if asked.problem_links:
        yield from _around_problem(catalog, entry, pointed)
    yield from _evidence(catalog, entry, pointed)
    yield from _edges(catalog, entry, pointed, asked)


def _updates(catalog: Catalog, entry: Entry, changes: Sequence[Entry]) -> Iterator[tuple[Link, Entry]]:
    """The changes of a memory, and the changes of those since; circles end."""
    seen = {entry.id}
    changing = [(entry, change) for change in changes]
    while changing:
        for changed, change in changing:
            yield _link("update", changed, f"changes {changed.title}"), change
        seen |= {change.id for _, change in changing}
        by_id = {change.id: change for _, change in changing}
        pointed = catalog.pointing_at_each(by_id, _CHANGES)
        newer = [Claim(change, by_id[at]) for at, pointing in pointed.items() for _, change in pointing if change.id not in seen]
        changing = [(claim.target, claim.change) for claim in claims.let_through(catalog, newer)[0]]


def _by(pointed: Sequence[tuple[str, Entry]], fields: Collection[str]) -> list[Entry]:
    return [other for field, other in pointed if field in fields]


def _around_problem(catalog: Catalog, entry: Entry, pointed: Sequence[tuple[str, Entry]]) -> Iterator[tuple[Link, Entry]]:
    """A problem's solutions and failed tactics; a solution's or failed tactic's problem, and what else was done about it."""
    problems = (
        [entry] if entry.type == "problem" else list(catalog.cached_by_id(entry.text("problem"))) if entry.text("problem") else []
    )
    for problem in problems:
        if problem.id != entry.id:
            yield _link("problem", entry, f"the problem of {entry.title}"), problem
        attempts = _by(pointed if problem is entry else catalog.pointing_at(problem.id, _SOLVED), _SOLVED)
        attempts = [other for other in attempts if other.id != entry.id]
        attempts.sort(key=lambda other: other.created_sort_key, reverse=True)
        for other in attempts:
            if other.type == "failed_tactic":
                yield _link("caution", entry, f"was tried on {problem.title}"), other
            else:
                yield _link("solution", entry, f"solves {problem.title}"), other


def _evidence(catalog: Catalog, entry: Entry, pointed: Sequence[tuple[str, Entry]]) -> Iterator[tuple[Link, Entry]]:
    """The understandings that an observation is evidence for, and the newest evidence for an understanding."""
    for field, target in references(entry):
        if field == "related_to":
            for other in catalog.cached_by_id(target):
                if not _lends(entry, other, entry):
                    continue
                yield _link("related", entry, f"{entry.title} is evidence for it"), other
    for other in sorted(_by(pointed, _EVIDENCE), key=lambda other: other.observed_sort_key, reverse=True):
        if not _lends(other, entry, other):
            continue
        yield replace(_link("related", entry, f"evidence for {entry.title}"), evidence=True), other


def _edges(catalog: Catalog, entry: Entry, pointed: Sequence[tuple[str, Entry]], asked: Query) -> Iterator[tuple[Link, Entry]]:
    edges = [(field, edge) for field, edge in pointed if field in _JOINS and edge.record_class is RecordClass.EDGE]
    for field, edge in sorted(edges, key=lambda pair: _strength(pair[1]), reverse=True):
        role = _TYPES_OF_LINK.get(edge.type, "related")
        incoming = field == "to_id"
        if role != "related" and not incoming:
            role = "problem" if role in ("solution", "caution") else "related"
        if (role == "update" and not asked.update_links) or (
            role in ("solution", "caution", "problem") and not asked.problem_links
        ):
            continue
        for other in catalog.cached_by_id(edge.text("from_id" if incoming else "to_id")):
            if not (_lends(edge, entry, other) and _lends(edge, other, entry)):
                continue
            if role == "update" and claims.let_through(catalog, [Claim(other, entry, edge)])[1]:
                yield _link("related", entry, f"says that it changes {entry.title}"), other
                continue
            says = (
                f"{edge.type} {'it' if incoming else 'of'} {entry.title}" if role == "related" else f"{edge.type} {entry.title}"
            )
            yield _link(role, entry, f"{says}: {edge.preview}" if edge.preview else says, _strength(edge)), other


def _lends(link: Entry, end: Entry, other: Entry) -> bool:
    """Whether a link counts for what it leads to: one that others brought leads from nothing of ours to anything, nor back."""
    if not link.pulled:
        return True
    party = by_origin(link.origin)
    return authority(Act.TAG, party) is Effect.ALLOWED or by_origin(end.origin) == by_origin(other.origin) == party


def _strength(edge: Entry) -> float:
    strength = edge.number("strength")
    return MIDDLING if strength is None else strength


def _link(role: Part, entry: Entry, why: str, strength: float = MIDDLING) -> Link:
    return Link(role, entry.id, why, companion_share(role, strength))


def strongest(candidates: Sequence[Candidate], count: int) -> list[Candidate]:
    """The best by rank, ties by path."""
    least = sorted([candidate.rank for candidate in candidates], reverse=True)[count - 1] if 0 < count < len(candidates) else -inf
    best = [candidate for candidate in candidates if candidate.rank >= least]
    return sorted(best, key=lambda candidate: (candidate.rank, candidate.key), reverse=True)[:count]
