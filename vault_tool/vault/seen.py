"""The seen log of a session: what was shown to whom, and `reset_seen`."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

from vault_tool.errors import Busy, Refused, StorageError, UsageError
from vault_tool.files.sessions import AgentSession, Sessions
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context
from vault_tool.vault.request import verb

# Why state may not be kept: another process holds it too long, the disk is full or read-only, something else is there.
UNKEPT = (Busy, StorageError, Refused)

NO_SESSION = f"no session is named, so nothing is kept of what was shown: pass {option('session')}"


class Cleared(Struct, kw_only=True):
    """How many memories the seen log held before it was emptied."""

    cleared: int
    session: str | None = None
    warnings: tuple[str, ...] = ()


@verb
def reset_seen(vault: Context) -> Cleared:
    """Empty the seen log of this session: `bring_to_mind` may then show again what it has shown.

    For a context that was cut down in the middle of a conversation. Without a session there is no log to empty.
    """
    if not vault.who.session:
        return Cleared(cleared=0, warnings=(NO_SESSION,))
    # Read first, so that a reset of nothing writes no file.
    before = current(vault)
    if before is None or not before.seen:
        return Cleared(cleared=0, session=vault.who.session)
    counted: list[int] = []

    def emptied(state: AgentSession) -> AgentSession:
        counted.append(len(state.seen))
        return state.forgets()

    store(vault).update(vault.who.session, vault.clock.now(), emptied)
    return Cleared(cleared=counted[0], session=vault.who.session)


def note_seen(vault: Context, ids: Iterable[str], how: str) -> None:
    """Put what an answer of the verb `how` held into the seen log of this session; without a session nothing is kept.

    The answer is not worth less where that cannot be kept (a disk that is full or read-only): then it is not.
    """
    shown = list(dict.fromkeys(ids))
    if not vault.who.session or not shown:
        return
    moment = vault.clock.now()
    with suppress(*UNKEPT):
        # Not waited for: what a power cut takes is shown once more, and an answer should not wait for the disk.
        store(vault).update(vault.who.session, moment, lambda state: state.shows(shown, how, moment.isoformat()), durable=False)


def current(vault: Context) -> AgentSession | None:
    """The stored state of this session, or None for a new one, an expired one, or no session at all."""
    return of(vault, vault.who.session)


def of(vault: Context, session: str) -> AgentSession | None:
    """The stored state of a session, or None for one that is not known here."""
    with suppress(*UNKEPT):
        return store(vault).find(session, vault.clock.now()) if session else None
    return None


def all_known(vault: Context) -> list[AgentSession]:
    """The sessions that this machine still knows."""
    with suppress(*UNKEPT):
        return store(vault).all(vault.clock.now())
    return []


def required(vault: Context) -> str:
    """The id of this session; raises UsageError where none is named."""
    if not vault.who.session:
        raise UsageError("no session is named", f"pass {option('session')}")
    return vault.who.session


def store(vault: Context) -> Sessions:
    """Where the sessions of this vault are kept."""
    return Sessions(vault.root, vault.lock_wait())
