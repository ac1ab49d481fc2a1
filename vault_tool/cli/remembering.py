"""The command that writes an observation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_tool.cli.blocks import Block
from vault_tool.cli.names import TYPES, takes
from vault_tool.cli.options import TEXT, Call, Short, authored, command, writes
from vault_tool.cli.saved import saved_as
from vault_tool.errors import Exit
from vault_tool.features.remember.remember import RememberedObservation
from vault_tool.features.remember.remember import remember as remember_verb
from vault_tool.model.fields import GIVEN


@command(
    "remember",
    "vt remember 'Redis drops idle connections after 300 s' --subject Redis --kind fact",
    "git diff | vt remember - --title 'Keepalive for Redis' --kind solution --problem a1b2c3",
    "vt remember 'Restore the lab' --kind procedure --step 'Stop the workers.' --step 'Load the dump.'",
    "vt remember 'She asked twice what a quorum is.' --mood understanding-check --ask",
)
@click.argument("content", type=TEXT, help="The text, or - for standard input.")
@takes(remember_verb, "subject_names")
@click.option(
    "--kind",
    "--type",
    "-k",
    "kind",
    default="general",
    show_default=True,
    metavar="TYPE",
    help=f"Its type: {TYPES}; or one of your own.",
)
@takes(remember_verb, "new_type")
@takes(remember_verb, *(field.parameter for field in GIVEN if field.name != "type"))
@takes(remember_verb, "ask")
@writes
@authored
def remember(call: Call, **options: Any) -> Exit:
    """Append what was seen, done or decided.

    This is evidence: it is never rewritten, only added to. Subjects that do not exist yet are made. The same text, title
    and steps for the same problem, by type, project and user, are stored once: a repeat adds its subjects, tags and links.
    """
    with call.open_vault() as vault:
        return call.emit(remember_verb(vault, **options), _remembered, vault)


def _remembered(remembered: RememberedObservation, short: Short) -> Iterator[Block]:
    yield from saved_as(
        remembered.id,
        f"{remembered.title}{_known(remembered)}",
        remembered.path,
        short,
        remembered,
        ("type", remembered.type),
        ("subjects", remembered.subject_names),
        ("new subjects", remembered.subjects_created),
    )
    steps = " ".join(remembered.next_steps)
    # Once is enough of a memory about which there is something to do.
    for twin in (each for each in remembered.similar if short(each.id) not in steps):
        yield f"{short(twin.id)} says nearly the same: {twin.title}"
    yield from remembered.next_steps


def _known(remembered: RememberedObservation) -> str:
    if not remembered.duplicate_of or remembered.pending_review:
        return ""
    return (
        f" (known already; added: {'; '.join(remembered.added)})" if remembered.added else " (known already, nothing was written)"
    )
