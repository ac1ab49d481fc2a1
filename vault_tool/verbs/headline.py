"""What every answer says first of a memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from vault_tool.model.details import Details, details_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.verbs.standing import confidence_of


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
