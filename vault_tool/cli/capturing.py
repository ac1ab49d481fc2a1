"""`vt capture`: whether sessions of agents' clients are read."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Printed, fields, table
from vault_tool.cli.options import TEXT, Call, Short, command
from vault_tool.errors import Exit, UsageError
from vault_tool.features.capture import capture_settings
from vault_tool.features.capture import capturing as captures
from vault_tool.features.capture.capture_settings import CALLS_A_DAY, TOKENS_A_DAY
from vault_tool.features.capture.judge import CLIENTS
from vault_tool.util.text import counted, one_line
from vault_tool.vault.person import at_terminal

if TYPE_CHECKING:
    from vault_tool.features.capture.capture_log import Reading
    from vault_tool.features.capture.capturing import Capture


@command(
    "capture",
    "vt capture",
    "vt capture --set point --folder .",
    "vt capture --set draft --by ollama:qwen3:4b --calls-a-day 3",
    "vt capture --set point --folder ~/work --not ~/work/private",
    "vt capture 5f0c2d7e-1b1a-4f4e-9f37-6a4c0d9b2c11 --dry-run",
    "vt capture --set off",
)
@click.argument("named", metavar="[SESSION|FILE]", type=TEXT, required=False, help="A session to look at, with --dry-run.")
@click.option("--set", "mode", type=TEXT, metavar="off|point|draft", help="Read this from now on, on this machine.")
@click.option(
    "--by",
    type=TEXT,
    default="",
    metavar="MODEL",
    help="The model that proposes memories: ollama:NAME, ollama:NAME@HOST, or claude.",
)
@click.option("--program", type=TEXT, default="", metavar="PATH", help="With --by claude: the whole path of Claude Code.")
@click.option("--folder", "folders", type=TEXT, multiple=True, metavar="PATH", help="Read sessions in it; / is everywhere.")
@click.option("--not", "but", type=TEXT, multiple=True, metavar="PATH", help="Never those in it.")
@click.option("--calls-a-day", type=int, metavar="N", help=f"Ask a model at most so often a day; {CALLS_A_DAY} if never said.")
@click.option("--tokens-a-day", type=int, metavar="N", help=f"Spend at most so many tokens; {TOKENS_A_DAY} if never said.")
@click.option("--log", is_flag=True, help="Each reading by a model: when, what it cost, what came of it.")
@click.option("--dry-run", is_flag=True, help="Show word for word what would be read of the session, and sent.")
def capture(
    call: Call,
    named: str | None,
    mode: str | None,
    by: str,
    program: str,
    folders: Sequence[str],
    but: Sequence[str],
    calls_a_day: int | None,
    tokens_a_day: int | None,
    *,
    log: bool,
    dry_run: bool,
) -> Exit:
    """Show or set what of sessions is read.

    A client (Claude Code, Codex) keeps what was said in a file. `point` asks no model: after a session ended, the next one in
    the same folder is shown up to 6 of its turns, once. With `draft` a model proposes memories of a session a minute after it
    ended, while an owner or `vt watch` runs; they wait in `vt review`. It is `off` until a person sets it, here, for this
    machine alone.
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
    if mode == "draft" and by in CLIENTS and at_terminal():
        program = _program(by, program)
    with call.open_vault() as vault:
        captured = captures.capture(
            vault, named or "", mode=mode, folders=folders, but=but, by=by, program=program, calls_a_day=calls_a_day,
            tokens_a_day=tokens_a_day, log=log,
        )  # fmt: skip
        return call.emit(captured, _turns if named else _log if log else _set, vault)


def _program(by: str, program: str) -> str:
    """The program of a client, confirmed by a person at the terminal, because the texts sent to it leave this machine."""
    path = click.prompt(f"Which program is {by}?", default=program or shutil.which(by) or None)
    if not click.confirm(
        f"Is {path} to be started for sessions that ended, and what they say sent to its provider?", default=False
    ):
        raise UsageError("nothing was set", "`vt capture --set point` needs no model")
    return str(path)


QUESTION = (
    "After a session ends, may its file be read? [p]oint: no model; the next session here is shown up to 6 of its turns. "
    "[d]raft: a model proposes memories for `vt review`. [n]o"
)
OFF_UNASKED = "off: no session is read, for at `vt install` no person was there to be asked (`vt capture --set point`)"


def ask_once(call: Call, client: str) -> None:
    """Ask a person at the terminal whether sessions of a client are read; if no person is there, note that none was asked."""
    with call.open_vault() as vault:
        if capture_settings.is_set(vault.root):
            return
        if call.json or not at_terminal():
            capture_settings.keep_unasked(vault.root)
            return
        key = str(click.prompt(QUESTION, default="n", show_default=False)).strip().lower()[:1]
        mode = {"p": "point", "d": "draft"}.get(key, "off")
        folders = []
        if mode != "off" and not capture_settings.own_folders(vault.root):
            folders = [str(click.prompt("Sessions in which folder?", default=str(Path.cwd())))]
        usual = "claude" if client == "claude-code" else None
        by = str(click.prompt("Which model? claude, or ollama:NAME", default=usual)) if mode == "draft" else ""
        program = _program(by, "") if by in CLIENTS else ""
        state = captures.capture(vault, mode=mode, folders=folders, by=by, program=program)
        output.say(f"capture: {state.mode} ({_WHAT[state.mode]})")


_WHAT = {
    "off": "nothing is read of sessions",
    "point": "the next session in the folder is shown turns; no model is asked",
    "draft": "a model proposes memories, which wait in `vt review`",
}


def _set(captured: Capture, short: Short) -> Iterator[Block]:
    yield f"capture: {captured.mode} ({_WHAT[captured.mode]})"
    if captured.mode == "off":
        return
    waits = "ended and not shown yet" if captured.mode == "point" else "ended and not read yet"
    yield fields(("folders", captured.folders), ("never", captured.but), (waits, captured.ended))
    if captured.mode == "point":
        yield fields(("last read", captured.last_read), ("pointed at", captured.last_turns), ("fault", captured.last_fault))
        return
    yield fields(
        ("by", captured.by), ("asks", captured.where), ("it is told", captured.environ), ("last read", captured.last_read),
        ("today", f"{captured.calls} of {counted(captured.calls_a_day, 'call')}, {_spent(captured)}"),
        ("drafts today", captured.drafts), ("wait for review", captured.waiting), ("fault", captured.last_fault),
        ("paused", captured.paused),
    )  # fmt: skip


def in_one_line(captured: Capture) -> str:
    """The state of capture on this machine, in a line; empty if capture is off."""
    if captured.mode == "off":
        return ""
    by = f" by {captured.by}" if captured.by else ""
    came = f"{counted(captured.last_turns, 'turn')} pointed at" if captured.mode == "point" else _drafted(captured)
    ran = f"ran {captured.last_read[:16]}, {came}" if captured.last_read else "has not run yet"
    waits = (
        f", {counted(captured.ended, 'session')} not {'shown' if captured.mode == 'point' else 'read'} yet"
        if captured.ended
        else ""
    )
    trouble = captured.paused or captured.last_fault
    return f"{captured.mode}{by}, {ran}{waits}{': ' if trouble else ''}{trouble}"


def _drafted(captured: Capture) -> str:
    return f"{counted(captured.drafts, 'draft')}, {_spent(captured)} today"


def _spent(captured: Capture) -> str:
    return f"{captured.tokens:,} of {captured.tokens_a_day:,} tokens"


def _log(captured: Capture, short: Short) -> Iterator[Block]:
    rows = [
        (
            line.at[:16],
            one_line(line.session, 12),
            line.by,
            line.what,
            str(line.tokens or ""),
            str(line.drafts or ""),
            _came_to(line),
        )
        for line in captured.log
        if line.asked or line.why
    ]
    yield table(("when", "session", "by", "", "tokens", "drafts", ""), rows, empty="no session was read by a model yet")


def _came_to(line: Reading) -> str:
    known = [f"{line.known} known"] if line.known else []
    return line.why or ", ".join([*known, *(f"{number} refused: {why}" for why, number in line.refused.items())])


def _turns(captured: Capture, short: Short) -> Iterator[Block]:
    if captured.fault:
        yield captured.fault
    rows = [(f"L{turn.line}", turn.by, "pointed at" if turn.pointed else "", turn.text) for turn in captured.turns]
    yield table(("line", "by", "", "what was said"), rows, empty="nothing is read of it")
    if not captured.sent:
        yield "nothing else of the file is read, and nothing is sent"
        return
    yield fields(("sent by", captured.by), ("to", captured.where), ("environment", captured.environ))
    yield Printed(f"{captured.rules}\n\n{captured.sent}".rstrip("\n"))
    yield "nothing else is read or sent, and nothing of this was now"
