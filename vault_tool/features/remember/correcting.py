"""`correct`: say that a memory is wrong or out of date, and what is so instead."""

from __future__ import annotations

from msgspec.structs import replace

from vault_tool.errors import UsageError
from vault_tool.features.remember.judging import LONGEST_REASON, judged, mark_signal, superseded_remark, vault_holding
from vault_tool.features.remember.remember import remembered
from vault_tool.model.signals import SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.util.text import body_hash, one_line
from vault_tool.vault import resolve
from vault_tool.vault.answers import class_of
from vault_tool.vault.context import Context
from vault_tool.vault.new_observation import NewObservation, draft_of
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import verb
from vault_tool.vault.statuses import statuses


class Corrected(Saved, kw_only=True):
    """The outcome of `correct`: the memory (`id`, `type`, `title`, `subjects`), its status now, and what gave it that status.

    `new_id` is the memory that says what is so instead, in the words of `content`; it is empty where that was not said.
    What its writer may not overtake is `contested`: both stay until the owner has settled it. `known` says that this was said
    before, and nothing was written. With `pending_review` the new memory waits for a person, and nothing is overtaken yet.
    """

    id: str
    record_class: str
    type: str
    title: str
    subjects: tuple[str, ...]
    why: str
    status: str
    status_by: tuple[str, ...] = ()
    status_why: str = ""
    new_id: str = ""
    content: str = ""
    contested: tuple[str, ...] = ()
    known: bool = False
    added: tuple[str, ...] = ()
    pending_review: bool = False
    path: str


@verb
def correct(vault: Context, id: str, why: str, content: str = "") -> Corrected:
    """Say that a memory is wrong or out of date: it is kept and marked. `content` says in a sentence what is so instead.

    With `content` a memory of the same type, subjects and project is written that overtakes it, as far as who writes has the
    authority for that; else both stay, contested. Without, it is questioned, for the reason `why`. Sent twice it is once.
    """
    reason = one_line(why, LONGEST_REASON)
    if not reason:
        raise UsageError("a correction needs its reason", "say in a sentence what you saw")
    if content and not content.strip():
        raise UsageError("what is so instead is empty", "give it in a sentence, or leave it out")
    home = vault_holding(vault, id)
    with writing(home, "correct") as op:
        old = judged(home, id)
        if content:
            return _overtaken(op, old, reason, content)
        return _questioned(op, old, reason)


def _overtaken(op: Operation, old: Entry, why: str, content: str) -> Corrected:
    vault = op.vault
    short = resolve.short(vault, old.id)
    if old.record_class is not RecordClass.OBSERVATION:
        raise UsageError(
            f"{short} ({one_line(old.title, 40)}) is an understanding, which is written anew, not corrected by a sentence",
            f"{step('understand', replaces=short)} does that",
        )
    if body_hash(content) == old.body_hash:
        raise UsageError(f"{short} says that already", "say what is so instead, or leave it out")
    # A type of the vault's own may be nearly called like another: it was written once.
    new = NewObservation(content, kind=old.type, change_targets=(old.id,), rationale=why, new_type=True)
    problem = old.text("problem") if vault.index.catalog.get(old.text("problem")) else ""
    draft = draft_of(vault, new)
    # What a user says of a memory that is everybody's is theirs alone.
    draft = replace(draft, problem=problem, project=old.text("project"), user=draft.user or old.text("user"))
    before = statuses(vault, [old])[old.path]
    saved = remembered(op, draft, old.subjects)
    newer = [
        resolve.short(vault, identity) for identity in before.status_by if before.status == "overtaken" and identity != saved.id
    ]
    remarks = [f"{short} was overtaken already by {', '.join(newer)}: if that is wrong too, correct it"] if newer else []
    return replace(
        _told(vault, old, why, Saved(**saved.fields(*remarks))),
        new_id=saved.id, content=saved.content, contested=saved.contested, added=saved.added, path=saved.path,
        known=bool(saved.duplicate_of) and not saved.added, pending_review=saved.pending_review,
    )  # fmt: skip


def _questioned(op: Operation, old: Entry, why: str) -> Corrected:
    vault = op.vault
    asking = (why, vault.who.origin, vault.who.user)
    open_questions = vault.standings.belief_of(old).questionable
    if any((question.rationale, question.origin, question.user) == asking for question in open_questions):
        return replace(_told(vault, old, why, Saved()), known=True)
    op.signal(mark_signal(vault, old.id, SignalKind.QUESTIONABLE, why))
    saved = op.carry_out(old.title, [old.id])
    return _told(vault, old, why, Saved(**saved.fields(*superseded_remark(vault, old))))


def _told(vault: Context, old: Entry, why: str, saved: Saved) -> Corrected:
    now = statuses(vault, [old])[old.path]
    return Corrected(
        **saved.fields(), id=old.id, record_class=class_of(old), type=old.type, title=old.title, subjects=old.subjects, why=why,
        path=old.path, status=now.status, status_by=now.status_by, status_why=now.status_why,
    )  # fmt: skip
