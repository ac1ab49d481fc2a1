"""The beats that a turn recalls: the latest few of its user and world, then those that fit best, within a budget."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Literal

from msgspec.structs import replace

from vault_tool.belief.gates import disbelieved
from vault_tool.index.timeline import written_of
from vault_tool.index.visibility import Request, visible
from vault_tool.model.details import Details, in_words
from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.recall import passage
from vault_tool.recall.weights import AMBIENT, TARGETED
from vault_tool.util.clock import moment
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line, tokens
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Query, RecallAnswer, Recalled

_PAGE = 64

# So many of the latest come first; in an answer of few, one in so many.
_LATEST, _ONE_IN = 3, 3

# So many times more are ranked than are told: some are the latest, or not of this user and world alone.
_RANKED = 2

_LINE = 320
# How many characters of a beat are told, and of one that the budget has little room for.
_SHORT = 100

# How many characters of its subjects' names are told beside it.
_NAMES = 120


class Beat(Struct, kw_only=True):
    """One recalled memory: `why` it is here, how well it fits what was said (`match`, None where it does not) and whether it
    is not sure to (`weak`, `weak_why`), and `content` as short as the budget asks.
    """

    id: str
    type: str
    title: str
    content: str
    details: Details
    subjects: tuple[str, ...]
    created: str
    session: str
    turn: str
    why: Literal["recent", "similar"]
    match: float | None = None
    weak: bool | None = None
    weak_why: str = ""
    origin: str = ""


class Recollection(Struct):
    """The beats in the order in which they matter, the same as text for a prompt, and how the answer stands."""

    beats: tuple[Beat, ...]
    prompt: str
    answer: RecallAnswer


def recollect(
    vault: Context, text: str, *, user: str, world: str, session: str, limit: int, budget: int, explain: bool = False
) -> Recollection:
    """Recall the memories of one user in one world (without a user: of one session) that bear on `text`.

    At most `limit` beats within about `budget` tokens. Another user's, and another world's, are never among them.
    """
    asked = Query(
        query=text, profile="ambient", kinds=(RecordClass.OBSERVATION.value,), project=world or None,
        session=None if user else session, limit=_RANKED * limit, hops=0, problem_links=False, include_global=False,
        explain=explain,
    )  # fmt: skip
    # Without a user nobody's own memories come up, not even in a session that was theirs.
    vault = vault.seen_by(user)
    # A turn is asked: the best of its own user come, though nothing says that it is about any of them.
    answer = gather(vault, asked, replace(AMBIENT, least=TARGETED.least))
    owned = _Mine(user, world, session)
    fits = {hit.id: hit for hit in answer.results}
    entries = (next(iter(vault.index.catalog.cached_by_id(identity)), None) for identity in fits)
    similar = [
        _beat(vault, entry, fits[entry.id].content, "similar", fits[entry.id])
        for entry in entries
        if entry is not None and owned.has(entry)
    ]
    recent = [_beat(vault, entry, body_of(vault, entry), "recent", fits.get(entry.id)) for entry in _recent(vault, owned, limit)]
    beats = _within(_merged(recent, similar, limit), budget, text)
    return Recollection(beats, "\n".join(map(_line, beats)), answer)


class _Mine(Struct):
    """The owner of the recalled memories: a user, or a session without one, in one world."""

    user: str
    world: str
    session: str

    def has(self, entry: Entry) -> bool:
        who = entry.text("user") == self.user if self.user else entry.text("session") == self.session
        return who and entry.text("project") == self.world


def _recent(vault: Context, owner: _Mine, limit: int) -> list[Entry]:
    """The latest memories of one user (or session) and world that are still told, newest first."""
    latest: list[Entry] = []
    for start in itertools.count(0, _PAGE):
        entries = written_of(vault.index.catalog, owner.user, owner.session, owner.world, _PAGE, start)
        newest = sorted(_in_force(vault, entries), key=beat_order, reverse=True)
        latest.extend(newest[: limit - len(latest)])
        if len(latest) >= limit or len(entries) < _PAGE:
            break
    return latest


def beat_order(entry: Entry) -> tuple[datetime, int, str]:
    """The sort key of beats: when they were written, then the turn's number where it is one."""
    turn = entry.text("turn")
    return moment(entry.text("created")), int(turn) if turn.isascii() and turn.isdecimal() else 0, entry.id


def _in_force(vault: Context, entries: Sequence[Entry]) -> list[Entry]:
    """The memories that are still told unprompted: not expired, not believed to be false."""
    # Looked up together: each look by itself would read all of this machine's use again.
    believed = vault.standings.beliefs(entries)
    request = Request(now=vault.clock.now(), disbelieved=lambda entry: disbelieved(believed[entry.id]))
    return [entry for entry in entries if visible(entry, request, "recent") is None]


def _beat(vault: Context, entry: Entry, content: str, why: Literal["recent", "similar"], hit: Recalled | None) -> Beat:
    fits: dict[str, Any] = {"match": round(hit.match, 4), "weak": hit.weak, "weak_why": hit.weak_why} if hit is not None else {}
    return Memory(vault, entry).told(Beat, content=one_line(content), why=why, **fits)


def _merged(recent: Sequence[Beat], similar: Iterable[Beat], limit: int) -> list[Beat]:
    """The latest two or three, then those that fit best, each memory once; further of the latest where there is room."""
    first = min(_LATEST, limit // _ONE_IN)
    beats: dict[str, Beat] = {}
    for beat in (*recent[:first], *similar, *recent[first:]):
        beats.setdefault(beat.id, beat)
    return list(beats.values())[:limit]


def _within(beats: list[Beat], budget: int, text: str) -> tuple[Beat, ...]:
    """As many beats as the budget has room for, each cut to what room there is for it: to what of it is about `text`."""
    return tuple(_cut(beats, budget, text))


def _cut(beats: list[Beat], budget: int, text: str) -> Iterator[Beat]:
    left = budget
    for beat in beats:
        for length in (_LINE, _SHORT):
            long = beat.why == "similar" and len(beat.content) > length
            content = passage.passage(beat.content, text, length).text if long else one_line(beat.content, length)
            shortened = replace(beat, content=content)
            if (cost := tokens(f"{_line(shortened)}\n")) <= left:
                left -= cost
                yield shortened
                break


def _line(beat: Beat) -> str:
    # Names come from heads that anybody may have written: a line break in one must not begin a line of its own.
    who = f" ({one_line(', '.join(beat.subjects), _NAMES)})" if beat.subjects else ""
    beside = in_words(beat.details, lambda identity: identity[:SHOWN_PREFIX])
    return f"- [{one_line(beat.created[:10])}]{who} {beat.content}{f' ({one_line(beside, _LINE)})' if beside else ''}"
