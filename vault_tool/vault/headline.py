"""What every answer says first of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from vault_tool.index.relations import names_of
from vault_tool.model.details import Details, details_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.vault.context import Context
from vault_tool.vault.standing import confidence_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """Which memory it is, of what class (`kind`) and type, what it is called, and what it is about.

    `observed_at` is when it was so, by default when it was written; `confidence` (0..1) how sure its writer was, by default 0.8.
    `details` is what its head says beside the text, by field: steps, conditions, problem, failure_mode, rationale, mood.
    """

    id: str
    kind: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None
    observed_at: str
    confidence: float | None
    details: Details


class HeadlineFields(TypedDict):
    """The fields of a Headline, for what is more than one."""

    id: str
    kind: str
    type: str
    title: str
    subjects: tuple[str, ...]
    summary: str | None
    observed_at: str
    confidence: float | None
    details: Details


def headline_of(entry: Entry) -> HeadlineFields:
    """What a head says of that; `summary` is None for what has none, `confidence` for what claims nothing."""
    claims = entry.record_class in (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING)
    return {
        "id": entry.id,
        "kind": entry.record_class.value,
        "type": entry.type,
        "title": entry.title,
        "subjects": entry.subjects,
        "summary": entry.text("summary") or None,
        "observed_at": entry.observed,
        "confidence": confidence_of(entry) if claims else entry.number("confidence"),
        "details": details_of(entry.head),
    }


def origin_of(vault: Context, entry: Entry) -> str:
    """Who wrote it; of a subject that a memory's writing made, whose head is its name alone, the writer of the oldest on it."""
    if entry.record_class is not RecordClass.SUBJECT or entry.text("origin") or entry.text("created"):
        return entry.origin
    oldest = vault.index.catalog.oldest_tagged(names_of(entry))
    return oldest.origin if oldest else entry.origin
