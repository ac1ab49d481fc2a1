"""The commands that count."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, Heading, fields, table
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.doctor import statistics
from vault_tool.util.text import counted


@command("get-stats", "vt get-stats", "vt get-stats --json")
def get_stats(call: Call) -> Exit:
    """Count what the vault holds."""
    with call.open_vault() as vault:
        return call.emit(statistics.get_stats(vault), _stats, vault)


@command("tags", "vt tags", "vt tags work --limit 10")
@click.argument("prefix", default="", metavar="[BEGINNING]", help="Only tags that begin so.")
@takes(statistics.tags, "limit")
def tags(call: Call, prefix: str, limit: int) -> Exit:
    """List the tags, and which stand together.

    The most frequent first, each with how many memories have it, and with the tags that stand beside it most often.
    `--tag` of recall and search takes any of them.
    """
    with call.open_vault() as vault:
        return call.emit(statistics.tags(vault, prefix, limit), _tags, vault)


def _tags(found: statistics.Tags, short: Short) -> Iterator[Block]:
    rows = [(one.tag, str(one.count), ", ".join(f"{other.tag} {other.count}" for other in one.beside)) for one in found.results]
    empty = "no tag begins so" if found.tagged else "nothing is tagged yet: `vt remember --tag TAG` does"
    yield table(("tag", "memories", "beside it"), rows, right=["memories"], empty=empty)
    if len(found.results) < found.total:
        yield f"{len(found.results)} of {counted(found.total, 'tag')}: --limit shows more, a beginning fewer"


def _stats(found: statistics.Stats, short: Short) -> Iterator[Block]:
    yield Heading(found.workspace.name)
    yield fields(
        ("description", found.workspace.description),
        ("subjects", found.subject_count),
        ("observations", found.observation_count),
        ("understandings", f"{found.understanding_count}, {found.active_understanding_count} active"),
        ("edges", found.edge_count),
        ("pages", found.page_count),
        ("signals", found.signal_count),
        ("types", ", ".join(f"{kind} {count}" for kind, count in found.by_type.items())),
        ("embedded", _coverage(found.embedding_coverage)),
        ("generation", found.current_generation),
        ("last consolidated", found.last_consolidated_at or "never"),
    )


def _coverage(coverage: statistics.EmbeddingCoverage) -> str:
    if coverage.share is None:
        return "nothing embeds here"
    each = ", ".join(f"{name} {count}" for name, count in coverage.perspectives.items() if count != coverage.embedded)
    said = f"{coverage.embedded} of {coverage.embeddable} ({coverage.share:.0%}) by {coverage.model}"
    return f"{said}; {each}" if each else said
