"""`vt prove`: whether the memory helps, in figures."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import click

from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Heading, fields, table
from vault_tool.cli.options import TEXT, Call, Short, command
from vault_tool.errors import Exit, UsageError
from vault_tool.features.capture.judge import CLIENTS
from vault_tool.features.proof import proving
from vault_tool.features.proof.asked_models import PlannedAsking
from vault_tool.features.proof.proving import LEAST_QUESTIONS, QUESTIONS, Proof
from vault_tool.util.text import counted
from vault_tool.vault.person import at_terminal


@command("prove", "vt prove", "vt prove --questions 30 --project Ferry", "vt prove --ask-with ollama:qwen3:4b", "vt prove --json")
@click.option("--questions", type=click.IntRange(min=1), default=QUESTIONS, show_default=True, help="Most questions of a kind.")
@click.option("--project", metavar="NAME", help="Only memories of this project.")
@click.option(
    "--ask-with", type=TEXT, default="", metavar="MODEL", help="Also ask a model: ollama:NAME, ollama:NAME@HOST, or claude."
)
@click.option("--program", type=TEXT, default="", metavar="PATH", help="With --ask-with claude: the whole path of Claude Code.")
def prove(call: Call, questions: int, project: str | None, ask_with: str, program: str) -> Exit:
    """Measure whether this memory helps.

    First what sessions on this machine were shown, and used or called questionable afterwards. Then the index: memories
    are asked for by their words without the two rarest, and words that never stand together should find nothing sure.
    Nothing is written, and no use is counted. No model is asked but with `--ask-with`: then, after the price is told and a
    person said yes, one is asked 10 of these questions, without the memory and with it.
    """
    with call.open_vault() as vault:
        if ask_with and not program:
            program = shutil.which(ask_with) or "" if ask_with in CLIENTS else ""
        if ask_with or program:
            _allowed(proving.plan_asking(vault, ask_with, program, project))
        proof = proving.prove(vault, questions=questions, project=project, ask_with=ask_with, program=program)
        return call.emit(proof, _proof, vault)


def _allowed(plan: PlannedAsking) -> None:
    """Tell what it takes, and go on where a person at the terminal says yes, or said so before. Raises UsageError."""
    says = (
        f"{len(plan.masked)} questions, and what this memory finds for them, go to {plan.settings.by} at {plan.where}: "
        f"2 calls, about {plan.price:,} tokens"
    )
    output.say(says)
    if at_terminal() and not click.confirm("Ask it?", default=False, err=True):
        raise UsageError("no model was asked", "`vt prove` alone asks none")


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
        ("behind its own", f"{again.behind_understandings} more stand behind understandings that rest on them"),
        ("silent", _of(silent.silent, silent.asked)),
        ("overtaken alone", f"{len(proof.overtaken_alone)} of {proof.overtaken_asked} asked, must be 0"),
        ("page", f"{page.shown} of {counted(page.current, 'current memory', 'current memories')}, {page.tokens} tokens"),
    )
    if min(again.asked, silent.asked) < LEAST_QUESTIONS:
        yield f"fewer than {LEAST_QUESTIONS} questions could be made of these memories: the counts say little"
    if (asked := proof.asked) is not None:
        yield Heading("A model with and without this memory")
        yield fields(
            ("with it", _of(asked.with_memory, asked.questions)),
            ("without it", _of(asked.without_memory, asked.questions)),
            ("asked", f"{asked.by} at {asked.where}, 2 calls, {asked.tokens:,} tokens"),
        )
    yield Heading("Not measured")
    yield from proof.not_measured


def _of(count: int, asked: int) -> str:
    share = f" ({count / asked:.0%})" if asked >= LEAST_QUESTIONS else ""
    return f"{count} of {asked}{share}"
