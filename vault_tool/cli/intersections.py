"""Commands about what subjects share, and about subjects that may be one."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, Body, Heading, degraded, fields, source, sourced, table
from vault_tool.cli.names import SUBJECT, takes
from vault_tool.cli.options import Call, Short, authored, command, writes
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit
from vault_tool.features.consolidation import merging, open_intersections, subject_map
from vault_tool.features.consolidation.merging import Merged, SimilarSubjects
from vault_tool.features.consolidation.open_intersections import Intersection, Neighborhood, Relationship, RelationshipRevision
from vault_tool.util.text import counted


@command("open-around", "vt open-around Redis", "vt open-around Redis --limit 5 --json")
@click.argument("subject_name", type=SUBJECT, metavar="SUBJECT", help="The subject.")
@takes(open_intersections.open_around, "limit")
def open_around(call: Call, subject_name: str, limit: int) -> Exit:
    """Show a subject's neighbours.

    They are the subjects that share memories with it, by how many. A large intersection of similar subjects is a documented
    relation, of dissimilar ones context; a small one of similar subjects is worth developing.
    """
    with call.open_vault() as vault:
        return call.emit(open_intersections.open_around(vault, subject_name, limit=limit), _around, vault)


@command("open-map", "vt open-map Redis", "vt open-map --hops 1 --memories 50 --json")
@click.argument("around", type=SUBJECT, default="", metavar="[SUBJECT]", help="The subject in its middle; else the largest.")
@click.option("--hops", type=click.IntRange(1, 2), default=2, show_default=True, help="How far it goes.")
@takes(subject_map.open_map, "limit")
@click.option("--memories", type=click.IntRange(0), default=0, show_default=True, help="Also so many of their newest memories.")
def open_map(call: Call, around: str, hops: int, limit: int, memories: int) -> Exit:
    """Show subjects around one, and their links.

    With --memories also their newest memories, with every link among those. `vt web` draws it.
    """
    with call.open_vault() as vault:
        return call.emit(subject_map.open_map(vault, around, hops=hops, limit=limit, memories=memories), _map, vault)


def _map(graph: subject_map.Map, short: Short) -> Iterator[Block]:
    names = {node.id: node.name for node in graph.nodes}
    rows = [(node.record_class, node.name[:60], str(node.size or ""), node.created[:10]) for node in graph.nodes]
    yield table(("class", "name", "observations", "since"), rows, right=["observations"], empty="there are no subjects yet")
    lines = [
        (names[edge.source][:40], edge.type, names[edge.target][:40], str(edge.weight), edge.said[:60]) for edge in graph.edges
    ]
    if lines:
        yield table(("from", "what", "to", "how many", "why"), lines, right=["how many"])
    if graph.more:
        yield f"{counted(graph.more, 'more subject')} near: --limit shows them"


@command("open-intersection", "vt open-intersection Redis Homelab")
@click.argument("subject_a", type=SUBJECT, metavar="SUBJECT", help="One subject.")
@click.argument("subject_b", type=SUBJECT, metavar="SUBJECT", help="The other.")
@takes(open_intersections.open_intersection, "limit")
def open_intersection(call: Call, subject_a: str, subject_b: str, limit: int | None) -> Exit:
    """Show all that two subjects share.

    Its relationship understanding is their relation; how that came to be stands below it.
    """
    with call.open_vault() as vault:
        return call.emit(open_intersections.open_intersection(vault, subject_a, subject_b, limit=limit), _intersection, vault)


@command("find-similar-subjects", "vt find-similar-subjects", "vt find-similar-subjects Redis --json")
@click.argument("subject_name", type=SUBJECT, metavar="[SUBJECT]", default="", help="Only pairs with this one.")
@takes(merging.find_similar_subjects, "limit")
def find_similar_subjects(call: Call, subject_name: str, limit: int) -> Exit:
    """Show subjects that may be one."""
    with call.open_vault() as vault:
        return call.emit(merging.find_similar_subjects(vault, subject_name, limit=limit), _similar, vault)


@command("merge-subjects", "vt merge-subjects Redis 'Redis cache' --reason 'one service under two names'")
@click.argument("primary", type=SUBJECT, help="The subject that stays.")
@click.argument("duplicate", type=SUBJECT, help="The one that goes; its name becomes an alias.")
@takes(merging.merge_subjects, "reason", "dry_run")
@writes
@authored
def merge_subjects(call: Call, primary: str, duplicate: str, reason: str, dry_run: bool) -> Exit:
    """Make two subjects one, in one commit.

    Every memory of the duplicate is tagged with the primary; the structural understanding says what was merged.
    """
    with call.open_vault() as vault:
        return call.emit(merging.merge_subjects(vault, primary, duplicate, reason=reason, dry_run=dry_run), _merged, vault)


def _around(neighborhood: Neighborhood, short: Short) -> Iterator[Block]:
    yield Heading(neighborhood.subject.name)
    yield fields(("summary", neighborhood.subject.summary), ("tags", neighborhood.subject.tags))
    rows = [
        (
            neighbor.subject.name,
            str(neighbor.intersection_size),
            _score(neighbor.similarity_score),
            neighbor.reading,
            f"{short(neighbor.intersection_understanding.id)}  {neighbor.intersection_understanding.summary}"
            if neighbor.intersection_understanding
            else "",
        )
        for neighbor in neighborhood.neighbors
    ]
    numbers = ("shared", "similar")
    yield table(("neighbour", *numbers, "reading", "relationship"), rows, right=numbers, empty="no other subject shares a memory")
    yield from [f"and {neighborhood.more} more"] if neighborhood.more else []
    yield from degraded(neighborhood.degraded)


def _intersection(intersection: Intersection, short: Short) -> Iterator[Block]:
    size = counted(intersection.intersection_size, "memory", "memories")
    yield Heading(f"{intersection.subject_a.name} × {intersection.subject_b.name}: {size}")
    relationship = intersection.relationship_understanding
    if relationship:
        yield fields(
            ("understanding", short(relationship.id)),
            ("summary", relationship.summary),
            ("from", _who(relationship)),
        )
        yield Body(relationship.content)
    if intersection.contested:
        yield f"contested: {', '.join(short(head.id) for head in intersection.contested)} are all active"
    for other in intersection.other_understandings:
        yield f"{short(other.id)}  {other.kind}: {other.summary}"
    rows = [
        (short(o.id), o.kind, o.observed_at[:10], source(o.origin, reviewed=o.reviewed), o.title)
        for o in intersection.observations
    ]
    yield from sourced(("id", "type", "observed", "from", "observation"), rows, empty="no observation is about both")
    yield from [f"and {intersection.more} more"] if intersection.more else []
    if len(intersection.provenance) > 1:
        yield Heading("How it came to be, the newest first")
        chain = [(short(r.id), _who(r), r.summary, r.reason) for r in intersection.provenance]
        yield table(("id", "from", "summary", "reason"), chain)


def _similar(similar: SimilarSubjects, short: Short) -> Iterator[Block]:
    rows = [
        (
            pair.subject_a.name,
            pair.subject_b.name,
            _score(pair.name_score),
            _score(pair.similarity_score),
            str(pair.intersection_size),
            pair.suggestion,
        )
        for pair in similar.results
    ]
    numbers = ("name", "meaning", "shared")
    yield table(("subject", "and", *numbers, "suggestion"), rows, right=numbers, empty="no two subjects come near each other")
    yield from [f"and {similar.more} more"] if similar.more else []
    yield from degraded(similar.degraded)


def _merged(merged: Merged, short: Short) -> Iterator[Block]:
    yield (
        f"{merged.duplicate} would become {merged.primary.name}"
        if merged.dry_run
        else f"{merged.duplicate} is {merged.primary.name} now"
    )
    yield fields(
        ("retagged", f"{merged.observations_retagged} observations, {merged.understandings_retagged} understandings"),
        ("links moved", merged.relinked or None),
        ("new aliases", merged.aliases_added),
        ("structure", short(merged.structural_understanding_id) if merged.structural_understanding_id else None),
        ("removed", merged.removed),
        ("commit", commit_of(merged)),
    )
    for group in merged.contested:
        yield f"contested {'then' if merged.dry_run else 'now'}: {', '.join(map(short, group))}"
    if merged.unfit:
        yield table(
            ("keeps it from being done", "what mends it"), [(obstacle.reason, obstacle.hint) for obstacle in merged.unfit]
        )


def _who(relationship: Relationship | RelationshipRevision) -> str:
    return source(relationship.origin, relationship.model_tier, relationship.created_at[:10], reviewed=relationship.reviewed)


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
