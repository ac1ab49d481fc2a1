"""Writes the memories of accepted turns: anchors become subjects, candidates become observations, or wait in the inbox."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import Refused, UsageError
from vault_tool.features.turns.turns import QueuedTurn, Turns, TurnSource
from vault_tool.files.render import body_text
from vault_tool.model.made_titles import given_title
from vault_tool.model.records import Observation, Subject
from vault_tool.model.types import RecordClass
from vault_tool.util.text import body_hash, normal_name, one_line
from vault_tool.vault import no_return, resolve, review_policy, screening
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Operation, Saved

# The most turns that one commit holds.
BATCH = 50

# The field of a beat's head that names the thread which it continues.
THREAD = "thread"

_SPACE = uuid.UUID("6f0d0c5e-5b0a-5e0e-9d1f-4c5b1c1f7b52")


class TurnBatch(msgspec.Struct):
    """The outcome of one batch of turns; `known` were memories already, were forgotten, or were decided by a person."""

    turns: tuple[QueuedTurn, ...] = ()
    written: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    known: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    twin_keys: set[tuple[str, ...]] = field(default_factory=set)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The title of its commit."""
        return self.titles[0] if len(self.titles) == 1 else f"{len(self.titles)} beats"


def beat_id(turn: TurnSource, number: int) -> str:
    """The id of a turn's candidate: always the same, so that no kill and no repeat makes two memories of it."""
    return str(uuid.uuid5(_SPACE, f"{turn.id}\n{number}"))


def apply_turns(vault: Context) -> tuple[TurnBatch, Saved]:
    """Write a batch of what turns accepted, as one operation, and take it off the queue. Call it under the write lock."""
    # What waits is anybody's.
    op = Operation(vault.with_withheld(), "turn")
    batch = _planned(op)
    saved = op.carry_out(batch.title, batch.written) if batch.written else Saved()
    # Last: after a kill they are taken up again, under the same ids, and found to be written.
    if batch.turns:
        Turns(vault.root).strike_off(batch.turns)
    return batch, saved


def _planned(op: Operation) -> TurnBatch:
    """Plan the oldest waiting turns; what a person must see is put into the inbox at once. Indexes must be fresh."""
    vault = op.vault
    batch = TurnBatch(tuple(Turns(vault.root).waiting(BATCH)))
    for user in dict.fromkeys(turn.user for turn in batch.turns):
        # A key is one user's word for a subject: another's `player` is another subject.
        subjects = vault.seen_by(user).index.catalog.of_class(RecordClass.SUBJECT)
        batch.keys.update(((user, entry.text("key")), entry.title) for entry in subjects if entry.text("key"))
    for turn in batch.turns:
        for number, candidate in enumerate(turn.candidates):
            _take(op, batch, turn, candidate, beat_id(turn, number))
    return batch


def _take(op: Operation, batch: TurnBatch, turn: QueuedTurn, candidate: Mapping[str, Any], identity: str) -> None:
    vault = op.vault
    draft = _draft(vault, turn, candidate, identity)
    twin_key = (body_hash(draft.body), draft.type, draft.project, draft.user)
    # The memories of this batch are in no index yet, so they are remembered here.
    if identity in batch.written or twin_key in batch.twin_keys or _is_known(vault, draft, twin_key):
        batch.known.append(identity)
        return
    names = [anchor["name"] for anchor in candidate["anchors"]]
    reason = turn.reason if turn.held else ""
    if not reason and review_policy.policy(vault, draft) == "review":
        reason = review_policy.why_waits(vault, draft)
    if not reason:
        reason = _objection(op, replace(draft, subjects=tuple(names)), candidate["anchors"])
    if reason:
        _hold(vault, batch, turn, replace(draft, subjects=tuple(names)), reason)
        return
    record = replace(draft, subjects=_anchored(op, batch, candidate["anchors"], draft))
    path = op.create(record)
    op.log(record, path)
    batch.twin_keys.add(twin_key)
    batch.written.append(identity)
    batch.titles.append(record.label)


def _draft(vault: Context, turn: QueuedTurn, candidate: Mapping[str, Any], identity: str) -> Observation:
    body = body_text(candidate["content"])
    thread = candidate["thread"]
    # What was forgotten since the turn is not cited; refused for that, it would keep every turn behind it waiting.
    evidence = no_return.citable(vault, candidate["evidence"])
    return Observation(
        id=identity, type=candidate["kind"], body=body, title=given_title(candidate["title"], body),
        tags=tuple(candidate["tags"]), importance=candidate["importance"], confidence=candidate["confidence"],
        rationale=candidate["rationale"], evidence=evidence, generation=vault.index.catalog.generation(),
        created=turn.at[:19] + "+00:00", session=turn.session, turn=turn.turn or turn.id, user=turn.user, project=turn.world,
        origin=turn.origin, model=turn.model, extra={THREAD: thread} if thread else {},
    )  # fmt: skip


def _is_known(vault: Context, draft: Observation, twin_key: tuple[str, ...]) -> bool:
    catalog = vault.index.catalog
    if no_return.is_taken(vault, draft.id):
        return True
    twins = (entry for entry in catalog.by_body(twin_key[0]) if entry.record_class is RecordClass.OBSERVATION)
    return any((twin_key[0], twin.type, twin.text("project"), twin.text("user")) == twin_key for twin in twins)


def _objection(op: Operation, draft: Observation, anchors: Sequence[Mapping[str, str]]) -> str:
    """The reason why a candidate cannot go into the vault without a person; empty when it can."""
    try:
        # All that could refuse it is asked here: a candidate that fails later would keep every turn behind it waiting.
        new = [anchor for anchor in anchors if resolve.subject(op.vault, anchor["name"]) is None]
        notes = [op.rendered(record) for record in (draft, *(_subject(anchor, draft) for anchor in new))]
        if not op.vault.allow_secrets:
            screening.refuse_secrets(op.vault, map(screening.new_note, notes))
    except (Refused, UsageError) as fault:
        return fault.message
    return ""


def _hold(vault: Context, batch: TurnBatch, turn: QueuedTurn, draft: Observation, reason: str) -> None:
    fields = {"turn": one_line(turn.text, 500), "note": turn.note, "mode": turn.mode, "risk": turn.risk}
    context = {name: text for name, text in fields.items() if text}
    held = review_policy.hold(vault, draft, reason, context, verb="turn", screen=False)
    (batch.known if held.duplicate_of else batch.held).append(draft.id)


def _anchored(op: Operation, batch: TurnBatch, anchors: Sequence[Mapping[str, str]], draft: Observation) -> tuple[str, ...]:
    """The names of the anchors' subjects: found by key, then by name or alias, else made."""
    names: dict[str, None] = {}
    for anchor in anchors:
        known = batch.keys.get((draft.user, anchor["key"])) if anchor["key"] else None
        subject = None if known else resolve.subject(op.vault, anchor["name"])
        minted = None if known or subject else op.minted(normal_name(anchor["name"]))
        name = known or (subject.title if subject else minted) or anchor["name"]
        if not (known or subject or minted):
            op.create(_subject(anchor, draft))
        if anchor["key"]:
            batch.keys[draft.user, anchor["key"]] = name
        names[name] = None
    return tuple(names)


def _subject(anchor: Mapping[str, str], draft: Observation) -> Subject:
    whose = f"{draft.user}\n" if draft.user else ""
    # The same after a kill, for the turn's time is in it; another one where the subject was deleted and is named again later.
    identity = str(uuid.uuid5(_SPACE, f"anchor\n{whose}{anchor['key'] or normal_name(anchor['name'])}\n{draft.created}"))
    return Subject(
        id=identity, type="subject", name=anchor["name"], key=anchor["key"], role=anchor["role"], created=draft.created,
        session=draft.session, model=draft.model, origin=draft.origin,
    )  # fmt: skip
