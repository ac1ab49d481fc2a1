"""`activity`: what happened on each day, and in which sessions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from heapq import nlargest

import msgspec
from msgspec import field

from vault_tool.errors import UsageError
from vault_tool.files import layout
from vault_tool.index.slight import head_fields, slight
from vault_tool.model.signals import EpisodeEntry, Signal, SignalKind
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import seen
from vault_tool.vault.answers import HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.evidence_state import log_of
from vault_tool.vault.facts import Memory
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.statuses import statuses

MOST_SESSIONS = 50
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class DayCount(Struct, kw_only=True):
    """One day (UTC): how many memories were written, entries logged, judgements given, and uses counted."""

    day: str
    written: int
    logged: int
    judged: int
    used: int


class SessionLine(Struct, kw_only=True):
    """One session: when it first and last did something, and how many memories it wrote, was shown and judged.

    What it was shown is known on the machine where it ran, for as long as that keeps it.
    """

    session: str
    first: str
    last: str
    written: int
    shown: int
    judged: int


class WrittenThen(HasStatus, kw_only=True):
    """A memory that was written on a day."""

    id: str
    type: str
    title: str
    at: str
    session: str
    origin: str


class JudgedThen(Struct, kw_only=True):
    """A judgement, consent or review that was given on a day, and of which memory; `title` is empty where that is gone."""

    id: str
    title: str
    at: str
    mark: str
    reason: str
    session: str


class Activity(Answer, kw_only=True):
    """The activity of a vault. Of all days: `days` (those of the last `days` with anything) and `sessions`, the newest first.

    Of one `day`: its `logged` entries in order, and what was `written` and `judged`, at most `limit` of each.
    """

    day: str = ""
    days: tuple[DayCount, ...] = ()
    sessions: tuple[SessionLine, ...] = ()
    logged: tuple[EpisodeEntry, ...] = ()
    written: tuple[WrittenThen, ...] = ()
    judged: tuple[JudgedThen, ...] = ()


@verb
@looks
@of_the_whole
def activity(vault: Context, day: str = "", *, days: int = 90, limit: int = 200) -> Activity:
    """Show what happened on each of the last `days` (UTC) and in recent sessions, or in full on a `day` (`2026-11-20`)."""
    if day and not _DAY.fullmatch(day.strip()):
        raise UsageError(f"`{one_line(day, 40)}` is no day", "write it as 2026-11-20")
    if days < 1:
        raise UsageError("days are counted from 1", f"for example {option('days', 30)}")
    vault = vault.with_withheld()
    if day:
        return _of_day(vault, day.strip(), limit)
    since = (vault.clock.now() - timedelta(days=days - 1)).date().isoformat()
    signals, memories = vault.index.catalog.signals(), _Memories.of(vault)
    return Activity(days=_days(vault, since, memories, signals), sessions=_sessions(vault, memories, signals))


def _of_day(vault: Context, day: str, limit: int) -> Activity:
    catalog = vault.index.catalog
    written = [entry for entry in slight(catalog) if entry.text("created")[:10] == day]
    judged = [signal for signal in catalog.signals() if signal.at[:10] == day and signal.kind is not SignalKind.USE][:limit]
    titles = {signal.target: next(iter(catalog.get(signal.target)), None) for signal in judged}
    shown = sorted(written, key=lambda entry: (entry.text("created"), entry.id))[:limit]
    status_by_path = statuses(vault, shown)
    return Activity(
        day=day,
        logged=tuple(entry for _, entry in log_of(vault, day)[:limit]),
        written=tuple(
            Memory(vault, entry, status_by_path[entry.path]).told(WrittenThen, at=entry.text("created")) for entry in shown
        ),
        judged=tuple(_judged(signal, getattr(titles[signal.target], "title", "")) for signal in judged),
    )


class _Memories(msgspec.Struct):
    """How many memories were written on each day and in each session, and when each session wrote its first and last."""

    days: Counter[str] = field(default_factory=Counter)
    sessions: Counter[str] = field(default_factory=Counter)
    moments: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, vault: Context) -> _Memories:
        memories = cls()
        for _, values in head_fields(vault.index.catalog, "created", "session"):
            created, session = (value if isinstance(value, str) else "" for value in values)
            if created:
                memories.days[created[:10]] += 1
            if session:
                memories.sessions[session] += 1
                _note(memories.moments, session, created)
        return memories


def _judged(signal: Signal, title: str) -> JudgedThen:
    mark = f"{signal.kind.value}: {signal.consent}" if signal.consent else signal.kind.value
    return JudgedThen(
        id=signal.target, title=title, at=signal.at, mark=mark, reason=one_line(signal.rationale, 300), session=signal.session
    )


def _days(vault: Context, since: str, memories: _Memories, signals: Sequence[Signal]) -> tuple[DayCount, ...]:
    written = memories.days
    judged: Counter[str] = Counter()
    used: Counter[str] = Counter()
    for signal in signals:
        if signal.kind is SignalKind.USE:
            used[signal.at[:10]] += round(signal.value)
        else:
            judged[signal.at[:10]] += 1
    used.update(use.at[:10] for use in vault.uses.all())
    logged = _logged(vault, since)
    days = sorted({day for counts in (written, judged, used, logged) for day in counts if day >= since}, reverse=True)
    return tuple(DayCount(day=day, written=written[day], logged=logged[day], judged=judged[day], used=used[day]) for day in days)


def _logged(vault: Context, since: str) -> Counter[str]:
    days = {layout.journal_date(path) for path in vault.whole_index.catalog.of_kind("episode")}
    return Counter({day: len(log_of(vault, day)) for day in days if day >= since})


def _sessions(vault: Context, memories: _Memories, signals: Sequence[Signal]) -> tuple[SessionLine, ...]:
    """The latest sessions of all that wrote or judged anything, or that this machine still knows."""
    moments, written = memories.moments, memories.sessions
    judged: Counter[str] = Counter()
    for signal in signals:
        if signal.session and signal.kind is not SignalKind.USE:
            judged[signal.session] += 1
            _note(moments, signal.session, signal.at)
    shown: Mapping[str, int] = {}
    with suppress(*seen.UNKEPT):
        known = seen.store(vault).all(vault.clock.now())
        shown = {session.id: len(session.shown) for session in known}
        for session in known:
            _note(moments, session.id, session.began, session.touched)
    newest = nlargest(MOST_SESSIONS, moments.items(), key=lambda session: (session[1][1], session[0]))
    return tuple(
        SessionLine(
            session=session, first=first, last=last, written=written[session], shown=shown.get(session, 0), judged=judged[session]
        )
        for session, (first, last) in newest
    )


def _note(moments: dict[str, list[str]], session: str, *times: str) -> None:
    """Widen what is known of when a session was."""
    for at in filter(None, times):
        first, last = moments.setdefault(session, [at, at])
        moments[session] = [min(first, at), max(last, at)]
