"""`remember`: append an observation, minting the subjects that it names first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Unpack

from msgspec import field
from msgspec.structs import replace

from vault_tool.model.fields import ObservationParameters
from vault_tool.model.records import Observation
from vault_tool.model.snapshot import Entry
from vault_tool.util.hints import step
from vault_tool.util.text import normal_name, one_line
from vault_tool.vault import repeats, resolve, review_policy
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context
from vault_tool.vault.new_observation import (
    NewObservation,
    Tagging,
    append_operation,
    draft_of,
    remarks_on,
    resolve_subjects,
    without_authority,
)
from vault_tool.vault.operation import Operation, Saved
from vault_tool.vault.parameters import spelled_out
from vault_tool.vault.perhaps_changed import proposals, seems_to_change
from vault_tool.vault.request import verb
from vault_tool.vault.similar import Similar, near


class RememberedObservation(Saved, kw_only=True):
    """The outcome of `remember`; `duplicate_of` names the memory that said this already, which gained what was `added`.

    What the repeat said beside that was `dropped`: evidence is not rewritten.
    `similar` are memories that say nearly the same, `seems_to_change` those of which it seems to say another value; `next_steps`
    says what to do about either where it is of the same subject, or where a new subject is called nearly like one that there is.
    What it says it changed and its writer may not change is
    `contested`: both stay until the owner has settled it; its fields that `waits` names have no effect until the owner has
    reviewed it. With `pending_review` it is no memory yet: `path` is its file in the inbox, where it waits for a person.
    """

    id: str
    content: str
    subject_names: tuple[str, ...]
    subjects_created: tuple[str, ...] = ()
    similar_subjects: dict[str, list[str]] = field(default_factory=dict)
    type: str
    title: str
    path: str
    duplicate_of: str | None = None
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    similar: tuple[Similar, ...] = ()
    next_steps: tuple[str, ...] = ()
    seems_to_change: tuple[str, ...] = ()
    contested: tuple[str, ...] = ()
    waits: tuple[str, ...] = ()
    pending_review: bool = False


@verb
@spelled_out
def remember(
    vault: Context,
    content: str,
    subject_names: Sequence[str] = (),
    *,
    new_type: bool = False,
    ask: bool = False,
    **parameters: Unpack[ObservationParameters],
) -> RememberedObservation:
    """Append an observation tagged with subjects; subjects that do not exist yet are created, and the result says so.

    `kind` is the observation's type, by default general (one that is new and nearly called like another needs `new_type`),
    `importance` and `confidence` are in 0..1, `related_to` names understandings that this is direct evidence for, `problem`
    the problem that a solution or failed tactic is for; ids may be unambiguous prefixes. With `ask` it waits for a person,
    whatever the vault's policy. The same text, title and steps of the same type, problem, project and user are stored once:
    a repeat adds the subjects, tags and links that it brings.
    """
    new = NewObservation(content, new_type=new_type, **parameters)
    new.require_sound()  # before the vault is locked, and before anything is healed
    with append_operation(vault, "remember") as op:
        return remembered(op, draft_of(vault, new), subject_names, ask=ask)


def remembered(op: Operation, draft: Observation, subject_names: Sequence[str], *, ask: bool = False) -> RememberedObservation:
    """Write a draft as the whole of an operation; what is known already is added to, and what is to wait waits."""
    vault = op.vault
    twin = repeats.twin_of(vault, draft)
    tagging = resolve_subjects(op, subject_names)
    if twin is not None:
        return _repeated(op, twin, draft, tagging)
    if ask or review_policy.policy(vault, draft) == "review":
        why = review_policy.ASKED if ask else review_policy.why_waits(vault, draft)
        return _queue_for_review(vault, draft, tagging, why, op.verb)
    return _save(vault, op, draft, tagging)


def _repeated(op: Operation, twin: Entry, draft: Observation, tagging: Tagging) -> RememberedObservation:
    """The result for a text that is remembered already: the memory gains the subjects and links that it lacks."""
    vault = op.vault
    repeat = repeats.add(op, twin, draft, tagging.names)
    saved = op.carry_out(twin.title, [twin.id]) if repeat.added else Saved()
    return RememberedObservation(
        **saved.fields(*repeat.remarks(resolve.short(vault, twin.id))),
        id=twin.id, content=body_of(vault, twin), subject_names=repeat.subjects,
        subjects_created=tagging.created if repeat.added else (), similar_subjects=tagging.similar, type=twin.type,
        title=twin.title, path=twin.path, duplicate_of=twin.id, added=repeat.added, dropped=repeat.dropped,
    )  # fmt: skip


def _queue_for_review(vault: Context, draft: Observation, tagging: Tagging, why: str, verb: str) -> RememberedObservation:
    """The result for a text that waits for a person; the subjects that it names are made when it is accepted."""
    held = review_policy.hold(vault, replace(draft, subjects=tagging.names), why, verb=verb)
    return RememberedObservation(
        id=held.id, content=draft.body.rstrip("\n"), subject_names=tagging.names, similar_subjects=tagging.similar,
        next_steps=tuple(new_subject_steps(tagging.similar)),
        type=draft.type, title=draft.label, path=held.path, duplicate_of=held.duplicate_of, pending_review=True,
        warnings=(review_policy.WAITS, *remarks_on(vault, draft)),
    )  # fmt: skip


def _save(vault: Context, op: Operation, draft: Observation, tagging: Tagging) -> RememberedObservation:
    record = replace(draft, subjects=tagging.names)
    alike = near(vault, record.body, record.type)
    changed = seems_to_change(vault, record)
    stay, waits = without_authority(vault, record)
    path = op.create(record)
    op.log(record, path)
    saved = op.carry_out(record.label, [record.id])
    return RememberedObservation(
        **saved.fields(*remarks_on(vault, record)),
        seems_to_change=tuple(entry.id for entry in changed), contested=tuple(change.id for change in stay), waits=waits,
        id=record.id, content=record.body.rstrip("\n"), subject_names=tagging.names, subjects_created=tagging.created,
        similar_subjects=tagging.similar, type=record.type, title=record.label, path=path,
        similar=alike, next_steps=tuple(_next_steps(vault, record, alike, changed, tagging)),
    )  # fmt: skip


def _next_steps(
    vault: Context, record: Observation, alike: Sequence[Similar], changed: Sequence[Entry], tagging: Tagging
) -> Iterator[str]:
    """Hints for what may follow: about what it seems to change, about a near duplicate of the same subject, and about a
    subject named like another.
    """
    yield from proposals(vault, record, changed)
    about = set(map(normal_name, tagging.names))
    known = {*record.change_targets, *(entry.id for entry in changed)}
    for twin in alike:
        entries = vault.index.catalog.get(twin.id) if twin.id not in known else ()
        if any(about & set(map(normal_name, entry.subjects)) or not (about or entry.subjects) for entry in entries):
            short = resolve.short(vault, twin.id)
            corrects, replaces = step("correct", id=short, why=...), step("remember", content=..., change_targets=short)
            yield f"{short} says nearly the same: where it is no longer so, {corrects}, or remember yours again: {replaces}"
    yield from new_subject_steps(tagging.similar)


def new_subject_steps(similar: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """A question for each new subject whose name is close to that of others."""
    for name, others in similar.items():
        yield f"{one_line(name, 60)} is new: did you mean {', '.join(one_line(other, 60) for other in others)}?"
