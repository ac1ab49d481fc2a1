"""Commands of a conversation: reading oneself in, the seen log, its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from vault_tool.cli.blocks import Block, Body, Heading, fields, source, status_lines, table
from vault_tool.cli.json_input import objects
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import TEXT, Call, Short, command, writes
from vault_tool.errors import Exit
from vault_tool.features.consolidation.passes import waiting_in_words
from vault_tool.features.sessions import ending, session_context
from vault_tool.features.sessions.orient import CoreUnderstanding, Orientation
from vault_tool.features.sessions.orient import orient as orient_verb
from vault_tool.features.sessions.session_attempts import Attempt
from vault_tool.util.text import counted, one_line
from vault_tool.vault import seen

_PARTS = (("Soul", "soul"), ("Protocol", "protocol"), ("Orientation", "orientation"))


@command("orient", "vt orient --session 2026-11-20-k3f9", "vt orient --json")
def orient(call: Call) -> Exit:
    """Read soul, protocol and orientation.

    At the start of a session and after a compaction: who we are, how we work, where we stand, and what waits. Empties
    the seen log of the session, so that bring-to-mind starts afresh.
    """
    with call.open_vault() as vault:
        return call.emit(orient_verb(vault), _orientation, vault)


@command("reset-seen", "vt reset-seen --session k3f9")
def reset_seen(call: Call) -> Exit:
    """Empty the seen log of a session.

    After that bring-to-mind may show again what it has shown: for a context that was cut short in mid-conversation.
    """
    with call.open_vault() as vault:
        return call.emit(seen.reset_seen(vault), _cleared, vault)


@command("get-session-context", "vt get-session-context --session k3f9")
@takes(session_context.get_session_context, "limit")
def get_session_context(call: Call, limit: int) -> Exit:
    """Show what a session wrote and was shown."""
    with call.open_vault() as vault:
        return call.emit(session_context.get_session_context(vault, limit=limit), _context, vault)


@command(
    "end-session",
    "vt end-session --session k3f9",
    "vt end-session --session k3f9 --useful a1b2c3 --reason 'it named the cause' --failed 4e0d9c1b22",
    """vt end-session --session k3f9 --votes '[{"id": "a1b2c3", "value": "useful", "reason": "it named the cause"}]'""",
    "vt end-session --session k3f9 --left-to-do 'The pool is in; the workers still need its settings.'",
)
@click.option("--useful", type=MEMORY, multiple=True, help="A memory that paid rent.")
@click.option("--questionable", type=MEMORY, multiple=True, help="A memory that may be wrong or stale.")
@click.option("--reason", default="", help="Why, for these votes.")
@click.option("--worked", multiple=True, metavar="KEY", help="An offered attempt that worked: keep it as a solution.")
@click.option("--failed", multiple=True, metavar="KEY", help="One that did not: keep it as a failed tactic.")
@click.option("--problem", type=MEMORY, default="", help="The problem of these votes and attempts.")
@click.option("--votes", "more_votes", type=TEXT, metavar="JSON", help="Votes as {id, value, reason, problem, evidence}.")
@click.option("--attempts", "more_attempts", type=TEXT, metavar="JSON", help="Attempts as {key, outcome, problem, ...}.")
@click.option("--memories", type=TEXT, metavar="JSON", help="At most 6 to keep, as {content, kind, subjects, problem, ...}.")
@click.option("--left-to-do", type=TEXT, default="", help="Where the work stands and what comes next, in two sentences.")
@takes(ending.end_session, "limit")
@writes
def end_session(call: Call, **options: Any) -> Exit:
    """Vote on what was shown, keep what was tried.

    An offer, no boundary: it lists what the session was shown and has not judged, and the attempts that its log tells
    of. Votes and attempts given are taken first, all of them or none. Memories and what is left to do are kept each by
    itself, and told of so; then nothing is listed.
    """
    votes, attempts, memories = _votes(options), _attempts(options), objects(options["memories"], "content")
    with call.open_vault() as vault:
        ended = ending.end_session(
            vault,
            votes=votes,
            attempts=attempts,
            memories=memories,
            left_to_do=options["left_to_do"] or "",
            limit=options["limit"],
        )
        return call.emit(ended, _end, vault)


def _votes(options: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    same = {"reason": options["reason"], "problem": options["problem"]}
    votes = [{"id": name, "value": value, **same} for value in ending.VALUES for name in options[value]]
    return [*votes, *objects(options["more_votes"], "id")]


def _attempts(options: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    problem = {"problem": options["problem"]} if options["problem"] else {}
    attempts = [{"key": key, "outcome": outcome, **problem} for outcome in ending.OUTCOMES for key in options[outcome]]
    return [*attempts, *objects(options["more_attempts"], "key")]


def _orientation(orientation: Orientation, short: Short) -> Iterator[Block]:
    for name, attribute in _PARTS:
        page: CoreUnderstanding | None = getattr(orientation, attribute)
        if page is None:
            continue
        yield Heading(name)
        origin = source(page.origin, page.updated_at, reviewed=page.reviewed)
        yield fields(("id", short(page.id)), ("summary", page.summary), ("from", origin))
        yield from status_lines(short(page.id), page, short)
        yield ""
        yield Body(page.content)
        yield ""
    if orientation.content_policy:
        yield Heading("What to keep and what never")
        yield fields(("from", orientation.content_policy.path))
        yield ""
        yield Body(orientation.content_policy.content)
        yield ""
    yield from _activity(orientation)
    yield orientation.notice


def _activity(orientation: Orientation) -> Iterator[Block]:
    recent = orientation.recent_activity
    yield fields(
        ("generation", orientation.generation),
        ("to consolidate", waiting_in_words(orientation.pending_consolidation_count, orientation.due_packets)),
        ("comes next", orientation.upcoming or ""),
        ("since", recent.since if recent else ""),
        ("new observations", recent.subjects_with_new_observations if recent else ()),
        ("new understandings", recent.subjects_with_new_understandings if recent else ()),
    )
    if recent and recent.more_subjects:
        more = counted(recent.more_subjects, "more subject")
        yield f"and {more}: `vt get-pending-consolidation` lists what waits, most of it by `--limit 1000`"


def _cleared(cleared: seen.Cleared, short: Short) -> Iterator[Block]:
    yield f"{cleared.cleared} {'memory' if cleared.cleared == 1 else 'memories'} may be shown again"


def _context(context: session_context.SessionContext, short: Short) -> Iterator[Block]:
    yield Heading(f"Session {context.session}")
    yield fields(
        ("began", context.began),
        ("last call", context.last_call),
        ("cut short", f"{context.compactions} {'time' if context.compactions == 1 else 'times'}" if context.compactions else ""),
        ("subjects", context.subjects),
    )
    yield ""
    rows = [(short(memory.id), memory.type, memory.title, ", ".join(memory.subjects)) for memory in context.written]
    yield table(("wrote", "type", "title", "subjects"), rows, empty="nothing was written")
    yield ""
    shown = [(short(memory.id), memory.type, memory.title, ", ".join(memory.how), memory.last_shown) for memory in context.shown]
    yield table(("was shown", "type", "title", "by", "last"), shown, empty="nothing was shown")
    if context.judged:
        yield ""
        yield table(("judged", "mark", "reason"), [(short(memory.id), memory.mark, memory.reason) for memory in context.judged])
    yield context.notice


def _end(ended: ending.SessionEnd, short: Short) -> Iterator[Block]:
    for voted in ended.votes:
        yield f"{short(voted.id)}  {voted.title}: {voted.value}{' (said already)' if voted.already else ''}"
    for record in ended.recorded:
        known = " (known already)" if record.duplicate_of or record.already else ""
        yield f"{short(record.id)}  {record.title}: {record.type} for {short(record.problem_id)}{known}"
    if ended.items:
        items = [
            (
                entry.place,
                entry.outcome,
                short(entry.id) if entry.id else "",
                entry.why or entry.title,
            )
            for entry in ended.items
        ]
        yield table(("given as", "", "id", "what"), items)
        return
    yield Heading("To vote on")
    rows = [(short(memory.id), memory.type, memory.title, ", ".join(memory.how)) for memory in ended.surfaced]
    yield table(("id", "type", "title", "shown by"), rows, empty="nothing that was shown waits for a vote")
    yield ""
    yield Heading("Tried")
    tried = [_tried(attempt, short) for attempt in ended.attempts]
    yield table(("key", "when", "outcome", "problem", "what"), tried, empty="the log tells of nothing that is not recorded")
    yield ended.notice


def _tried(attempt: Attempt, short: Short) -> tuple[str, ...]:
    tie = "" if attempt.tied_by == "said" else f" (by {attempt.tied_by})"
    problem = f"{short(attempt.problem_id)}{tie}" if attempt.problem_id else "?"
    return attempt.key, attempt.at[:16].replace("T", " "), attempt.outcome, problem, one_line(attempt.text, 60)
