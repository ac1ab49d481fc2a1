"""`vt capture`: whether sessions of agents' clients are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.options import TEXT, Call, Short, command
from vault_tool.errors import Exit, UsageError
from vault_tool.features.capture import capturing as captures
from vault_tool.features.capture.capturing import Capture
from vault_tool.vault.person import at_terminal


@command(
    "capture",
    "vt capture",
    "vt capture --set point --folder .",
    "vt capture --set point --folder ~/work --not ~/work/private",
    "vt capture --set off",
)
@click.argument("named", metavar="[SESSION|FILE]", type=TEXT, required=False, help="A session to look at, with --dry-run.")
@click.option("--set", "mode", type=TEXT, metavar="off|point", help="What is read from now on, on this machine.")
@click.option("--folder", "folders", type=TEXT, multiple=True, metavar="PATH", help="Read sessions in it; / is everywhere.")
@click.option("--not", "but", type=TEXT, multiple=True, metavar="PATH", help="Never those in it.")
@click.option("--dry-run", is_flag=True, help="What would be read of the session, word for word.")
def capture(
    call: Call, named: str | None, mode: str | None, folders: Sequence[str], but: Sequence[str], *, dry_run: bool
) -> Exit:
    """Show or set what of sessions is read.

    A client (Claude Code, Codex) keeps what was said in a file. `point` asks no model: after a session ended, the next one in
    the same folder is shown up to 6 of its turns, once. It is `off` until a person sets it, here, for this machine alone.
    """
    if named and not dry_run:
        raise UsageError("a session is read when it has ended", "see what would be read of it with --dry-run")
    if dry_run and not named:
        raise UsageError("--dry-run needs a session", "name its id or its file")
    if mode not in (None, "off") and "/" in folders and at_terminal():
        for question in (
            "Are sessions in every folder of this machine to be read?",
            "Everywhere, in all projects of everybody you work for?",
        ):
            if not click.confirm(question, default=False):
                raise UsageError("nothing was set", "name the folders that are meant")
    with call.open_vault() as vault:
        captured = captures.capture(vault, named or "", mode=mode, folders=folders, but=but)
        return call.emit(captured, _turns if named else _set, vault)


def _set(captured: Capture, short: Short) -> Iterator[Block]:
    what = {"off": "nothing is read of sessions", "point": "the next session in the folder is shown turns; no model is asked"}
    yield f"capture: {captured.mode} ({what[captured.mode]})"
    if captured.mode != "off":
        yield fields(("folders", captured.folders), ("never", captured.but), ("ended and not shown yet", captured.ended))
        yield fields(("last read", captured.last_read), ("pointed at", captured.last_turns), ("fault", captured.last_fault))


def _turns(captured: Capture, short: Short) -> Iterator[Block]:
    if captured.fault:
        yield captured.fault
    rows = [(f"L{turn.line}", turn.by, "pointed at" if turn.pointed else "", turn.text) for turn in captured.turns]
    yield table(("line", "by", "", "what was said"), rows, empty="nothing is read of it")
    yield "nothing else of the file is read, and nothing is sent"
