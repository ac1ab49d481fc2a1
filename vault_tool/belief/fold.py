"""Truth, utility and access of one memory as a fold over its signals: no step is stored, every value is recomputed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import isfinite
from operator import attrgetter

from msgspec import field

from vault_tool.model.authority import AGENT, OWNER, Party, contributor_of, counts, is_review
from vault_tool.model.signals import MOST_USES, Signal, SignalKind, Use, withdrawals
from vault_tool.model.snapshot import is_from_others
from vault_tool.util.clock import parse_time
from vault_tool.util.structs import Struct

UTILITY_START = 0.5
DAMPING = 0.5
WITHOUT_EVIDENCE = 0.25
DEAD_ZONE = 0.01
BOUND = 0.15
FLOOR = 0.4
MARK_CONFIDENCE = 0.5

# 0.8 and 0.79 are a little more than 0.01 apart in binary.
_ROUNDING = 1e-9
_OWNER = "owner"

# The text shown for a mark without a reason.
NO_REASON = "nobody said why"


class Move(Struct):
    """One signal's effect on one value: the step it asked for, the step that was taken, and why they differ (or "")."""

    before: float
    after: float
    step: float
    applied: float
    reason: str = ""


class Belief(Struct):
    """The sum of all signals of one memory; every number but the counts is in 0..1.

    `utility` is the global prior: a moving average over all contexts, in which recent judgements weigh most. `by_problem`
    and `votes` hold the value and the number of judgements in each problem context. `questionable` are the open questions:
    no later `useful` and no review settled them. `set_aside` says whether they keep the memory off CORE.md: agents'
    questions about a memory that its owner wrote or reviewed are reported, but do not hide it. `against` counts the sessions
    that voted the memory down, `opposed` those since the last vote for it or review by a person (agents' votes do not count
    there against a memory that its owner wrote or reviewed). `told` are open questions of other contributors; they are shown,
    but move no value. `last_accessed` and `reviewed_at` are None for never.
    """

    truth: float
    utility: float = UTILITY_START
    by_problem: Mapping[str, float] = field(default_factory=dict)
    votes: Mapping[str, int] = field(default_factory=dict)
    access_count: int = 0
    last_accessed: str | None = None
    useful: int = 0
    against: int = 0
    opposed: int = 0
    questionable: tuple[Signal, ...] = ()
    set_aside: bool = False
    told: tuple[Signal, ...] = ()
    reviewed_at: str | None = None

    @property
    def reviewed(self) -> bool:
        """Whether a person reviewed it."""
        return self.reviewed_at is not None


def in_order(signals: Iterable[Signal]) -> list[Signal]:
    """`signals` by `(at, id)`, each id once, whatever files and order they came in.

    If two signals share an id, the earlier one counts, so a copy cannot displace its original. A signal from another
    person's commit never displaces one of the vault's own, whatever its date.
    """
    by_id: dict[str, Signal] = {}
    for signal in signals:
        other = by_id.get(signal.id)
        if other is None or _precedence(signal) < _precedence(other):
            by_id[signal.id] = signal
    return sorted(by_id.values(), key=attrgetter("at", "id"))


def counting(signals: Iterable[Signal]) -> list[Signal]:
    """`signals` in their order, without withdrawn signals and without the withdrawals themselves."""
    ordered = in_order(signals)
    gone = withdrawals(ordered)
    return [signal for signal in ordered if signal.id not in gone and signal.kind is not SignalKind.WITHDRAWN]


def _precedence(signal: Signal) -> tuple[bool, str, str]:
    return is_from_others(signal.origin), signal.at, repr(signal)


def fold(signals: Iterable[Signal], *, start: float, writer: Party = AGENT, uses: Iterable[Use] = ()) -> Belief:
    """The belief that the signals of one memory add up to, with the uses that this machine has not shared yet.

    `start` is the memory's confidence (0..1), `writer` the party that wrote it; a memory that its owner reviewed counts as
    written by the owner. `Meter.push` has the rules of each step.
    """
    signals, uses = tuple(signals), tuple(uses)
    if not signals and not uses:
        return untouched(start)
    heard = counting(signals)
    ordered, writer = moving(heard, writer)
    protected = writer is OWNER
    truth, utility, contexts, against = _judged(ordered, start, protected)
    count, last = _accesses(ordered, uses)
    open_questions = _open_questions(ordered)
    return Belief(
        truth=truth.value,
        utility=utility.value,
        by_problem={problem: meter.value for problem, meter in contexts.items()},
        votes={problem: meter.votes for problem, meter in contexts.items()},
        access_count=count,
        last_accessed=last,
        useful=sum(signal.kind is SignalKind.USEFUL for signal in ordered),
        against=len(against),
        opposed=len(_opponents(ordered, protected)),
        questionable=open_questions,
        set_aside=any(not protected or signal.origin == _OWNER for signal in open_questions),
        told=() if ordered is heard else _told(heard, ordered),
        reviewed_at=max((signal.at for signal in ordered if is_review(signal)), default=None),
    )


def moving(heard: list[Signal], writer: Party) -> tuple[list[Signal], Party]:
    """The signals of a memory that move its values, and the party that it counts as written by: the owner after a review."""
    if any(map(is_review, heard)):
        writer = OWNER
    foreign = any(is_from_others(signal.origin) for signal in heard)
    return [signal for signal in heard if counts(signal, writer)] if foreign else heard, writer


def question_of(belief: Belief) -> str:
    """The newest open question about a memory, with the asker's name if another person brought it; empty without one."""
    return max(map(said_by, belief.questionable[-1:] or belief.told[-1:]), default="")


def said_by(signal: Signal) -> str:
    """The reason of a question, and its asker if that is another person."""
    reason, who = " ".join(signal.rationale.split()) or NO_REASON, contributor_of(signal.origin)
    return f"{reason} (says {who})" if who else reason


@lru_cache(maxsize=512)
def untouched(start: float) -> Belief:
    """The belief about a memory without judgements and uses."""
    return Belief(truth=_clamped(start))


def preview(signals: Iterable[Signal], proposal: Signal, *, start: float, writer: Party = AGENT) -> Move:
    """The effect of `proposal` on its value, in its problem's context if it names one."""
    ordered, writer = moving(counting(signals), writer)
    past = [signal for signal in ordered if signal.id != proposal.id and not _later(signal, proposal)]
    protected = writer is OWNER
    truth, utility, contexts, _ = _judged(past, start, protected)
    if proposal.kind is SignalKind.TRUTH:
        return truth.push(proposal)
    return (contexts[proposal.problem] if proposal.problem else utility).push(proposal)


def _later(signal: Signal, other: Signal) -> bool:
    return (signal.at, signal.id) > (other.at, other.id)


class Meter:
    """One value of one memory while its signals are folded, with the distance that each session and author moved it."""

    __slots__ = ("_moved", "_protected", "value", "votes")

    def __init__(self, start: float, protected: bool) -> None:
        self.value = _clamped(start)
        self.votes = 0
        self._protected = protected
        self._moved: dict[tuple[str, str], float] = defaultdict(float)

    def push(self, signal: Signal) -> Move:
        """Move towards the signal's target by `(target - value) * confidence * 0.5`, within these bounds.

        A truth signal without evidence moves nothing, a utility signal without evidence moves a quarter of the step. A value
        within 0.01 of the target stays. One session, and one author on one day, move the value by at most 0.15 in all.
        Agents never take a protected memory below 0.4.
        """
        before = self.value
        gap = target_of(signal) - before
        if signal.kind is SignalKind.TRUTH and not signal.evidence:
            return Move(before, before, 0.0, 0.0, "a truth update needs evidence")
        if abs(gap) <= DEAD_ZONE + _ROUNDING:
            return Move(before, before, 0.0, 0.0, "already within 0.01 of the target")
        step = gap * weight_of(signal) * DAMPING
        keys = _bounds(signal)
        low = max((-BOUND - self._moved[key] for key in keys), default=-BOUND)
        high = min((BOUND - self._moved[key] for key in keys), default=BOUND)
        bounded = min(max(step, low), high)
        after = _clamped(before + bounded)
        floored = self._protected and signal.origin != _OWNER and after < min(before, FLOOR)
        self.value = min(before, FLOOR) if floored else after
        self.votes += 1
        # The actual movement counts against the bounds: a step that the floor stopped uses up nothing.
        for key in keys:
            self._moved[key] += self.value - before
        return Move(before, self.value, step, self.value - before, _reason(signal, step, bounded, floored))


def target_of(signal: Signal) -> float:
    """The value that a judgement moves towards: 1 for useful, 0 for questionable, else the signal's own value."""
    if signal.kind is SignalKind.USEFUL:
        return 1.0
    return 0.0 if signal.kind is SignalKind.QUESTIONABLE else _clamped(signal.value)


def weight_of(signal: Signal) -> float:
    """The weight of a judgement, 0..1: its confidence, or a quarter of that without evidence."""
    marked = signal.kind in (SignalKind.USEFUL, SignalKind.QUESTIONABLE) or signal.confidence is None
    confidence = MARK_CONFIDENCE if marked else _clamped(signal.confidence or 0.0)
    return confidence if signal.evidence else confidence * WITHOUT_EVIDENCE


_JUDGEMENTS = frozenset({SignalKind.USEFUL, SignalKind.QUESTIONABLE, SignalKind.UTILITY})
_Judged = tuple[Meter, Meter, "defaultdict[str, Meter]", set[str]]


def _judged(ordered: Iterable[Signal], start: float, protected: bool) -> _Judged:
    """Truth, global utility, utility in each context, and the sessions that voted the memory down."""
    truth, utility = Meter(start, protected), Meter(UTILITY_START, protected)
    contexts: defaultdict[str, Meter] = defaultdict(lambda: Meter(UTILITY_START, protected))
    against: set[str] = set()
    for signal in ordered:
        # A journal is a text that anybody may edit, and one `NaN` would be everybody's value from then on.
        if not isfinite(signal.value):
            continue
        if signal.kind is SignalKind.TRUTH:
            truth.push(signal)
        elif signal.kind in _JUDGEMENTS:
            if signal.problem:
                contexts[signal.problem].push(signal)
            if utility.push(signal).step < 0:
                against.add(_voice(signal))
    return truth, utility, contexts, against


def _voice(signal: Signal) -> str:
    """The voter behind a signal: its session, so that a hundred marks of one session are one vote; else its author's day."""
    # All signals of another contributor are one voter, whatever sessions they name.
    return (signal.author if is_from_others(signal.origin) else signal.session) or f"{signal.author} {_day(signal.at)}"


def _opponents(ordered: Iterable[Signal], protected: bool) -> set[str]:
    """The voters against a memory since the last vote for it or a person's review."""
    authors: set[str] = set()
    for signal in ordered:
        stance = target_of(signal) if signal.kind in _JUDGEMENTS and isfinite(signal.value) else UTILITY_START
        if stance > UTILITY_START or is_review(signal):
            authors.clear()
        elif stance < UTILITY_START and (not protected or signal.origin == _OWNER):
            authors.add(_voice(signal))
    return authors


def accesses(ordered: Iterable[Signal], uses: Iterable[Use]) -> Iterator[tuple[str, int]]:
    """The times of a memory's uses with the number at each: judgements as useful, a day's uses, and this machine's own."""
    for signal in ordered:
        if signal.kind is SignalKind.USEFUL:
            yield signal.at, 1
        elif signal.kind is SignalKind.USE and isfinite(signal.value) and signal.value >= 1:
            yield signal.at, int(min(signal.value, MOST_USES))
    yield from ((use.at, 1) for use in uses)


def _accesses(ordered: Iterable[Signal], uses: Iterable[Use]) -> tuple[int, str | None]:
    count, last = 0, ""
    for at, times in accesses(ordered, uses):
        count, last = count + times, max(last, at)
    return count, last or None


def _open_questions(ordered: Iterable[Signal]) -> tuple[Signal, ...]:
    questions: list[Signal] = []
    for signal in ordered:
        if signal.kind is SignalKind.QUESTIONABLE:
            questions.append(signal)
        elif signal.kind is SignalKind.USEFUL or is_review(signal):
            questions.clear()
    return tuple(questions)


def _told(heard: Iterable[Signal], ordered: Iterable[Signal]) -> tuple[Signal, ...]:
    """The open questions among the signals that move no value; only a signal that counts settles one."""
    counted = {signal.id for signal in ordered}
    questions = (signal for signal in heard if signal.id in counted or signal.kind is SignalKind.QUESTIONABLE)
    return tuple(signal for signal in _open_questions(questions) if signal.id not in counted)


def _bounds(signal: Signal) -> tuple[tuple[str, str], ...]:
    """The bounds that a signal's movement counts against; without a session only its author's day."""
    day = (signal.author, _day(signal.at))
    return (("session", signal.session), day) if signal.session else (day,)


def _day(at: str) -> str:
    """The UTC day of a time; the tool writes UTC, other offsets come from people."""
    if at.endswith(("+00:00", "Z")):
        return at[:10]
    moment = parse_time(at)
    return moment.date().isoformat() if moment else at[:10]


def _reason(signal: Signal, step: float, bounded: float, floored: bool) -> str:
    if floored:
        return "agents do not take what its owner wrote or reviewed below 0.4"
    if bounded != step:
        return "one session, and one author on one day, move a value by at most 0.15"
    if signal.kind is not SignalKind.TRUTH and not signal.evidence:
        return "without evidence a quarter of the step"
    return ""


def _clamped(value: float) -> float:
    return min(1.0, max(0.0, value)) if isfinite(value) else 0.0
