"""The answer of mem0's `get_all`, in each of its shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vault_tool.files.export_files import ExportFile, ExportFiles
from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    Item,
    LeftOut,
    Remark,
    Wanted,
    key_of,
    left,
    line_of,
    mapping,
    moment_of,
    names_of,
    safe_key,
    text_of,
    values,
)
from vault_tool.importing.sources.shapes import ENDS, first_values

_LISTS = frozenset({"", "results", "memories", "data", "items"})
# What its graph draws from the memories, which are taken themselves.
_GRAPH = "relations"
_COUNTS = frozenset({"count", "total", "total_count"})


def fits(files: ExportFiles) -> bool:
    """Whether a file holds objects with a `memory` as mem0 has them."""
    return any(_is_memory(value) for file in files.ending(*ENDS) for key, value in first_values(file) if key in _LISTS)


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The memories of each file."""
    for file in files.ending(*ENDS):
        total = taken = 0
        for piece in values(file):
            if isinstance(piece, LeftOut):
                yield piece
            elif piece.key in _COUNTS and isinstance(piece.value, int):
                total = piece.value
            elif piece.key in _LISTS:
                taken += 1
                yield _memory(file, piece.number, mapping(piece.value))
            elif piece.key == _GRAPH:
                yield LeftOut(reason=_GRAPH)
        if total > taken:
            yield Remark(text=f"{file.path} has {taken} memories of {total}: it is one page of several, export the others too")


def _is_memory(value: Any) -> bool:
    record = mapping(value)
    marks = ("hash", "user_id", "agent_id", "run_id", "categories", "updated_at", "created_at", "id")
    return isinstance(record.get("memory"), str) and any(mark in record for mark in marks)


def _memory(file: ExportFile, number: int, record: Mapping[str, Any]) -> Item:
    text, about = text_of(record.get("memory") or record.get("text") or record.get("data")), mapping(record.get("metadata"))
    if not text:
        return left(file, number, "it has no text of a memory")
    own = line_of(record.get("id"))
    categories = names_of(record.get("categories") or about.get("categories") or about.get("category"))
    wish = any("preference" in category.lower() for category in categories)
    created = moment_of(record.get("created_at"))
    return ForeignMemory(
        key=f"memories/{safe_key(own) if own else key_of(text, line_of(record.get('user_id')))}", text=text, source_id=own,
        type="preference" if wish else "fact", tags=categories, created=created,
        observed=moment_of(record.get("updated_at")) or created, user=line_of(record.get("user_id"), 80),
        session=line_of(record.get("run_id"), 80), expires=moment_of(record.get("expiration_date")),
    )  # fmt: skip
