"""claude-mem's rows, of its database or of the JSON that its script writes: summaries, decisions and fixes first of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    Item,
    LeftOut,
    Wanted,
    items_of,
    key_of,
    line_of,
    mapping,
    moment_of,
    names_of,
    text_of,
    values,
)
from vault_tool.importing.sources.shapes import first_values

TYPES: Mapping[str, str] = {
    "bugfix": "fix", "decision": "decision", "discovery": "insight", "feature": "change", "change": "change",
    "refactor": "general",
}  # fmt: skip

# The kinds of observations that are taken unless all are wished for: most are what a tool caught in passing.
_USUAL = frozenset({"bugfix", "decision"})

OBSERVATIONS = ("id", "memory_session_id", "sdk_session_id", "project", "type", "title", "subtitle", "narrative", "text", "facts",
                "concepts", "files_read", "files_modified", "prompt_number", "created_at", "created_at_epoch")  # fmt: skip
SUMMARIES = ("id", "memory_session_id", "sdk_session_id", "project", "request", "learned", "created_at",
             "created_at_epoch")  # fmt: skip


def fits(files: ExportFiles) -> bool:
    """Whether a JSON file is what claude-mem's script writes."""
    return any(
        key in ("observations", "summaries") and ("memory_session_id" in mapping(value) or "narrative" in mapping(value))
        for file in files.ending(".json")
        for key, value in first_values(file)
    )


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The observations and summaries of a JSON file."""
    for file in files.ending(".json"):
        for piece in values(file):
            if isinstance(piece, LeftOut):
                yield piece
            elif piece.key == "observations":
                yield observation(file.path, piece.number, mapping(piece.value), wishes)
            elif piece.key == "summaries":
                yield from summary(mapping(piece.value))
            elif piece.key in ("prompts", "sessions"):
                yield LeftOut(reason=piece.key.rstrip("s"))


def observation(place: str, number: int, row: Mapping[str, Any], wishes: Wanted) -> Item:
    """One row of `observations`."""
    kind = line_of(row.get("type")).lower()
    if kind not in _USUAL and not wishes.all_kinds:
        return LeftOut(reason="minor")
    title, narrative = line_of(row.get("title")), text_of(row.get("narrative")) or text_of(row.get("text"))
    facts = [f"- {fact}" for fact in _listed(row.get("facts"))]
    text = "\n\n".join(filter(None, (text_of(row.get("subtitle")), narrative, "\n".join(facts)))) or title
    if not text:
        return LeftOut(reason="bad-record", place=place, line=number, message="an observation without a text")
    files = dict.fromkeys((*_listed(row.get("files_modified")), *_listed(row.get("files_read"))))
    project, session, at = _common(row)
    own = line_of(row.get("id"))
    return ForeignMemory(
        key=f"observations/{key_of(session, own, line_of(row.get('created_at_epoch')))}", text=text, title=title, source_id=own,
        type=TYPES.get(kind, "general"), tags=_listed(row.get("concepts")), subjects=(project,) if project else (), observed=at,
        created=at, session=session, evidence=tuple(f"file:{name}" for name in files if " " not in name)[:20],
    )  # fmt: skip


def summary(row: Mapping[str, Any]) -> Iterator[Item]:
    """One row of `session_summaries`: what was learned in a session."""
    text = text_of(row.get("learned"))
    if not text:
        yield LeftOut(reason="no-lesson")
        return
    project, session, at = _common(row)
    own = line_of(row.get("id"))
    yield ForeignMemory(
        key=f"summaries/{key_of(session, own, line_of(row.get('created_at_epoch')))}", text=text, type="insight", source_id=own,
        title=line_of(row.get("request"), 120), subjects=(project,) if project else (), observed=at, created=at, session=session,
    )  # fmt: skip


def _common(row: Mapping[str, Any]) -> tuple[str, str, str]:
    session = line_of(row.get("memory_session_id") or row.get("sdk_session_id"), 80)
    at = moment_of(row.get("created_at_epoch")) or moment_of(row.get("created_at"))
    return line_of(row.get("project"), 80).rstrip("/").rpartition("/")[2], session, at


def _listed(value: Any) -> tuple[str, ...]:
    """A list that may be written as a text of JSON."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = orjson.loads(value.encode("utf-8", "replace"))
        except ValueError:
            return ()
    return names_of(items_of(value)) if isinstance(value, list) else names_of(value)
