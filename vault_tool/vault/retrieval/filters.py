"""Which memories may answer: the asker's own filters, and nothing superseded or expired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from vault_tool.errors import UsageError
from vault_tool.index.catalog import PAGE
from vault_tool.index.visibility import Reason, visible
from vault_tool.model.fields import FILTERED
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, STORY_EDGES, RecordClass, near_type
from vault_tool.util.clock import parse_time
from vault_tool.util.hints import option, step
from vault_tool.util.text import normal_name, one_line, tag_name, unwrap_link
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.parameters import require_moment
from vault_tool.vault.retrieval.query import Query
from vault_tool.vault.viewer import request_of

# What of a head can be asked for, in words.
_NARROWED = ", ".join(("subjects", "tags", "project", *(field.name for field in FILTERED)))


class Filters:
    """The conditions a memory must meet to answer one question."""

    def __init__(self, vault: Context, asked: Query) -> None:
        self._asked = asked
        self._now = vault.clock.now()
        self._kinds = {kind.casefold() for kind in asked.kinds}
        self.request = request_of(vault, kinds=self._kinds, shown=frozenset(asked.exclude))
        self._subjects = [frozenset(resolve.names_for(vault, unwrap_link(name))) for name in asked.subject_names]
        self._tags, self._not_tags = _asked_tags(asked.tags), _asked_tags(asked.not_tags)
        words = {"project": asked.project or "", **dict(asked.words)}
        self._words = {name: normal for name, word in words.items() if (normal := normal_name(word))}
        self._since, self._until = self._moment(asked.since), self._moment(asked.until, ends=True)
        self._anything = not (self._kinds or self.of_heads or asked.exclude)
        self._sees_all = vault.sees_everyone

    def replaced_by(self, identity: str) -> tuple[str, ...]:
        """The ids of what replaces an understanding; nothing for one that is active."""
        return self.request.superseded.get(identity, ())

    @property
    def narrow(self) -> bool:
        """Whether much of what is found may be refused."""
        return bool(self._kinds) or self.of_heads or not self._sees_all

    @property
    def of_heads(self) -> bool:
        """Whether something is asked for that a head alone can say, so that no page without one fits."""
        asked = self._asked
        named = (self._subjects, self._tags, self._not_tags, self._words, asked.since, asked.until, asked.session)
        return any(named)

    @property
    def subjects(self) -> list[frozenset[str]]:
        """The names of each subject that a memory must be tagged with."""
        return self._subjects

    def admits(self, entry: Entry) -> bool:
        """Whether a memory may answer."""
        return visible(entry, self.request, "asked") is None and (self._anything or self.wants(entry))

    def refusal(self, entry: Entry) -> str:
        """Why a memory may not answer, in words; empty where it may."""
        return next(self._refusals(entry), "")

    def _refusals(self, entry: Entry) -> Iterator[str]:
        asked = self._asked
        if reason := visible(entry, self.request, "asked"):
            yield self._said(entry)[reason]
        if not self._of_kind(entry):
            yield f"it is of type {entry.type}, and only {', '.join(asked.kinds)} was asked for"
        if not self._in_time(entry):
            yield f"it was observed on {entry.observed[:10] or 'no day'}, outside of the time that was asked for"
        if not self._fits(entry):
            yield f"its {_NARROWED} or session are not those that were asked for"

    def _said(self, entry: Entry) -> Mapping[Reason, str]:
        """Each reason in words."""
        return {
            "other_user": "it is about another user",
            "no_consent": "consent to it was refused or withdrawn",
            "ledger": "it is the ledger of a pass",
            "no_memory": f"it is of class {entry.record_class}, and only observations and understandings answer",
            "waiting": "it waits for its owner's review",
            "expired": "it has expired",
            "superseded": f"it is superseded by {', '.join(self.replaced_by(entry.id))}, which answers in its place",
            "kept": f"every session reads its {entry.type} anyway; ask for that kind to have it as an answer",
            "shown": "this session was shown it before",
        }

    def hides(self, entry: Entry, *, unseen: bool = False) -> bool:
        """Whether an observation may not answer only since it has another type, or was seen before, so that it can lead to
        what may; with `unseen`, one that was not.
        """
        seen = entry.id in self._asked.exclude
        if entry.record_class is not RecordClass.OBSERVATION or (unseen if seen else self._of_kind(entry)):
            return False
        return self.comes_along(entry)

    def comes_along(self, entry: Entry) -> bool:
        """Whether a memory may come with one that it bears on: of any kind, and though this session has seen it."""
        return visible(entry, self.request, "along") is None and self._fits(entry)

    def tells(self, edge: Entry) -> bool:
        """Whether a link may lead to what it joins: one that was read from what it joins says no more than that."""
        return edge.type not in STORY_EDGES

    def wants(self, entry: Entry) -> bool:
        """Whether a record is what the asker's own filters ask for."""
        return entry.id not in self._asked.exclude and self._of_kind(entry) and self._fits(entry)

    def _of_kind(self, entry: Entry) -> bool:
        return not self._kinds or not self._kinds.isdisjoint((entry.type.casefold(), entry.record_class.value))

    def _fits(self, entry: Entry) -> bool:
        """Whether it is what all filters but that of kinds ask for."""
        asked = self._asked
        if self._subjects:
            # A subject is about itself.
            named = {normal_name(name) for name in (*entry.texts("subjects"), entry.text("name"))}
            if any(named.isdisjoint(names) for names in self._subjects):
                return False
        if self._tags or self._not_tags:
            tags = _tags(entry.texts("tags"))
            if not all(_has(tags, tag) for tag in self._tags) or any(_has(tags, tag) for tag in self._not_tags):
                return False
        if any(normal_name(entry.text(name)) != word for name, word in self._words.items()):
            return False
        return (not asked.session or entry.text("session") == asked.session) and self._in_time(entry)

    def _in_time(self, entry: Entry) -> bool:
        if self._since is None and self._until is None:
            return True
        at = parse_time(entry.observed)
        if at is None:
            return False
        return (self._since is None or at >= self._since) and (self._until is None or at <= self._until)

    def _moment(self, text: str | None, ends: bool = False) -> datetime | None:
        return require_moment(text, self._now, ends=ends) if text else None


def require_kinds(places: Sequence[Context], kinds: Sequence[str]) -> None:
    """UsageError, with the names that come near, for a kind that is no class, and neither a known type nor a type of any
    record in any of the vaults.
    """
    if not kinds:
        return
    known = {PAGE, *RecordClass}.union(*(place.settings.types.specs for place in places))
    for kind in kinds:
        if kind in known or kind.casefold() in map(str.casefold, known):
            continue
        present = {type for place in places for type in place.index.catalog.types()}
        if kind.casefold() in map(str.casefold, present):
            continue
        near = near_type(kind, sorted({*known, *present}))
        hint = f"did you mean {near}?" if near else f"{step('get_stats')} counts the types that there are"
        raise UsageError(f"nothing here is of type `{one_line(kind, 40)}`", hint)


def unknown(places: Sequence[Context], asked: Query) -> Iterator[str]:
    """The filters that no memory of these vaults can meet: the answer is then empty for that reason alone."""
    if not (asked.tags or asked.project or asked.subject_names):
        return
    entries = [e for place in places for record_class in MEMORIES for e in place.index.catalog.of_class(record_class)]
    present = frozenset[str]().union(*(_tags(entry.texts("tags")) for entry in entries))
    for tag in asked.tags:
        if not _has(present, tag_name(tag)):
            yield f"no memory has the tag `{one_line(tag, 40)}`: {step('tags')} lists those that there are"
    projects = {normal_name(entry.text("project")) for entry in entries}
    if asked.project and normal_name(asked.project) not in projects:
        yield f"no memory is of the project `{one_line(asked.project, 40)}`: leave {option('project')} out to ask all of them"
    subjects = {normal_name(unwrap_link(name)) for entry in entries for name in entry.subjects}
    for name in asked.subject_names:
        if subjects.isdisjoint(normal for place in places for normal in resolve.names_for(place, unwrap_link(name))):
            yield f"no memory is tagged with `{one_line(name, 40)}`: {step('search')} finds subjects by their words"


def _asked_tags(names: tuple[str, ...]) -> frozenset[str]:
    """The tags that are asked for; raises UsageError for one that is nothing but signs, for it would filter nothing."""
    if name := next((name for name in names if not tag_name(name)), None):
        raise UsageError(f"`{one_line(name, 40)}` is no tag", f"{step('tags')} lists them")
    return _tags(names)


def _tags(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(map(tag_name, names)) - {""}


def _has(tags: frozenset[str], name: str) -> bool:
    """Whether a memory has a tag, or one below it: `work/lab` is a kind of `work`."""
    return name in tags or any(tag.startswith(f"{name}/") for tag in tags)
