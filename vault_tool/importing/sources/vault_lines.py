"""This tool's own lines of JSON, as another vault gives them: observations, what was understood, and subjects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vault_tool.files.export_files import ExportFiles
from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    ForeignSubject,
    Item,
    LeftOut,
    Wanted,
    end_moment_of,
    left,
    line_of,
    mapping,
    moment_of,
    names_of,
    text_of,
    values,
)
from vault_tool.importing.sources.shapes import first_values
from vault_tool.model.types import KEPT_TYPES, is_type_name

FORMAT = "vault_tool-jsonl"
VERSION = 1


def fits(files: ExportFiles) -> bool:
    """Whether it is one file that begins with the header of the form."""
    if len(files.files) != 1:
        return False
    # A header alone, of an empty vault, is read as an object with its members.
    first = first_values(files.files[0])
    return any(mapping(value).get("format") == FORMAT or (key, value) == ("format", FORMAT) for key, value in first)


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The memories and subjects; judgements, links and what keeps the other vault's voice are left out and counted."""
    for file in files.files:
        for piece in values(file):
            record = mapping(getattr(piece, "value", None))
            if isinstance(piece, LeftOut):
                yield piece
            elif "format" in record or piece.key in ("format", "version"):
                continue
            elif "class" in record:
                yield _record(record) or left(file, piece.number, "it is no record")
            else:
                kinds = ("journal", "page", "forgotten")
                yield next(
                    (LeftOut(reason=kind) for kind in kinds if kind in record), left(file, piece.number, "it is no record")
                )


def _record(record: Mapping[str, Any]) -> Item | None:
    head, own, kind = mapping(record.get("head")), line_of(record.get("id")), line_of(record.get("type"))
    if record["class"] == "subject" and (name := line_of(head.get("name"))):
        return ForeignSubject(name=name, role=line_of(head.get("role")), summary=line_of(head.get("summary")))
    if record["class"] not in ("observation", "understanding"):
        return LeftOut(reason=line_of(record["class"]) or "bad-record")
    if kind in KEPT_TYPES:
        return LeftOut(reason="kept-text")
    text = text_of(record.get("content"))
    if not text or not own or not is_type_name(kind):
        return None
    return ForeignMemory(
        key=f"records/{own}", text=text, type=kind if record["class"] == "observation" else "insight",
        title=line_of(record.get("title")),
        source_id=own, tags=names_of(record.get("tags")), subjects=names_of(record.get("subjects")),
        created=moment_of(record.get("created")),
        observed=moment_of(head.get("observed")), session=line_of(head.get("session")), user=line_of(head.get("user")),
        project=line_of(head.get("project")), expires=end_moment_of(record.get("expires")),
        until=end_moment_of(head.get("until")), review_by=end_moment_of(head.get("review_by")),
        evidence=names_of(head.get("evidence")),
    )  # fmt: skip
