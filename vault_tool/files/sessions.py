"""Agents' sessions on this machine: heartbeat tokens and what was shown, one file a session, for a while."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import field
from msgspec.structs import asdict, replace

from vault_tool.errors import Busy, StorageError
from vault_tool.files.layout import LOCAL
from vault_tool.files.local_trust import place
from vault_tool.files.lock import lock_class
from vault_tool.util.atomic import storage, temporary_hashes, write_in
from vault_tool.util.clock import parse_time
from vault_tool.util.deferred import filelock
from vault_tool.util.folder import Folder, opened
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct

# How long the state of a session is kept after its last call.
LIFE = timedelta(days=30)

# So many events that hooks answered are remembered of one session: the latest.
MOST_ANSWERED = 500

# So many memories that were shown are remembered of one session: the latest.
MOST_SHOWN = 2000

_FOLDER = "sessions"
_LOCK_FILE = "sessions.lock"
_SWEPT_FILE = "swept"
_SPOILT = ".spoilt"
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600
_POLL_SECONDS = 0.01
_MOST_KNOWN = 4


class Shown(Struct):
    """One memory that a session was shown: when first and last, and by which verbs."""

    first: str
    last: str
    how: tuple[str, ...]


class AgentSession(Struct, kw_only=True):
    """The state of one session. Times are ISO 8601 in UTC.

    `token` is the last heartbeat and `asked` the moment of its `bring_to_mind`; `seen` is the log by which results are
    left out; `shown` is all that was ever shown, whatever was cleared since; `recorded` are the memories that
    `end_session` made of attempts, by their keys; `answered` are the events that a hook answered, by hash, with the moment;
    `project` is that of the folder in which it began.
    """

    id: str
    began: str
    touched: str
    token: int | None = None
    asked: str = ""
    compactions: int = 0
    seen: Mapping[str, str] = field(default_factory=dict)
    shown: Mapping[str, Shown] = field(default_factory=dict)
    recorded: Mapping[str, str] = field(default_factory=dict)
    answered: Mapping[str, str] = field(default_factory=dict)
    project: str = ""

    def compacted(self, last_token: int | None, moment: datetime, gap: timedelta) -> bool:
        """Whether the caller's context is no longer whole: it lost the token, or was away for longer than `gap`.

        A first call has lost nothing, and a clock that was set back is no gap.
        """
        if self.token is None:
            return False
        asked = parse_time(self.asked)
        return last_token != self.token or asked is None or moment - asked > gap

    def hands_out(self, token: int, at: str, *, compacted: bool = False) -> AgentSession:
        """This session after a `bring_to_mind` that handed out `token`; a compaction empties the seen log first."""
        # `shown` stays: what was shown is still to be voted on, though it may be shown again.
        lost = self.forgets() if compacted else self
        return replace(lost, token=token, asked=at, compactions=self.compactions + compacted)

    def shows(self, ids: Iterable[str], how: str, at: str) -> AgentSession:
        """This session after memories were put before it: they join the seen log."""
        new = list(dict.fromkeys(ids))
        return replace(self._showing(new, how, at), seen={**self.seen, **dict.fromkeys(new, at)})

    def knows(self, ids: Iterable[str], at: str) -> AgentSession:
        """This session after `orient` gave it these pages: they are shown, and no search repeats them anyway."""
        return self._showing(ids, "orient", at)

    def records(self, key: str, identity: str) -> AgentSession:
        """This session after an attempt of it became a memory."""
        return replace(self, recorded={**self.recorded, key: identity})

    def answers(self, key: str, at: str) -> AgentSession:
        """This session after a hook answered an event of its."""
        return replace(self, answered=dict([*self.answered.items(), (key, at)][-MOST_ANSWERED:]))

    def works_on(self, project: str) -> AgentSession:
        """This session after it was seen to work on a project."""
        return replace(self, project=project)

    def compacts(self, at: str) -> AgentSession:
        """This session after its client said that it cuts the context short: nothing of it was seen, no token is known."""
        return replace(self.forgets(), token=None, asked=at, compactions=self.compactions + 1, answered={})

    def forgets(self) -> AgentSession:
        """This session with an empty seen log: everything may be shown again."""
        return replace(self, seen={})

    def _showing(self, ids: Iterable[str], how: str, at: str) -> AgentSession:
        shown = dict(self.shown)
        for identity in ids:
            # Taken out and put back at the end: the order is by the last time, and the oldest fall off first.
            before = shown.pop(identity, None)
            ways = dict.fromkeys((*before.how, how)) if before else (how,)
            shown[identity] = Shown(before.first if before else at, at, tuple(ways))
        return replace(self, shown=dict(list(shown.items())[-MOST_SHOWN:]))


class Sessions:
    """The folder `_local/sessions/` of the vault at `root`, made when something is first kept there."""

    def __init__(self, root: Path, wait: float = 10.0) -> None:
        self.root = root
        self.wait = wait

    def find(self, session: str, moment: datetime) -> AgentSession | None:
        """The state of a session, or None for one that is not known, has expired or cannot be read any more."""
        with storage(f"{LOCAL}/{_FOLDER}", doing="read"):
            try:
                with opened(place(self.root), (LOCAL, _FOLDER)) as folder:
                    return _living(folder.read(_name(session)), session, moment)
            except FileNotFoundError:
                return None

    def update(
        self, session: str, moment: datetime, change: Callable[[AgentSession], AgentSession], *, durable: bool = True
    ) -> AgentSession:
        """Replace the state of a session (a new one's where none is known) by `change` of it, and return it.

        At any moment the file holds the old state or the new; `durable` waits for the disk. Several processes may do
        so at once. A file that cannot be read is set aside and the session begins again. Raises Busy where another
        process holds the sessions for too long, StorageError where nothing can be kept.
        """
        at = moment.isoformat()
        with self._locked() as folder:
            name = _name(session)
            data = folder.read(name)
            before = _living(data, session, moment)
            if before is None:
                if data is not None and _parsed(data) is None:
                    folder.rename(name, name + _SPOILT)
                _sweep(folder, moment)
            after = replace(change(before or AgentSession(id=session, began=at, touched=at)), touched=at)
            data = _as_json(after)
            _write(folder, name, data, durable=durable)
            _keep(data, after)
        return after

    def all(self, moment: datetime) -> list[AgentSession]:
        """Every session that is still known."""
        with storage(f"{LOCAL}/{_FOLDER}", doing="read"):
            try:
                with opened(place(self.root), (LOCAL, _FOLDER)) as folder:
                    sessions = [_parsed(folder.read(name)) for name in folder.names() if name.endswith(".json")]
            except FileNotFoundError:
                return []
        return [session for session in sessions if session is not None and not _expired(session, moment)]

    def shown(self, identity: str, moment: datetime) -> list[tuple[str, Shown]]:
        """The sessions that were shown a memory and are still known, by their ids, the latest first."""
        shown = [(session.id, session.shown[identity]) for session in self.all(moment) if identity in session.shown]
        return sorted(shown, key=lambda pair: pair[1].last, reverse=True)

    def forget(self, ids: Collection[str]) -> int:
        """Take memories out of what was shown to any session; returns how many had seen one."""
        if not (place(self.root) / LOCAL / _FOLDER).is_dir():
            return 0
        dropped = 0
        with self._locked() as folder:
            for name in folder.names():
                session = _parsed(folder.read(name)) if name.endswith(".json") else None
                if session is None or not (session.seen.keys() | session.shown.keys()).intersection(ids):
                    continue
                seen = {key: at for key, at in session.seen.items() if key not in ids}
                shown = {key: shown_entry for key, shown_entry in session.shown.items() if key not in ids}
                _write(folder, name, _as_json(replace(session, seen=seen, shown=shown)), durable=True)
                dropped += 1
        return dropped

    @contextmanager
    def _locked(self) -> Iterator[Folder]:
        """The folder, with its own lock: what a reader notes must not wait for a long write of notes."""
        where = f"{LOCAL}/{_FOLDER}"
        with storage(where), opened(place(self.root), (LOCAL, _FOLDER), create=True, mode=_PRIVATE_FOLDER) as folder:
            guard = lock_class()(
                place(self.root) / LOCAL / _LOCK_FILE, is_singleton=False, poll_interval=_POLL_SECONDS, mode=_PRIVATE_FILE
            )
            try:
                guard.acquire(timeout=self.wait)
            except filelock.Timeout as fault:
                raise Busy(f"another process holds {LOCAL}/{_LOCK_FILE}", "nothing was changed; try again") from fault
            except NotImplementedError as fault:
                raise StorageError(f"cannot lock {LOCAL}/{_LOCK_FILE}: {fault}", "the vault's disk must know locks") from fault
            try:
                yield folder
            finally:
                guard.release()


def _name(session: str) -> str:
    """A session's id may hold anything; its file is named by a hash of it."""
    return f"{sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"


def _write(folder: Folder, name: str, data: bytes, *, durable: bool) -> None:
    write_in(folder, name, data, durable=durable, mode=_PRIVATE_FILE)


def _living(data: bytes | None, session: str, moment: datetime) -> AgentSession | None:
    stored = _parsed(data)
    return stored if stored and stored.id == session and not _expired(stored, moment) else None


def _expired(session: AgentSession, moment: datetime) -> bool:
    touched = parse_time(session.touched)
    return touched is None or moment - touched > LIFE


def _sweep(folder: Folder, moment: datetime) -> None:
    """Once a day, when a session begins: take away what has expired, and what a killed process or a bad disk left."""
    today = moment.date().isoformat().encode()
    if folder.read(_SWEPT_FILE) == today:
        return
    for name in folder.names():
        if _is_over(folder, name, moment):
            folder.discard(name)
    with suppress(OSError):
        _write(folder, _SWEPT_FILE, today, durable=False)


def _is_over(folder: Folder, name: str, moment: datetime) -> bool:
    if name.endswith(_SPOILT):
        changed = folder.changed_at(name)
        return changed is not None and moment.timestamp() - changed > LIFE.total_seconds()
    if name.endswith(".json"):
        session = _parsed(folder.read(name))
        return session is not None and _expired(session, moment)
    # Only the lock's holder writes here, so a temporary file is nobody's any more.
    return temporary_hashes(name) is not None


def _as_json(session: AgentSession) -> bytes:
    shown = {identity: [shown.first, shown.last, *shown.how] for identity, shown in session.shown.items()}
    values = asdict(session) | {"shown": shown}
    return json.dumps(values, ensure_ascii=False).encode()


# What the files that were read or written last came to: a call reads a session twice, and the next one reads what it wrote.
_known: dict[bytes, AgentSession] = {}


def _keep(data: bytes, session: AgentSession) -> None:
    _known[data] = session
    while len(_known) > _MOST_KNOWN:
        _known.pop(next(iter(_known)), None)


def _parsed(data: bytes | None) -> AgentSession | None:
    """The state that a file holds, or None for what is none: nothing in it is trusted to have the right shape."""
    if data is None:
        return None
    session = _known.get(data) or _read(data)
    if session is not None:
        _keep(data, session)
    return session


def _read(data: bytes) -> AgentSession | None:
    try:
        values = read_own(data)
        token = values["token"]
        return AgentSession(
            id=str(values["id"]),
            began=str(values["began"]),
            touched=str(values["touched"]),
            token=None if token is None else _count(token),
            asked=str(values["asked"]),
            compactions=_count(values["compactions"]),
            seen={str(identity): str(at) for identity, at in values["seen"].items()},
            shown={str(identity): _shown(row) for identity, row in values["shown"].items()},
            recorded={str(key): str(identity) for key, identity in values["recorded"].items()},
            answered={str(key): str(at) for key, at in values.get("answered", {}).items()},
            project=str(values.get("project", "")),
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _count(count: Any) -> int:
    if not isinstance(count, int) or not 0 <= count < 2**53:
        raise ValueError("no count")
    return count


def _shown(row: Sequence[Any]) -> Shown:
    first, last, *how = row
    return Shown(str(first), str(last), tuple(map(str, how)))
