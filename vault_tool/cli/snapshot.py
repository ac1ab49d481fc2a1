"""The command that prints the present state as one document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vault_tool.cli.blocks import Block, Body, Heading, detail_fields, fields, source, status_lines
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import short_ids
from vault_tool.errors import Exit
from vault_tool.features.recall import present_state as verb
from vault_tool.features.recall.present_state import PresentMemory, PresentState, present_state
from vault_tool.util.text import counted
from vault_tool.vault import past


@command("snapshot", "vt snapshot > now.txt", "vt snapshot --json")
@takes(verb.snapshot, "as_of")
def snapshot(call: Call, as_of: str | None) -> Exit:
    """Print the present state as one document.

    Every active memory, best first, with its belief, its use and what changed it since. It is made anew each time and
    keeps nothing.
    """
    with call.open_vault() as vault, call.progress("reading") as progress, past.in_its_time(vault, as_of) as known:
        known.fresh()
        state, memories = present_state(known, progress=progress)
        return call.emit_with(past.told_in_time(state, known), "memories", memories, _document, vault)


def _document(state: PresentState, memories: Iterable[PresentMemory], short: Short) -> Iterator[Block]:
    yield Heading(f"The present state, as of {state.as_of}")
    yield fields(
        ("memories", state.count),
        ("expired", state.expired or None),
        ("generation", state.generation),
        ("commit", (state.commit or "")[:10]),
        ("projection", f"version {state.version}"),
    )
    for memory in memories:
        yield ""
        yield from _memory(memory, short)
    yield ""
    yield state.notice


def _memory(memory: PresentMemory, short: Short) -> Iterator[Block]:
    yield Heading(f"{short(memory.id)}  {memory.title}")
    yield fields(
        ("type", memory.type),
        ("subjects", memory.subjects),
        ("truth", f"{memory.truth:.2f}"),
        ("utility", f"{memory.utility:.2f}{_questioned(memory.questionable)}"),
        ("standing", f"{memory.standing} ({memory.decay_score:.2f}), used {counted(memory.access_count, 'time')}"),
        ("replaces", short_ids(memory.replaces, short)),
        ("from", source(memory.origin, memory.model or "", memory.created, reviewed=memory.reviewed)),
    )
    yield Body(memory.content)
    yield detail_fields(memory.details, short)
    yield from status_lines(short(memory.id), memory, short)
    for change in memory.later:
        yield f"changed by {short(change.id)} (truth {change.truth:.2f}, {change.created}):"
        yield Body(change.content)
        yield detail_fields(change.details, short)


def _questioned(count: int) -> str:
    return f", questioned {counted(count, 'time')}" if count else ""
