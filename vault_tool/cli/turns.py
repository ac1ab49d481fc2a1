"""Commands of a conversational product: `turn`, its queue, and `backstop`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import click

from vault_tool.cli.blocks import Block, degraded, fields, in_a_cell, table
from vault_tool.cli.json_input import objects
from vault_tool.cli.options import TEXT, Call, Short, authored, command, writes
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit
from vault_tool.verbs.turns import backstop as second_look
from vault_tool.verbs.turns import linking, taking
from vault_tool.verbs.turns.gate import Mode, Risk

SHOWN = 80


@command(
    "turn",
    "vt turn 'I grew up by the sea.' --session s1 --user u-7f3a --world saltmarsh",
    "vt turn 'My sister is called Mara.' --session s1 --user u-7f3a --world saltmarsh --extract-memory "
    '--candidates \'[{"content": "The player has a sister, Mara.", "anchors": ["Mara"]}]\'',
    "vt turn --drain",
)
@click.argument("text", type=TEXT, default="", help="What was said; - for standard input.")
@click.option("--world", default="", metavar="NAME", help="The world; else --project.")
@click.option("--turn", default="", metavar="N", help="The turn's number: the same turn given twice is one.")
@click.option("--mode", type=click.Choice(get_args(Mode)), default="in_world_answer", show_default=True, help="The judge's.")
@click.option("--risk", type=click.Choice(get_args(Risk)), default="low", show_default=True, help="The judge's.")
@click.option("--flag", "flags", multiple=True, help="A violation that the judge named.")
@click.option("--note", default="", help="The judge's note.")
@click.option("--extract-memory", "extractMemory", is_flag=True, help="The judge found something worth remembering.")
@click.option("--candidates", type=TEXT, metavar="JSON", help="What was extracted, as a list of objects with `content`.")
@click.option("--limit", type=click.IntRange(1), default=8, show_default=True, help="Most beats to recall.")
@click.option("--budget", type=click.IntRange(1), default=600, show_default=True, help="Most tokens of them, about.")
@click.option("--later", is_flag=True, help="Start no process that writes: the next write, or --drain, does.")
@click.option("--drain", is_flag=True, help="Write what earlier turns accepted, and link it.")
@click.option("--link", is_flag=True, help="Link all beats of the vault that are not linked yet.")
@writes
@authored
def turn(call: Call, text: str, world: str, candidates: str | None, later: bool, drain: bool, link: bool, **given: Any) -> Exit:
    """Recall for one turn, and take what it gives.

    What the judge let through is safe on the disk before the answer, and is written after it. By default nothing is
    written; a redirected turn never is.
    """
    with call.open_vault() as vault:
        if drain:
            return call.emit(taking.drain(vault), _drained, vault)
        if link:
            return call.emit(linking.link_beats(vault), _linked, vault)
        who = vault.who
        taken = objects(candidates, "content")
        write: taking.Writes | None = "later" if later else None
        found = taking.turn(
            vault, who.session, who.user, world or who.project, text, candidates=taken, write=write, **given
        )  # fmt: skip
        return call.emit(found, _turned, vault)


@command("backstop", "vt backstop --for-user u-7f3a", "vt backstop --settled 5f0c2d")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="Most turns to list.")
@click.option("--for-user", "user", default="", metavar="ID", help="Only this user's.")
@click.option("--world", default="", metavar="NAME", help="Only this world's.")
@click.option("--settled", multiple=True, metavar="ID", help="A turn that was judged again, and need not be kept.")
def backstop(call: Call, **given: Any) -> Exit:
    """List skipped turns worth a second look.

    Names, dates, statements about oneself, preferences, promises and length speak for one; the oldest come first. What is
    worth keeping is given to `vt turn` again, with its candidates. Turns are kept on this machine, for a while.
    """
    with call.open_vault() as vault:
        return call.emit(second_look.backstop(vault, **given), _missed)


def _turned(found: taking.Turned, short: Short) -> Iterator[Block]:
    gate = found.gate
    rows = [
        (short(beat.id), beat.created[:10], beat.why, in_a_cell(beat.content, beat.details, short)) for beat in found.recalled
    ]
    yield table(("id", "day", "why", "remembered"), rows, empty="nothing is remembered of this")
    yield fields(
        ("status", gate.safetyStatus), ("review", "required" if gate.reviewRequired else ""), ("writes", gate.destination),
        ("because", gate.reason), ("accepted", found.accepted or ""), ("waiting", found.waiting or ""),
    )  # fmt: skip
    yield from degraded(found.degraded)
    yield found.notice


def _drained(done: taking.Drained, short: Short) -> Iterator[Block]:
    yield f"turns: {done.turns}; memories written: {len(done.written)}, held for review: {done.held}, known already: {done.known}"
    yield fields(("links", done.linked or ""), ("waiting", done.waiting or ""), ("commit", commit_of(done)))


def _linked(done: linking.LinkedBeats, short: Short) -> Iterator[Block]:
    yield f"beats: {done.beats}; links made: {done.linked}"
    yield fields(("commit", commit_of(done)))


def _missed(found: second_look.Backstop, short: Short) -> Iterator[Block]:
    rows = [(short(one.id), one.at[:10], one.session, ", ".join(one.why), one.text[:SHOWN]) for one in found.results]
    yield table(("id", "day", "session", "why", "said"), rows, empty=f"none of {found.kept} skipped turns is worth it")
