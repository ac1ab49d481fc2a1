"""The command that counts."""

from __future__ import annotations

from collections.abc import Iterator

from vault_tool.cli.blocks import Block, Heading, fields
from vault_tool.cli.options import Call, Short, command
from vault_tool.errors import Exit
from vault_tool.verbs import statistics


@command("get-stats", "vt get-stats", "vt get-stats --json")
def get_stats(call: Call) -> Exit:
    """Count what the vault holds."""
    with call.open_vault() as vault:
        return call.emit(statistics.get_stats(vault), _stats, vault)


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
    return f"{coverage.embedded} of {coverage.embeddable} ({coverage.share:.0%}) by {coverage.model}"
