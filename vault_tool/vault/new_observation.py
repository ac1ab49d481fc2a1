"""A new observation before it is written: what it is to say, and the subjects that it is tagged with, made by naming them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Unpack

from vault_tool.errors import UsageError, VaultError
from vault_tool.files.render import body_text
from vault_tool.index.relations import names_of, successors
from vault_tool.model.fields import GIVEN, LISTS, Field, FieldKind, ObservationParameters, by_parameter
from vault_tool.model.ids import derived_id, is_derived, new_id
from vault_tool.model.made_titles import given_title
from vault_tool.model.records import Observation, Subject
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import GENERAL, RecordClass, is_type_name
from vault_tool.recall.wishes import INSTRUCTION, wish_in
from vault_tool.util.clock import end_of, parse_time, stamp, until
from vault_tool.util.hints import if_there, option, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name, one_line, unwrap_link, with_article
from vault_tool.vault import contests, registered, resolve
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import pinned_to_head
from vault_tool.vault.operation import Operation, writing
from vault_tool.vault.parameters import require_no_slip, require_units, require_word, unknown_type

# What the head of a subject holds that was made by naming it in a memory.
_MINTED = frozenset({"id", "type", "name", "key", "role", "created", "session", "model", "origin"})

OWNER = "owner"

# Past this many subjects a warning is due: n subjects are n(n-1)/2 claims.
MANY_SUBJECTS = 4


@contextmanager
def append_operation(vault: Context, verb: str) -> Iterator[Operation]:
    """An operation that only appends; registered writes come before it, if they are still to be made."""
    with writing(vault, verb, at_a_glance=True) as op:
        for write in registered.written_first():
            # Whatever is wrong with what waits is no reason to refuse this one; it goes on waiting.
            with suppress(VaultError):
                write(vault.unserved())
        yield op


class NewObservation:
    """A new observation as its writer gave it: ids may be prefixes, titles or links, and nothing is checked yet.

    `said` has what was given by the names of the fields, with their defaults; `new_type` lets a type be new here although it
    is nearly called like another.
    """

    __slots__ = ("content", "new_type", "said")

    def __init__(self, content: str, *, new_type: bool = False, **parameters: Unpack[ObservationParameters]) -> None:
        self.content = content
        self.new_type = new_type
        self.said = by_parameter(parameters)

    def require_sound(self) -> None:
        """Raise UsageError for what no vault would take."""
        if not self.content.strip():
            raise UsageError("there is nothing to remember: the content is empty", "give the text as the first argument")
        kind = self.said["type"]
        if kind is not None and not is_type_name(kind):
            raise UsageError(f"`{one_line(kind, 40)}` cannot be a type", "a type is a word of letters, digits and _")
        require_units(**{field.name: self.said[field.name] for field in GIVEN if field.kind is FieldKind.UNIT})


def draft_of(vault: Context, new: NewObservation) -> Observation:
    """An observation that is not written yet and has no subjects; raises UsageError and NotFound for what cannot be one."""
    new.require_sound()
    values = {field.name: _value(vault, new, field) for field in GIVEN}
    return Observation(
        id=new_id(), body=body_text(new.content), generation=vault.index.catalog.generation(), created=vault.now(), **values,
        **vault.who.provenance(),
    )  # fmt: skip


def _value(vault: Context, new: NewObservation, field: Field) -> Any:
    """The value of a field as it is kept: read in the field's own way, or as its kind is."""
    value = new.said[field.name]
    if field.name in _READ:
        return _READ[field.name](vault, new, value)
    if field.words:
        return require_word(field, value)
    if field.kind is FieldKind.IDS:
        return _ids(vault, value, None)
    if field.kind is FieldKind.TIME:
        return _moment(field.parameter, value)
    if field.kind is FieldKind.END:
        return _end(vault, field.parameter, value, new.said["observed"])
    return tuple(value) if field.kind in LISTS else value


# How the fields are read that are not kept as they are given, beyond what their kind says.
_READ: Mapping[str, Callable[[Context, NewObservation, Any], Any]] = {
    "type": lambda vault, new, kind: _observation_type(vault, _own_type(vault, new) if kind is None else kind, new.new_type),
    "title": lambda vault, new, title: given_title(title, new.content),
    "tags": lambda vault, new, tags: _clean(tags),
    "related_to": lambda vault, new, named: _ids(vault, named, (RecordClass.UNDERSTANDING,)),
    "problem": lambda vault, new, named: resolve.problem(vault, named),
    "evidence": lambda vault, new, references: pinned_to_head(vault, references),
    "rationale": lambda vault, new, text: one_line(text),
}


def _own_type(vault: Context, new: NewObservation) -> str:
    """The type of an observation without a given one: a wish of the owner's is a preference or instruction."""
    return (wish_in(new.content) if vault.who.origin == OWNER else "") or GENERAL


def _observation_type(vault: Context, kind: str, new: bool) -> str:
    types = vault.settings.types
    if not types.spec(kind).known and types.spec(kind.lower()).known:
        kind = kind.lower()
    record_class = types.spec(kind).record_class
    if record_class is not RecordClass.OBSERVATION:
        verb = {
            RecordClass.UNDERSTANDING: "create_understanding",
            RecordClass.EDGE: "link",
            RecordClass.SUBJECT: "create_subjects",
        }
        raise UsageError(
            f"`{kind}` is the type of {with_article(record_class)}",
            f"use {step(verb[record_class]) if record_class in verb else step('new', type=kind)}",
        )
    if not new:
        require_no_slip(types, kind, vault.index.catalog.types)
    return kind


def _moment(name: str, text: str | None) -> str | None:
    if text is None:
        return None
    moment = parse_time(text)
    if moment is None:
        raise UsageError(f"{name} `{one_line(text, 40)}` is not a time", "write it like 2026-11-20T10:00:00+00:00")
    return stamp(moment)


def _end(vault: Context, name: str, end: str | None, observed: str | None) -> str | None:
    """The end that a field says; UsageError for a time that is over before the memory begins, when nothing would ever find it."""
    if end is None:
        return None
    _moment(name, end)
    own = parse_time(observed) if observed else None
    over = end_of(end)
    if over is not None and over <= (own or vault.clock.now()):
        of = f"observed at {observed}" if own else f"of {vault.now()}"
        hint = f"give a later one, or say with {option('observed_at')} since when it was so"
        raise UsageError(f"{name} `{one_line(end, 40)}` is no later than the memory itself, which is {of}", hint)
    return until(end)


def _clean(texts: Sequence[str]) -> tuple[str, ...]:
    items = [texts] if isinstance(texts, str) else texts
    return tuple(dict.fromkeys(text for text in map(one_line, items) if text))


def _ids(vault: Context, named: Sequence[str], classes: tuple[RecordClass, ...] | None) -> tuple[str, ...]:
    return tuple(entry.id for entry in resolve.find_all(vault, named, classes))


def remarks_on(vault: Context, record: Observation) -> list[str]:
    """The remarks of a careful reader on a new observation; none of them stops the write."""
    remarks = []
    count = len(record.subjects)
    if count > MANY_SUBJECTS:
        remarks.append(
            f"{count} subjects are {count * (count - 1) // 2} claims of a relation: tag what it is about, not what it touches"
        )
    if record.type in ("solution", "failed_tactic") and not record.problem:
        remarks.append(
            f"{with_article(record.type)} without a problem: name it with {option('problem')}, so that it is found from there"
        )
    if record.type == "change" and not record.change_targets:
        remarks.append(f"a change without targets: name what it changes with {option('change_targets')}")
    if record.origin != OWNER and record.type != INSTRUCTION and wish_in(record.body) == INSTRUCTION:
        remarks.append(_no_persons_instruction(vault, record))
    for old in record.related_to:
        if heads := successors(vault.index.catalog, old):
            newer = ", ".join(resolve.short(vault, head) for head in heads)
            remarks.append(f"it is evidence for {resolve.short(vault, old)}, which is superseded by {newer}: name that instead")
    stay, waits = without_authority(vault, record)
    if stay or waits:
        remarks += [*contests.remarks(vault, stay), *contests.waiting_remarks(waits)]
    return [*remarks, *unknown_type(vault.settings.types, record.type)]


def _no_persons_instruction(vault: Context, record: Observation) -> str:
    """The remark on a text that reads as an instruction and is no person's: its standing, and a person's way to change that."""
    review = if_there(f": {step('review', accept=resolve.short(vault, record.id))} at a terminal")
    return f"it looks like an instruction, and counts as an agent's word until a person reviews it{review}"


def without_authority(vault: Context, record: Observation) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    """The memories that it claims to change without the authority, and its fields that wait for the owner's review."""
    # Of most memories nothing need be asked.
    if not (record.change_targets or record.pinned or record.importance is not None) or record.origin == "owner":
        return (), ()
    return contests.unchanged_by(vault, record), contests.without_effect(vault, record)


class Tagging(Struct):
    """The subjects of a new memory: names as their files have them, those minted for it, and near misses of these."""

    names: tuple[str, ...]
    created: tuple[str, ...]
    similar: dict[str, list[str]]


def resolve_subjects(op: Operation, names: Sequence[str]) -> Tagging:
    """The subjects called `names`, with those that do not exist planned in `op`."""
    vault, whole = op.vault, op.vault.with_withheld()
    names_by_key: dict[str, str] = {}
    created: list[str] = []
    for named in [names] if isinstance(names, str) else names:
        name = unwrap_link(named)
        clean, normal = one_line(name), normal_name(name)
        if not normal:
            raise UsageError("a subject's name is empty", f"give each of {option('subject_names')} a name")
        if normal in names_by_key:
            continue
        # A subject belongs to the vault: one of that name there is for all, whoever may see what is tagged with it.
        existing, minted = resolve.subject(whole, clean), op.minted(normal)
        names_by_key[normal] = minted or (existing.text("name") if existing else clean)
        if existing is None and minted is None:
            op.create(subject_named(whole, clean))
            created.append(clean)
    similar = {name: near for name in created if (near := resolve.similar_subjects(vault, name, created))}
    return Tagging(tuple(dict.fromkeys(names_by_key.values())), tuple(created), similar)


def subject_named(vault: Context, name: str) -> Subject:
    """A subject of which no more than its name is known: the same bytes on every clone, so that two of them merge.

    Its id is made of the vault's and the name's normal form, and its head says neither when nor by whom it was made. Only where
    that id is a renamed subject's is it a random one.
    """
    identity = derived_id(resolve.workspace_id(vault), f"subject/{normal_name(name)}")
    taken = bool(vault.index.catalog.get(identity))
    return Subject(id=new_id() if taken else identity, type="subject", name=name)


def orphaned_subjects(vault: Context, deleted: Sequence[Entry]) -> Iterator[Entry]:
    """The subjects that were made by naming them in a memory, and that nothing but what is deleted names."""
    going = {entry.path for entry in deleted}
    catalog = vault.whole_index.catalog
    for normal in dict.fromkeys(normal_name(name) for entry in deleted for name in entry.subjects):
        for subject in catalog.subject_named(normal):
            names = names_of(subject)
            naming = [*catalog.tagged([names]), *catalog.linking(names), *(entry for _, entry in catalog.pointing_at(subject.id))]
            if _bare(subject) and going.issuperset(entry.path for entry in naming):
                yield subject


def _bare(subject: Entry) -> bool:
    """Whether a subject is as a memory's writing made it (its id is derived): no person or agent added to it."""
    untouched = subject.head.keys() <= _MINTED and not subject.body_hash
    return untouched and is_derived(subject.id) and not subject.pulled
