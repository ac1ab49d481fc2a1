"""`write`: an immutable observation by contract, with its links and evidence; what is known already is strengthened."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Unpack

from msgspec import field
from msgspec.structs import replace

from vault_tool.features.contracts.meaning import RequestChecker
from vault_tool.features.contracts.schemas import require_shape
from vault_tool.features.remember.judging import mark_signal
from vault_tool.model.fields import GIVEN, SHARED, SharedParameters, by_parameter
from vault_tool.model.ids import new_id
from vault_tool.model.records import Edge, Observation
from vault_tool.model.signals import SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.vault import repeats, resolve, review_policy
from vault_tool.vault.context import Context
from vault_tool.vault.new_observation import NewObservation, append_operation, draft_of, remarks_on, resolve_subjects
from vault_tool.vault.operation import Operation, Saved
from vault_tool.vault.parameters import spelled_out
from vault_tool.vault.perhaps_changed import proposals, seems_to_change
from vault_tool.vault.request import verb
from vault_tool.vault.similar import Similar, near

# Below this confidence a memory waits for a person's review.
SURE_ENOUGH = 0.5

UNSURE = f"its writer's confidence is below {SURE_ENOUGH}"
RELATED = "RELATED_TO"
STRENGTHENED = "said again: marked as useful"

# What a request says below `links`.
_LINKS = ("problem_id", "related_memory_ids", "change_targets")


class Resolved(Struct):
    """Where a memory went and as what."""

    scope: str
    kind: str


class Near(Struct):
    """A memory that says nearly the same: if it is the same, update that one instead."""

    memory_id: str
    kind: str
    text: str
    likeness: float


class WriteAnswer(Saved, kw_only=True):
    """The outcome of `write` or of its `dry_run` (`memory_id` is then None, but for a duplicate).

    `duplicate_of` says that the memory was known: the subjects and links that it lacked were `added`, it was marked as useful,
    and what else was said anew was `dropped`. With
    `needs_review` it waits in the inbox for a person and is no memory yet.
    """

    ok: bool = True
    memory_id: str | None
    resolved: Resolved
    needs_review: bool = False
    duplicate_of: str | None = None
    added: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    similar: tuple[Near, ...] = ()
    subject_names: tuple[str, ...] = ()
    subjects_created: tuple[str, ...] = ()
    similar_subjects: Mapping[str, Sequence[str]] = field(default_factory=dict)
    path: str = ""
    dry_run: bool = False


@verb
@spelled_out
def write(
    vault: Context,
    text: str,
    kind: str,
    confidence: float,
    *,
    scope: str = "repo",
    problem_id: str = "",
    related_memory_ids: Sequence[str] = (),
    evidence_refs: Sequence[str] = (),
    subject_names: Sequence[str] = (),
    ask: bool = False,
    repo_id: str | None = None,
    dry_run: bool = False,
    **parameters: Unpack[SharedParameters],
) -> WriteAnswer:
    """Store an immutable memory of the repo's vault or of the global one, by the contract `memory.write.request`.

    `kind` is problem, solution, failed_tactic, fact, preference or change; `confidence` (0..1) is where its truth
    starts; below 0.5, or with `ask`, it waits for review. Raises InvalidRequest with every fault at once.
    """
    fields = {
        "problem_id": problem_id, "related_memory_ids": related_memory_ids, "evidence_refs": evidence_refs,
        "subject_names": subject_names, "ask": ask or None, **by_parameter(parameters, SHARED),
    }  # fmt: skip
    lists = {name: [*value] for name, value in fields.items() if isinstance(value, Collection) and not isinstance(value, str)}
    optional = {name: value for name, value in {**fields, **lists}.items() if value not in (None, "", [])}
    memory = {"text": text, "scope": scope, "kind": kind, "confidence": confidence}
    links = {name: optional.pop(name) for name in _LINKS if name in optional}
    memory |= optional | ({"links": links} if links else {})
    require_shape({"op": "write", "repo_id": repo_id or "", "memory": memory, "dry_run": dry_run})
    return written(vault, {"repo_id": repo_id, "memory": memory, "dry_run": dry_run})


def written(vault: Context, request: Mapping[str, Any]) -> WriteAnswer:
    """Carry out a request whose shape is right; raises InvalidRequest for one that cannot be meant."""
    memory = request["memory"]
    meaning = RequestChecker(vault)
    meaning.repo(request["repo_id"])
    home = meaning.home(memory["scope"])
    dry_run = bool(request.get("dry_run"))
    with _operation(home, dry_run) as op:
        meaning.observation(home, memory)
        meaning.require()
        return _outcome(op, _draft(home, memory), memory, dry_run)


@contextmanager
def _operation(home: Context, dry_run: bool) -> Iterator[Operation]:
    """An operation under the lock; a dry run needs none, for its plan is thrown away."""
    if dry_run:
        home.fresh()
        yield Operation(home, "write")
    else:
        with append_operation(home, "write") as op:
            yield op


def _draft(home: Context, memory: Mapping[str, Any]) -> Observation:
    links = memory.get("links") or {}
    fields = {name: value for name, value in memory.items() if name not in _LINKS} | {"confidence": float(memory["confidence"])}
    fields |= {name: links[name] for name in _LINKS if name in links}
    parameters: Any = {field.parameter: fields[field.contract] for field in GIVEN if field.contract and field.contract in fields}
    if "problem" in parameters:
        parameters["problem"] = parameters["problem"].strip()
    return draft_of(home, NewObservation(memory["text"], **parameters))


def _outcome(op: Operation, draft: Observation, memory: Mapping[str, Any], dry_run: bool) -> WriteAnswer:
    home = op.vault
    # Before confidence is looked at: what is a memory already needs no review to be said again.
    twin = repeats.twin_of(home, draft)
    if twin is not None:
        return _strengthened(op, twin, draft, memory, dry_run)
    tagging = resolve_subjects(op, memory.get("subject_names", ()))
    record = replace(draft, subjects=tagging.names)
    edges = _edges(home, record.id, record.label, record, memory)
    alike = near(home, draft.body, draft.type)
    base = WriteAnswer(
        memory_id=None, resolved=Resolved(memory["scope"], draft.type), similar=tuple(_near(similar) for similar in alike),
        subject_names=tagging.names, subjects_created=tagging.created, similar_subjects=tagging.similar, dry_run=dry_run,
        warnings=(*remarks_on(home, record), *_advice(home, alike), *proposals(home, record, seems_to_change(home, record))),
    )  # fmt: skip
    unsure = draft.confidence is not None and draft.confidence < SURE_ENOUGH
    if unsure or memory.get("ask") or review_policy.policy(home, record) == "review":
        why = UNSURE if unsure else review_policy.ASKED if memory.get("ask") else review_policy.why_waits(home, record)
        return _queue_for_review(home, record, edges, base, why)
    return base if dry_run else _stored(op, record, edges, base)


def _stored(op: Operation, record: Observation, edges: Sequence[Edge], base: WriteAnswer) -> WriteAnswer:
    path = op.create(record)
    for edge in edges:
        op.create(edge)
    op.log(record, path)
    saved = op.carry_out(record.label, [record.id, *(edge.id for edge in edges)])
    return _with(base, saved, memory_id=record.id, path=path)


def _queue_for_review(home: Context, record: Observation, edges: Sequence[Edge], base: WriteAnswer, why: str) -> WriteAnswer:
    """A memory that waits for a person; the subjects and links that it names are made when it is accepted."""
    waits = replace(base, needs_review=True, warnings=(review_policy.WAITS, *base.warnings))
    if base.dry_run:
        return waits
    context = {"similar": ", ".join(near.memory_id for near in base.similar)} if base.similar else {}
    held = review_policy.hold(home, record, why, context, verb="write", edges=edges)
    return replace(waits, memory_id=held.id, path=held.path, duplicate_of=held.duplicate_of)


def _strengthened(op: Operation, twin: Entry, draft: Observation, memory: Mapping[str, Any], dry_run: bool) -> WriteAnswer:
    """The same said again: the memory gains the subjects and links that it lacks, and one judgement as useful."""
    home = op.vault
    tagging = resolve_subjects(op, memory.get("subject_names", ()))
    repeat = repeats.add(op, twin, draft, tagging.names, but=("rationale", "evidence"))
    pointing = home.index.catalog.pointing_at(twin.id, ("from_id",))
    linked = {twin.id, *(edge.text("to_id") for _, edge in pointing if edge.type == RELATED)}
    edges = [edge for edge in _edges(home, twin.id, twin.title, draft, memory) if edge.to_id not in linked]
    for edge in edges:
        op.create(edge)
    related = tuple(f"{RELATED} {resolve.short(home, edge.to_id)}" for edge in edges)
    base = WriteAnswer(
        memory_id=twin.id, resolved=Resolved(memory["scope"], twin.type), duplicate_of=twin.id, path=twin.path,
        subject_names=repeat.subjects, subjects_created=tagging.created, similar_subjects=tagging.similar,
        added=(*repeat.added, *related), dropped=repeat.dropped, dry_run=dry_run,
        warnings=repeat.remarks(resolve.short(home, twin.id)),
    )  # fmt: skip
    if dry_run:
        return base
    mark = mark_signal(home, twin.id, SignalKind.USEFUL, draft.rationale or STRENGTHENED, draft.problem)
    op.signal(replace(mark, evidence=draft.evidence))
    return _with(base, op.carry_out(twin.title, [twin.id, *(edge.id for edge in edges)]))


def _edges(home: Context, identity: str, title: str, draft: Observation, memory: Mapping[str, Any]) -> list[Edge]:
    """The links from a memory to what its writer called related, one of each."""
    named = (memory.get("links") or {}).get("related_memory_ids", ())
    return [
        Edge(
            id=new_id(), type=RELATED, from_id=identity, from_title=title, to_id=other.id, to_title=other.title,
            body=draft.rationale, created=draft.created, **home.who.provenance(),
        )
        for other in resolve.find_all(home, named, MEMORIES)
    ]  # fmt: skip


def _near(similar: Similar) -> Near:
    return Near(similar.id, similar.type, similar.title, similar.likeness)


def _advice(home: Context, alike: Sequence[Similar]) -> list[str]:
    if not alike:
        return []
    first = resolve.short(home, alike[0].id)
    return [f"{first} says nearly the same: if it is the same, {step('update', memory_id=first)} instead of a twin"]


def _with(base: WriteAnswer, saved: Saved, **more: Any) -> WriteAnswer:
    """The result with what became of the write; its own remarks stay beside those of the write."""
    return replace(base, **saved.fields(*base.warnings), **more)
