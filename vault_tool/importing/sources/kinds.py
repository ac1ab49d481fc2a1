"""The exports that are known: by which name each is asked for, how its content shows which it is, and what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources import claude_code
from vault_tool.importing.sources.foreign_items import Item, Wanted

TRIED = "tried on invented exports only"


@dataclass(frozen=True, slots=True)
class ExportKind:
    """One form of export: its words for a person, whether files have it, and the items that they hold."""

    words: str
    fits: Callable[[ExportFiles], bool]
    items: Callable[[ExportFiles, Wanted], Iterator[Item]]


KINDS: Mapping[str, ExportKind] = {
    "claude-code": ExportKind("Claude Code's folder", claude_code.fits, claude_code.items),
}
"""In the order in which they are tried: one that is told apart surely before one that much could be."""


def kind_of(files: ExportFiles) -> str:
    """The name of the kind that an export is of; empty where none fits."""
    return next((name for name, kind in KINDS.items() if kind.fits(files)), "")
