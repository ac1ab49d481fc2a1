"""The exports that are known: by which name each is asked for, how its content shows which it is, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources import (
    chatgpt_export,
    claude_code,
    claude_export,
    claude_mem_rows,
    graph_lines,
    mem0_export,
    pasted_memories,
    vault_lines,
)
from vault_tool.importing.sources.foreign_items import Item, Wanted
from vault_tool.util.structs import Struct

TRIED = "tried on invented exports only"


class ExportKind(Struct):
    """One form of export: its words for a person, whether files have it, and the items that they hold."""

    words: str
    fits: Callable[[ExportFiles], bool]
    items: Callable[[ExportFiles, Wanted], Iterator[Item]]


KINDS: Mapping[str, ExportKind] = {
    "claude-code": ExportKind("Claude Code's folder", claude_code.fits, claude_code.items),
    "claude": ExportKind("Claude's export", claude_export.fits, claude_export.items),
    "chatgpt": ExportKind("ChatGPT's export", chatgpt_export.fits, chatgpt_export.items),
    "claude-mem": ExportKind("claude-mem's memory", claude_mem_rows.fits, claude_mem_rows.items),
    "server-memory": ExportKind("the memory server's graph", graph_lines.fits, graph_lines.items),
    "mem0": ExportKind("mem0's memories", mem0_export.fits, mem0_export.items),
    "jsonl": ExportKind("lines of this tool's own", vault_lines.fits, vault_lines.items),
    "memories": ExportKind("a list of memories", pasted_memories.fits, pasted_memories.items),
}
"""In the order in which they are tried: one that is told apart surely before one that much could be."""


def kind_of(files: ExportFiles) -> str:
    """The name of the kind that an export is of; empty where none fits."""
    return next((name for name, kind in KINDS.items() if kind.fits(files)), "")
