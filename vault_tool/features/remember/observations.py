"""Many observations at once: `add_observations` and `delete_observations`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import NotFound, UsageError
from vault_tool.model.fields import GIVEN, annotation
from vault_tool.model.records import Observation
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import if_there, option, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, one_line
from vault_tool.vault import repeats, resolve, review_policy
from vault_tool.vault.answers import body_of
from vault_tool.vault.checked import TEXTS, type_error
from vault_tool.vault.context import Context
from vault_tool.vault.leniency import listed
from vault_tool.vault.new_observation import (
    NewObservation,
    append_operation,
    draft_of,
    orphaned_subjects,
    remarks_on,
    resolve_subjects,
)
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import verb

# The type of a deletion's entry in the day's log: with its hyphen no memory can have it.
DELETED = "vault-delete"


# What a mapping given to `add_observations` may have, the parameters of `remember`, and what each may be.
KINDS = {
    **{field.parameter: tuple(annotation(field).split(" | ")) for field in GIVEN},
    "content": ("str",), "subject_names": TEXTS, "new_type": ("bool",), "ask": ("bool",),
}  # fmt: skip
FIELDS = frozenset(KINDS)


class AddedObservation(Struct, kw_only=True):
    """One observation of a batch; `duplicate_of` names the memory that already said it, which gained what was `added`; what the
    repeat said beside that was `dropped`.
    """

    id: str
    content: str
    subject_names: tuple[str, ...]
    subjects_created: tuple[str, ...] = ()
    similar_subjects: dict[str, list[str]] = field(default_factory=dict)
    type: str
    path: str
    duplicate_of: str | None = None
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    pending_review: bool = False


class AddedObservations(Saved, kw_only=True):
    """The observations of one `add_observations`, in the order given."""

    results: tuple[AddedObservation, ...]


class Rejected(Struct):
    """One memory that `delete_observations` left where it is, and the reason."""

    id: str
    reason: str


class DeletedObservations(Saved, kw_only=True):
    """The ids deleted and those rejected; `subjects_removed` were made by these observations and nothing else names them."""

    deleted: tuple[str, ...]
    rejected: tuple[Rejected, ...]
    subjects_removed: tuple[str, ...] = ()


@verb
def add_observations(vault: Context, observations: Sequence[Mapping[str, Any]]) -> AddedObservations:
    """Append several observations as one operation: each mapping has `content` and may have what `remember` takes.

    All are checked before the first is written: a fault in one, named by its number, refuses all. What the vault, or
    an earlier one of the batch, says already is not written again.
    """
    if not observations:
        raise UsageError("no observation was given", "give at least one, as an object with `content`")
    observations = [_with_lists(observation) if isinstance(observation, Mapping) else observation for observation in observations]
    with append_operation(vault, "add-observations") as op:
        drafts = [_draft(vault, number, fields) for number, fields in enumerate(observations)]
        results, drafts = _added(op, drafts, observations)
        waits = (review_policy.WAITS,) if any(result.pending_review for result in results) else ()
        new = [result.id for result in results if (result.duplicate_of is None or result.added) and not result.pending_review]
        title = f"{len(new)} observations" if len(new) != 1 else drafts[0].label
        saved = op.carry_out(title, new)
    remarks = tuple(
        f"{number + 1}: {remark}"
        for number, (draft, result) in enumerate(zip(drafts, results, strict=True))
        for remark in _remarks(vault, draft, result)
    )
    return AddedObservations(**saved.fields(*waits, *remarks), results=tuple(results))


@verb
def delete_observations(vault: Context, ids: Sequence[str]) -> DeletedObservations:
    """Delete observations that this very session wrote: for an accidental write, not for pruning or revising history.

    Anything else is `rejected` with its reason and stays. What is deleted leaves the files; git keeps what it was. A subject
    that was made by naming it there, and that nothing else is tagged with, goes too.
    """
    if not vault.who.session:
        raise UsageError(
            "only what a session wrote can be deleted, and no session is named",
            f"pass {option('session')}" + if_there(f", or take the write back with {step('undo')}"),
        )
    vault = resolve.unrestricted(vault)
    with writing(vault, "delete-observations") as op:
        deleted: list[Entry] = []
        rejected: list[Rejected] = []
        for named in [ids] if isinstance(ids, str) else ids:
            _judge(vault, named, deleted, rejected)
        for entry in deleted:
            op.remove(entry.path)
            op.log_entry(EpisodeEntry(at=vault.now(), title=entry.title, type=DELETED, summary=f"{entry.id} by its own session"))
        emptied = list(orphaned_subjects(vault, deleted))
        for subject in emptied:
            op.remove(subject.path)
        title = deleted[0].title if len(deleted) == 1 else f"{len(deleted)} observations"
        saved = op.carry_out(title, [entry.id for entry in deleted])
    return DeletedObservations(
        **saved.fields(), deleted=tuple(entry.id for entry in deleted), rejected=tuple(rejected),
        subjects_removed=tuple(subject.title for subject in emptied),
    )  # fmt: skip


def _draft(vault: Context, number: int, fields: Mapping[str, Any]) -> Observation:
    """The draft that one mapping means; its faults are named with its number, from 1."""
    where = f"observation {number + 1}"
    if not isinstance(fields, Mapping):
        raise UsageError(f"{where} is not an object", 'write it like {"content": "..."}')
    if unknown := sorted(str(key) for key in fields.keys() - FIELDS):
        raise UsageError(f"{where} has an unknown field `{one_line(unknown[0], 40)}`", _field_suggestion(unknown[0]))
    for key, value in fields.items():
        if value is not None and (problem := type_error(KINDS[key], value)):
            raise UsageError(f"{where}: `{key}` is {problem}, not `{one_line(str(value), 40)}`", "change it")
    values = {key: value for key, value in fields.items() if key not in ("subject_names", "ask") and value is not None}
    try:
        return draft_of(vault, NewObservation(**{"content": "", **values}))
    except (UsageError, NotFound) as fault:
        raise type(fault)(f"{where}: {fault.message}", fault.hint) from fault


def _field_suggestion(name: str) -> str:
    """A hint for an unknown field: the parameter of the field that a note has by that name, a near name, else the whole list."""
    parameter = {field.name: field.parameter for field in GIVEN}.get(name)
    if parameter in FIELDS:
        return f"write it as `{parameter}`"
    near = get_close_matches(name, FIELDS, n=1, cutoff=0.5) or [field for field in sorted(FIELDS) if field.startswith(name)]
    return f"did you mean `{near[0]}`?" if near else f"the fields are {', '.join(sorted(FIELDS))}"


def _added(
    op: Operation, drafts: Sequence[Observation], observations: Sequence[Mapping[str, Any]]
) -> tuple[list[AddedObservation], list[Observation]]:
    """Plan each that is new, with the subjects and links of those that repeat it; what repeats another is that one.

    Beside the results come the drafts as they were written.
    """
    whole, names = list(drafts), [_names(fields) for fields in observations]
    first: list[int] = []
    by_body: dict[str, list[int]] = defaultdict(list)
    for number, draft in enumerate(drafts):
        alike = by_body[body_hash(draft.body)]
        at = next((at for at in alike if repeats.same(draft, whole[at].head())), number)
        first.append(at)
        if at == number:
            alike.append(number)
        else:
            whole[at], names[at] = repeats.joined(whole[at], draft), [*names[at], *names[number]]
    by_place = {at: _add(op, whole[at], names[at], bool(observations[at].get("ask"))) for at in dict.fromkeys(first)}
    results = [
        by_place[at] if at == number else _again(by_place[at], repeats.dropped(drafts[number], whole[at].head()))
        for number, at in enumerate(first)
    ]
    return results, whole


def _names(fields: Mapping[str, Any]) -> list[str]:
    return list(fields.get("subject_names") or [])


def _with_lists(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The same with each list that came as one text as the list that it reads as."""
    return {
        key: listed(key, value) if KINDS.get(key) == TEXTS and isinstance(value, str) else value for key, value in fields.items()
    }


def _again(result: AddedObservation, dropped: tuple[str, ...]) -> AddedObservation:
    return replace(result, duplicate_of=result.id, subjects_created=(), added=(), dropped=dropped)


def _add(op: Operation, draft: Observation, names: Sequence[str], asks: bool) -> AddedObservation:
    vault = op.vault
    twin = repeats.twin_of(vault, draft)
    waits = twin is None and (asks or review_policy.policy(vault, draft) == "review")
    # What waits for a person makes no subjects either: its plan is thrown away.
    tagging = resolve_subjects(Operation(vault, op.verb) if waits else op, names)
    if twin is not None:
        repeat = repeats.add(op, twin, draft, tagging.names)
        return AddedObservation(
            id=twin.id, content=body_of(vault, twin), subject_names=repeat.subjects, subjects_created=tagging.created,
            similar_subjects=tagging.similar, type=twin.type, path=twin.path, duplicate_of=twin.id, added=repeat.added,
            dropped=repeat.dropped,
        )  # fmt: skip
    record = replace(draft, subjects=tagging.names)
    if waits:
        return _queue_for_review(vault, record, review_policy.ASKED if asks else review_policy.why_waits(vault, record))
    path = op.create(record)
    op.log(record, path)
    return AddedObservation(
        id=record.id, content=record.body.rstrip("\n"), subject_names=tagging.names, subjects_created=tagging.created,
        similar_subjects=tagging.similar, type=record.type, path=path,
    )  # fmt: skip


def _remarks(vault: Context, draft: Observation, result: AddedObservation) -> Iterator[str]:
    """The remarks on one observation of a batch; for a repeat, the parts of it that were not taken."""
    if not result.duplicate_of:
        yield from remarks_on(vault, replace(draft, subjects=result.subject_names))
    elif result.dropped:
        yield from repeats.Repeat(result.subject_names, result.added, result.dropped).remarks(resolve.short(vault, result.id))


def _queue_for_review(vault: Context, record: Observation, why: str) -> AddedObservation:
    held = review_policy.hold(vault, record, why, verb="add-observations")
    return AddedObservation(
        id=held.id,
        content=record.body.rstrip("\n"),
        subject_names=record.subjects,
        type=record.type,
        path=held.path,
        duplicate_of=held.duplicate_of,
        pending_review=True,
    )


def _judge(vault: Context, named: str, deleted: list[Entry], rejected: list[Rejected]) -> None:
    try:
        entry = resolve.find(vault, named, (RecordClass.OBSERVATION,))
    except NotFound as fault:
        rejected.append(Rejected(named, fault.message))
        return
    if entry.text("session") != vault.who.session:
        rejected.append(Rejected(entry.id, "session mismatch: another session wrote it, and evidence stays"))
    elif entry.pinned or entry.origin == "owner" != vault.who.origin:
        rejected.append(Rejected(entry.id, f"a person wrote or pinned it: only a person takes it away, with {step('forget')}"))
    elif cited := _citing(vault, entry):
        rejected.append(Rejected(entry.id, f"{resolve.short(vault, cited.id)} ({one_line(cited.title, 40)}) stands on it"))
    elif entry not in deleted:
        deleted.append(entry)


def _citing(vault: Context, entry: Entry) -> Entry | None:
    """An understanding that names it as a source: evidence that something stands on stays."""
    return next((other for field, other in vault.index.catalog.pointing_at(entry.id, ("sources",))), None)
