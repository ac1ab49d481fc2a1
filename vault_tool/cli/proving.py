"""`vt prove`: whether the memory helps, in figures."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, Heading, fields, table
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.proof import proving
from vault_tool.features.proof.proving import LEAST_QUESTIONS, QUESTIONS, Proof
from vault_tool.util.text import counted


@command("prove", "vt prove", "vt prove --questions 30 --project Ferry", "vt prove --json")
@click.option("--questions", type=click.IntRange(min=1), default=QUESTIONS, show_default=True, help="Most questions of a kind.")
@click.option("--project", metavar="NAME", help="Only memories of this project.")
def prove(call: Call, questions: int, project: str | None) -> Exit:
    """Measure whether this memory helps.

    First what sessions on this machine were shown, and used or called questionable afterwards. Then the index: memories
    are asked for by their words without the two rarest, and words that never stand together should find nothing sure.
    No model is asked, nothing is written, and no use is counted.
    """
    with call.open_vault() as vault:
        return call.emit(proving.prove(vault, questions=questions, project=project), _proof, vault)


def _proof(proof: Proof, short: Short) -> Iterator[Block]:
    use, again, silent, page = proof.use, proof.found_again, proof.silent, proof.page
    yield Heading("Use")
    shown = counted(use.shown, "memory", "memories")
    yield f"{counted(use.sessions, 'session')}: {shown} shown, {use.used} used, {use.misled} misled"
    rows = [(short(row.id), row.title, str(row.shown), str(row.used), str(row.misled)) for row in use.results]
    if rows:
        yield table(("id", "memory", "shown", "used", "misled"), rows, right=["shown", "used", "misled"])
    yield Heading("Index")
    yield fields(
        ("found again", f"first {_of(again.first, again.asked)}, among three {_of(again.among_three, again.asked)}"),
        ("silent", _of(silent.silent, silent.asked)),
        ("overtaken alone", f"{len(proof.overtaken_alone)} of {proof.overtaken_asked} asked, must be 0"),
        ("page", f"{page.shown} of {counted(page.current, 'current memory', 'current memories')}, {page.tokens} tokens"),
    )
    if min(again.asked, silent.asked) < LEAST_QUESTIONS:
        yield f"fewer than {LEAST_QUESTIONS} questions could be made of these memories: the counts say little"
    yield Heading("Not measured")
    yield from proof.not_measured


def _of(count: int, asked: int) -> str:
    share = f" ({count / asked:.0%})" if asked >= LEAST_QUESTIONS else ""
    return f"{count} of {asked}{share}"
