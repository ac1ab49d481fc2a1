"""The commands that serve agents' clients."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.options import Call, Decorated, Short, command
from vault_tool.errors import Exit
from vault_tool.mcp.tools import PRESETS, Caller, Offered, offered

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

SESSION_VARIABLES = ("VAULT_SESSION", "CLAUDE_CODE_SESSION_ID")
PROJECT_VARIABLE = "CLAUDE_PROJECT_DIR"
"""What clients say of themselves to the programs that they start."""


def served(function: Decorated) -> Decorated:
    """The options of commands that serve: which tools, and who asks where a call does not say."""
    for option in (
        click.option("--model", metavar="NAME", default="", envvar="VAULT_MODEL", help="Who writes; else VAULT_MODEL."),
        click.option(
            "--project", metavar="NAME", default="", help="What is written is about it; else CLAUDE_PROJECT_DIR's name."
        ),
        click.option("--preset", type=click.Choice(PRESETS), default="lean", show_default=True, help="Which tools."),
    ):
        function = option(function)
    return function


@command("mcp", "vt mcp", "vt mcp --preset full", "vt mcp --tools")
@served
@click.option("--tools", "only_tools", is_flag=True, help="Show the tools of both presets, with what they cost, and end.")
def mcp(call: Call, preset: str, only_tools: bool, project: str, model: str) -> Exit:
    """Serve an agent's client over stdio (MCP).

    It speaks the Model Context Protocol, in the revisions of today and of old. A client starts it; what is written
    by way of it is an agent's.
    """
    if only_tools:
        return call.emit(offered(), _offered)
    import anyio  # with the SDK, three quarters of a second that only a server pays

    from vault_tool.mcp.server import serve_stdio

    caller = caller_of(call, project, model)
    anyio.run(lambda: serve_stdio(opening(call, caller), preset=preset, caller=caller))
    return Exit.DONE


def caller_of(call: Call, project: str, model: str) -> Caller:
    """Who asks where a call does not say, from the options and from what a client says of itself."""
    session = call.session or next(filter(None, map(os.environ.get, SESSION_VARIABLES)), "")
    return Caller(session=session, project=project or _project(call), user=call.user, model=model)


def opening(call: Call, caller: Caller) -> Callable[[], Vault]:
    """What opens the vault that is meant, as an agent."""

    def opened() -> Vault:
        from vault_tool.verbs.vault import Vault  # every verb: loaded by the first call

        return Vault.open(call.vault or None, origin="agent", session=caller.session, user=caller.user)

    return opened


def _project(call: Call) -> str:
    """The name of the folder that a client works in; nothing where that folder's own vault is meant, which is all about it."""
    folder = os.environ.get(PROJECT_VARIABLE, "")
    if not folder:
        return ""
    from vault_tool.errors import VaultError
    from vault_tool.verbs.context import find  # every verb's floor: only where a client names its folder

    with_vault = Path(folder).resolve()
    try:
        root = find(call.vault or None, os.environ).resolve()
    except VaultError:
        return ""
    return "" if root.is_relative_to(with_vault) else with_vault.name


def _offered(found: Offered, short: Short) -> Iterator[Block]:
    rows = [(one.name, "lean, full" if one.lean else "full", str(one.tokens), one.title) for one in found.tools]
    yield table(("tool", "preset", "tokens", "what it is"), rows, right=["tokens"])
    yield fields(*((f"{one.preset}", f"{one.tools} tools, about {one.tokens} tokens") for one in found.presets))
    yield found.notice
