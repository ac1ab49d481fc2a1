"""`backstop`: the turns that wrote nothing, and that are worth a second judgement."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, timedelta

from vault_tool.errors import Ambiguous, UsageError
from vault_tool.features.turns.turns import SkippedTurn, Turns, TurnSource
from vault_tool.model.ids import SHORTEST_PREFIX
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, one_line
from vault_tool.vault.context import Context
from vault_tool.vault.request import verb

# So many reasons to look again make a turn worth it.
ENOUGH = 2

_LONG = 25
_BRIEF = 4
# The signs that call for a second judgement, in English texts; in others only length and numbers do.
_SIGNS = (
    ("says something of the speaker", re.compile(r"\b(i am|i'm|i was|i have|i've|i live|i work|my|mine|me and)\b", re.I)),
    ("a preference", re.compile(r"\b(like|love|hate|prefer|enjoy|favou?rite|allergic|always|never|can't stand|rather)\b", re.I)),
    ("a promise or a wish to be remembered", re.compile(r"\b(promise|swear|remember|don't forget|i will|owe)\b", re.I)),
    ("a date or a time", re.compile(
        r"\b(\d{1,4}[-/.]\d{1,2}(?:[-/.]\d{1,4})?|\d{4}|\d{1,2}:\d\d|today|tomorrow|yesterday|tonight|birthday|(?:mon|tues|wednes|"
        r"thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october|november|december)\b", re.I)),
    ("a name", re.compile(r"(?<=[a-z,;] )(?!I\b)[A-Z][\w'-]+|\b(?:called|named)\s+\S+")),
)  # fmt: skip


class Missed(TurnSource, kw_only=True):
    """One turn that wrote nothing: what was said, why the gate skipped it, and what speaks for looking again."""

    skipped_because: str
    why: tuple[str, ...]


class Backstop(Struct, kw_only=True):
    """The turns worth a second judgement, oldest first; `kept` counts all that are kept, `dropped` those just settled."""

    results: tuple[Missed, ...]
    kept: int
    dropped: int = 0


@verb
def backstop(
    vault: Context, *, limit: int | None = 20, user: str = "", world: str = "", session: str = "", settled: Sequence[str] = ()
) -> Backstop:
    """The skipped turns of the last days that deserve a second look, oldest first.

    Two signs or more make one worth it: names, dates, statements of the speaker about themselves, preferences, promises,
    length. `user`, `world` and `session` narrow it; `settled` ids were judged again and are dropped first. What is worth
    keeping is given to `turn` once more, with its candidates.
    """
    vault.for_user(user)
    turn_store = Turns(vault.root)
    known = {turn.id for turn in _theirs(vault, turn_store)} if settled else set()
    judged = [identity for named in settled for identity in _resolve_turn(known, named.strip())]
    dropped = turn_store.drop(judged) if judged else 0
    turns = list(_theirs(vault, turn_store))
    filters = {"user": user, "world": world, "session": session}
    chosen = (turn for turn in turns if all(not value or getattr(turn, name) == value for name, value in filters.items()))
    missed = [_missed(turn, why) for turn in chosen if len(why := tuple(signs(turn.text))) >= ENOUGH + _asks(turn.text)]
    return Backstop(results=tuple(missed[:limit]), kept=len(turns), dropped=dropped)


def oldest_skipped_day(vault: Context) -> str:
    """The first day of which skipped turns are kept."""
    return (vault.clock.now() - timedelta(days=vault.settings.skipped_turns_days)).astimezone(UTC).date().isoformat()


def _theirs(vault: Context, turn_store: Turns) -> Iterator[SkippedTurn]:
    """The skipped turns visible to the caller: one user's own, all for the vault's keeper."""
    yield from (turn for turn in turn_store.skipped(oldest_skipped_day(vault)) if vault.sees(turn.user))


def _resolve_turn(known: Collection[str], named: str) -> list[str]:
    """The kept turn of an id or a prefix of one; none where it is settled already."""
    if len(named) < SHORTEST_PREFIX:
        raise UsageError(
            f"`{one_line(named, 40)}` is too short for a turn's id", f"type at least {SHORTEST_PREFIX} characters of it"
        )
    matching = [identity for identity in known if identity.startswith(named.lower())]
    if len(matching) > 1:
        raise Ambiguous(f"`{one_line(named, 40)}` could be any of {counted(len(matching), 'turn')}", "type more of the id")
    return matching


def signs(text: str) -> Iterator[str]:
    """The signs that a text is worth remembering; none for a few words."""
    words = len(text.split())
    if words < _BRIEF and text.isascii():
        return
    yield from (name for name, pattern in _SIGNS if pattern.search(text))
    if words >= _LONG or (not text.isascii() and len(text) >= 2 * _LONG):
        yield "length"


def _asks(text: str) -> bool:
    """Whether a text is a question: it tells less than it says, so more must speak for it."""
    return text.rstrip().endswith(("?", "？"))


def _missed(turn: SkippedTurn, why: tuple[str, ...]) -> Missed:
    return Missed(
        id=turn.id, at=turn.at, session=turn.session, user=turn.user, world=turn.world, turn=turn.turn, text=turn.text,
        skipped_because=turn.reason, why=why,
    )  # fmt: skip
