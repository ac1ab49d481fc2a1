"""Subjects: `create_subjects`, `get_subjects`, `update_subject_summary` and `add_alias`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any

from vault_tool.errors import Refused, UsageError
from vault_tool.files.frontmatter import AddItems, Set
from vault_tool.index.relations import members, names_of
from vault_tool.index.slight import narrowed, slight
from vault_tool.index.visibility import visible
from vault_tool.model.ids import new_id
from vault_tool.model.records import Subject
from vault_tool.model.snapshot import ENDS, Entry, Snapshot
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import moment
from vault_tool.util.hints import option, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault import resolve
from vault_tool.vault.answers import HasStatus
from vault_tool.vault.contests import foremost
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.leniency import listed
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import Answer, in_time, looks, of_the_whole, verb
from vault_tool.vault.statuses import statuses
from vault_tool.vault.viewer import request_of

_POINTED = ("single_subject", "structural")

# What a subject's card reads of the heads of its memories.
_COUNTED = ("subjects", "put_by_others", "created", "observed", *ENDS, "origin", "generation", "summary")

FIELDS = frozenset({"name", "summary", "tags", "aliases", "key", "role"})


class CreatedSubject(Struct, kw_only=True):
    """One subject that was made, or found again by its stable `key`."""

    id: str
    name: str
    created: str
    path: str
    existed: bool = False
    similar_subjects: tuple[str, ...] = ()


class CreatedSubjects(Saved, kw_only=True):
    """The subjects of one `create_subjects`, in the order asked for."""

    results: tuple[CreatedSubject, ...]


class Pointer(HasStatus, kw_only=True):
    """An understanding that a subject points at; derived, not stored."""

    id: str
    summary: str
    generation: int | None


class SubjectCard(Struct, kw_only=True):
    """A subject with what hangs on it."""

    id: str
    name: str
    summary: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    role: str
    origin: str
    path: str
    body: str
    single_subject_understanding: Pointer | None
    structural_understanding: Pointer | None
    observation_count: int
    understanding_count: int
    last_observation_at: str | None


class Subjects(Answer, kw_only=True):
    """The answer of `get_subjects`."""

    results: tuple[SubjectCard, ...]


@verb
def create_subjects(vault: Context, subjects: Sequence[Mapping[str, Any]]) -> CreatedSubjects:
    """Create named regions: each mapping has `name` and may have `summary, tags, aliases, key, role`.

    Fails, creating none, if a name or alias exists already; a subject with the `key` of an existing one is that one.
    """
    if not subjects:
        raise UsageError("no subject was named", "give at least one name")
    if isinstance(subjects, (str, Mapping)) or not all(isinstance(subject, Mapping) for subject in subjects):
        raise UsageError("`subjects` is a list of mappings", 'for example [{"name": "Redis"}]')
    with writing(vault, "create-subjects") as op:
        results = tuple(_create(op, fields, subjects[:number]) for number, fields in enumerate(subjects))
        saved = op.carry_out(", ".join(result.name for result in results), [result.id for result in results])
    return CreatedSubjects(results=results, **saved.fields())


@verb
@looks
@in_time
def get_subjects(vault: Context, names: Sequence[str] = (), *, as_of: str | None = None) -> Subjects:
    """The subjects called `names` (names, aliases or ids), or all of them, by name; `as_of` a time, as they were known then."""
    if names:
        entries = list({entry.path: entry for entry in (resolve.existing_subject(vault, name) for name in names)}.values())
        tagged = [members(vault.index.catalog, entry) for entry in entries]
        return Subjects(results=_cards(vault, entries, tagged))
    catalog = vault.index.catalog
    memories = sorted((narrowed(entry, _COUNTED) for entry in slight(catalog)), key=attrgetter("path"))
    everything = Snapshot(tuple(memories))
    entries = sorted(catalog.of_class(RecordClass.SUBJECT), key=lambda e: normal_name(e.title))
    results = _cards(vault, entries, [_members(everything, entry) for entry in entries])
    return Subjects(results=results)


def _members(everything: Snapshot, subject: Entry) -> tuple[Entry, ...]:
    """The memories tagged with a subject under any of its names, from all that there is: for many subjects at once."""
    groups = [everything.tagged.get(name, ()) for name in names_of(subject)]
    return groups[0] if len(groups) == 1 else tuple({entry.path: entry for group in groups for entry in group}.values())


def card(vault: Context, entry: Entry) -> SubjectCard:
    """All that is known about one subject without reading its memories' bodies."""
    return _cards(vault, [entry], [members(vault.index.catalog, entry)])[0]


def _cards(vault: Context, subjects: Sequence[Entry], tagged: Sequence[Sequence[Entry]]) -> tuple[SubjectCard, ...]:
    request = request_of(vault)
    understood = [
        [e for e in entry if e.record_class is RecordClass.UNDERSTANDING and visible(e, request, "present") is None]
        for entry in tagged
    ]
    heads = [{kind: _head(vault, entry, kind) for kind in _POINTED} for entry in understood]
    shown = [head.path for pointed in heads for head in pointed.values() if head is not None]
    known = statuses(vault, vault.index.catalog.by_paths(shown).values())
    pointers = [
        {kind: Memory(vault, head, known[head.path]).told(Pointer) if head else None for kind, head in pointed.items()}
        for pointed in heads
    ]
    return tuple(map(_card, repeat(vault), subjects, tagged, understood, pointers))


def _card(
    vault: Context,
    entry: Entry,
    tagged: Sequence[Entry],
    understandings: Sequence[Entry],
    pointers: Mapping[str, Pointer | None],
) -> SubjectCard:
    observations = [e for e in tagged if e.record_class is RecordClass.OBSERVATION]
    times = [e.observed for e in observations]
    return Memory(vault, entry).told(
        SubjectCard, name=entry.text("name"), aliases=entry.texts("aliases"), role=entry.text("role"), body=entry.preview,
        single_subject_understanding=pointers["single_subject"],
        structural_understanding=pointers["structural"],
        observation_count=len(observations), understanding_count=len(understandings),
        last_observation_at=max((t for t in times if t), default=None, key=moment),
    )  # fmt: skip


def _head(vault: Context, active: Sequence[Entry], kind: str) -> Entry | None:
    """The newest of these understandings that is of `kind` and has this subject alone."""
    return foremost(vault, (e for e in active if e.type == kind and len(e.subjects) == 1))


def _create(op: Operation, fields: Mapping[str, Any], before: Sequence[Mapping[str, Any]]) -> CreatedSubject:
    vault = op.vault
    record = _subject(vault, fields)
    if record.key and record.key in {str(other.get("key") or "") for other in before}:
        raise UsageError(f"the key `{one_line(record.key, 40)}` is given twice", "give each subject a key of its own")
    keyed = _by_key(vault, record.key) if record.key else None
    if keyed is not None:
        return _upsert(op, keyed, record)
    earlier = [_subject(vault, other) for other in before]
    require_free(vault, record, earlier)
    path = op.create(record)
    op.log(record, path, record.summary)
    near = resolve.similar_subjects(vault, record.name, [other.name for other in earlier])
    return CreatedSubject(id=record.id, name=record.name, created=record.created or "", path=path, similar_subjects=tuple(near))


def _subject(vault: Context, fields: Mapping[str, Any]) -> Subject:
    """The subject that a mapping means; UsageError for one that means none."""
    name = one_line(str(fields.get("name") or ""))
    if not normal_name(name):
        raise UsageError("a subject needs a name", "give each subject a `name`")
    if not vault.sees_everyone and any(fields.get(field) for field in ("summary", "aliases", "tags")):
        raise UsageError(
            f"what is said of the subject `{one_line(name, 40)}` is seen by every user", f"say it without {option('user')}"
        )
    if unknown := sorted(fields.keys() - FIELDS):
        raise UsageError(f"a subject has no field `{unknown[0]}`", f"its fields are {', '.join(sorted(FIELDS))}")
    return Subject(
        id=new_id(), type="subject", name=name, summary=one_line(str(fields.get("summary") or "")),
        key=one_line(str(fields.get("key") or "")), role=one_line(str(fields.get("role") or "")),
        tags=_texts(fields, "tags"), aliases=_texts(fields, "aliases"), created=vault.now(), session=vault.who.session,
        model=vault.who.model, origin=vault.who.origin,
    )  # fmt: skip


def _texts(fields: Mapping[str, Any], field: str) -> tuple[str, ...]:
    value = fields.get(field) or ()
    if isinstance(value, str):
        raise UsageError(
            f"`{field}` of a subject is a list, not `{one_line(value, 40)}`", f'for example "{field}": ["{one_line(value, 40)}"]'
        )
    # Numbers are texts here, as a tag of a year is.
    return tuple(map(one_line, listed(field, [str(text) for text in value])))


def require_free(vault: Context, record: Subject, earlier: Sequence[Subject] = ()) -> None:
    """Two subjects must not answer to one name or alias, be the other one on disk or of the same call."""
    promised = {normal_name(name) for other in earlier for name in (other.name, *other.aliases)}
    for name in (record.name, *record.aliases):
        taken = resolve.subject(vault.with_withheld(), name)
        if taken is not None:
            raise UsageError(f"a subject `{taken.title}` exists already ({taken.path})", "use it, or choose another name")
        if normal_name(name) in promised:
            raise UsageError(f"`{name}` is named twice", "name each subject once")


def _by_key(vault: Context, key: str) -> Entry | None:
    return next((e for e in vault.index.catalog.of_class(RecordClass.SUBJECT) if e.text("key") == key), None)


def _upsert(op: Operation, entry: Entry, record: Subject) -> CreatedSubject:
    """Bring an existing subject's summary, role and tags up to what was given; its name stays its person's."""
    for field, value in (("summary", record.summary), ("role", record.role)):
        if value and value != entry.text(field):
            op.edit(entry.path, Set(field, value))
    if record.tags and record.tags != entry.texts("tags"):
        op.edit(entry.path, Set("tags", list(record.tags)))
    return CreatedSubject(id=entry.id, name=entry.title, created=entry.text("created"), path=entry.path, existed=True)


class UpdatedSubject(Saved, kw_only=True):
    """A subject with its new summary; `changed` is false when it had it already, and then nothing was written."""

    id: str
    name: str
    summary: str
    previous_summary: str | None
    changed: bool
    path: str


@verb
@of_the_whole
def update_subject_summary(vault: Context, name: str, summary: str) -> UpdatedSubject:
    """Give a subject (by name, alias or id) a new one-line summary; it is embedded anew by the next that embeds."""
    line = one_line(summary)
    if not line:
        raise UsageError("the summary is empty", "give one line on what the subject is")
    with writing(vault, "update-subject-summary") as op:
        entry = resolve.existing_subject(vault, name)
        changed = entry.text("summary") != line
        if changed:
            op.edit(entry.path, Set("summary", line))
        saved = op.carry_out(entry.title, [entry.id])
    return UpdatedSubject(
        **saved.fields(), id=entry.id, name=entry.title, summary=line,
        previous_summary=entry.text("summary") or None, changed=changed, path=entry.path,
    )  # fmt: skip


class Aliased(Saved, kw_only=True):
    """A subject with its other names; `added` are those that it had not, and `gained` counts the memories that came with them."""

    id: str
    name: str
    aliases: tuple[str, ...]
    added: tuple[str, ...]
    gained: int
    path: str


@verb
@of_the_whole
def add_alias(vault: Context, name: str, aliases: Sequence[str]) -> Aliased:
    """Let a subject (by name, alias or id) answer to more names; what is tagged with one of them is tagged with it from then on.

    A name that another subject answers to is refused, and that subject named; then nothing is written.
    """
    asked = {normal_name(alias): one_line(alias) for alias in aliases}
    if not asked or "" in asked:
        raise UsageError("an alias is empty", "give each other name of the subject")
    with writing(vault, "add-alias") as op:
        entry = resolve.existing_subject(vault, name)
        known = names_of(entry)
        added = {normal: alias for normal, alias in asked.items() if normal not in known}
        for alias in added.values():
            _require_unclaimed(vault, entry, alias)
        gained = len({entry.path for normal in added for entry in vault.index.catalog.tagged([normal])})
        if added:
            op.edit(entry.path, AddItems("aliases", list(added.values())))
        saved = op.carry_out(entry.title, [entry.id])
    has = (*entry.texts("aliases"), *added.values())
    return Aliased(
        **saved.fields(), id=entry.id, name=entry.title, aliases=has, added=tuple(added.values()), gained=gained, path=entry.path
    )


def _require_unclaimed(vault: Context, entry: Entry, alias: str) -> None:
    others = [claimed for claimed in vault.index.catalog.subject_named(normal_name(alias)) if claimed.path != entry.path]
    if others:
        other = others[0]
        raise Refused(
            f"`{one_line(alias, 60)}` is a name of the subject `{one_line(other.title, 60)}` ({other.path})",
            f"{step('merge_subjects', primary=entry.title, duplicate=other.title)} makes them one; or choose another alias",
        )
