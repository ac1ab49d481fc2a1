"""The command that shows what happened when."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, Heading, table
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.history import activity as verbs
from vault_tool.util.text import one_line

_TITLE = 60


@command("activity", "vt activity", "vt activity 2026-11-20", "vt activity --days 7 --json")
@click.argument("day", default="", metavar="[DAY]", help="A day (UTC), as 2026-11-20; none for an overview.")
@click.option("--days", type=click.IntRange(1), default=90, show_default=True, help="How many days back.")
@takes(verbs.activity, "limit")
def activity(call: Call, day: str, days: int, limit: int) -> Exit:
    """Show what happened, by day and by session.

    How many memories each day wrote, entries it logged, judgements and uses it saw, and what the latest sessions wrote, were
    shown and judged; with a day, all of that in full.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.activity(vault, day, days=days, limit=limit), _activity, vault)


def _activity(activity: verbs.Activity, short: Short) -> Iterator[Block]:
    if activity.day:
        yield Heading(activity.day)
        logged = [
            (line.at[11:16], line.type, one_line(line.title, _TITLE), one_line(line.summary, _TITLE)) for line in activity.logged
        ]
        yield table(("at", "what", "title", "summary"), logged, empty="nothing was logged")
        written = [
            (line.at[11:16], short(line.id), line.type, one_line(line.title, _TITLE), line.session) for line in activity.written
        ]
        yield table(("at", "written", "type", "title", "session"), written, empty="nothing was written")
        judged = [
            (line.at[11:16], short(line.id), line.mark, one_line(line.title, _TITLE), line.reason) for line in activity.judged
        ]
        yield table(("at", "judged", "mark", "title", "why"), judged, empty="nothing was judged")
        return
    numbers = ("written", "logged", "judged", "used")
    rows = [(day.day, str(day.written), str(day.logged), str(day.judged), str(day.used)) for day in activity.days]
    yield table(("day", *numbers), rows, right=list(numbers), empty="nothing happened")
    if activity.sessions:
        yield ""
        counts = ["written", "shown", "judged"]
        yield table(("session", "first", "last", *counts), list(map(_session, activity.sessions)), right=counts)


def _session(session: verbs.SessionLine) -> tuple[str, ...]:
    return session.session, session.first[:16], session.last[:16], str(session.written), str(session.shown), str(session.judged)
