"""Commands that judge memories: useful, or questionable."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, fields
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import TEXT, Call, Short, command, writes
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit, UsageError
from vault_tool.features.remember import judging

_REASON = click.option("--reason", "why", type=TEXT, metavar="TEXT", default="", help="The same, by name.")


@command("mark-useful", "vt mark-useful a1b2c3 'It named the setting at once.'")
@click.argument("id", type=MEMORY, metavar="ID", help="The memory.")
@click.argument("reason", type=TEXT, default="", help="Why, in a sentence; - for standard input.")
@_REASON
@takes(judging.mark_useful, "problem", "evidence")
@writes
def mark_useful(call: Call, id: str, reason: str, why: str, problem: str, evidence: tuple[str, ...]) -> Exit:
    """Say that a memory paid rent.

    Its utility rises a little, it counts as used, and earlier questions about it are settled.
    """
    with call.open_vault() as vault:
        marked = judging.mark_useful(vault, id, one_reason(reason, why), problem=problem, evidence=evidence)
        return call.emit(marked, _marked, vault)


@command("mark-questionable", "vt mark-questionable a1b2c3 'The setting was renamed in 7.2.' --evidence commit:9f3c1e2")
@click.argument("id", type=MEMORY, metavar="ID", help="The memory.")
@click.argument("reason", type=TEXT, default="", help="Why, in a sentence; - for standard input.")
@_REASON
@takes(judging.mark_questionable, "problem", "evidence")
@writes
def mark_questionable(call: Call, id: str, reason: str, why: str, problem: str, evidence: tuple[str, ...]) -> Exit:
    """Say that a memory may be wrong or stale.

    Its utility falls a little and it is reported, until it is superseded, marked as useful or reviewed.
    """
    with call.open_vault() as vault:
        marked = judging.mark_questionable(vault, id, one_reason(reason, why), problem=problem, evidence=evidence)
        return call.emit(marked, _marked, vault)


def one_reason(reason: str, why: str, option: str = "--reason") -> str:
    """The reason, by its place or by its name: other commands take it by name alone, which is easily mixed up."""
    if reason and why:
        raise UsageError("the reason is given twice", f"leave out {option}, or the second argument")
    return reason or why


def _marked(marked: judging.Marked, short: Short) -> Iterator[Block]:
    yield f"{short(marked.id)}  {marked.title}"
    local = marked.for_problem
    yield fields(
        ("marked", marked.mark),
        ("utility", f"{marked.utility.before:.2f} -> {marked.utility.after:.2f}"),
        (f"for {short(marked.problem)}" if local else "", f"{local.before:.2f} -> {local.after:.2f}" if local else ""),
        ("because", marked.utility.reason if marked.utility.applied == 0 else ""),
        ("open questions", "; ".join(dict.fromkeys(filter(None, marked.questions)))),
        ("commit", commit_of(marked)),
    )
