"""The records of a vault as frozen values; field names are the head's keys (`pass_id` is `pass`, a Python keyword)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, TypeAlias

from msgspec import field

from vault_tool.model.fields import SCHEMA
from vault_tool.model.made_titles import title_now
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct, defaults

# A typed head: text, float, int, bool, None, lists of text, and (unknown fields only) nested lists and maps. Plain JSON.
Head: TypeAlias = dict[str, Any]

_KEYWORDS = {"pass_id": "pass"}


class Record(Struct, kw_only=True):
    """The fields of every record: `extra` holds the fields that are not ours, kept as they are."""

    record_class: ClassVar[RecordClass]

    id: str
    type: str
    body: str = ""
    created: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    def head(self) -> Head:
        """The fields in the order of the class, defaults left out: what `render` writes and `from_head` reads."""
        head: Head = {}
        for name, default in _LAYOUT[type(self)].items():
            value = getattr(self, name)
            if name in ("id", "type") or value != default:
                head[_KEYWORDS.get(name, name)] = list(value) if isinstance(value, tuple) else value
        return head | dict(self.extra)

    @property
    def label(self) -> str:
        """The name for a person to read: its title or name, else its id."""
        return str(getattr(self, "title", "") or getattr(self, "name", "") or self.id)


class Workspace(Record, kw_only=True):
    """The vault itself: `id` and `name` are what contracts call `repo_id`."""

    record_class = RecordClass.WORKSPACE

    name: str = ""
    description: str = ""


class Subject(Record, kw_only=True):
    """A stipulated, named region: an anchor without evidence of its own."""

    record_class = RecordClass.SUBJECT

    name: str = ""
    aliases: tuple[str, ...] = ()
    summary: str = ""
    tags: tuple[str, ...] = ()
    key: str = ""
    role: str = ""
    session: str = ""
    model: str = ""
    origin: str = ""
    pinned: bool = False


class Remembered(Record, kw_only=True):
    """The fields that observations and understandings share: subjects, weights and provenance."""

    title: str = ""
    subjects: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    importance: float | None = None
    confidence: float | None = None
    generation: int | None = None
    session: str = ""
    turn: str = ""
    model: str = ""
    origin: str = ""
    user: str = ""
    project: str = ""
    expires: str | None = None
    until: str | None = None
    review_by: str | None = None
    pinned: bool = False
    not_at_start: bool = False

    @property
    def label(self) -> str:
        """Its title, else the one that its text makes."""
        return title_now(self.record_class, self.title, getattr(self, "summary", ""), self.body) or self.id


class Observation(Remembered, kw_only=True):
    """Evidence: immutable, temporal, tagged with any number of subjects."""

    record_class = RecordClass.OBSERVATION

    observed: str | None = None
    rationale: str = ""
    evidence: tuple[str, ...] = ()
    related_to: tuple[str, ...] = ()
    problem: str = ""
    failure_mode: str = ""
    commit: str = ""
    change_targets: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    preconditions: tuple[str, ...] = ()
    postconditions: tuple[str, ...] = ()
    mood: str = ""
    as_of: str | None = None


class Understanding(Remembered, kw_only=True):
    """The current best synthesis: revised only by a new one that supersedes it."""

    record_class = RecordClass.UNDERSTANDING

    summary: str = ""
    supersedes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    reason: str = ""
    pass_id: str = ""


class Edge(Record, kw_only=True):
    """A typed link between two memories whose body says why; titles inform, ids decide."""

    record_class = RecordClass.EDGE

    from_id: str = ""
    from_title: str = ""
    to_id: str = ""
    to_title: str = ""
    strength: float | None = None
    evidence: tuple[str, ...] = ()
    confidence: float | None = None
    updated: str | None = None
    session: str = ""
    turn: str = ""
    model: str = ""
    origin: str = ""
    user: str = ""
    project: str = ""


class Consolidation(Record, kw_only=True):
    """One pass of consolidation; its body is the ledger, its parents the passes before it."""

    record_class = RecordClass.CONSOLIDATION

    generation: int | None = None
    parents: tuple[str, ...] = ()
    session: str = ""
    model: str = ""
    origin: str = ""


CLASSES: Mapping[RecordClass, type[Record]] = {
    kind.record_class: kind for kind in (Workspace, Subject, Observation, Understanding, Edge, Consolidation)
}


def _layout(kind: type[Record]) -> dict[str, Any]:
    """Attribute names with their defaults, in the order of the class's schema (body and extra aside)."""

    known = defaults(kind)
    attribute = {key: name for name, key in _KEYWORDS.items()}
    order = (attribute.get(key, key) for key in SCHEMA[kind.record_class])
    return {name: known.get(name, ()) for name in order}


_LAYOUT: dict[type[Record], dict[str, Any]] = {kind: _layout(kind) for kind in CLASSES.values()}


def from_head(record_class: RecordClass, head: Mapping[str, Any], body: str) -> Record:
    """The record of a typed head and its body; what the class has no field for goes to `extra`.

    Source: the inverse of `Record.head`. A required field that is missing is left at its empty default: the
    reader has already named it as a problem.
    """
    kind = CLASSES[record_class]
    layout = _LAYOUT[kind]
    values: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in head.items():
        name = "pass_id" if key == "pass" else key
        if name not in layout:
            extra[key] = value
        elif value is not None:
            values[name] = tuple(value) if isinstance(value, list) else value
    return kind(**{"id": "", "type": "", **values}, body=body, extra=extra)
