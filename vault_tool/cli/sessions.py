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
from vault_tool.features.consolidation.passes import told
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
@click.option("--problem", type=MEMORY, default="", help="What these votes and attempts were for.")
@click.option("--votes", "more_votes", type=TEXT, metavar="JSON", help="Votes as {id, value, reason, problem, evidence}.")
@click.option("--attempts", "more_attempts", type=TEXT, metavar="JSON", help="Attempts as {key, outcome, problem, ...}.")
@click.option("--memories", type=TEXT, metavar="JSON", help="At most 6 to keep, as {content, kind, subjects, problem, ...}.")
@click.option("--left-to-do", type=TEXT, default="", help="Where the work stands and what comes next, in two sentences.")
@takes(ending.end_session, "limit")
@writes
def end_session(call: Call, **given: Any) -> Exit:
    """Vote on what was shown, keep what was tried.

    An offer, no boundary: it lists what the session was shown and has not judged, and the attempts that its log tells
    of. Votes and attempts given are taken first, all of them or none. Memories and what is left to do are kept each by
    itself, and told of so; then nothing is listed.
    """
    votes, attempts, memories = _votes(given), _attempts(given), objects(given["memories"], "content")
    with call.open_vault() as vault:
        found = ending.end_session(
            vault, votes=votes, attempts=attempts, memories=memories, left_to_do=given["left_to_do"] or "", limit=given["limit"]
        )
        return call.emit(found, _end, vault)


def _votes(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    same = {"reason": given["reason"], "problem": given["problem"]}
    found = [{"id": name, "value": value, **same} for value in ending.VALUES for name in given[value]]
    return [*found, *objects(given["more_votes"], "id")]


def _attempts(given: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    problem = {"problem": given["problem"]} if given["problem"] else {}
    found = [{"key": key, "outcome": outcome, **problem} for outcome in ending.OUTCOMES for key in given[outcome]]
    return [*found, *objects(given["more_attempts"], "key")]


def _orientation(found: Orientation, short: Short) -> Iterator[Block]:
    for name, attribute in _PARTS:
        page: CoreUnderstanding | None = getattr(found, attribute)
        if page is None:
            continue
        yield Heading(name)
        said = source(page.origin, page.updated_at, reviewed=page.reviewed)
        yield fields(("id", short(page.id)), ("summary", page.summary), ("from", said))
        yield from status_lines(short(page.id), page, short)
        yield ""
        yield Body(page.content)
        yield ""
    if found.content_policy:
        yield Heading("What to keep and what never")
        yield fields(("from", found.content_policy.path))
        yield ""
        yield Body(found.content_policy.content)
        yield ""
    yield from _activity(found)
    yield found.notice


def _activity(found: Orientation) -> Iterator[Block]:
    recent = found.recent_activity
    yield fields(
        ("generation", found.generation),
        ("to consolidate", told(found.pending_consolidation_count, found.due_packets)),
        ("since", recent.since if recent else ""),
        ("new observations", recent.subjects_with_new_observations if recent else ()),
        ("new understandings", recent.subjects_with_new_understandings if recent else ()),
    )
    if recent and recent.more_subjects:
        more = counted(recent.more_subjects, "more subject")
        yield f"and {more}: `vt get-pending-consolidation` lists what waits, most of it by `--limit 1000`"


def _cleared(found: seen.Cleared, short: Short) -> Iterator[Block]:
    yield f"{found.cleared} {'memory' if found.cleared == 1 else 'memories'} may be shown again"


def _context(found: session_context.SessionContext, short: Short) -> Iterator[Block]:
    yield Heading(f"Session {found.session}")
    yield fields(
        ("began", found.began),
        ("last call", found.last_call),
        ("cut short", f"{found.compactions} {'time' if found.compactions == 1 else 'times'}" if found.compactions else ""),
        ("subjects", found.subjects),
    )
    yield ""
    rows = [(short(one.id), one.type, one.title, ", ".join(one.subjects)) for one in found.written]
    yield table(("wrote", "type", "title", "subjects"), rows, empty="nothing was written")
    yield ""
    shown = [(short(one.id), one.type, one.title, ", ".join(one.how), one.last_shown) for one in found.shown]
    yield table(("was shown", "type", "title", "by", "last"), shown, empty="nothing was shown")
    if found.judged:
        yield ""
        yield table(("judged", "mark", "reason"), [(short(one.id), one.mark, one.reason) for one in found.judged])
    yield found.notice


def _end(found: ending.SessionEnd, short: Short) -> Iterator[Block]:
    for voted in found.votes:
        yield f"{short(voted.id)}  {voted.title}: {voted.value}{' (said already)' if voted.already else ''}"
    for kept in found.recorded:
        known = " (known already)" if kept.duplicate_of or kept.already else ""
        yield f"{short(kept.id)}  {kept.title}: {kept.type} for {short(kept.problem_id)}{known}"
    if found.items:
        items = [(one.place, one.outcome, short(one.id) if one.id else "", one.why or one.title) for one in found.items]
        yield table(("given as", "", "id", "what"), items)
        return
    yield Heading("To vote on")
    rows = [(short(one.id), one.type, one.title, ", ".join(one.how)) for one in found.surfaced]
    yield table(("id", "type", "title", "shown by"), rows, empty="nothing that was shown waits for a vote")
    yield ""
    yield Heading("Tried")
    tried = [_tried(one, short) for one in found.attempts]
    yield table(("key", "when", "outcome", "problem", "what"), tried, empty="the log tells of nothing that is not recorded")
    yield found.notice


def _tried(one: Attempt, short: Short) -> tuple[str, ...]:
    tie = "" if one.tied_by == "said" else f" (by {one.tied_by})"
    problem = f"{short(one.problem_id)}{tie}" if one.problem_id else "?"
    return one.key, one.at[:16].replace("T", " "), one.outcome, problem, one_line(one.text, 60)
