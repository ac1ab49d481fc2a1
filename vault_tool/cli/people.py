"""The command that lists whom memories are about."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, table
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import named_elsewhere
from vault_tool.errors import Exit
from vault_tool.features.people import people as verbs
from vault_tool.util.text import one_line

_TITLE = 60


@command("people", "vt people", "vt people --json")
@click.argument("name", default="", metavar="[USER]", help="One of them; none for all.")
@takes(verbs.people, "limit")
def people(call: Call, name: str, limit: int) -> Exit:
    """List whom memories are about.

    How many memories there are of each user, how many wait for review, and how many turns this machine keeps; of one, their
    memories with the consent to each. `vt export`, `vt consent` and `vt forget --all-of` do what they ask for.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.people(vault, name, limit=limit), _people, vault)


def _people(people: verbs.People, short: Short) -> Iterator[Block]:
    rows = [(person.user, str(person.memories), str(person.waiting), str(person.turns)) for person in people.results]
    yield table(
        ("user", "memories", "waiting", "turns"), rows, right=["memories", "waiting", "turns"], empty="no memory is about a user"
    )
    if people.total:
        memories = [
            (short(memory.id), memory.created[:10], memory.type, memory.consent or "not asked", one_line(memory.title, _TITLE))
            for memory in people.memories
        ]
        yield table(("memory", "written", "type", "consent", "title"), memories)
        if len(people.memories) < people.total:
            yield f"{len(people.memories)} of {people.total}: --limit shows more"
    yield from named_elsewhere(people.elsewhere, people.elsewhere_count, short)
