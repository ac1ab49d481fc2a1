"""The command that writes an observation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from vault_tool.cli.blocks import Block
from vault_tool.cli.names import MEMORY, SUBJECT, TYPES
from vault_tool.cli.options import TEXT, Call, Short, authored, command, writes
from vault_tool.cli.saved import saved_as
from vault_tool.errors import Exit
from vault_tool.verbs.remember import RememberedObservation
from vault_tool.verbs.remember import remember as remember_verb

SHARE = click.FloatRange(0, 1)


@command(
    "remember",
    "vt remember 'Redis drops idle connections after 300 s' --subject Redis --kind fact",
    "git diff | vt remember - --title 'Keepalive for Redis' --kind solution --problem a1b2c3",
    "vt remember 'Restore the lab' --kind procedure --step 'Stop the workers.' --step 'Load the dump.'",
    "vt remember 'She asked twice what a quorum is.' --mood understanding-check --ask",
)
@click.argument("content", type=TEXT, help="The text, or - for standard input.")
@click.option("--subject", "-s", "subject_names", type=SUBJECT, multiple=True, help="A subject it is about; made if new.")
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
@click.option("--new-type", is_flag=True, help="Keep a type that is new here although it is nearly a known one.")
@click.option("--title", default="", help="Its title; else the first sentence.")
@click.option("--tag", "-t", "tags", multiple=True, help="A tag.")
@click.option("--importance", type=SHARE, help="0 to 1; else by type.")
@click.option("--confidence", type=SHARE, help="0 to 1: how sure its writer is.")
@click.option("--related-to", type=MEMORY, multiple=True, help="An understanding that this is direct evidence for.")
@click.option("--problem", type=MEMORY, default="", help="The problem that a solution or failed tactic is for.")
@click.option("--failure-mode", default="", help="How a tactic failed.")
@click.option("--changes", "change_targets", type=MEMORY, multiple=True, help="What a change makes untrue or unused.")
@click.option("--evidence", multiple=True, metavar="REF", help="E.g. file:src/redis.py@9f3c1e2 or commit:9f3c1e2.")
@click.option("--rationale", default="", help="Why it is worth keeping.")
@click.option("--observed-at", metavar="TIME", help="When it was so; else now.")
@click.option("--expires", metavar="TIME", help="When it stops being an answer.")
@click.option("--turn", default="", help="The turn of the conversation.")
@click.option("--step", "steps", multiple=True, help="A step of a procedure.")
@click.option("--precondition", "preconditions", multiple=True, help="What a procedure needs before it.")
@click.option("--postcondition", "postconditions", multiple=True, help="What holds after a procedure.")
@click.option("--mood", default="", metavar="WORD", help="curious, precise, understanding-check, or a word of your own.")
@click.option("--ask", is_flag=True, help="Let a person review it first: `vt review`.")
@click.option("--pin", "pinned", is_flag=True, help="Keep it from fading.")
@writes
@authored
def remember(call: Call, **given: Any) -> Exit:
    """Append what was seen, done or decided.

    This is evidence: it is never rewritten, only added to. Subjects that do not exist yet are made. The same text, title
    and steps for the same problem, by type, project and user, are stored once: a repeat adds its subjects, tags and links.
    """
    with call.open_vault() as vault:
        return call.emit(remember_verb(vault, **given), _remembered, vault)


def _remembered(made: RememberedObservation, short: Short) -> Iterator[Block]:
    yield from saved_as(
        made.id,
        f"{made.title}{_known(made)}",
        made.path,
        short,
        made,
        ("type", made.type),
        ("subjects", made.subject_names),
        ("new subjects", made.subjects_created),
    )
    for name, near in made.similar_subjects.items():
        yield f"{name} is new, and there is: {', '.join(near)}"
    for one in made.similar:
        yield f"{short(one.id)} says nearly the same: {one.title}"


def _known(made: RememberedObservation) -> str:
    if not made.duplicate_of or made.pending_review:
        return ""
    return f" (known already; added: {'; '.join(made.added)})" if made.added else " (known already, nothing was written)"
