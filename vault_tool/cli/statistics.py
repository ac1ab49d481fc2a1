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


def _tags(tags: statistics.Tags, short: Short) -> Iterator[Block]:
    rows = [(tag.tag, str(tag.count), ", ".join(f"{other.tag} {other.count}" for other in tag.beside)) for tag in tags.results]
    empty = "no tag begins so" if tags.tagged else "nothing is tagged yet: `vt remember --tag TAG` does"
    yield table(("tag", "memories", "beside it"), rows, right=["memories"], empty=empty)
    if len(tags.results) < tags.total:
        yield f"{len(tags.results)} of {counted(tags.total, 'tag')}: --limit shows more, a beginning fewer"


def _stats(stats: statistics.Stats, short: Short) -> Iterator[Block]:
    yield Heading(stats.workspace.name)
    yield fields(
        ("description", stats.workspace.description),
        ("subjects", stats.subject_count),
        ("observations", stats.observation_count),
        ("understandings", f"{stats.understanding_count}, {stats.active_understanding_count} active"),
        ("edges", stats.edge_count),
        ("pages", stats.page_count),
        ("signals", stats.signal_count),
        ("types", ", ".join(f"{kind} {count}" for kind, count in stats.by_type.items())),
        ("embedded", _coverage(stats.embedding_coverage)),
        ("generation", stats.current_generation),
        ("last consolidated", stats.last_consolidated_at or "never"),
    )


def _coverage(coverage: statistics.EmbeddingCoverage) -> str:
    if coverage.share is None:
        return "nothing embeds here"
    each = ", ".join(f"{name} {count}" for name, count in coverage.perspectives.items() if count != coverage.embedded)
    sentence = f"{coverage.embedded} of {coverage.embeddable} ({coverage.share:.0%}) by {coverage.model}"
    return f"{sentence}; {each}" if each else sentence
