"""The command `bring-to-mind`; a module of its own, for what it loads `recall` need not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_tool.cli.blocks import Block, Body, degraded, detail_fields, source
from vault_tool.cli.names import NARROWS, takes
from vault_tool.cli.options import TEXT, Call, Short, command
from vault_tool.cli.recalling import warnings_of
from vault_tool.errors import Exit
from vault_tool.features.sessions import ambient
from vault_tool.util.text import beginning, one_line
from vault_tool.vault.lean import titled

_HEADLINE = 200
# Most characters of one reminder that a person is shown.
_REMINDED = 600


@command(
    "bring-to-mind",
    "vt bring-to-mind 'the flaky redis tests' --session k3f9",
    "vt bring-to-mind - --session k3f9 --last-token 482913377 --json < turn.txt",
)
@click.argument("topic_or_context", type=TEXT, metavar="TOPIC", help="What is being talked about; - for standard input.")
@takes(ambient.bring_to_mind, "last_token", last_token={"type": int})
@takes(ambient.bring_to_mind, "include_seen", "limit", "budget", "kinds", *NARROWS, "include_global", "explain")
def bring_to_mind(call: Call, **given: Any) -> Exit:
    """Show what bears on the conversation now.

    Strictly chosen: nothing is a good answer. What the session has seen is left out, until its token is lost or it
    pauses for long: then its context was cut short, and everything may be shown again.
    """
    with call.open_vault() as vault:
        return call.emit(ambient.bring_to_mind(vault, **given), _reminders, vault)


def _reminders(found: ambient.Reminders, short: Short) -> Iterator[Block]:
    if found.compaction_detected:
        yield "the context was cut short since the last call: what had been shown may be shown again"
    for one in found.results:
        yield from _reminder(one, short(one.id) if one.scope == "repo" else one.id)
        yield detail_fields(one.details, short, but="failure_mode" if one.caution else "")
        yield from warnings_of(one, short)
    if not found.results:
        yield "nothing comes to mind"
    yield from degraded(found.degraded)
    if found.session:
        yield f"heartbeat token: {found.heartbeat_token}"
    if found.results:
        yield found.notice


def _reminder(one: ambient.Reminder, name: str) -> Iterator[Block]:
    """One memory: what it is and where from, then what it says."""
    match = f"match {one.match:.2f}{f' weak, {one.weak_why}' if one.weak else ''}"
    about = ", ".join((one.type, *one.subjects))
    yield one_line(f"{name} ({about}; {match}; from {source(one.origin, reviewed=one.reviewed)})", _HEADLINE)
    said = one.content if len(one.content) <= _REMINDED else f"{beginning(one.content, _REMINDED)} (`vt get {name}`)"
    lines = titled(one.title, said)
    yield Body("\n".join(lines.values()))
