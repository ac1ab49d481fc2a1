"""The graph of the protocol's own memory server: entities as subjects, what was observed of them and how they relate as facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vault_tool.files.export_files import ExportFile, ExportFiles
from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    ForeignSubject,
    Item,
    LeftOut,
    Remark,
    Wanted,
    items_of,
    key_of,
    kind_of,
    left,
    line_of,
    mapping,
    moment_of,
    text_of,
    values,
)
from vault_tool.importing.sources.shapes import ENDS, first_values


def fits(files: ExportFiles) -> bool:
    """Whether a file holds entities or relations as that server writes them."""
    pieces = ((key, mapping(value)) for file in files.ending(*ENDS) for key, value in first_values(file))
    return any(_kind(key, record) == "entity" or (_kind(key, record) and _is_between_two(record)) for key, record in pieces)


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The entities and relations of each file."""
    yield Remark(text="its lines have no times: each memory is dated by when its file was last written")
    for file in files.ending(*ENDS):
        for piece in values(file):
            if isinstance(piece, LeftOut):
                yield piece
                continue
            record = mapping(piece.value)
            kind = _kind(piece.key, record)
            if kind == "entity":
                yield from _entity(file, piece.number, record)
            elif kind == "relation":
                yield _relation(file, piece.number, record)
            else:
                yield left(file, piece.number, "it is neither an entity nor a relation")


def _kind(key: str, record: Mapping[str, Any]) -> str:
    type_given = record.get("type")
    name = record.get("name") or record.get("entityName")
    if (type_given == "entity" or key == "entities" or (type_given is None and "observations" in record)) and isinstance(
        name, str
    ):
        return "entity"
    if type_given == "relation" or key == "relations" or (type_given is None and "relationType" in record):
        return "relation"
    return ""


def _is_between_two(record: Mapping[str, Any]) -> bool:
    """Whether a relation says from where to where it leads: another tool's relations have other words for it."""
    return any(name in record for name in ("from", "from_", "fromEntity")) or "relationType" in record


def _entity(file: ExportFile, number: int, record: Mapping[str, Any]) -> Iterator[Item]:
    name = line_of(record.get("name") or record.get("entityName"), 120)
    if not name:
        yield left(file, number, "an entity without a name")
        return
    yield ForeignSubject(name=name, role=line_of(record.get("entityType") or record.get("entity_type"), 60))
    observations = record.get("observations")
    for observation in [observations] if isinstance(observations, str) else items_of(observations):
        inner = mapping(observation)
        text = text_of(observation) or text_of(inner.get("content") or inner.get("text"))
        if not text:
            yield left(file, number, f"an observation of {name} is no text")
            continue
        at = moment_of(inner.get("createdAt") or inner.get("created_at") or inner.get("timestamp"))
        yield ForeignMemory(
            key=f"entities/{key_of(name, text)}", text=text, type=kind_of(text), subjects=(name,), created=at or file.written_at,
            observed=at, source_id=name,
        )  # fmt: skip


def _relation(file: ExportFile, number: int, record: Mapping[str, Any]) -> Item:
    start, end = line_of(record.get("from"), 120), line_of(record.get("to"), 120)
    kind = line_of(record.get("relationType") or record.get("relation_type"), 80) or "relates to"
    if not start or not end:
        return left(file, number, "a relation without both its ends")
    return ForeignMemory(
        key=f"relations/{key_of(start, kind, end)}", text=f"{start} {kind} {end}", subjects=tuple(dict.fromkeys((start, end))),
        created=file.written_at, source_id=f"{start} {kind} {end}",
    )  # fmt: skip
