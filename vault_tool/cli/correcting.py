"""The command that says that a memory is wrong, and what is so instead."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, fields
from vault_tool.cli.judging import one_reason
from vault_tool.cli.names import MEMORY
from vault_tool.cli.options import TEXT, Call, Short, command, writes
from vault_tool.cli.saved import commit_of, short_ids
from vault_tool.errors import Exit
from vault_tool.features.remember import correcting


@command(
    "correct",
    "vt correct a1b2c3 'The queue was moved in May.' --content 'The queue listens on port 6380.'",
    "vt correct a1b2c3 'It failed twice on the new host.'",
)
@click.argument("id", type=MEMORY, metavar="ID", help="The memory: its id or whole title.")
@click.argument("why", type=TEXT, default="", help="Your observation, in a sentence; - for standard input.")
@click.option("--why", "reason", type=TEXT, metavar="TEXT", default="", help="The same, by name.")
@click.option(
    "--content", type=TEXT, metavar="TEXT", default=None, help="The truth instead, in a sentence; - for standard input."
)
@writes
def correct(call: Call, id: str, why: str, reason: str, content: str | None) -> Exit:
    """Say that a memory is wrong, and what is so.

    It is kept, marked, and no longer given as an answer. With --content a memory of its type, subjects and project takes its
    place, as far as who writes may do that: what the owner wrote stays beside an agent's, contested, until the owner settles it.
    """
    # An empty text is no text that was left out: what a script read may be empty.
    instead = "" if content is None else content or " "
    with call.open_vault() as vault:
        return call.emit(correcting.correct(vault, id, one_reason(why, reason, "--why"), instead), _corrected, vault)


def _corrected(corrected: correcting.Corrected, short: Short) -> Iterator[Block]:
    yield f"{short(corrected.id)}  {corrected.title}"
    by = f" by {short_ids(corrected.status_by, short)}" if corrected.status_by else ""
    yield fields(
        ("status", f"{corrected.status}{by}"),
        ("because", corrected.why),
        ("instead", f"{short(corrected.new_id)}  {corrected.content}" if corrected.new_id else ""),
        ("waits", "for review" if corrected.pending_review else ""),
        ("known", "already, nothing was written" if corrected.known else ""),
        ("path", corrected.path),
        ("commit", commit_of(corrected)),
    )
