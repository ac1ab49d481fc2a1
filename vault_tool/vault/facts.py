"""The facts of a memory: each is read off it in one way, and results are selections of these facts by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from vault_tool.model.authority import is_off_the_page
from vault_tool.model.details import details_of
from vault_tool.model.types import MEMORIES
from vault_tool.vault import statuses
from vault_tool.vault.answers import HasStatus, body_of, class_of, origin_of
from vault_tool.vault.standing import confidence_of

if TYPE_CHECKING:
    from vault_tool.belief.fold import Belief
    from vault_tool.model.snapshot import Entry
    from vault_tool.vault.context import Context

_Result = TypeVar("_Result")


class Memory:
    """One memory as whoever asks is told of it. A fact is read when a result wants it.

    `status` and `belief` are what was looked up for several memories together; what is not given is looked up for this one.
    """

    __slots__ = ("_belief", "_status", "entry", "vault")

    def __init__(self, vault: Context, entry: Entry, status: HasStatus | None = None, belief: Belief | None = None) -> None:
        self.vault = vault
        self.entry = entry
        self._status = status
        self._belief = belief

    @property
    def belief(self) -> Belief:
        """The belief about it."""
        if self._belief is None:
            self._belief = self.vault.standings.belief_of(self.entry)
        return self._belief

    @property
    def status(self) -> HasStatus:
        """Its status now."""
        if self._status is None:
            believed = None if self._belief is None else {self.entry.id: self._belief}
            by_path = statuses.statuses(self.vault, [self.entry], believed=believed)
            self._status = by_path.get(self.entry.path, statuses.CURRENT)
        return self._status

    @property
    def reviewed(self) -> bool:
        """Whether its owner saw it."""
        return self.vault.standings.reviewed(self.entry) if self._belief is None else self._belief.reviewed

    def told(self, result: Callable[..., _Result], **more: Any) -> _Result:
        """A result of this class: its fields that are facts, and `more` for the others and in place of these."""
        return self._filled(result, False, more)

    def told_first(self, result: Callable[..., _Result], **more: Any) -> _Result:
        """The same for a result in a shape that has its own names (`FIRST_NAMES`)."""
        return self._filled(result, True, more)

    def _filled(self, result: Callable[..., _Result], first: bool, more: dict[str, Any]) -> _Result:
        for name, read, instead in _selection(result, first):
            if name not in more:
                value = read(self)
                more[name] = instead if instead is not ... and value == "" else value
        return result(**more)


def _text(name: str) -> Callable[[Memory], str]:
    return lambda memory: memory.entry.text(name)


def _texts(name: str) -> Callable[[Memory], tuple[str, ...]]:
    return lambda memory: memory.entry.texts(name)


def _confidence(memory: Memory) -> float | None:
    """How sure its writer was; what claims nothing has none unless it says so."""
    entry = memory.entry
    return confidence_of(entry) if entry.record_class in MEMORIES else entry.number("confidence")


# Each fact by the name that it has in every answer. An empty text is None where a result's field may be None.
FACTS: Mapping[str, Callable[[Memory], Any]] = {
    "id": lambda memory: memory.entry.id,
    "record_class": lambda memory: class_of(memory.entry),
    "type": lambda memory: memory.entry.type,
    "title": lambda memory: memory.entry.title,
    "subjects": lambda memory: memory.entry.subjects,
    "summary": _text("summary"),
    "content": lambda memory: body_of(memory.vault, memory.entry),
    "details": lambda memory: details_of(memory.entry.head),
    "observed": lambda memory: memory.entry.observed,
    "created": _text("created"),
    "updated": lambda memory: memory.entry.text("updated") or memory.entry.text("created"),
    "confidence": _confidence,
    "truth": lambda memory: memory.belief.truth,
    "utility": lambda memory: memory.belief.utility,
    "access_count": lambda memory: memory.belief.access_count,
    "last_accessed": lambda memory: memory.belief.last_accessed,
    "status": lambda memory: memory.status.status,
    "status_by": lambda memory: memory.status.status_by,
    "status_why": lambda memory: memory.status.status_why,
    "marks": lambda memory: memory.status.marks,
    "origin": lambda memory: origin_of(memory.vault, memory.entry),
    "reviewed": lambda memory: memory.reviewed,
    "generation": lambda memory: memory.entry.generation,
    "pinned": lambda memory: memory.entry.pinned,
    "not_at_start": lambda memory: is_off_the_page(memory.entry, memory.reviewed),
    "stale": lambda memory: memory.entry.stale,
    "path": lambda memory: memory.entry.path,
    **{name: _text(name) for name in ("session", "model", "project", "user", "turn", "problem", "reason")},
    "pass_id": _text("pass"),
    **{name: _texts(name) for name in ("tags", "sources", "supersedes", "evidence")},
}

# The names that shapes which prompts were written for have for the same facts.
FIRST_NAMES: Mapping[str, str] = {
    "memory_id": "id",
    "source": "record_class",
    "kind": "type",
    "subject_names": "subjects",
    "text": "content",
    "observed_at": "observed",
    "created_at": "created",
    "updated_at": "updated",
    "last_updated": "updated",
    "session_id": "session",
    "model_tier": "model",
    "problem_id": "problem",
    "evidence_refs": "evidence",
    "relevance_score": "match",
    "came_with": "of",
}


@cache
def _selection(result: Any, first: bool) -> tuple[tuple[str, Callable[[Memory], Any], Any], ...]:
    """The fields of a result that are facts: each with how it is read, and what stands for an empty text."""
    names = FIRST_NAMES if first else {}
    selected = (
        (name, FACTS.get(names.get(name, name)), None if "None" in _annotation(result, name) else ...)
        for name in result.__struct_fields__
    )
    return tuple((name, read, instead) for name, read, instead in selected if read is not None)


def _annotation(result: type, name: str) -> str:
    """The type of a field as its class has it."""
    return next(str(kind.__annotations__[name]) for kind in result.__mro__ if name in vars(kind).get("__annotations__", ()))


def copied(result: Callable[..., _Result], source: object, **more: Any) -> _Result:
    """A result that says what another says, by their names and by those of the first shapes; `more` is what it says beside."""
    shared: Any = _shared
    for name, theirs in shared(result, type(source)):
        if name not in more:
            more[name] = getattr(source, theirs)
    return result(**more)


@cache
def _shared(result: Any, source: Any) -> tuple[tuple[str, str], ...]:
    names = frozenset(source.__struct_fields__)
    named = ((name, name if name in names else FIRST_NAMES.get(name, "")) for name in result.__struct_fields__)
    return tuple((name, theirs) for name, theirs in named if theirs in names)
