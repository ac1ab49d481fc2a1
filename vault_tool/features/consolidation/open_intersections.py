"""Subjects and what they share: `open_around` and `open_intersection`."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.errors import UsageError
from vault_tool.features.consolidation.subject_similarity import between, prepared, usual
from vault_tool.index.relations import Region, Regions, lineage
from vault_tool.model.details import Details
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct
from vault_tool.vault import resolve
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.request import Answer, looks, verb
from vault_tool.vault.statuses import statuses

# From so many shared memories an intersection counts as large.
LARGE = 3


class SubjectLine(Struct, kw_only=True):
    """A subject in a few words; `id` is None for one that memories name and no file describes."""

    id: str | None
    name: str
    summary: str | None
    tags: tuple[str, ...] = ()


class Brief(HasStatus, kw_only=True):
    """An understanding by its one line."""

    id: str
    summary: str
    kind: str = ""
    origin: str = ""
    reviewed: bool = False


class Neighbor(Struct, kw_only=True):
    """A subject that shares memories with another: `reading` is what size and similarity together suggest."""

    subject: SubjectLine
    intersection_size: int
    similarity_score: float | None
    intersection_understanding: Brief | None
    reading: str


class Neighborhood(Answer, kw_only=True):
    """The answer of `open_around`: neighbours by the size of their intersections, the largest first."""

    subject: SubjectLine
    neighbors: tuple[Neighbor, ...]
    more: int
    degraded: tuple[str, ...]
    notice: str = HYPOTHESIS_NOTICE


class Relationship(HasStatus, kw_only=True):
    """The present understanding of how two subjects are related."""

    id: str
    title: str
    content: str
    summary: str
    generation: int | None
    model_tier: str
    origin: str
    reviewed: bool
    session_id: str
    created_at: str
    sources: tuple[str, ...]
    path: str


class RelationshipRevision(HasStatus, kw_only=True):
    """One link of the chain from the present relationship understanding back to the first."""

    id: str
    summary: str
    created_at: str
    generation: int | None
    model_tier: str
    origin: str
    reviewed: bool
    session_id: str
    reason: str
    pass_id: str
    sources: tuple[str, ...]


class SharedObservation(HasStatus, kw_only=True):
    """One observation that is about both subjects."""

    id: str
    content: str
    details: Details
    kind: str
    title: str
    observed_at: str
    confidence: float
    session_id: str
    origin: str
    reviewed: bool


class Intersection(Answer, kw_only=True):
    """The answer of `open_intersection`; `intersection_size` counts observations and active understandings."""

    subject_a: SubjectLine
    subject_b: SubjectLine
    relationship_understanding: Relationship | None
    contested: tuple[Brief, ...]
    other_understandings: tuple[Brief, ...]
    observations: tuple[SharedObservation, ...]
    more: int
    intersection_size: int
    provenance: tuple[RelationshipRevision, ...]
    notice: str = HYPOTHESIS_NOTICE


@verb
@looks
def open_around(vault: Context, subject_name: str, *, limit: int | None = 20) -> Neighborhood:
    """The subjects that share memories with one, by how many; their similarity in meaning stands beside it.

    Large and similar is a documented relation, large and dissimilar mere context, small and similar worth developing.
    """
    degraded = prepared(vault)
    regions = Regions(vault.index.catalog, vault.clock.now())
    own = region(vault, regions, subject_name)
    neighbours = regions.neighbours(own)
    near = between(vault, [own], [other for other, _ in neighbours])
    least = usual(vault)
    shown = neighbours[:limit]
    related = {other.key: regions.understandings([own, other], "relationship")[:1] for other, _ in shown}
    brief_by_id = {brief.id: brief for brief in briefs(vault, [entry for entries in related.values() for entry in entries])}
    return Neighborhood(
        subject=line_of(vault, own),
        neighbors=tuple(
            Neighbor(
                subject=line_of(vault, other),
                intersection_size=size,
                similarity_score=near.get((own.key, other.key)),
                intersection_understanding=next((brief_by_id[entry.id] for entry in related[other.key]), None),
                reading=reading(size, near.get((own.key, other.key)), least),
            )
            for other, size in shown
        ),
        more=len(neighbours) - len(shown),
        degraded=degraded,
    )


@verb
@looks
def open_intersection(vault: Context, subject_a: str, subject_b: str, *, limit: int | None = None) -> Intersection:
    """All active memories that are about both subjects, and how their relationship understanding came to be.

    Observations are the newest first, at most `limit`. Where several relationship understandings are active the newest is
    shown, and all of them are `contested`.
    """
    regions = Regions(vault.index.catalog, vault.clock.now())
    first, other = region(vault, regions, subject_a), region(vault, regions, subject_b)
    if first.key == other.key:
        raise UsageError(f"`{subject_a}` and `{subject_b}` are one subject", "name two")
    members = regions.members(first, other)
    related = regions.understandings([first, other], "relationship")
    observations = _newest([e for e in members if e.record_class is RecordClass.OBSERVATION])
    present = {entry.id for entry in related[:1]}
    others = [e for e in members if e.record_class is RecordClass.UNDERSTANDING and e.id not in present]
    status_by_path = statuses(vault, observations[:limit])
    return Intersection(
        subject_a=line_of(vault, first),
        subject_b=line_of(vault, other),
        relationship_understanding=_relationship(vault, related[0]) if related else None,
        contested=briefs(vault, related) if len(related) > 1 else (),
        other_understandings=briefs(vault, others),
        observations=tuple(_shared(vault, entry, status_by_path[entry.path]) for entry in observations[:limit]),
        more=len(observations) - len(observations[:limit]),
        intersection_size=len(members),
        provenance=tuple(_chain(vault, related[0])) if related else (),
    )


def region(vault: Context, regions: Regions, name: str) -> Region:
    """The subject that is meant, by name, alias or id; also one that is only named in heads. Raises NotFound."""
    bare = regions.called(name)
    if bare.entry is None and bare.names and regions.members(bare) and resolve.subject(vault, name) is None:
        return bare
    return regions.called(resolve.existing_subject(vault, name).title)


def line_of(vault: Context, region: Region) -> SubjectLine:
    """A subject in a few words."""
    if region.entry is None:
        return SubjectLine(id=None, name=region.name, summary=None)
    return Memory(vault, region.entry).told(SubjectLine, name=region.name)


def brief(vault: Context, entry: Entry) -> Brief:
    """An understanding by its one line."""
    return briefs(vault, [entry])[0]


def briefs(vault: Context, entries: Sequence[Entry]) -> tuple[Brief, ...]:
    """Several understandings by their one line, looked up together."""
    judged = vault.standings.beliefs(entries, live=False)
    status_by_path = statuses(vault, entries, believed=judged)
    return tuple(Memory(vault, entry, status_by_path[entry.path], judged[entry.id]).told_first(Brief) for entry in entries)


def reading(size: int, similarity: float | None, least: float) -> str:
    """The reading of an intersection, by its size and its subjects' similarity; from `least` on they are similar."""
    if similarity is None:
        return "documented" if size >= LARGE else "small"
    if size >= LARGE:
        return "documented" if similarity >= least else "context"
    return "worth developing" if similarity >= least else "small"


def _relationship(vault: Context, entry: Entry) -> Relationship:
    return Memory(vault, entry).told_first(Relationship)


def _chain(vault: Context, present: Entry) -> list[RelationshipRevision]:
    """The revisions of an understanding, the newest first; what was joined into it is among them."""
    versions = lineage(vault.index.catalog, present)
    ordered = sorted(versions, key=lambda e: (e.id == present.id, e.created_sort_key), reverse=True)
    status_by_path = statuses(vault, ordered)
    return [Memory(vault, entry, status_by_path[entry.path]).told_first(RelationshipRevision) for entry in ordered]


def _shared(vault: Context, entry: Entry, status: HasStatus) -> SharedObservation:
    return Memory(vault, entry, status).told_first(SharedObservation)


def _newest(entries: Sequence[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda e: e.observed_sort_key, reverse=True)
