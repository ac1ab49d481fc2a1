"""`vt upcoming`: what is over soon, and what is to be looked at."""

from __future__ import annotations

from collections.abc import Iterator

from vault_tool.cli.blocks import Block, source, sourced, status_lines, with_status
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.reading import upcoming as dates
from vault_tool.vault.coming import WORDS


@command("upcoming", "vt upcoming", "vt upcoming --within 30d --json")
@takes(dates.upcoming, "within", "limit")
def upcoming(call: Call, within: str, limit: int) -> Exit:
    """List what is over soon or to be looked at.

    The nearest first, by `expires`, `until` and `review_by`; a look that was missed stands at the beginning until `vt edit`
    or a review. `vt list --status expired` lists what is over already.
    """
    with call.open_vault() as vault:
        return call.emit(dates.upcoming(vault, within, limit=limit), _upcoming, vault)


def _upcoming(answer: dates.Upcoming, short: Short) -> Iterator[Block]:
    rows = [
        (
            date.at[:10], WORDS[date.field].removesuffix(" by"), short(date.id), date.type, with_status(date.title, date),
            source(date.origin, reviewed=date.reviewed),
        )
        for date in answer.results
    ]  # fmt: skip
    columns = ("date", "", "id", "type", "title", "from")
    yield from sourced(columns, rows, empty=f"nothing is over or to be looked at within {answer.within}")
    for memory in {date.id: date for date in answer.results}.values():
        yield from status_lines(short(memory.id), memory, short)
    if len(answer.results) < answer.total:
        yield f"{len(answer.results)} of {answer.total}: --limit shows more"
