"""The attempts of a session, read from its entries of the day's log, each tied to the likeliest of its problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from hashlib import sha256

from vault_tool.features.sessions.attempts import Event, SessionProblem, Tie, Tried, attempts
from vault_tool.files import layout
from vault_tool.files.sessions import AgentSession
from vault_tool.index.timeline import written_in
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import parse_time
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import seen
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import log_of

LONGEST_TEXT = 2000
_TRIES = ("solution", "failed_tactic")
_TOOLS_OWN = "vault-"


class Attempt(Struct, kw_only=True):
    """One attempt that the log tells of and no solution or failed tactic records yet.

    `outcome` is worked, failed or unclear, read off its words; `problem_id` is the likeliest problem and `tied_by` why:
    said, subjects, words or order (the last one before it). `certain` is false where the log does not say which
    session an entry is of, and another may have been at work. `key` takes it up in `end_session`.
    """

    key: str
    at: str
    text: str
    outcome: str
    problem_id: str | None
    problem_title: str | None
    tied_by: str | None
    subjects: tuple[str, ...]
    evidence: tuple[str, ...]
    memory_id: str | None = None
    memory_type: str | None = None
    certain: bool = True


class _Line(Struct):
    """An entry of the log that is this session's: with the memory whose writing it tells of, or the problem that it names."""

    entry: EpisodeEntry
    reference: str
    memory: Entry | None
    problem: str = ""


def attempts_of(vault: Context, session: str) -> list[Attempt]:
    """The open attempts of a session, in the order of the log; indexes must be fresh."""
    written = written_in(vault.index.catalog, session)
    lines = list(_lines(vault, session, written))
    events = [_event(vault, line) for line in lines]
    by_event = {id(event): line for event, line in zip(events, lines, strict=True)}
    state = seen.current(vault)
    problems = {problem.id: problem for problem in _problems(vault, state, written)}
    tried = [
        (attempt, by_event[id(attempt.event)])
        for attempt in attempts(events, list(problems.values()))
        if not _is_tied(vault, by_event[id(attempt.event)].memory)
    ]
    attempts_then = Counter(attempt.event.at for attempt, _ in tried)
    resting = _resting(written)
    offers = [_attempt(vault, attempt, line) for attempt, line in tried]
    recorded_keys = set(state.recorded) if state else set()
    return [
        offer for offer in offers if offer.key not in recorded_keys and not _is_recorded(offer, attempts_then[offer.at], resting)
    ]


def _is_recorded(attempt: Attempt, attempts_then: int, resting: frozenset[str]) -> bool:
    """Whether a solution or failed tactic rests on the attempt; the minute names it where it is the only one of that."""
    minute = f"episode:{attempt.at[:10]}#{attempt.at[11:16]}"
    return attempt.evidence[-1] in resting or (attempts_then == 1 and minute in resting)


def _lines(vault: Context, session: str, written: Sequence[Entry]) -> Iterator[_Line]:
    """The entries about what the session wrote and those that name it, and nameless ones that this machine wrote meanwhile."""
    own = {entry.path: entry for entry in written}
    since = _began(vault, written)
    if since is None:
        return
    until, name = vault.clock.now(), one_line(session)
    for day in _days(vault, since, until):
        for number, (path, entry) in enumerate(log_of(vault, day), 1):
            reference, memory = f"episode:{day}#{number}", own.get(entry.path)
            if memory is None and not vault.sees_everyone:
                continue  # its speaker is not known
            nameless = bool(vault.local.journal_states(path)) and not entry.session and _within(entry.at, since, until)
            if memory is not None and _tells_its_writing(entry, memory):
                if memory.record_class is RecordClass.OBSERVATION:
                    yield _Line(entry, reference, memory)
            elif entry.type.startswith(_TOOLS_OWN):
                continue
            elif entry.session == name or (nameless and (memory is not None or not entry.path)):
                yield _Line(entry, reference, None, _problem_at(vault, entry.path))


def _tells_its_writing(entry: EpisodeEntry, memory: Entry) -> bool:
    """Whether an entry is the one that the tool adds as it writes a memory, not a later remark about it."""
    return entry.type == memory.type or entry.title == memory.title


def _problem_at(vault: Context, path: str) -> str:
    """The problem that an entry is about, or "" where it is about something else or nothing."""
    problem = vault.index.catalog.by_paths([path]).get(path) if path else None
    return problem.id if problem is not None and problem.type == "problem" else ""


def _began(vault: Context, written: Sequence[Entry]) -> datetime | None:
    """When the session began, to the minute: the log knows no more."""
    state = seen.current(vault)
    moments = [parse_time(text) for text in (state.began if state else "", written[0].text("created") if written else "")]
    known = [moment for moment in moments if moment is not None]
    return min(known).replace(second=0, microsecond=0) if known else None


def _days(vault: Context, since: datetime, until: datetime) -> list[str]:
    first, last = since.date().isoformat(), (until + timedelta(minutes=1)).date().isoformat()
    return sorted(
        {day for path in vault.whole_index.catalog.of_kind("episode") if first <= (day := layout.journal_date(path)) <= last}
    )


def _within(at: str, since: datetime, until: datetime) -> bool:
    moment = parse_time(at)
    return moment is not None and since <= moment <= until


def _event(vault: Context, line: _Line) -> Event:
    entry, memory = line.entry, line.memory
    if memory is None:
        return Event(at=entry.at, text=_entry_text(entry), type=entry.type, subjects=entry.tags, problem=line.problem)
    text = body_of(vault, memory)[:LONGEST_TEXT]
    return Event(at=entry.at, text=text, type=memory.type, subjects=memory.subjects, problem=memory.text("problem"))


def _entry_text(entry: EpisodeEntry) -> str:
    """An entry's title and summary; the title alone where the summary only repeats it."""
    if not entry.summary or entry.summary.startswith(entry.title.rstrip(".… ")):
        return entry.summary or entry.title
    return f"{entry.title.rstrip('.')}. {entry.summary}"


def _problems(vault: Context, state: AgentSession | None, written: Sequence[Entry]) -> Iterator[SessionProblem]:
    """The problems on the table, with when they came there: what the session recorded, worked for or was shown."""
    shown = state.shown if state else {}
    named = [entry.text("problem") for entry in written if entry.text("problem")]
    own = [entry.id for entry in written if entry.type == "problem"]
    for identity in dict.fromkeys([*named, *shown, *own]):
        for entry in vault.index.catalog.get(identity):
            if entry.type == "problem":
                at = shown[identity].first if identity in shown and identity not in own else entry.text("created")
                yield SessionProblem(id=entry.id, text=f"{entry.title} {entry.preview}", subjects=entry.subjects, at=at)


def _resting(written: Sequence[Entry]) -> frozenset[str]:
    """The evidence that the session's solutions and failed tactics rest on."""
    return frozenset(text for entry in written if entry.type in _TRIES for text in entry.texts("evidence"))


def _is_tied(vault: Context, memory: Entry | None) -> bool:
    """Whether an entry's own memory is a solution or failed tactic that hangs on its problem, by its head or by an edge."""
    if memory is None or memory.type not in _TRIES:
        return False
    edges = vault.index.catalog.pointing_at(memory.id, ("from_id",))
    return bool(memory.text("problem")) or any(edge.type in ("SOLVES", "ATTEMPTED") for _, edge in edges)


def _attempt(vault: Context, tried: Tried, line: _Line) -> Attempt:
    memory, event = line.memory, tried.event
    problems = vault.index.catalog.get(tried.problem) if tried.problem else ()
    evidence = [line.reference, *([f"memory:{memory.id}"] if memory else [])]
    return Attempt(
        key=sha256("\n".join((event.at, line.entry.title, line.entry.summary)).encode()).hexdigest()[:10],
        at=event.at,
        text=event.text,
        outcome=tried.outcome.value,
        problem_id=problems[0].id if problems else None,
        problem_title=problems[0].title if problems else None,
        tied_by=tried.tie.value if problems and isinstance(tried.tie, Tie) else None,
        subjects=memory.subjects if memory else (),
        evidence=tuple(evidence),
        memory_id=memory.id if memory else None,
        memory_type=memory.type if memory else None,
        certain=memory is not None or bool(line.entry.session),
    )
