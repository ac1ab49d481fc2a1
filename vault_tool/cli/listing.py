"""`vt list`: memories without a question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_tool.cli.blocks import Block, source, sourced, status_lines, with_status
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.reading.listing import CLASSES, SORTS, STATUSES, ListedMemory, MemoryList, list_memories
from vault_tool.model.parameter_table import NARROWS


@command(
    "list",
    "vt list --type preference",
    "vt list --since 'last week' --by agent",
    "vt list --subject Redis --status all --sort decay --limit 20",
)
@takes(list_memories, "kinds")
@click.option(
    "--class", "record_class", type=click.Choice([record_class.value for record_class in CLASSES]), help="Only this class."
)
@takes(list_memories, *NARROWS, "by")
@click.option("--of-session", metavar="ID", help="Only what this conversation wrote.")
@click.option("--status", type=click.Choice(STATUSES), help="Only of this status; `all` for history too.")
@takes(list_memories, "folder")
@click.option("--sort", type=click.Choice(SORTS), default="created", show_default=True, help="The order, the highest first.")
@takes(list_memories, "limit", "after")
def list_(call: Call, of_session: str | None, **options: Any) -> Exit:
    """List memories without a question.

    The newest first, all that stands now; `--status all` lists what waits, has expired or was superseded too.
    """
    filters = {name: value for name, value in options.items() if value is not None}
    with call.open_vault() as vault:
        return call.emit(list_memories(vault, session=of_session, **filters), _listed, vault)


def _listed(listed: MemoryList, short: Short) -> Iterator[Block]:
    rows = [_row(memory, short) for memory in listed.results]
    yield from sourced(("id", "type", "title", "subjects", "from", "date"), rows, empty="no memory is so")
    for memory in listed.results:
        yield from status_lines(short(memory.id), memory, short)
    if listed.next:
        yield f"{len(listed.results)} of {listed.total}; the next: --after {listed.next}"


def _row(memory: ListedMemory, short: Short) -> tuple[str, ...]:
    origin = source(memory.origin, reviewed=memory.reviewed)
    return (
        short(memory.id),
        memory.type,
        with_status(memory.title, memory),
        ", ".join(memory.subjects),
        origin,
        memory.observed[:10],
    )
