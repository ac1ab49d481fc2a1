"""`mark_useful` and `mark_questionable`: judgements of single memories, appended and never edited in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from msgspec.structs import replace

from vault_tool.belief.fold import NO_REASON, Move, preview
from vault_tool.errors import UsageError
from vault_tool.index.relations import successors
from vault_tool.model.authority import by_origin
from vault_tool.model.evidence import FORMS, fault_in
from vault_tool.model.ids import canonical, new_id
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES
from vault_tool.util.text import one_line, with_article
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import pinned_to_head
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import verb
from vault_tool.vault.standing import about, confidence_of

LONGEST_REASON = 2000


class Marked(Saved, kw_only=True):
    """The outcome of a mark: the memory's utility (and, with a problem, its utility for that) before and after, each in 0..1.

    `questions` are the reasons of all marks as questionable that nothing has settled yet.
    """

    id: str
    title: str
    mark: str
    rationale: str
    utility: Move
    for_problem: Move | None = None
    problem: str = ""
    questions: tuple[str, ...] = ()
    path: str


@verb
def mark_useful(vault: Context, id: str, reason: str = "", *, problem: str = "", evidence: Sequence[str] = ()) -> Marked:
    """Say that a memory paid rent: it helped. Moves its utility up, counts as use and settles earlier questions.

    `problem` names the problem that it helped with. A mark moves a little, with `evidence` (references) four times as
    much; many sessions move much.
    """
    return _mark(vault, id, SignalKind.USEFUL, reason, problem, evidence)


@verb
def mark_questionable(vault: Context, id: str, reason: str = "", *, problem: str = "", evidence: Sequence[str] = ()) -> Marked:
    """Say that a memory may be wrong, stale or unreliable. Moves its utility down and puts it on the report.

    It stays there until it is superseded, marked as useful or reviewed. To dispute its truth, update that with evidence.
    """
    return _mark(vault, id, SignalKind.QUESTIONABLE, reason, problem, evidence)


def judged(vault: Context, named: str, *, begun: bool = False) -> Entry:
    """The memory that a judgement is about; UsageError for what cannot be judged (a subject, an edge, a pass)."""
    entry = resolve.find(vault, named, begun=begun)
    if entry.record_class not in MEMORIES:
        shown = f"{resolve.short(vault, entry.id)} ({one_line(entry.title, 40)})"
        raise UsageError(
            f"{shown} is {with_article(entry.record_class)}, which claims nothing", "judge an observation or an understanding"
        )
    return entry


def superseded_remark(vault: Context, entry: Entry) -> Iterator[str]:
    """A remark for a judgement of a superseded understanding: names the one that answers in its place."""
    if heads := successors(vault.index.catalog, entry.id):
        newer = ", ".join(resolve.short(vault, head) for head in heads)
        yield f"{resolve.short(vault, entry.id)} is superseded by {newer}, which answers in its place: judge that"


def mark_signal(vault: Context, target: str, kind: SignalKind, reason: str = "", problem: str = "") -> Signal:
    """A judgement by who is asking, now; it counts after all that was said of the memory before."""
    return Signal(
        id=_later_id(vault, target), at=vault.now(), target=target, kind=kind,
        rationale=one_line(reason, LONGEST_REASON), problem=problem,
        session=vault.who.session, model=vault.who.model, origin=vault.who.origin, user=vault.who.user,
    )  # fmt: skip


def _later_id(vault: Context, target: str) -> str:
    """A random id, larger than those of the same second's signals: of two in one second the second must count last."""
    now, drawn = vault.now(), UUID(new_id())
    taken = [UUID(signal.id) for signal in vault.whole_index.catalog.signals(target) if signal.at == now and canonical(signal.id)]
    highest = max(taken, default=drawn)
    if highest < drawn:
        return str(drawn)
    return str(UUID(int=min(highest.int + 1 + drawn.int % 2**80, 2**128 - 1)))


def moved(vault: Context, entry: Entry, proposal: Signal) -> Move:
    """The effect a signal would have on its memory now, rounded to six digits: belief has no more, and they are read aloud."""
    past = about(entry, vault.index.catalog.signals(entry.id))
    move = preview(past, proposal, start=confidence_of(entry), writer=by_origin(entry.origin))
    before, after, step, applied = (round(value, 6) for value in (move.before, move.after, move.step, move.applied))
    return replace(move, before=before, after=after, step=step, applied=applied)


def require_evidence(references: Sequence[str]) -> None:
    """UsageError for the first evidence reference that is malformed or names nothing."""
    for text in references:
        if wrong := fault_in(text):
            raise UsageError(f"`{one_line(text, 60)}` is no evidence reference: {wrong}", FORMS)


def _mark(vault: Context, named: str, kind: SignalKind, reason: str, problem: str, evidence: Sequence[str]) -> Marked:
    require_evidence(evidence)
    home = vault_holding(vault, named, begun=True)
    with writing(home, f"mark-{kind.value}") as op:
        # A problem of this vault may be what a global memory helped with.
        about = resolve.problem(vault if resolve.candidates(vault, problem) else home, problem)
        entry = judged(home, named, begun=True)
        signal = mark_signal(home, entry.id, kind, reason, about)
        return _marked(op, entry, replace(signal, evidence=pinned_to_head(home, evidence)))


def vault_holding(vault: Context, named: str, *, begun: bool = False) -> Context:
    """The vault in which a memory is judged: this one, else the global one; `begun` as for `resolve.find`."""
    # What the indexes know of without a comparison only says where it is made: by the write, or before one elsewhere.
    if not _is_here(vault, named, begun):
        vault.fresh()
    return resolve.vault_holding(vault, named, begun=begun)


def _is_here(vault: Context, named: str, begun: bool) -> bool:
    """Whether a memory of this vault answers to a name as far as is known, with its file where it was."""
    known = resolve.candidates_begun(vault, named) if begun else resolve.candidates(vault, named)
    return bool(known) and all((vault.root / entry.path).exists() for entry in known)


def _marked(op: Operation, entry: Entry, signal: Signal) -> Marked:
    vault = op.vault
    overall = moved(vault, entry, replace(signal, problem=""))
    local = moved(vault, entry, signal) if signal.problem else None
    op.signal(signal)
    saved = op.carry_out(entry.title, [entry.id])
    remarks = [*superseded_remark(vault, entry)]
    remarks += [] if signal.rationale else ["no reason was given: one sentence helps whoever weighs it later"]
    return Marked(
        **saved.fields(*remarks),
        id=entry.id, title=entry.title, mark=signal.kind.value, rationale=signal.rationale, utility=overall,
        for_problem=local, problem=signal.problem, path=entry.path,
        questions=tuple(q.rationale or NO_REASON for q in vault.standings.belief_of(entry).questionable),
    )  # fmt: skip
