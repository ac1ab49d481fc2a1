"""`remember`: append an observation, minting the subjects that it names first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypedDict

from vault_tool.errors import UsageError
from vault_tool.files.render import body_text
from vault_tool.model.ids import derived_id, new_id
from vault_tool.model.records import Observation, Subject
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass, is_type_name
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.text import first_sentence, normal_name, one_line, unwrap_link
from vault_tool.vault import resolve, review_policy
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import pinned_to_head
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.parameters import require_mood, require_no_slip, require_units, unknown_type
from vault_tool.verbs import repeats
from vault_tool.verbs.get import body_of
from vault_tool.verbs.similar import Similar, near

# The type of what nobody gave one.
GENERAL = "general"

# Past this many subjects a warning is due: n subjects are n(n-1)/2 claims.
MANY_SUBJECTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberedObservation(Saved):
    """What `remember` did; `duplicate_of` names the memory that said this already, which gained what was `added`.

    What the repeat said beside that was `dropped`: evidence is not rewritten.
    `similar` are memories that say nearly the same. With `pending_review` it is no memory yet: `path` is its file in the
    inbox, where it waits for a person.
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
    pending_review: bool = False


@dataclass(frozen=True, slots=True)
class NewObservation:
    """What an observation is to say, as its writer gave it: ids may be prefixes, titles or links, and nothing is checked yet.

    `kind` is the observation's type; `importance` and `confidence` are in 0..1; `observed_at` and `expires` are times;
    `new_type` lets a type be new here although it is nearly called like another.
    """

    content: str
    kind: str | None = None
    title: str = ""
    tags: Sequence[str] = ()
    importance: float | None = None
    confidence: float | None = None
    related_to: Sequence[str] = ()
    problem: str = ""
    failure_mode: str = ""
    change_targets: Sequence[str] = ()
    evidence: Sequence[str] = ()
    rationale: str = ""
    observed_at: str | None = None
    expires: str | None = None
    turn: str = ""
    steps: Sequence[str] = ()
    preconditions: Sequence[str] = ()
    postconditions: Sequence[str] = ()
    mood: str = ""
    pinned: bool = False
    new_type: bool = False

    def require_sound(self) -> None:
        """Raise UsageError for what no vault would take."""
        if not self.content.strip():
            raise UsageError("there is nothing to remember: the content is empty", "give the text as the first argument")
        if self.kind is not None and not is_type_name(self.kind):
            raise UsageError(f"`{one_line(self.kind, 40)}` cannot be a type", "a type is a word of letters, digits and _")
        require_units(importance=self.importance, confidence=self.confidence)


@dataclass(frozen=True, slots=True)
class Tagging:
    """The subjects of a new memory: names as their files have them, those minted for it, and near misses of these."""

    names: tuple[str, ...]
    created: tuple[str, ...]
    similar: dict[str, list[str]]


def remember(
    vault: Context,
    content: str,
    subject_names: Sequence[str] = (),
    *,
    kind: str | None = None,
    title: str = "",
    tags: Sequence[str] = (),
    importance: float | None = None,
    confidence: float | None = None,
    related_to: Sequence[str] = (),
    problem: str = "",
    failure_mode: str = "",
    change_targets: Sequence[str] = (),
    evidence: Sequence[str] = (),
    rationale: str = "",
    observed_at: str | None = None,
    expires: str | None = None,
    turn: str = "",
    steps: Sequence[str] = (),
    preconditions: Sequence[str] = (),
    postconditions: Sequence[str] = (),
    mood: str = "",
    pinned: bool = False,
    new_type: bool = False,
    ask: bool = False,
) -> RememberedObservation:
    """Append an observation tagged with subjects; subjects that do not exist yet are created, and the result says so.

    `kind` is the observation's type, by default general (one that is new and nearly called like another needs `new_type`),
    `importance` and `confidence` are in 0..1, `related_to` names understandings that this is direct evidence for, `problem`
    the problem that a solution or failed tactic is for; ids may be unambiguous prefixes. `mood` is curious, precise,
    understanding-check or a word of one's own; with `ask` it waits for a person, whatever the vault's policy. The same
    text, title and steps of the same type, problem, project and user are stored once: a repeat adds the subjects, tags and
    links that it brings.
    """
    new = NewObservation(
        content, kind=kind, title=title, tags=tags, importance=importance, confidence=confidence, related_to=related_to,
        problem=problem, failure_mode=failure_mode, change_targets=change_targets, evidence=evidence, rationale=rationale,
        observed_at=observed_at, expires=expires, turn=turn, steps=steps, preconditions=preconditions,
        postconditions=postconditions, mood=mood, pinned=pinned, new_type=new_type,
    )  # fmt: skip
    new.require_sound()  # before the vault is locked, and before anything is healed
    with writing(vault, "remember", appends=True) as op:
        draft = draft_of(vault, new)
        twin = repeats.twin_of(vault, draft)
        tagging = tag(op, subject_names)
        if twin is not None:
            return _repeated(op, twin, draft, tagging)
        if ask or review_policy.policy(vault, draft) == "review":
            return _queue_for_review(vault, draft, tagging, review_policy.ASKED if ask else review_policy.OBSERVATIONS_WAIT)
        return _save(vault, op, draft, tagging)


def draft_of(vault: Context, new: NewObservation) -> Observation:
    """An observation that is not written yet and has no subjects; raises UsageError and NotFound for what cannot be one."""
    new.require_sound()
    return Observation(
        id=new_id(), type=_observation_type(vault, GENERAL if new.kind is None else new.kind, new.new_type),
        body=body_text(new.content), title=one_line(new.title) or first_sentence(new.content), tags=_clean(new.tags),
        importance=new.importance, confidence=new.confidence, generation=vault.index.catalog.generation(), created=vault.now(),
        observed=_moment("observed_at", new.observed_at), expires=_moment("expires", new.expires),
        related_to=_ids(vault, new.related_to, (RecordClass.UNDERSTANDING,)), problem=resolve.problem(vault, new.problem),
        failure_mode=new.failure_mode, change_targets=_ids(vault, new.change_targets, None),
        evidence=pinned_to_head(vault, new.evidence), rationale=one_line(new.rationale), steps=tuple(new.steps),
        preconditions=tuple(new.preconditions), postconditions=tuple(new.postconditions), mood=require_mood(new.mood),
        pinned=new.pinned, turn=new.turn, **provenance(vault),
    )  # fmt: skip


class Provenance(TypedDict):
    """The head fields that say who wrote a record."""

    session: str
    model: str
    origin: str
    user: str
    project: str


def provenance(vault: Context) -> Provenance:
    """The head fields that say who wrote a record."""
    who = vault.who
    return {"session": who.session, "model": who.model, "origin": who.origin, "user": who.user, "project": who.project}


def tag(op: Operation, names: Sequence[str]) -> Tagging:
    """The subjects called `names`, with those that do not exist planned in `op`."""
    vault, whole = op.vault, op.vault.with_withheld()
    found: dict[str, str] = {}
    created: list[str] = []
    for named in [names] if isinstance(names, str) else names:
        name = unwrap_link(named)
        clean, normal = one_line(name), normal_name(name)
        if not normal:
            raise UsageError("a subject's name is empty", "give each --subject a name")
        if normal in found:
            continue
        # A subject belongs to the vault: one of that name there is for all, whoever may see what is tagged with it.
        existing, minted = resolve.subject(whole, clean), op.minted(normal)
        found[normal] = minted or (existing.text("name") if existing else clean)
        if existing is None and minted is None:
            op.create(subject_named(whole, clean))
            created.append(clean)
    similar = {name: near for name in created if (near := resolve.similar_subjects(vault, name, created))}
    return Tagging(tuple(dict.fromkeys(found.values())), tuple(created), similar)


def subject_named(vault: Context, name: str) -> Subject:
    """A subject of which no more than its name is known: the same bytes on every clone, so that two of them merge.

    Its id is made of the vault's and the name's normal form, and its head says neither when nor by whom it was made. Only where
    that id is a renamed subject's is it a random one.
    """
    identity = derived_id(resolve.workspace_id(vault), f"subject/{normal_name(name)}")
    taken = bool(vault.index.catalog.get(identity))
    return Subject(id=new_id() if taken else identity, type="subject", name=name)


def _observation_type(vault: Context, kind: str, new: bool) -> str:
    types = vault.settings.types
    if not types.spec(kind).known and types.spec(kind.lower()).known:
        kind = kind.lower()
    record_class = types.spec(kind).record_class
    if record_class is not RecordClass.OBSERVATION:
        verb = {
            RecordClass.UNDERSTANDING: "create-understanding",
            RecordClass.EDGE: "link",
            RecordClass.SUBJECT: "create-subjects",
        }
        raise UsageError(f"`{kind}` is the type of an {record_class}", f"use `vt {verb.get(record_class, 'new ' + kind)}`")
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


def _clean(texts: Sequence[str]) -> tuple[str, ...]:
    given = [texts] if isinstance(texts, str) else texts
    return tuple(dict.fromkeys(text for text in map(one_line, given) if text))


def _ids(vault: Context, named: Sequence[str], classes: tuple[RecordClass, ...] | None) -> tuple[str, ...]:
    return tuple(entry.id for entry in resolve.find_all(vault, named, classes))


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


def _queue_for_review(vault: Context, draft: Observation, tagging: Tagging, why: str) -> RememberedObservation:
    """The result for a text that waits for a person; the subjects that it names are made when it is accepted."""
    held = review_policy.hold(vault, replace(draft, subjects=tagging.names), why, verb="remember")
    return RememberedObservation(
        id=held.id, content=draft.body.rstrip("\n"), subject_names=tagging.names, similar_subjects=tagging.similar,
        type=draft.type, title=draft.title, path=held.path, duplicate_of=held.duplicate_of, pending_review=True,
        warnings=(review_policy.WAITS, *remarks_on(vault, draft)),
    )  # fmt: skip


def _save(vault: Context, op: Operation, draft: Observation, tagging: Tagging) -> RememberedObservation:
    record = replace(draft, subjects=tagging.names)
    alike = near(vault, record.body, record.type)
    path = op.create(record)
    op.log(record, path)
    saved = op.carry_out(record.title, [record.id])
    return RememberedObservation(
        **saved.fields(*remarks_on(vault, record)),
        id=record.id, content=record.body.rstrip("\n"), subject_names=tagging.names, subjects_created=tagging.created,
        similar_subjects=tagging.similar, type=record.type, title=record.title, path=path,
        similar=alike,
    )  # fmt: skip


def remarks_on(vault: Context, record: Observation) -> list[str]:
    """What a careful reader would say of a new observation; none of it stops the write."""
    remarks = []
    count = len(record.subjects)
    if count > MANY_SUBJECTS:
        remarks.append(
            f"{count} subjects are {count * (count - 1) // 2} claims of a relation: tag what it is about, not what it touches"
        )
    if record.type in ("solution", "failed_tactic") and not record.problem:
        remarks.append(f"a {record.type} without a problem: name it with --problem ID, so that it is found from there")
    if record.type == "change" and not record.change_targets:
        remarks.append("a change without targets: name what it changes with --changes ID")
    for old in record.related_to:
        if heads := vault.superseded_by(old):
            newer = ", ".join(resolve.short(vault, head) for head in heads)
            remarks.append(f"it is evidence for {resolve.short(vault, old)}, which is superseded by {newer}: name that instead")
    return [*remarks, *unknown_type(vault.settings.types, record.type)]
