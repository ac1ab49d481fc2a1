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


def _activity(found: verbs.Activity, short: Short) -> Iterator[Block]:
    if found.day:
        yield Heading(found.day)
        logged = [(one.at[11:16], one.type, one_line(one.title, _TITLE), one_line(one.summary, _TITLE)) for one in found.logged]
        yield table(("at", "what", "title", "summary"), logged, empty="nothing was logged")
        written = [(one.at[11:16], short(one.id), one.type, one_line(one.title, _TITLE), one.session) for one in found.written]
        yield table(("at", "written", "type", "title", "session"), written, empty="nothing was written")
        judged = [(one.at[11:16], short(one.id), one.mark, one_line(one.title, _TITLE), one.reason) for one in found.judged]
        yield table(("at", "judged", "mark", "title", "why"), judged, empty="nothing was judged")
        return
    numbers = ("written", "logged", "judged", "used")
    rows = [(one.day, str(one.written), str(one.logged), str(one.judged), str(one.used)) for one in found.days]
    yield table(("day", *numbers), rows, right=list(numbers), empty="nothing happened")
    if found.sessions:
        yield ""
        counts = ["written", "shown", "judged"]
        yield table(("session", "first", "last", *counts), list(map(_session, found.sessions)), right=counts)


def _session(one: verbs.SessionLine) -> tuple[str, ...]:
    return one.session, one.first[:16], one.last[:16], str(one.written), str(one.shown), str(one.judged)
