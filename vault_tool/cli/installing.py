"""The command that tells agents' clients of the vault."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Diff, Printed, fields
from vault_tool.cli.capturing import ask_once
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit, NotFound, VaultError
from vault_tool.features.capture.session_files import CLIENTS as SESSION_CLIENTS
from vault_tool.install.clients import CLIENTS, UserMachine
from vault_tool.install.installing import Installation, snippet
from vault_tool.install.installing import install as install_client
from vault_tool.vault.finding import find


@command(
    "install", "vt install claude-code", "vt install codex --dry-run", "vt install zed --print", "vt install cursor --uninstall"
)
@click.argument("client", type=click.Choice(tuple(CLIENTS)), metavar="CLIENT", help=f"{', '.join(CLIENTS)}.")
@click.option("--name", default="vault", show_default=True, metavar="NAME", help="The server's name in the client.")
@click.option("--nearest", is_flag=True, help="Serve the vault nearest to each session's folder, not this one alone.")
@click.option("--no-hooks", is_flag=True, help="The server alone.")
@click.option("--dry-run", is_flag=True, help="Show what would change.")
@click.option("--print", "only_print", is_flag=True, help="Print what to put where by hand.")
@click.option("--uninstall", is_flag=True, help="Take it away: the files are as they were.")
def install(
    call: Call, client: str, name: str, nearest: bool, no_hooks: bool, dry_run: bool, only_print: bool, uninstall: bool
) -> Exit:
    """Tell an agent's client of the vault.

    By the client's own command where that is sure, else by a change to its settings that keeps every other byte.
    The changes are shown first; on a terminal you are asked. Done twice it changes nothing.
    """
    place = UserMachine(os.environ, sys.platform)
    program = [*_program(), *([] if nearest else _vault(call))]
    if only_print:
        return call.emit(snippet(client, program, place, name=name), _printed)
    installation = install_client(
        client, program, place, name=name, hooks=not no_hooks, uninstall=uninstall, dry_run=dry_run, agreed=_asked(call)
    )
    outcome = call.emit(installation, lambda installation, short: _made(installation, uninstall=uninstall, dry_run=dry_run))
    if installation.done and not (uninstall or no_hooks or nearest) and client in SESSION_CLIENTS and _vault(call):
        try:
            ask_once(call, client)
        except VaultError as fault:  # the client knows the vault all the same
            output.warn(fault.marked)
    return outcome


def _program() -> list[str]:
    """The words that start this tool from any folder: clients with windows know no PATH."""
    script = Path(sys.argv[0]).absolute()
    if script.name in ("vt", "vt.exe") and script.exists():
        return [str(script)]
    beside = Path(sys.executable).with_name("vt.exe" if sys.platform == "win32" else "vt")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "vault_tool"]


def _vault(call: Call) -> list[str]:
    """The option that names the vault that is meant now; nothing where there is none yet."""
    try:
        # A client starts it in folders of its own.
        return ["--vault", str(find(call.vault or None, os.environ).absolute())]
    except NotFound:
        if call.vault:
            raise
        return []


def _asked(call: Call) -> Callable[[Installation], bool]:
    """Show what changes to whoever sits at the terminal, and ask; a program has asked already."""

    def agreed(shown: Installation) -> bool:
        if call.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return True
        for line in (*shown.commands, *(edit.diff for edit in shown.edits)):
            output.say(line.rstrip())
        return click.confirm("Do so?", default=True, err=True)

    return agreed


def _made(installation: Installation, *, uninstall: bool, dry_run: bool) -> Iterator[Block]:
    title = CLIENTS[installation.client].title
    if not (installation.commands or installation.edits):
        yield f"{title}: nothing to take away" if uninstall else f"{title} knows the vault already: nothing was changed"
        return
    for line in installation.commands:
        yield f"$ {line}"
    for edit in installation.edits:
        yield Diff(edit.diff.rstrip("\n"))
    did = "the vault is taken away" if uninstall else f"the vault is its server `{installation.server}`"
    would = "would be done" if dry_run else "not done"
    yield f"{title}: {did}" if installation.done else f"{title}: {would}"
    yield fields(("kept for --uninstall", installation.backup), ("then", installation.notes))


def _printed(text: str, short: Short) -> Iterator[Block]:
    yield Printed(text.rstrip("\n"))
