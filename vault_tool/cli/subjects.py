"""Commands about subjects and the understandings that stand on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_tool.cli.blocks import Block, Body, Heading, fields, source, status_lines, table
from vault_tool.cli.json_input import objects
from vault_tool.cli.names import MEMORY, SUBJECT, takes
from vault_tool.cli.options import TEXT, Call, Short, authored, command, writes
from vault_tool.cli.saved import commit_of, saved_as, short_ids
from vault_tool.errors import Exit, UsageError
from vault_tool.features.subjects import subjects
from vault_tool.features.understandings import understandings

SHARE = click.FloatRange(0, 1)


@command(
    "create-subjects",
    "vt create-subjects Postgres --summary 'The store of the lab' --tag infrastructure",
    """vt create-subjects --from '[{"name": "Julia port", "role": "project"}, {"name": "Berlin"}]'""",
)
@click.argument("names", nargs=-1, help="Names, each of a new subject; or one JSON list, as for --from.")
@click.option("--summary", default="", help="One line on what it is.")
@click.option("--tag", "-t", "tags", multiple=True, help="A tag.")
@click.option("--alias", "aliases", multiple=True, help="Another name for it.")
@click.option("--key", default="", help="A stable key: the subject that has it already is that one.")
@click.option("--role", default="", help="E.g. project, person, location.")
@click.option("--from", "listed", type=TEXT, metavar="JSON", help="A list of objects with these fields; - for standard input.")
@writes
def create_subjects(call: Call, names: tuple[str, ...], listed: str | None, **options: Any) -> Exit:
    """Make subjects, to tag memories with.

    A subject is a named region, without evidence of its own. Nothing is made if one of the names, or an alias, is taken.
    """
    as_json = len(names) == 1 and names[0].lstrip().startswith("[{")
    new_subjects = objects(names[0], "name") if as_json else [{**options, "name": name} for name in names]
    new_subjects += objects(listed, "name")
    if len(names) > 1 and any(options.values()):
        raise UsageError("these options describe one subject, and several are named", "make them one by one, or pass --from")
    with call.open_vault() as vault:
        return call.emit(subjects.create_subjects(vault, new_subjects), _created, vault)


@command("get-subjects", "vt get-subjects", "vt get-subjects Redis Homelab --json")
@click.argument("names", nargs=-1, type=SUBJECT, help="Names, aliases or ids; none for all.")
@takes(subjects.get_subjects, "as_of")
def get_subjects(call: Call, names: tuple[str, ...], as_of: str | None) -> Exit:
    """Show subjects with what hangs on them."""
    with call.open_vault() as vault:
        return call.emit(subjects.get_subjects(vault, names, as_of=as_of), _cards if names else _listing, vault)


@command(
    "understand",
    "vt understand 'One host runs all.' --subject Homelab --summary 'One host' --source a1b2c3 --source 5f0c2d",
    "vt understand - --subject Redis --summary 'The store too' --source 5f0c2d --replaces 7c81fe < redis.md",
)
@click.argument("content", type=TEXT, help="The text, or - for standard input.")
@takes(understandings.understand, "subjects", "summary", "sources", "replaces", "why", "kind")
@writes
@authored
def understand(call: Call, **options: Any) -> Exit:
    """Write what is understood, for what was.

    It takes the place of the present understanding, which stays in the history: read that first, and name it. A first one
    rests on two memories or more, a revision on one more, unless --why says that only the wording changed.
    """
    with call.open_vault() as vault:
        return call.emit(understandings.understand(vault, **options), _known_now, vault)


@command(
    "create-understanding", "vt create-understanding - --subject Redis --summary 'Redis is the cache, never the store' < redis.md"
)
@click.argument("content", type=TEXT, help="The text, or - for standard input.")
@takes(understandings.create_understanding, "subject_names", "summary", "kind", "title", "tags", "source_observation_ids")
@takes(understandings.create_understanding, "reason", "importance", "confidence", "pass_id")
@writes
@authored
def create_understanding(call: Call, **options: Any) -> Exit:
    """Write what one or several subjects come to.

    An understanding is the current best synthesis. An active one of the same kind and subjects is superseded, and named.
    """
    with call.open_vault() as vault:
        return call.emit(understandings.create_understanding(vault, **options), _understood, vault)


@command("update-understanding", "vt update-understanding a1b2c3 - --summary 'Redis is the store too, since May' < redis.md")
@click.argument("understanding_id", type=MEMORY, metavar="ID", help="The understanding to revise.")
@click.argument("new_content", type=TEXT, metavar="CONTENT", help="The new text, or - for standard input.")
@takes(understandings.update_understanding, "new_summary", "subject_names", "kind", "title", "reason")
@takes(understandings.update_understanding, "source_observation_ids", "join", "pass_id")
@writes
@authored
def update_understanding(call: Call, subject_names: tuple[str, ...], **options: Any) -> Exit:
    """Revise an understanding by superseding it.

    The old one stays as it is.
    """
    with call.open_vault() as vault:
        revised = understandings.update_understanding(vault, subject_names=subject_names or None, **options)
        return call.emit(revised, _revised, vault)


@command(
    "set-structural-understanding", "vt set-structural-understanding Redis 'Part of Homelab; merged from redis-cache in May.'"
)
@click.argument("subject_name", type=SUBJECT, metavar="SUBJECT", help="The subject.")
@click.argument("content", type=TEXT, help="The text, or - for standard input.")
@takes(understandings.set_structural_understanding, "summary", "reason")
@writes
@authored
def set_structural_understanding(call: Call, **options: Any) -> Exit:
    """Write the note on a subject's own place.

    It shows its aliases, what contains it, what was merged into it, exceptions.
    """
    with call.open_vault() as vault:
        return call.emit(understandings.set_structural_understanding(vault, **options), _structured, vault)


def _created(created: subjects.CreatedSubjects, short: Short) -> Iterator[Block]:
    rows = [(short(subject.id), subject.name, "known" if subject.existed else "new", subject.path) for subject in created.results]
    yield table(("id", "name", "", "path"), rows)
    yield fields(("commit", commit_of(created)))
    for subject in created.results:
        if subject.similar_subjects:
            yield f"{subject.name} is near to {', '.join(subject.similar_subjects)}"


def _listing(listing: subjects.Subjects, short: Short) -> Iterator[Block]:
    rows = [
        (short(subject.id), subject.name, str(subject.observation_count), str(subject.understanding_count), subject.summary or "")
        for subject in listing.results
    ]
    numbers = ("observations", "understandings")
    yield table(("id", "name", *numbers, "summary"), rows, right=numbers, empty="no subjects yet; `vt create-subjects NAME`")


def _cards(listing: subjects.Subjects, short: Short) -> Iterator[Block]:
    for number, subject in enumerate(listing.results):
        yield from [""] if number else []
        yield Heading(subject.name)
        yield fields(
            ("id", short(subject.id)),
            ("summary", subject.summary),
            ("aliases", subject.aliases),
            ("tags", subject.tags),
            ("role", subject.role),
            ("observations", subject.observation_count),
            ("understandings", subject.understanding_count),
            ("last observation", subject.last_observation_at),
            ("understanding", _pointer(subject.single_subject_understanding, short)),
            ("structure", _pointer(subject.structural_understanding, short)),
            ("from", source(subject.origin)),
            ("path", subject.path),
        )
        for pointer in filter(None, (subject.single_subject_understanding, subject.structural_understanding)):
            yield from status_lines(short(pointer.id), pointer, short)
        yield from [Body(subject.body)] if subject.body else []


def _pointer(pointer: subjects.Pointer | None, short: Short) -> str:
    return f"{short(pointer.id)}  {pointer.summary}" if pointer else ""


def _understood(created: understandings.CreatedUnderstanding, short: Short) -> Iterator[Block]:
    yield from saved_as(
        created.id,
        created.title,
        created.path,
        short,
        created,
        ("type", created.type),
        ("subjects", created.subjects),
        ("new subjects", created.subjects_created),
        ("supersedes", short_ids(created.superseded, short)),
    )


def _known_now(understood: understandings.Understood, short: Short) -> Iterator[Block]:
    yield from saved_as(
        understood.id,
        f"{understood.title}{' (known already, nothing was written)' if understood.known else ''}",
        understood.path,
        short,
        understood,
        ("type", understood.type),
        ("subjects", understood.subjects),
        ("new subjects", understood.subjects_created),
        ("supersedes", short_ids(understood.superseded, short)),
        ("sources", short_ids(understood.sources, short)),
    )


def _revised(updated: understandings.UpdatedUnderstanding, short: Short) -> Iterator[Block]:
    waits = f"waits, and would supersede {short(updated.old_understanding_id)}"
    replaced = f"supersedes {short_ids(updated.superseded, short)}" if updated.superseded else waits
    subjects_of = ("subjects", updated.subjects)
    yield from saved_as(updated.new_understanding_id, replaced, updated.path, short, updated, subjects_of)


def _structured(structural: understandings.StructuralUnderstanding, short: Short) -> Iterator[Block]:
    replaced = ("supersedes", short_ids(structural.superseded, short))
    yield from saved_as(structural.understanding_id, structural.subject_name, structural.path, short, structural, replaced)
