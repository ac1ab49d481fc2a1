"""Commands about several observations at once, and about understandings as they are held."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, Body, Heading, degraded, fields, source, status_lines, table, with_status
from vault_tool.cli.json_input import objects
from vault_tool.cli.names import MEMORY, SUBJECT, takes
from vault_tool.cli.options import TEXT, Call, Short, authored, command, writes
from vault_tool.cli.saved import commit_of, saved_as, short_ids
from vault_tool.errors import Exit
from vault_tool.features.recall import searching_observations
from vault_tool.features.remember import observations
from vault_tool.features.subjects import read_understandings, subjects
from vault_tool.util.text import one_line


@command(
    "add-observations",
    """vt add-observations '[{"content": "Redis restarts at 3:00.", "subject_names": ["Redis"]}]'""",
    "vt add-observations - --json < seen.json",
)
@click.argument("listed", type=TEXT, metavar="JSON", help="A list of objects with `content` and what `remember` takes; or -.")
@writes
@authored
def add_observations(call: Call, listed: str) -> Exit:
    """Append several observations in one commit.

    All are checked before the first is written. A memory that is there already is not written again.
    """
    with call.open_vault() as vault:
        return call.emit(observations.add_observations(vault, objects(listed, "content")), _added, vault)


@command("delete-observations", "vt delete-observations a1b2c3 --session 2026-11-20-k3f9")
@click.argument("ids", nargs=-1, required=True, type=MEMORY, metavar="ID...", help="Observations that this session wrote.")
def delete_observations(call: Call, ids: tuple[str, ...]) -> Exit:
    """Delete what this same session wrote.

    For an accidental write. Observations of other sessions are evidence and stay; the answer says which and why.
    """
    with call.open_vault() as vault:
        done = observations.delete_observations(vault, ids)
        code = call.emit(done, _deleted, vault)
        return Exit.REFUSED if done.rejected and not done.deleted else code


@command(
    "search-observations",
    "vt search-observations restart timeout --subject Redis",
    "vt search-observations 'why did it stop?' --subject Redis --mode embedding --json",
)
@click.argument("words", nargs=-1, required=True, help='Words; "a phrase" in quotes and begin* are understood in text mode.')
@takes(searching_observations.search_observations, "subject_names")
@click.option(
    "--mode", type=click.Choice(searching_observations.MODES), default="text", show_default=True, help="By words or by meaning."
)
@takes(searching_observations.search_observations, "limit")
def search_observations(call: Call, words: tuple[str, ...], subject_names: tuple[str, ...], mode: str, limit: int) -> Exit:
    """Search within the evidence on subjects."""
    with call.open_vault() as vault:
        matches = searching_observations.search_observations(vault, subject_names, " ".join(words), mode=mode, limit=limit)
        return call.emit(matches, _matches, vault)


@command("list-observations", "vt list-observations Redis", "vt list-observations Redis --limit 5 --json")
@click.argument("name", type=SUBJECT, metavar="SUBJECT", help="The subject, by name, alias or id.")
@takes(read_understandings.list_observations, "limit")
def list_observations(call: Call, name: str, limit: int) -> Exit:
    """List the evidence on a subject, newest first.

    With how many observations of it there are in each month.
    """
    with call.open_vault() as vault:
        return call.emit(read_understandings.list_observations(vault, name, limit=limit), _listed, vault)


def _listed(listed: read_understandings.SubjectObservations, short: Short) -> Iterator[Block]:
    rows = [
        (
            observation.observed[:10],
            short(observation.id),
            observation.type,
            with_status(one_line(observation.title, 70), observation),
        )
        for observation in listed.results
    ]
    yield table(("observed", "id", "type", "title"), rows, empty=f"nothing was observed of {listed.subject} yet")
    if listed.months:
        yield "by month: " + ", ".join(f"{month} {count}" for month, count in listed.months)
    if len(listed.results) < listed.total:
        yield f"{len(listed.results)} of {listed.total}: --limit shows more"


@command("get-understandings", "vt get-understandings Redis", "vt get-understandings James Audrey --json")
@click.argument("names", nargs=-1, required=True, type=SUBJECT, help="Subjects: what is tagged with all of them.")
@takes(read_understandings.get_understandings, "as_of")
def get_understandings(call: Call, names: tuple[str, ...], as_of: str | None) -> Exit:
    """Show what is understood of subjects together."""
    with call.open_vault() as vault:
        return call.emit(read_understandings.get_understandings(vault, names, as_of=as_of), _understanding_blocks, vault)


@command("get-understanding-history", "vt get-understanding-history a1b2c3")
@click.argument("understanding_id", type=MEMORY, metavar="ID", help="The understanding.")
def get_understanding_history(call: Call, understanding_id: str) -> Exit:
    """Show what an understanding replaced."""
    with call.open_vault() as vault:
        return call.emit(read_understandings.get_understanding_history(vault, understanding_id), _understanding_blocks, vault)


@command("update-subject-summary", "vt update-subject-summary Redis 'The cache of the lab, and since May its queue'")
@click.argument("name", type=SUBJECT, metavar="SUBJECT", help="The subject.")
@click.argument("summary", type=TEXT, help="One line, or - for standard input.")
@writes
def update_subject_summary(call: Call, name: str, summary: str) -> Exit:
    """Give a subject a new one-line summary."""
    with call.open_vault() as vault:
        return call.emit(subjects.update_subject_summary(vault, name, summary), _summarised, vault)


@command("add-alias", "vt add-alias Redis Valkey 'the cache'")
@click.argument("name", type=SUBJECT, metavar="SUBJECT", help="The subject.")
@click.argument("aliases", nargs=-1, required=True, metavar="ALIAS...", help="Other names for it.")
@writes
def add_alias(call: Call, name: str, aliases: tuple[str, ...]) -> Exit:
    """Let a subject answer to another name.

    Memories tagged with that name are tagged with the subject from then on. A name of another subject is refused.
    """
    with call.open_vault() as vault:
        return call.emit(subjects.add_alias(vault, name, aliases), _aliased, vault)


def _added(added: observations.AddedObservations, short: Short) -> Iterator[Block]:
    rows = [
        (short(observation.id), _became(observation), observation.type, ", ".join(observation.subject_names), observation.path)
        for observation in added.results
    ]
    yield table(("id", "", "type", "subjects", "path"), rows)
    yield from (
        f"{short(observation.id)} gained {'; '.join(observation.added)}" for observation in added.results if observation.added
    )
    minted = [name for observation in added.results for name in observation.subjects_created]
    yield fields(("new subjects", minted), ("commit", commit_of(added)))
    near = {name: others for observation in added.results for name, others in observation.similar_subjects.items()}
    yield from (f"{name} is new, and there is: {', '.join(others)}" for name, others in near.items())


def _became(observation: observations.AddedObservation) -> str:
    return "known" if observation.duplicate_of else "waits" if observation.pending_review else "new"


def _deleted(done: observations.DeletedObservations, short: Short) -> Iterator[Block]:
    gone = ("subjects removed", done.subjects_removed)
    yield fields(("deleted", short_ids(done.deleted, short)), gone, ("commit", commit_of(done)))
    yield from (f"left: {rejection.id}: {rejection.reason}" for rejection in done.rejected)


def _matches(matches: searching_observations.FoundObservations, short: Short) -> Iterator[Block]:
    titles = [with_status(observation.title, observation) for observation in matches.results]
    rows = [
        (short(observation.id), observation.type, title, ", ".join(observation.subjects), f"{observation.score:.2f}")
        for observation, title in zip(matches.results, titles, strict=True)
    ]
    yield table(("id", "type", "title", "subjects", "score"), rows, right=["score"], empty="nothing found")
    for observation in matches.results:
        yield from status_lines(short(observation.id), observation, short)
    yield from degraded(matches.degraded)
    yield from [matches.notice] if matches.results else []


def _understanding_blocks(
    understandings: read_understandings.Understandings | read_understandings.UnderstandingHistory, short: Short
) -> Iterator[Block]:
    for number, understanding in enumerate(understandings.results):
        yield from [""] if number else []
        yield Heading(understanding.title)
        yield fields(
            ("id", short(understanding.id)),
            ("type", understanding.type),
            ("subjects", understanding.subjects),
            ("summary", understanding.summary),
            ("from", source(understanding.origin, understanding.model or "", understanding.created)),
            ("truth", understanding.truth),
            ("supersedes", short_ids(understanding.supersedes, short)),
            ("reason", understanding.reason),
        )
        yield from status_lines(short(understanding.id), understanding, short)
        yield Body(understanding.content)
    yield "" if understandings.results else "no active understanding is tagged with all of these"
    yield from [understandings.notice] if understandings.results else []


def _summarised(done: subjects.UpdatedSubject, short: Short) -> Iterator[Block]:
    change = ("before", done.previous_summary)
    yield from saved_as(done.id, f"{done.name}: {done.summary}", done.path, short, done, change)


def _aliased(done: subjects.Aliased, short: Short) -> Iterator[Block]:
    sentence = f"{done.name} also answers to {', '.join(done.added)}" if done.added else f"{done.name} answers to that already"
    gained = ("memories gained", done.gained or None)
    yield from saved_as(done.id, sentence, done.path, short, done, ("aliases", done.aliases), gained)
