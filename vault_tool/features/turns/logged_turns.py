"""`list_turns` and `get_turn`: what was said, judged and recalled in a turn, and what became of what was extracted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, get_args

from vault_tool.errors import Ambiguous, NotFound, Refused
from vault_tool.features.turns.gate import Gate, Mode, Risk, judged
from vault_tool.features.turns.replaying import Replay, replayed
from vault_tool.features.turns.turn_log import LoggedBeat, LoggedCandidate, LoggedTurn, TurnLog
from vault_tool.features.turns.turn_recall import Recollection
from vault_tool.features.turns.turn_writer import beat_id
from vault_tool.features.turns.turns import Turns, TurnSource
from vault_tool.files.inbox import Inbox
from vault_tool.files.parse import record as record_in
from vault_tool.files.render import body_text
from vault_tool.model.ids import SHORTEST_PREFIX
from vault_tool.model.records import Observation
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import moment
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, counted, one_line
from vault_tool.vault import screening
from vault_tool.vault.context import NOT_COMPARED, Context, Freshness
from vault_tool.vault.drafts import undecided
from vault_tool.vault.parameters import require_moment
from vault_tool.vault.person import is_owner
from vault_tool.vault.request import Envelope, verb
from vault_tool.vault.seen import UNKEPT

Became = Literal["written", "queued", "held", "refused", "forgotten", "folded", "skipped", "gone"]

_BLOCKED = "blocked, and nothing was taken of it"
_SECRET = "it looks as if it held a secret"
_FORGOTTEN = "forgotten"


class TurnLine(TurnSource, kw_only=True):
    """One kept turn: how it was judged, and how much was recalled and extracted; `absence` says why it has no text."""

    gate: Gate
    recalled: int
    candidates: int
    absence: str = ""


class TurnList(Struct, kw_only=True):
    """Kept turns, the newest first, of `total` that were meant; `problems` are files in the log that are no turn."""

    results: tuple[TurnLine, ...]
    total: int
    problems: tuple[str, ...] = ()


class RecalledThen(Struct, kw_only=True):
    """A memory that a turn recalled: `title` as it is now, empty where it is `there` no more."""

    id: str
    title: str
    why: str
    match: float | None
    weak: bool | None
    there: bool


class ExtractedThen(Struct, kw_only=True):
    """A candidate of a turn and its fate: `memory_id` is where it is now, `reason` why it is not in the vault.

    It is `written`, or `folded` into a memory that says the same; `queued` to be written; `held` for review, or `refused`
    there; `skipped` by the gate; `forgotten`; or `gone` since (undone, deleted by hand).
    """

    id: str
    type: str
    content: str
    became: Became
    memory_id: str = ""
    reason: str = ""


class TurnShown(TurnSource, Envelope, kw_only=True):
    """One turn whole, with what became of it; `replay` says, where it was asked for, what the same recalls now."""

    stands_before = "absence"

    gate: Gate
    recalled: tuple[RecalledThen, ...]
    candidates: tuple[ExtractedThen, ...]
    absence: str = ""
    replay: Replay | None = None
    freshness: Freshness = NOT_COMPARED


def keep(
    vault: Context, source: TurnSource, gate: Gate, extract_wanted: bool, taken: Sequence[Mapping[str, Any]],
    recollection: Recollection, bounds: tuple[int, int],
) -> None:  # fmt: skip
    """Log a turn that was taken; a failure to log it is no failure of the turn. `extract_wanted` is the judge's."""
    settings = vault.settings
    log = TurnLog(vault.root)
    turn = LoggedTurn(
        id=source.id, at=source.at, session=source.session, user=source.user, world=source.world, turn=source.turn,
        text=source.text, mode=gate.mode, risk=gate.risk, flags=gate.flags, note=gate.note, extractMemory=extract_wanted,
        limit=bounds[0], budget=bounds[1],
        recalled=tuple(LoggedBeat(id=beat.id, why=beat.why, match=beat.match, weak=beat.weak) for beat in recollection.beats),
        candidates=tuple(
            LoggedCandidate(id=beat_id(source, n), kind=candidate["kind"], content=candidate["content"])
            for n, candidate in enumerate(taken)
        ),
    )  # fmt: skip
    why = _why_absent(vault, turn, gate)
    with suppress(*UNKEPT):
        log.keep(turn.without_text(why) if why else turn, settings.turn_log_turns * settings.turn_log, settings.turn_log_bytes)
        # Forgetting that began since the look above has perhaps been through the log already.
        for candidate in turn.candidates if not why else ():
            if _is_forgotten(vault, candidate.id):
                log.forget([candidate.id], lambda text: False)


def _why_absent(vault: Context, turn: LoggedTurn, gate: Gate) -> str:
    """The reason why no text of a turn is kept; empty where it is."""
    if any(_is_forgotten(vault, candidate.id) for candidate in turn.candidates):
        return _FORGOTTEN
    if gate.safetyStatus == "blocked" and not (gate.memoryCandidate and turn.candidates):
        return _BLOCKED
    if not vault.allow_secrets:
        extracted = "\n".join(candidate.content for candidate in turn.candidates)
        texts = screening.named_texts(text=turn.text, note=turn.note, flags="\n".join(turn.flags), candidates=extracted)
        try:
            screening.refuse_secrets(vault, texts)
        except Refused:
            return _SECRET
    return ""


def _is_forgotten(vault: Context, identity: str) -> bool:
    return identity in vault.forgotten() or identity in vault.local.forgetting()


@verb
def list_turns(
    vault: Context, *, user: str = "", session: str = "", world: str = "", since: str | None = None, limit: int | None = 20
) -> TurnList:
    """The turns that this machine's log keeps, the newest first: who said what, how it was judged, how much was recalled.

    `user`, `session` and `world` narrow it, and `since` to those from a time on (`2026-11-20`, `7d`). Asked for one user
    there are no others' turns.
    """
    vault.for_user(user)
    begin = require_moment(since, vault.clock.now()) if since else None
    filters = {"user": user, "session": session, "world": world}
    matching = [
        turn
        for turn in _visible(vault)
        if all(not value or getattr(turn, name) == value for name, value in filters.items())
        and (begin is None or moment(turn.at) >= begin)
    ]
    problems = tuple(TurnLog(vault.root).unreadable()) if vault.sees_everyone else ()
    return TurnList(results=tuple(map(_line, matching[:limit])), total=len(matching), problems=problems)


@verb
def get_turn(vault: Context, turn_id: str, *, replay: bool = False) -> TurnShown:
    """One turn whole, by its id, by its number, or by a memory that was written of it: what was said, judged and recalled.

    Of each candidate it is told what has become of it until now. `replay` asks the same again, in no session but for a turn
    without a user, and says what comes, goes and moves, and why, with the factors of the scores.
    """
    turn = _found(_visible(vault), turn_id)
    # In the order in which a candidate moves on, so that none is missed on its way: queue, inbox, vault.
    queued, inbox = Turns(vault.root).waits(turn.id), _waiting(vault)
    vault.fresh()
    gate = _gate(turn)
    catalog = vault.index.catalog
    recalled = []
    for beat in turn.recalled:
        entry = next(iter(catalog.get(beat.id)), None)
        title = entry.title if entry else ""
        recalled.append(
            RecalledThen(id=beat.id, title=title, why=beat.why, match=beat.match, weak=beat.weak, there=entry is not None)
        )
    fates = _Fates(vault, turn, gate, queued, inbox)
    return TurnShown(
        id=turn.id, at=turn.at, session=turn.session, user=turn.user, world=turn.world, turn=turn.turn, text=turn.text,
        gate=gate, absence=turn.absence, recalled=tuple(recalled), candidates=tuple(map(fates.of, turn.candidates)),
        replay=replayed(vault, turn) if replay else None,
    )  # fmt: skip


def _visible(vault: Context) -> list[LoggedTurn]:
    """The logged turns that the caller may see: asked for one user there are no others'."""
    # A file edited by hand may have an unknown mode or risk.
    turns = [turn for turn in TurnLog(vault.root).turns() if turn.mode in get_args(Mode) and turn.risk in get_args(Risk)]
    return [turn for turn in turns if vault.sees(turn.user)]


def _found(turns: Sequence[LoggedTurn], named: str) -> LoggedTurn:
    """The turn that is meant: by its number, or by its id or that of a memory of it, or a prefix."""
    prefix = named.strip().lower()
    shown = one_line(named, 40)
    numbered = [turn for turn in turns if turn.turn and turn.turn == named.strip()]
    matching = numbered or [
        turn for turn in turns
        if len(prefix) >= SHORTEST_PREFIX and any(has.startswith(prefix) for has in (turn.id, *(c.id for c in turn.candidates)))
    ]  # fmt: skip
    if not matching:
        raise NotFound(f"no kept turn is called `{shown}`", f"{step('list_turns')} names those that are kept")
    if len(matching) > 1:
        raise Ambiguous(f"`{shown}` could be any of {counted(len(matching), 'turn')}", f"name it by its id: {step('list_turns')}")
    return matching[0]


def _gate(turn: LoggedTurn) -> Gate:
    return judged(turn.mode, turn.risk, turn.flags, turn.note, turn.extractMemory)


def _line(turn: LoggedTurn) -> TurnLine:
    return TurnLine(
        id=turn.id, at=turn.at, session=turn.session, user=turn.user, world=turn.world, turn=turn.turn, text=turn.text,
        gate=_gate(turn), recalled=len(turn.recalled), candidates=len(turn.candidates), absence=turn.absence,
    )  # fmt: skip


class _Waiting(Struct):
    """A memory in the inbox: its id, whose it is, what it says and why it waits."""

    id: str
    twin_key: tuple[str, ...]
    reason: str


def _waiting(vault: Context) -> Mapping[str, _Waiting]:
    inbox = Inbox(vault.root)
    records = (record_in(name, data, vault.settings.types) for name, data in undecided(vault))
    return {
        record.id: _Waiting(
            record.id, (body_hash(record.body), record.type, record.project, record.user), inbox.about(record.id).reason
        )
        for record in records
        if isinstance(record, Observation)
    }


class _Fates(Struct):
    """The present fates of one turn's candidates; a mere plan is not told as a fact."""

    vault: Context
    turn: LoggedTurn
    gate: Gate
    queued: bool
    inbox: Mapping[str, _Waiting]

    def of(self, candidate: LoggedCandidate) -> ExtractedThen:
        """One candidate with its fate; what waits for a person, or was refused, is shown to its owner alone."""
        became, where, reason = self._became(candidate)
        shown = candidate.content if became not in ("held", "refused") or is_owner(self.vault) else ""
        return ExtractedThen(id=candidate.id, type=candidate.kind, content=shown, became=became, memory_id=where, reason=reason)

    def _became(self, candidate: LoggedCandidate) -> tuple[Became, str, str]:
        vault, waits = self.vault, self.inbox.get(candidate.id)
        if candidate.id in vault.forgotten():
            return "forgotten", "", ""
        if vault.index.catalog.get(candidate.id):
            return "written", candidate.id, ""
        if vault.whole_index.catalog.get(candidate.id):
            return "refused", "", "consent to it was refused or withdrawn"
        if waits is not None:
            return "held", candidate.id, waits.reason
        if self.queued:
            return "queued", "", "it waits to be written"
        verdict = Inbox(vault.root).decided().get(candidate.id)
        if verdict == "refused":
            return "refused", "", "a person refused it"
        if verdict is None and self.gate.destination == "nowhere":
            return "skipped", "", self.gate.reason
        return next(self._twins(candidate), ("gone", "", "it is not in the vault any more"))

    def _twins(self, candidate: LoggedCandidate) -> Iterator[tuple[Became, str, str]]:
        """Where a memory with the same words of the same user and world is: a repeat is folded into it."""
        twin_key = (body_hash(body_text(candidate.content)), candidate.kind, self.turn.world, self.turn.user)
        for twin in self.vault.index.catalog.by_body(twin_key[0]) if candidate.content else ():
            is_one = twin.record_class is RecordClass.OBSERVATION
            if is_one and (twin_key[0], twin.type, twin.text("project"), twin.text("user")) == twin_key:
                yield "folded", twin.id, "a memory says the same"
        yield from (
            ("held", twin.id, twin.reason) for twin in self.inbox.values() if candidate.content and twin.twin_key == twin_key
        )
