"""The schema of heads: which fields a class has and what kind of value each holds, in the order they are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from vault_tool.model.types import RecordClass


class FieldKind(Enum):
    """How the source text of a field is typed."""

    TEXT = "text"
    TEXTS = "a list of texts"
    SUBJECTS = "a list of subject names"
    UNIT = "a number from 0 to 1"
    COUNT = "a whole number"
    FLAG = "true or false"
    TIME = "a time (ISO 8601)"
    END = "a time (ISO 8601) or a day, to its end"
    ID = "an id"
    IDS = "a list of ids"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a head."""

    name: str
    kind: FieldKind
    required: bool = False


_K = FieldKind
_ID = Field("id", _K.ID, required=True)
_TYPE = Field("type", _K.TEXT, required=True)
_TITLE = Field("title", _K.TEXT)
_SUBJECTS = Field("subjects", _K.SUBJECTS)
_TAGS = Field("tags", _K.TEXTS)
_CREATED = Field("created", _K.TIME)
_PINNED = Field("pinned", _K.FLAG)
_PROVENANCE = (Field("session", _K.TEXT), Field("turn", _K.TEXT), Field("model", _K.TEXT), Field("origin", _K.TEXT),
               Field("user", _K.TEXT), Field("project", _K.TEXT))  # fmt: skip
_WEIGHING = (Field("importance", _K.UNIT), Field("confidence", _K.UNIT), Field("generation", _K.COUNT))

_FIELDS: dict[RecordClass, tuple[Field, ...]] = {
    RecordClass.WORKSPACE: (
        _ID, _TYPE, Field("name", _K.TEXT), Field("description", _K.TEXT), _CREATED,
    ),
    RecordClass.SUBJECT: (
        _ID, _TYPE, Field("name", _K.TEXT, required=True), Field("aliases", _K.TEXTS), Field("summary", _K.TEXT),
        _TAGS, Field("key", _K.TEXT), Field("role", _K.TEXT), _CREATED, Field("session", _K.TEXT), Field("model", _K.TEXT),
        Field("origin", _K.TEXT), _PINNED,
    ),
    RecordClass.OBSERVATION: (
        _ID, _TYPE, _TITLE, _SUBJECTS, _TAGS, *_WEIGHING, Field("observed", _K.TIME), _CREATED, *_PROVENANCE,
        Field("rationale", _K.TEXT), Field("evidence", _K.TEXTS), Field("related_to", _K.IDS),
        Field("problem", _K.ID), Field("failure_mode", _K.TEXT), Field("commit", _K.TEXT), Field("change_targets", _K.IDS),
        Field("steps", _K.TEXTS), Field("preconditions", _K.TEXTS), Field("postconditions", _K.TEXTS),
        Field("mood", _K.TEXT), Field("as_of", _K.TIME), Field("expires", _K.END), _PINNED,
    ),
    RecordClass.UNDERSTANDING: (
        _ID, _TYPE, _TITLE, Field("summary", _K.TEXT, required=True), _SUBJECTS, _TAGS, *_WEIGHING,
        Field("supersedes", _K.IDS), Field("sources", _K.IDS), Field("reason", _K.TEXT), Field("pass", _K.ID),
        _CREATED, *_PROVENANCE, Field("expires", _K.END), _PINNED,
    ),
    RecordClass.EDGE: (
        _ID, _TYPE, Field("from_id", _K.ID, required=True), Field("from_title", _K.TEXT),
        Field("to_id", _K.ID, required=True), Field("to_title", _K.TEXT), Field("strength", _K.UNIT),
        Field("evidence", _K.TEXTS), Field("confidence", _K.UNIT), _CREATED, Field("updated", _K.TIME), *_PROVENANCE,
    ),
    RecordClass.CONSOLIDATION: (
        _ID, _TYPE, Field("generation", _K.COUNT), Field("parents", _K.IDS), _CREATED, Field("session", _K.TEXT),
        Field("model", _K.TEXT), Field("origin", _K.TEXT),
    ),
}  # fmt: skip

SCHEMA: Mapping[RecordClass, Mapping[str, Field]] = MappingProxyType(
    {record_class: MappingProxyType({field.name: field for field in fields}) for record_class, fields in _FIELDS.items()}
)

BODY_REQUIRED = frozenset({RecordClass.OBSERVATION, RecordClass.UNDERSTANDING})
