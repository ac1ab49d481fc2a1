"""The command `bring-to-mind`. It is a module of its own because it loads more than `recall` needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_tool.cli.blocks import Block, Body, degraded, detail_fields, named, source, where
from vault_tool.cli.names import takes
from vault_tool.cli.options import TEXT, Call, Short, command
from vault_tool.cli.recalling import warnings_of
from vault_tool.errors import Exit
from vault_tool.features.sessions import ambient
from vault_tool.model.parameter_table import NARROWS
from vault_tool.util.text import beginning, one_line
from vault_tool.vault.lean import title_if_new

_HEADLINE = 200
# Most characters of one reminder that a person is shown.
_REMINDED = 600


@command(
    "bring-to-mind",
    "vt bring-to-mind 'the flaky redis tests' --session k3f9",
    "vt bring-to-mind - --session k3f9 --last-token 482913377 --json < turn.txt",
)
@click.argument("topic_or_context", type=TEXT, metavar="TOPIC", help="The topic of the talk; - for standard input.")
@takes(ambient.bring_to_mind, "last_token", last_token={"type": int})
@takes(
    ambient.bring_to_mind, "include_seen", "limit", "budget", "kinds", *NARROWS, "include_global", "vaults", "explain",
    explain={"help": "Every factor of each score (with --json)."},
)  # fmt: skip
def bring_to_mind(call: Call, **options: Any) -> Exit:
    """Show what bears on the conversation now.

    Strictly chosen: nothing is a good answer. Memories that the session has seen are left out, until its token is lost or it
    pauses for long: then its context was cut short, and everything may be shown again.
    """
    with call.open_vault() as vault:
        return call.emit(ambient.bring_to_mind(vault, **options), _reminders, vault)


def _reminders(reminders: ambient.Reminders, short: Short) -> Iterator[Block]:
    if reminders.compaction_detected:
        yield "the context was cut short since the last call: what had been shown may be shown again"
    for reminder in reminders.results:
        yield from _reminder(reminder, named(reminder, short, reminder.id))
        yield detail_fields(reminder.details, short, but="failure_mode" if reminder.caution else "")
        yield from warnings_of(reminder, short)
    if not reminders.results:
        yield "nothing comes to mind"
    yield from degraded(reminders.degraded)
    if reminders.session:
        yield f"heartbeat token: {reminders.heartbeat_token}"
    if reminders.results:
        yield reminders.notice


def _reminder(reminder: ambient.Reminder, name: str) -> Iterator[Block]:
    """The lines of one memory: its type, match and source, then its text."""
    match = f"match {reminder.match:.2f}{f' weak, {reminder.weak_why}' if reminder.weak else ''}"
    about = ", ".join((reminder.type, *reminder.subjects, *([where(reminder)] if reminder.vaults else [])))
    yield one_line(f"{name} ({about}; {match}; from {source(reminder.origin, reviewed=reminder.reviewed)})", _HEADLINE)
    text = (
        reminder.content if len(reminder.content) <= _REMINDED else f"{beginning(reminder.content, _REMINDED)} (`vt get {name}`)"
    )
    lines = title_if_new(reminder.title, text)
    yield Body("\n".join(lines.values()))
