"""Commands about what subjects share, and about subjects that may be one."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, Body, Heading, degraded, fields, source, sourced, table
from vault_tool.cli.names import SUBJECT, takes
from vault_tool.cli.options import Call, Short, authored, command, writes
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit
from vault_tool.features.consolidation import mapping, merging, open_intersections
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
@takes(mapping.open_map, "limit")
@click.option("--memories", type=click.IntRange(0), default=0, show_default=True, help="Also so many of their newest memories.")
def open_map(call: Call, around: str, hops: int, limit: int, memories: int) -> Exit:
    """Show subjects around one, and their links.

    With --memories also their newest memories, with every link among those. `vt web` draws it.
    """
    with call.open_vault() as vault:
        return call.emit(mapping.open_map(vault, around, hops=hops, limit=limit, memories=memories), _map, vault)


def _map(found: mapping.Map, short: Short) -> Iterator[Block]:
    names = {one.id: one.name for one in found.nodes}
    rows = [(one.record_class, one.name[:60], str(one.size or ""), one.created[:10]) for one in found.nodes]
    yield table(("class", "name", "observations", "since"), rows, right=["observations"], empty="there are no subjects yet")
    lines = [(names[one.source][:40], one.type, names[one.target][:40], str(one.weight), one.said[:60]) for one in found.edges]
    if lines:
        yield table(("from", "what", "to", "how many", "why"), lines, right=["how many"])
    if found.more:
        yield f"{counted(found.more, 'more subject')} near: --limit shows them"


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


def _around(found: Neighborhood, short: Short) -> Iterator[Block]:
    yield Heading(found.subject.name)
    yield fields(("summary", found.subject.summary), ("tags", found.subject.tags))
    rows = [
        (
            one.subject.name,
            str(one.intersection_size),
            _score(one.similarity_score),
            one.reading,
            f"{short(one.intersection_understanding.id)}  {one.intersection_understanding.summary}"
            if one.intersection_understanding
            else "",
        )
        for one in found.neighbors
    ]
    numbers = ("shared", "similar")
    yield table(("neighbour", *numbers, "reading", "relationship"), rows, right=numbers, empty="no other subject shares a memory")
    yield from [f"and {found.more} more"] if found.more else []
    yield from degraded(found.degraded)


def _intersection(found: Intersection, short: Short) -> Iterator[Block]:
    yield Heading(f"{found.subject_a.name} × {found.subject_b.name}: {counted(found.intersection_size, 'memory', 'memories')}")
    one = found.relationship_understanding
    if one:
        yield fields(
            ("understanding", short(one.id)),
            ("summary", one.summary),
            ("from", _who(one)),
        )
        yield Body(one.content)
    if found.contested:
        yield f"contested: {', '.join(short(head.id) for head in found.contested)} are all active"
    for other in found.other_understandings:
        yield f"{short(other.id)}  {other.kind}: {other.summary}"
    rows = [(short(o.id), o.kind, o.observed_at[:10], source(o.origin, reviewed=o.reviewed), o.title) for o in found.observations]
    yield from sourced(("id", "type", "observed", "from", "observation"), rows, empty="no observation is about both")
    yield from [f"and {found.more} more"] if found.more else []
    if len(found.provenance) > 1:
        yield Heading("How it came to be, the newest first")
        chain = [(short(r.id), _who(r), r.summary, r.reason) for r in found.provenance]
        yield table(("id", "from", "summary", "reason"), chain)


def _similar(found: SimilarSubjects, short: Short) -> Iterator[Block]:
    rows = [
        (
            one.subject_a.name,
            one.subject_b.name,
            _score(one.name_score),
            _score(one.similarity_score),
            str(one.intersection_size),
            one.suggestion,
        )
        for one in found.results
    ]
    numbers = ("name", "meaning", "shared")
    yield table(("subject", "and", *numbers, "suggestion"), rows, right=numbers, empty="no two subjects come near each other")
    yield from [f"and {found.more} more"] if found.more else []
    yield from degraded(found.degraded)


def _merged(made: Merged, short: Short) -> Iterator[Block]:
    yield f"{made.duplicate} would become {made.primary.name}" if made.dry_run else f"{made.duplicate} is {made.primary.name} now"
    yield fields(
        ("retagged", f"{made.observations_retagged} observations, {made.understandings_retagged} understandings"),
        ("links moved", made.relinked or None),
        ("new aliases", made.aliases_added),
        ("structure", short(made.structural_understanding_id) if made.structural_understanding_id else None),
        ("removed", made.removed),
        ("commit", commit_of(made)),
    )
    for group in made.contested:
        yield f"contested {'then' if made.dry_run else 'now'}: {', '.join(map(short, group))}"
    if made.unfit:
        yield table(("keeps it from being done", "what mends it"), [(one.reason, one.hint) for one in made.unfit])


def _who(one: Relationship | RelationshipRevision) -> str:
    return source(one.origin, one.model_tier, one.created_at[:10], reviewed=one.reviewed)


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
