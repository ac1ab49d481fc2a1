"""The command that prints the present state as one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vault_tool.cli.blocks import Block, Body, Heading, detail_fields, fields, source, status_lines
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import short_ids
from vault_tool.errors import Exit
from vault_tool.features.recall.present_state import PresentMemory, PresentState, present_state
from vault_tool.util.text import counted


@command("snapshot", "vt snapshot > now.txt", "vt snapshot --json")
def snapshot(call: Call) -> Exit:
    """Print the present state as one document.

    Every active memory, best first, with its belief, its use and what changed it since. It is made anew each time and
    keeps nothing.
    """
    with call.open_vault() as vault, call.progress("reading") as progress:
        state, memories = present_state(vault, progress=progress)
        return call.emit_with(state, "memories", memories, _document, vault)


def _document(found: PresentState, memories: Iterable[PresentMemory], short: Short) -> Iterator[Block]:
    yield Heading(f"The present state, as of {found.as_of}")
    yield fields(
        ("memories", found.count),
        ("expired", found.expired or None),
        ("generation", found.generation),
        ("commit", (found.commit or "")[:10]),
        ("projection", f"version {found.version}"),
    )
    for one in memories:
        yield ""
        yield from _memory(one, short)
    yield ""
    yield found.notice


def _memory(one: PresentMemory, short: Short) -> Iterator[Block]:
    yield Heading(f"{short(one.id)}  {one.title}")
    yield fields(
        ("type", one.type),
        ("subjects", one.subjects),
        ("truth", f"{one.truth:.2f}"),
        ("utility", f"{one.utility:.2f}{_questioned(one.questionable)}"),
        ("standing", f"{one.standing} ({one.decay_score:.2f}), used {counted(one.access_count, 'time')}"),
        ("replaces", short_ids(one.replaces, short)),
        ("from", source(one.origin, one.model or "", one.created, reviewed=one.reviewed)),
    )
    yield Body(one.content)
    yield detail_fields(one.details, short)
    yield from status_lines(short(one.id), one, short)
    for change in one.later:
        yield f"changed by {short(change.id)} (truth {change.truth:.2f}, {change.created}):"
        yield Body(change.content)
        yield detail_fields(change.details, short)


def _questioned(count: int) -> str:
    return f", questioned {counted(count, 'time')}" if count else ""
