"""Commands of a conversational product: `turn`, its queue and its log, and `backstop`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import click

from vault_tool.cli.blocks import Block, degraded, fields, in_a_cell, table
from vault_tool.cli.json_input import objects
from vault_tool.cli.names import takes
from vault_tool.cli.options import TEXT, Call, Short, authored, command, writes
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit
from vault_tool.features.turns import accept, linking, logged_turns
from vault_tool.features.turns import backstop as second_look
from vault_tool.features.turns.gate import Gate, Mode, Risk
from vault_tool.features.turns.replaying import Replay
from vault_tool.util.text import one_line

SHOWN = 80


@command(
    "turn",
    "vt turn 'I grew up by the sea.' --session s1 --user u-7f3a --world saltmarsh",
    "vt turn 'My sister is called Mara.' --session s1 --user u-7f3a --world saltmarsh --extract-memory "
    '--candidates \'[{"content": "The player has a sister, Mara.", "anchors": ["Mara"]}]\'',
    "vt turn --drain",
)
@click.argument("text", type=TEXT, default="", help="The words that were said; - for standard input.")
@click.option("--world", default="", metavar="NAME", help="The world; else --project.")
@click.option("--turn", default="", metavar="N", help="The turn's number: the same turn given twice is one.")
@click.option("--mode", type=click.Choice(get_args(Mode)), default="in_world_answer", show_default=True, help="The judge's.")
@click.option("--risk", type=click.Choice(get_args(Risk)), default="low", show_default=True, help="The judge's.")
@click.option("--flag", "flags", multiple=True, help="A violation that the judge named.")
@click.option("--note", default="", help="The judge's note.")
@click.option("--extract-memory", "extractMemory", is_flag=True, help="The judge found something worth remembering.")
@click.option(
    "--candidates", type=TEXT, metavar="JSON", help="The candidates that were extracted, as a list of objects with `content`."
)
@takes(accept.turn, "limit", "budget")
@click.option("--later", is_flag=True, help="Start no process that writes: the next write, or --drain, does.")
@click.option("--drain", is_flag=True, help="Write what earlier turns accepted, and link it.")
@click.option("--link", is_flag=True, help="Link all beats of the vault that are not linked yet.")
@writes
@authored
def turn(call: Call, text: str, world: str, candidates: str | None, later: bool, drain: bool, link: bool, **options: Any) -> Exit:
    """Recall for one turn, and take what it gives.

    Candidates that the judge let through are safe on the disk before the answer, and are written after it. By default nothing is
    written; a redirected turn never is.
    """
    with call.open_vault() as vault:
        if drain:
            return call.emit(accept.drain(vault), _drained, vault)
        if link:
            return call.emit(linking.link_beats(vault), _linked, vault)
        who = vault.who
        taken = objects(candidates, "content")
        write: accept.Writes | None = "later" if later else None
        turned = accept.turn(
            vault, who.session, who.user, world or who.project, text, candidates=taken, write=write, **options
        )  # fmt: skip
        return call.emit(turned, _turned, vault)


@command("backstop", "vt backstop --for-user u-7f3a", "vt backstop --settled 5f0c2d")
@takes(second_look.backstop, "limit")
@click.option("--for-user", "user", default="", metavar="ID", help="Only this user's.")
@takes(second_look.backstop, "world")
@click.option("--settled", multiple=True, metavar="ID", help="A turn that was judged again, and need not be kept.")
def backstop(call: Call, **options: Any) -> Exit:
    """List skipped turns worth a second look.

    Names, dates, statements about oneself, preferences, promises and length speak for one; the oldest come first. Turns
    worth keeping are given to `vt turn` again, with their candidates. Turns are kept on this machine, for a while.
    """
    with call.open_vault() as vault:
        return call.emit(second_look.backstop(vault, **options), _missed)


@command("list-turns", "vt list-turns --for-user u-7f3a --since 7d", "vt list-turns --json")
@click.option("--for-user", "user", default="", metavar="ID", help="Only this user's.")
@click.option("--of-session", "session", default="", metavar="ID", help="Only this conversation's.")
@takes(logged_turns.list_turns, "world")
@click.option("--since", metavar="TIME", help="Only from then on: 2026-11-20, 7d.")
@takes(logged_turns.list_turns, "limit")
def list_turns(call: Call, **options: Any) -> Exit:
    """List the kept turns, newest first.

    This machine keeps a log of the last turns (`turn_log`, `turn_log_turns` and `turn_log_bytes` in vault.toml): what was
    said, judged, recalled and extracted. It is never committed.
    """
    with call.open_vault() as vault:
        return call.emit(logged_turns.list_turns(vault, **options), _listed)


@command("get-turn", "vt get-turn 5f0c2d", "vt get-turn 5f0c2d --replay --json")
@click.argument("turn_id", metavar="TURN", help="A turn's id or number, or the id of a memory that was written of it.")
@click.option("--replay", is_flag=True, help="Recall again now, and say what differs from then, and why.")
def get_turn(call: Call, turn_id: str, replay: bool) -> Exit:
    """Show one turn, and what became of it.

    The words, judgements and memories of that turn, and for each candidate whether it is written, waits, was refused or is gone.
    """
    with call.open_vault() as vault:
        return call.emit(logged_turns.get_turn(vault, turn_id, replay=replay), _shown, vault)


def _turned(turned: accept.Turned, short: Short) -> Iterator[Block]:
    rows = [
        (short(beat.id), beat.created[:10], beat.why, in_a_cell(beat.content, beat.details, short)) for beat in turned.recalled
    ]
    yield table(("id", "day", "why", "remembered"), rows, empty="nothing is remembered of this")
    yield fields(*_judgement(turned.gate), ("accepted", turned.accepted or ""), ("waiting", turned.waiting or ""))
    yield from degraded(turned.degraded)
    yield turned.notice


def _drained(done: accept.Drained, short: Short) -> Iterator[Block]:
    yield f"turns: {done.turns}; memories written: {len(done.written)}, held for review: {done.held}, known already: {done.known}"
    yield fields(("links", done.linked or ""), ("waiting", done.waiting or ""), ("commit", commit_of(done)))


def _linked(done: linking.LinkedBeats, short: Short) -> Iterator[Block]:
    yield f"beats: {done.beats}; links made: {done.linked}"
    yield fields(("commit", commit_of(done)))


def _missed(missed: second_look.Backstop, short: Short) -> Iterator[Block]:
    rows = [(short(turn.id), turn.at[:10], turn.session, ", ".join(turn.why), turn.text[:SHOWN]) for turn in missed.results]
    yield table(("id", "day", "session", "why", "said"), rows, empty=f"none of {missed.kept} skipped turns is worth it")


def _judgement(gate: Gate) -> Iterator[tuple[str, object]]:
    yield "status", gate.safetyStatus
    yield "review", "required" if gate.reviewRequired else ""
    yield "writes", gate.destination
    yield "because", gate.reason


def _listed(turns: logged_turns.TurnList, short: Short) -> Iterator[Block]:
    rows = [
        (short(turn.id), turn.at[:16], turn.user or turn.session, turn.gate.destination, f"{turn.recalled}", f"{turn.candidates}",
         _turn_text(turn))
        for turn in turns.results
    ]  # fmt: skip
    columns = ("id", "at", "who", "writes", "recalled", "extracted", "said")
    yield table(columns, rows, right=columns[4:6], empty="no turn is kept")
    if len(turns.results) < turns.total:
        yield f"{len(turns.results)} of {turns.total} turns: --limit shows more"
    yield from (f"not a turn: {path}" for path in turns.problems)


def _turn_text(turn: logged_turns.TurnLine | logged_turns.TurnShown) -> str:
    return one_line(turn.text, SHOWN) if turn.text else f"(not kept: {turn.absence})"


def _shown(shown: logged_turns.TurnShown, short: Short) -> Iterator[Block]:
    gate = shown.gate
    yield fields(
        ("turn", shown.id), ("number", shown.turn), ("at", shown.at), ("user", shown.user), ("session", shown.session),
        ("world", shown.world), ("said", shown.text or f"(not kept: {shown.absence})"), ("mode", gate.mode),
        ("risk", gate.risk), ("flags", gate.flags), ("note", gate.note),
        ("extractMemory", "true" if gate.extractMemory else "false"), *_judgement(gate),
    )  # fmt: skip
    recalled = [
        (short(memory.id), memory.why, _match(memory.match, memory.weak), memory.title or "(gone)") for memory in shown.recalled
    ]
    yield table(("id", "why", "match", "recalled"), recalled, right=["match"], empty="nothing was recalled")
    extracted = [
        (
            short(candidate.memory_id or candidate.id),
            candidate.became,
            candidate.content[:SHOWN] or "(not shown)",
            candidate.reason,
        )
        for candidate in shown.candidates
    ]
    yield table(("id", "became", "extracted", "because"), extracted, empty="nothing was extracted")
    if shown.replay:
        yield from _replayed(shown.replay, short)


def _replayed(replay: Replay, short: Short) -> Iterator[Block]:
    rows = [
        (short(difference.id), difference.change, f"{difference.was or '-'} > {difference.now or '-'}",
         f"{_match(difference.match_was)} > {_match(difference.match, difference.weak)}",
         difference.title or "(gone)", difference.why)
        for difference in replay.differences
    ]  # fmt: skip
    yield table(("id", "now", "place", "match", "recalled", "because"), rows, empty="nothing is recalled now, nor was then")
    factors = list(dict.fromkeys(name for difference in replay.differences for name in difference.factors or {}))
    explained = [difference for difference in replay.differences if difference.factors]
    if explained:
        cells = ((name, *(f"{(difference.factors or {}).get(name, 0):.2f}" for difference in explained)) for name in factors)
        yield table(("factor", *(short(difference.id) for difference in explained)), cells)
    yield from degraded(replay.degraded)


def _match(match: float | None, weak: bool | None = None) -> str:
    return "-" if match is None else f"{match:.2f}{' weak' if weak else ''}"
