"""What every answer says first of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from vault_tool.model.snapshot import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """Which memory it is, of what class (`kind`) and type, what it is called, and what it is about."""

    id: str
    kind: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None


class HeadlineFields(TypedDict):
    """The fields of a Headline, for what is more than one."""

    id: str
    kind: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None


def headline_of(entry: Entry) -> HeadlineFields:
    """What a head says of that; `summary` is None for what has none, not the empty text."""
    return {
        "id": entry.id,
        "kind": entry.record_class.value,
        "type": entry.type,
        "title": entry.title,
        "subjects": entry.subjects,
        "summary": entry.text("summary") or None,
    }
