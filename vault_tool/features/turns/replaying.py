"""A kept turn asked again: what is recalled now, and how and why that differs from then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from vault_tool.belief.gates import disbelieved
from vault_tool.errors import NotFound
from vault_tool.features.turns.turn_log import LoggedTurn
from vault_tool.features.turns.turn_recall import Beat, recollect
from vault_tool.index.visibility import Request, visible
from vault_tool.util.clock import moment
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import no_return
from vault_tool.vault.context import Context
from vault_tool.vault.retrieval.engine import gather
from vault_tool.vault.retrieval.query import Query, Recalled

Change = Literal["same", "came", "gone", "moved"]

# So far down the whole answer it is looked why a memory is not told any more.
_FAR = 100

_SHOWN = 60


class RankChange(Struct, kw_only=True):
    """One memory of then or now: its places in both answers, from 1, how well it fitted, and why that changed where known."""

    id: str
    title: str
    change: Change
    was: int | None
    now: int | None
    match_was: float | None
    match: float | None
    weak: bool | None
    why: str
    factors: Mapping[str, float] | None = None


class Replay(Struct, kw_only=True):
    """The same turn recalled now, its memories compared with those of then; `degraded` as in any answer."""

    recalled: tuple[Beat, ...]
    differences: tuple[RankChange, ...]
    degraded: tuple[str, ...] = ()


def replayed(vault: Context, turn: LoggedTurn) -> Replay:
    """Ask for a kept turn again; NotFound where its text is not kept."""
    if not turn.text:
        raise NotFound(
            f"what was said in this turn is not kept: {turn.absence}", f"{step('get_turn', turn_id=turn.id)} shows the rest"
        )
    recollection = recollect(
        vault, turn.text, user=turn.user, world=turn.world, session=turn.session, limit=turn.limit, budget=turn.budget,
        explain=True,
    )  # fmt: skip
    # What is recalled for being recent has no factors of its own: the whole answer says how it would stand there.
    explained = _whole_answer(vault, turn) | {hit.id: hit for hit in recollection.answer.results}
    return Replay(
        recalled=recollection.beats,
        differences=tuple(_differences(vault, turn, recollection.beats, explained)),
        degraded=recollection.answer.degraded,
    )


def _differences(
    vault: Context, turn: LoggedTurn, beats: tuple[Beat, ...], explained: Mapping[str, Recalled]
) -> Iterator[RankChange]:
    then = {beat.id: (place, beat.match) for place, beat in enumerate(turn.recalled, 1)}
    now = {beat.id: place for place, beat in enumerate(beats, 1)}
    for beat in beats:
        was, match_was = then.get(beat.id, (None, None))
        hit = explained.get(beat.id)
        place = now[beat.id]
        change: Change = "came" if was is None else "same" if was == place else "moved"
        yield RankChange(
            id=beat.id, title=beat.title, change=change, was=was, now=place, match_was=match_was, match=beat.match,
            weak=beat.weak, why=_why_here(turn, beat, change, match_was), factors=hit.factors if hit else None,
        )  # fmt: skip
    missing = [beat for beat in turn.recalled if beat.id not in now]
    for beat_then in missing:
        hit = explained.get(beat_then.id)
        entry = next(iter(vault.seen_by(turn.user).index.catalog.get(beat_then.id)), None)
        yield RankChange(
            id=beat_then.id, title=entry.title if entry else "", change="gone", was=then[beat_then.id][0], now=None,
            match_was=beat_then.match, match=None, weak=None, why=_why_gone(vault, turn, beat_then.id, hit),
            factors=hit.factors if hit else None,
        )  # fmt: skip


def _why_here(turn: LoggedTurn, beat: Beat, change: Change, match_was: float | None) -> str:
    if change == "same":
        return ""
    if change == "came":
        return "written since" if moment(beat.created) > moment(turn.at[:19] + "+00:00") else "it stood further back then"
    if match_was != beat.match:
        return "it fits otherwise now"
    return "others came or went before it"


def _why_gone(vault: Context, turn: LoggedTurn, identity: str, hit: Recalled | None) -> str:
    seen = vault.seen_by(turn.user)
    entry = next(iter(seen.index.catalog.get(identity)), None)
    if no_return.is_buried(vault, identity):
        return "forgotten"
    if entry is None and seen.whole_index.catalog.get(identity):
        return "withheld: consent to it was refused or withdrawn"
    if entry is None:
        return "not in the vault any more"
    request = Request(now=vault.clock.now(), disbelieved=lambda memory: disbelieved(seen.standings.beliefs([memory])[memory.id]))
    if why := visible(entry, request, "recent"):
        return "expired" if why == "expired" else "withheld: it is believed to be false"
    if hit is not None and hit.status == "overtaken":
        change = next(iter(seen.index.catalog.get(hit.status_by[0])), None)
        return f"overtaken by {one_line(change.title, _SHOWN) if change else hit.status_by[0]}"
    return "others come before it now"


def _whole_answer(vault: Context, turn: LoggedTurn) -> dict[str, Recalled]:
    """The same question's whole answer, with all that a turn is not told unasked."""
    asked = Query(
        query=turn.text, project=turn.world or None, session=None if turn.user else turn.session, limit=_FAR,
        include_global=False, doubtful=True, explain=True,
    )  # fmt: skip
    return {hit.id: hit for hit in gather(vault.seen_by(turn.user), asked).results}
