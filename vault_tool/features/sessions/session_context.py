"""`get_session_context`: what this session wrote, judged and was shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_tool.files.sessions import AgentSession
from vault_tool.files.signal_lines import merge
from vault_tool.index.catalog import Catalog
from vault_tool.index.timeline import signals_in, written_in
from vault_tool.index.visibility import Request, visible
from vault_tool.model.signals import Signal, SignalKind, withdrawals
from vault_tool.model.snapshot import Entry
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.structs import Struct
from vault_tool.vault import resolve, seen
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, Headline
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.request import Answer, looks, verb
from vault_tool.vault.statuses import CURRENT, statuses

JUDGEMENTS = (SignalKind.USEFUL, SignalKind.QUESTIONABLE)

LIMIT = 50


class SessionMemory(Headline, kw_only=True):
    """One memory of a session, in short; `scope` is `global` for one of the global vault."""

    path: str
    created: str
    origin: str
    reviewed: bool
    scope: str = "repo"


class ShownMemory(SessionMemory, kw_only=True):
    """One that the session was shown: when first and last, by which verbs, whether it is in the seen log still."""

    first_shown: str
    last_shown: str
    how: tuple[str, ...]
    in_seen_log: bool


class Judgement(Struct, kw_only=True):
    """One mark that the session gave."""

    id: str
    mark: str
    reason: str
    at: str


class SessionContext(Answer, kw_only=True):
    """The doings and sightings of this session, the newest first; counts are of all, lists of the newest.

    `began` and `last_call` are None where this machine keeps no state of the session: it ran elsewhere, expired, or only wrote.
    """

    session: str
    began: str | None
    last_call: str | None
    compactions: int
    written_count: int
    written: tuple[SessionMemory, ...]
    shown_count: int
    shown: tuple[ShownMemory, ...]
    judged: tuple[Judgement, ...]
    subjects: tuple[str, ...]
    notice: str = HYPOTHESIS_NOTICE


@verb
@looks
def get_session_context(vault: Context, *, limit: int = LIMIT) -> SessionContext:
    """List what this session wrote, by the notes' provenance, and what it was shown, by this machine's record of it.

    At most `limit` of each. It shows nothing new, so nothing joins the seen log. UsageError without a session.
    """
    session = seen.required(vault)
    resolve.global_beside(vault)
    state = seen.current(vault)
    written = [
        entry for entry in written_in(vault.index.catalog, session) if visible(entry, Request(vault.viewer), "named") is None
    ]
    shown = shown_memories(vault, state)
    return SessionContext(
        session=session,
        began=whole_seconds(state.began) if state else None,
        last_call=whole_seconds(state.touched) if state else None,
        compactions=state.compactions if state else 0,
        written_count=len(written),
        written=tuple(_memories(vault, list(reversed(written))[:limit])),
        shown_count=len(shown),
        shown=tuple(shown[:limit]),
        judged=tuple(Judgement(id=s.target, mark=s.kind.value, reason=s.rationale, at=s.at) for s in judgements(vault)),
        subjects=tuple(dict.fromkeys(name for entry in reversed(written) for name in entry.subjects)),
    )


def shown_memories(vault: Context, state: AgentSession | None) -> list[ShownMemory]:
    """The memories that a session was shown and that still exist, the last shown first."""
    if state is None:
        return []
    places = {identity: located for identity in reversed(list(state.shown)) if (located := place_of(vault, identity)) is not None}
    memories: dict[str, SessionMemory] = {}
    for place in _places(vault):
        memories |= {
            memory.id: memory for memory in _memories(place, [entry for home, entry in places.values() if home is place])
        }
    return [_shown(memories[identity], state, "repo" if home is vault else "global") for identity, (home, _) in places.items()]


def judgements(vault: Context) -> Sequence[Signal]:
    """The marks that this session gave, in this vault and in the global one, in their order."""
    return [signal for place in _places(vault) for signal in _standing_marks(place.index.catalog, vault.who.session)]


def _standing_marks(catalog: Catalog, session: str) -> Iterator[Signal]:
    """The marks of a session that were not withdrawn."""
    marks = [signal for signal in signals_in(catalog, session) if signal.kind in JUDGEMENTS]
    gone = withdrawals(merge(catalog.signals_of({signal.target for signal in marks}))) if marks else {}
    return (signal for signal in marks if signal.id not in gone)


def place_of(vault: Context, identity: str) -> tuple[Context, Entry] | None:
    """The vault (this one or the global one) that has the record of a whole id, with the record; None where neither has."""
    return next(((place, entry) for place in _places(vault) for entry in place.index.catalog.get(identity)), None)


def whole_seconds(moment: str) -> str:
    """A moment as records write it."""
    parsed = parse_time(moment)
    return stamp(parsed) if parsed else moment


def _places(vault: Context) -> Iterator[Context]:
    yield vault
    if vault.global_vault is not None:
        yield vault.global_vault


def _shown(memory: SessionMemory, state: AgentSession, scope: str) -> ShownMemory:
    shown = state.shown[memory.id]
    values = {name: getattr(memory, name) for name in SessionMemory.__struct_fields__}
    return ShownMemory(
        **values | {"scope": scope}, first_shown=whole_seconds(shown.first), last_shown=whole_seconds(shown.last), how=shown.how,
        in_seen_log=memory.id in state.seen,
    )  # fmt: skip


def _memories(place: Context, entries: Sequence[Entry]) -> list[SessionMemory]:
    """Memories of one vault, looked up together."""
    status_by_path, believed = statuses(place, entries), place.standings.beliefs(entries)
    return [
        Memory(place, entry, status_by_path.get(entry.path, CURRENT), believed[entry.id]).told(SessionMemory, scope="repo")
        for entry in entries
    ]  # fmt: skip
