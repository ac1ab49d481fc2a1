"""The command that agents' clients call by themselves."""

from __future__ import annotations

import os

import click

from vault_tool.cli import output
from vault_tool.cli.options import Call, command, standard_input
from vault_tool.errors import Exit, UsageError
from vault_tool.hooks.clients import EVENTS, NATIVE, event_of
from vault_tool.hooks.running import answered


@command("hook", "vt hook session-start --client claude-code < event.json", "vt hook prompt --client codex < event.json")
@click.argument("event", metavar="EVENT", help=f"{', '.join(EVENTS)}; or as the client calls it.")
@click.option(
    "--client", type=click.Choice(tuple(NATIVE)), required=True, help="The client that asks: it says how the answer looks."
)
def hook(call: Call, event: str, client: str) -> Exit:
    """Answer an event of an agent's client.

    Its JSON comes by standard input. A session's start is given the memory's page, a prompt what it brings to mind, in
    bounds; a compaction empties the seen log; the end is told to the next session. Called by a client it always
    succeeds, and says nothing where anything is wrong.
    """
    meant = event_of(event, client)
    if not meant:
        raise UsageError(f"there is no event `{event}`", f"choose from {', '.join(EVENTS)}")
    output.write(answered(meant, client, standard_input(), os.environ, call.vault, call.user).decode())
    return Exit.DONE
