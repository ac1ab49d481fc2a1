"""`end_session`: an offer at the end of a conversation, to judge what was shown and to keep what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from msgspec import to_builtins

from vault_tool.errors import NotFound, UsageError, VaultError
from vault_tool.features.remember.judging import Marked, judged, mark_questionable, mark_useful, require_evidence
from vault_tool.features.remember.links import link
from vault_tool.features.remember.remember import remember
from vault_tool.features.sessions import keeping
from vault_tool.features.sessions.keeping import Item
from vault_tool.features.sessions.session_attempts import Attempt, attempts_of
from vault_tool.features.sessions.session_context import ShownMemory, judgements, place_of, shown_memories
from vault_tool.index.timeline import written_in
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import resolve, seen
from vault_tool.vault.answers import HYPOTHESIS_NOTICE
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved
from vault_tool.vault.request import Answer, looks, remarks, verb

LIMIT = 30

VALUES = ("useful", "questionable")
OUTCOMES = {"worked": "solution", "failed": "failed_tactic"}
_EDGES = {"solution": "SOLVES", "failed_tactic": "ATTEMPTED"}

_VOTE_FIELDS = frozenset({"id", "value", "reason", "problem", "evidence"})
_ATTEMPT_FIELDS = frozenset(
    {"key", "outcome", "problem", "content", "title", "subject_names", "failure_mode", "rationale", "confidence", "evidence"}
)


class Voted(Struct, kw_only=True):
    """One vote that was taken: the mark, and the memory's utility after it; `already` for one given before, word for word."""

    id: str
    title: str
    value: str
    reason: str
    utility: float | None
    already: bool = False


class Recorded(Struct, kw_only=True):
    """One attempt that was kept: as a new memory, or (`linked`) by tying the memory that told of it.

    `already` marks one that an earlier call kept.
    """

    key: str | None
    id: str
    type: str
    title: str
    problem_id: str
    linked: bool = False
    already: bool = False
    duplicate_of: str | None = None


class Surfaced(Struct, kw_only=True):
    """One memory that the session was shown and has not judged: what it takes to say whether it helped, and by which verbs it
    came; the rest is a `get` away.
    """

    id: str
    type: str
    title: str
    how: tuple[str, ...]
    scope: str = "repo"


class SessionEnd(Answer, kw_only=True):
    """The end of a session as far as it is open: `surfaced` memories to vote on, `attempts` to record.

    `votes` and `recorded` are what this call took; `items` says what became of each memory that was to be kept, of each id that
    helped or misled, and of what is left to do. Then nothing is listed. Nothing is closed: the session may go on.
    """

    session: str
    surfaced: tuple[Surfaced, ...]
    attempts: tuple[Attempt, ...]
    votes: tuple[Voted, ...]
    recorded: tuple[Recorded, ...]
    items: tuple[Item, ...] = ()
    attention: bool
    warnings: tuple[str, ...]
    notice: str = HYPOTHESIS_NOTICE


@verb
@looks
def end_session(
    vault: Context,
    *,
    votes: Sequence[Mapping[str, Any]] = (),
    attempts: Sequence[Mapping[str, Any]] = (),
    memories: Sequence[Mapping[str, Any]] = (),
    useful: Sequence[str] = (),
    wrong: Sequence[str] = (),
    left_to_do: str = "",
    limit: int = LIMIT,
) -> SessionEnd:
    """Offer what this session was shown, to be voted on, and what its log says was tried, to be recorded.

    `votes` are `{id, value: useful | questionable, reason, problem, evidence}`; `attempts` are `{key, outcome: worked | failed,
    problem, content, ...}`, where `key` takes up an attempt that was offered and any other field overrides what it
    says, `problem` among them. All are checked before the first is written; UsageError names every fault. It is no
    boundary: call it any number of times, or never.

    In one call: `memories` (at most 6, each as `remember` takes it), ids that were `useful` or `wrong`, and what is `left_to_do`,
    which becomes a task state of the session's project in place of those that it knows. Each is told of by itself, and what
    cannot be taken keeps back nothing else. Sent twice it is once.
    """
    session = seen.required(vault)
    resolve.global_beside(vault)
    keeping.require_lists(memories=memories, useful=useful, wrong=wrong)
    wrote = bool(written_in(vault.index.catalog, session))  # what only wrote was shown nothing, and is known
    offered = {attempt.key: attempt for attempt in attempts_of(vault, session)}
    cast, attempt_memories = _checked(vault, votes, attempts, offered)
    taken = [_voted(vault, vote) for vote in cast]
    done = [_recorded(vault, memory) for memory in attempt_memories]
    items = [*keeping.kept_memories(vault, memories), *_judged_items(vault, useful, wrong)]
    items += [keeping.left(vault, left_to_do)] if left_to_do.strip() else []
    if taken or done or items:
        vault.fresh()
    to_vote, open_tries = ([], []) if items else (_to_vote(vault, session), attempts_of(vault, session))
    return SessionEnd(
        session=session,
        surfaced=tuple(
            Surfaced(id=each.id, type=each.type, title=each.title, how=each.how, scope=each.scope) for each in to_vote[:limit]
        ),
        attempts=tuple(open_tries[-limit:]),
        votes=tuple(voted for voted, _ in taken),
        recorded=tuple(recorded for recorded, _ in done),
        items=tuple(items),
        attention=any(saved.attention for _, saved in (*taken, *done)),
        warnings=tuple(dict.fromkeys(_remarks(vault, [saved for _, saved in (*taken, *done)], wrote=wrote))),
    )


def _judged_items(vault: Context, useful: Sequence[str], wrong: Sequence[str]) -> Iterator[Item]:
    """The marks of those that helped and those that misled, each by its place."""
    for name, value, ids in (("useful", "useful", useful), ("wrong", "questionable", wrong)):
        for number, identity in enumerate(ids):
            place = f"{name}[{number}]"
            try:
                voted, _ = _voted(vault, _vote(vault, {"id": identity, "value": value}))
            except VaultError as fault:
                yield keeping.refused(place, fault)
                continue
            yield Item(place=place, outcome="known" if voted.already else "written", id=voted.id, title=voted.title)


class _Vote(Struct):
    entry: Entry
    value: str
    reason: str
    problem: str
    evidence: tuple[str, ...]


class _AttemptMemory(Struct):
    known: Entry | None
    offer: Attempt | None
    kind: str
    problem: Entry
    fields: Mapping[str, Any]


def _to_vote(vault: Context, session: str) -> list[ShownMemory]:
    """The memories that this session was shown and has not judged; without kept pages and what the session wrote itself."""
    judged_already = {signal.target for signal in judgements(vault)}
    return [
        memory
        for memory in shown_memories(vault, seen.current(vault))
        if memory.record_class in ("observation", "understanding")
        and memory.type not in KEPT_TYPES
        and memory.id not in judged_already
        if memory.how != ("orient",)  # it stood on the page, which came unasked
        if (located := place_of(vault, memory.id)) is None or located[1].text("session") != session
    ]


def _checked(
    vault: Context,
    votes: Sequence[Mapping[str, Any]],
    attempts: Sequence[Mapping[str, Any]],
    offered: Mapping[str, Attempt],
) -> tuple[list[_Vote], list[_AttemptMemory]]:
    """Every vote and attempt as it will be carried out; UsageError names all that cannot be, and then nothing is."""
    faults: list[str] = []
    cast: list[_Vote] = []
    memories: list[_AttemptMemory] = []
    for number, vote in enumerate(votes):
        try:
            cast.append(_vote(vault, vote))
        except VaultError as fault:
            faults.append(f"votes[{number}]: {fault.message}")
    for number, attempt in enumerate(attempts):
        try:
            memories.append(_attempt(vault, attempt, offered))
        except VaultError as fault:
            faults.append(f"attempts[{number}]: {fault.message}")
    if faults:
        raise UsageError("; ".join(faults), "nothing was written: mend these and send all of it again")
    return cast, memories


def _vote(vault: Context, fields: Mapping[str, Any]) -> _Vote:
    _require_fields(fields, _VOTE_FIELDS)
    value = str(fields.get("value") or "")
    if value not in VALUES:
        raise UsageError(f"`{one_line(value, 30)}` is neither {' nor '.join(VALUES)}")
    place, entry = _memory(vault, _text(fields, "id"))
    problem = _text(fields, "problem")
    if problem:
        # A global memory may have helped with a problem of this vault.
        problem = _problem(vault if resolve.candidates(vault, problem) else place, problem).id
    evidence = fields.get("evidence") or ()
    if not isinstance(evidence, (list, tuple)) or not all(isinstance(source, str) for source in evidence):
        raise UsageError("`evidence` must be a list of texts")
    require_evidence(evidence)
    return _Vote(entry, value, one_line(_text(fields, "reason")), problem, tuple(evidence))


def _memory(vault: Context, named: str) -> tuple[Context, Entry]:
    """The memory that a vote is about: of this vault, else of the global one, where its judgement then is kept."""
    try:
        return vault, judged(vault, named, begun=True)
    except NotFound:
        if vault.global_vault is None:
            raise
    place = vault.global_vault.as_(**to_builtins(vault.who))
    return place, judged(place, named, begun=True)


def _attempt(vault: Context, fields: Mapping[str, Any], offered: Mapping[str, Attempt]) -> _AttemptMemory:
    _require_fields(fields, _ATTEMPT_FIELDS)
    key = _text(fields, "key")
    offer = offered.get(key) if key else None
    if key and offer is None:
        known = _made_earlier(vault, key)
        if known is not None:
            return _AttemptMemory(known, None, known.type, known, fields)
        raise UsageError(f"no attempt `{one_line(key, 20)}` is open in this session")
    outcome = _text(fields, "outcome") or (offer.outcome if offer else "")
    if outcome not in OUTCOMES:
        raise UsageError(f"its outcome is `{one_line(outcome, 30)}`: say worked or failed")
    if offer is None and not _text(fields, "content").strip():
        raise UsageError("it has neither a key nor a content")
    named = _text(fields, "problem") or (offer.problem_id if offer else "") or ""
    if not named:
        raise UsageError("it names no problem that it was for")
    return _AttemptMemory(None, offer, OUTCOMES[outcome], _problem(vault, named), fields)


def _made_earlier(vault: Context, key: str) -> Entry | None:
    """The memory that an earlier call made of an attempt: a call may be sent again."""
    state = seen.current(vault)
    identity = state.recorded.get(key, "") if state else ""
    return next(iter(vault.index.catalog.get(identity)), None)


def _problem(vault: Context, named: str) -> Entry:
    entry = resolve.find(vault, named)
    if entry.type != "problem":
        raise UsageError(f"{resolve.short(vault, entry.id)} is of type {entry.type}, not a problem")
    return entry


def _require_fields(fields: Mapping[str, Any], known: frozenset[str]) -> None:
    if not isinstance(fields, Mapping):
        raise UsageError("it is not an object")
    if unknown := sorted(str(name) for name in fields if name not in known):
        raise UsageError(f"`{one_line(unknown[0], 30)}` is none of {', '.join(sorted(known))}")


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"`{name}` must be a text, not {one_line(repr(value), 30)}")
    return value or ""


def _voted(vault: Context, vote: _Vote) -> tuple[Voted, Saved]:
    """A vote through its own verb; the same words twice are one vote, so that a call may be sent again."""
    entry = vote.entry
    for signal in judgements(vault):
        if (signal.target, signal.kind.value, signal.rationale, signal.problem) == (
            entry.id,
            vote.value,
            vote.reason,
            vote.problem,
        ):
            known = Voted(id=entry.id, title=entry.title, value=vote.value, reason=vote.reason, utility=None, already=True)
            return known, Saved(committed=True)
    mark = mark_useful if vote.value == "useful" else mark_questionable
    marked: Marked = mark(vault, entry.id, vote.reason, problem=vote.problem, evidence=vote.evidence)
    after = marked.utility.after
    return Voted(id=entry.id, title=entry.title, value=vote.value, reason=vote.reason, utility=after), marked


def _recorded(vault: Context, attempt: _AttemptMemory) -> tuple[Recorded, Saved]:
    """An attempt as a memory tied to its problem; one that is a solution or failed tactic already is only tied."""
    offer, fields = attempt.offer, attempt.fields
    if attempt.known:
        key, problem = _text(fields, "key"), _problem_of(vault, attempt.known)
        known = Recorded(
            key=key, id=attempt.known.id, type=attempt.kind, title=attempt.known.title, problem_id=problem, already=True
        )
        return known, Saved(committed=True)
    if offer and offer.memory_id and offer.memory_type == attempt.kind and not _text(fields, "content"):
        edge = link(vault, offer.memory_id, _EDGES[attempt.kind], attempt.problem.id, _text(fields, "rationale"))
        tied = Recorded(
            key=offer.key,
            id=offer.memory_id,
            type=attempt.kind,
            title=edge.from_title,
            problem_id=attempt.problem.id,
            linked=True,
        )
        _note(vault, offer.key, offer.memory_id)
        return tied, edge
    subjects = fields.get("subject_names") or (offer.subjects if offer else ()) or attempt.problem.subjects
    saved = remember(
        vault,
        _text(fields, "content") or (offer.text if offer else ""),
        subjects,
        kind=attempt.kind,
        title=_text(fields, "title"),
        problem=attempt.problem.id,
        failure_mode=_text(fields, "failure_mode"),
        rationale=_text(fields, "rationale"),
        confidence=fields.get("confidence"),
        evidence=[*(fields.get("evidence") or ()), *(offer.evidence if offer else ())],
    )
    done = Recorded(
        key=offer.key if offer else None, id=saved.id, type=saved.type, title=saved.title, problem_id=attempt.problem.id,
        duplicate_of=saved.duplicate_of,
    )  # fmt: skip
    if offer:
        _note(vault, offer.key, saved.id)
    return done, saved


def _problem_of(vault: Context, memory: Entry) -> str:
    """The problem that a solution or failed tactic hangs on, by its head or by an edge."""
    edges = vault.index.catalog.pointing_at(memory.id, ("from_id",))
    return memory.text("problem") or next((edge.text("to_id") for _, edge in edges if edge.type in _EDGES.values()), "")


def _note(vault: Context, key: str, identity: str) -> None:
    """Keep that an attempt is recorded; where that cannot be kept it may be offered again."""
    with suppress(*seen.UNKEPT):
        seen.store(vault).update(vault.who.session, vault.clock.now(), lambda state: state.records(key, identity))


def _remarks(vault: Context, saved: Sequence[Saved], *, wrote: bool) -> Iterator[str]:
    if seen.current(vault) is None and not wrote:
        yield "this machine keeps no state of this session: what it was shown is not known"
    for outcome in saved:
        yield from remarks(outcome)
