"""The history of the belief in one memory, signal by signal, and the curve of its decay score, past and future."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from math import isfinite, log

from vault_tool.belief.decay import PINNED, RATE, THRESHOLDS, Standing, entry_decay, standing, usage
from vault_tool.belief.fold import UTILITY_START, Belief, Meter, accesses, counting, in_order, moving
from vault_tool.model.authority import AGENT, OWNER, Party, by_origin, counts, weights
from vault_tool.model.signals import Signal, SignalKind, Use, withdrawals
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import TypeSpec
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.structs import Struct

# The points of a curve that are computed for the past; the future gets half as many.
_POINTS = 60

# The newest accesses that become points of the curve too, at most.
_ACCESSES = 100

# The curve goes at most so far into the future.
_AHEAD = timedelta(days=365)


class Step(Struct, kw_only=True):
    """One signal and its effect: truth and utility (0..1) after it, and how far it `moved` the value that it is about (`of`).

    `by` is the signal's author, `limited` the reason why it moved the value less than it asked for. A signal that was taken
    back moves nothing; `withdrawn_at` is the time of that.
    """

    at: str
    mark: SignalKind
    by: str
    session: str
    reason: str
    evidence: tuple[str, ...]
    problem: str
    of: str
    moved: float
    limited: str
    truth: float
    utility: float
    withdrawn_at: str = ""


class Point(Struct):
    """The decay score at a moment."""

    at: str
    score: float


class Reached(Struct):
    """The time from which an unused memory has a lower standing."""

    standing: Standing
    at: str


def steps(signals: Iterable[Signal], *, start: float, writer: Party = AGENT) -> tuple[Step, ...]:
    """Every signal of one memory with its effect, oldest first; the values after the last one equal those of `fold`."""
    ordered = in_order(signals)
    gone = withdrawals(ordered)
    writer = moving([signal for signal in ordered if signal.id not in gone], writer)[1]
    truth, utility = Meter(start, writer is OWNER), Meter(UTILITY_START, writer is OWNER)
    return tuple(_step(signal, truth, utility, gone.get(signal.id), counts(signal, writer)) for signal in ordered)


def _step(signal: Signal, truth: Meter, utility: Meter, gone: Signal | None, moves: bool) -> Step:
    meter = truth if signal.kind is SignalKind.TRUTH else utility if signal.kind in _JUDGEMENTS else None
    meter = meter if gone is None and moves else None
    move = meter.push(signal) if meter is not None and isfinite(signal.value) else None
    of = "" if move is None else "truth" if meter is truth else "utility"
    return Step(
        at=signal.at, mark=signal.kind, by=signal.author, session=signal.session, reason=signal.rationale,
        evidence=signal.evidence, problem=signal.problem, of=of, moved=round(move.applied, 6) if move else 0.0,
        limited=move.reason if move else "" if moves else _TOLD, truth=round(truth.value, 6), utility=round(utility.value, 6),
        withdrawn_at=gone.at if gone is not None else "",
    )  # fmt: skip


_TOLD = "told of somebody else: it moves nothing of the owner's or of agents here"
_JUDGEMENTS = (SignalKind.USEFUL, SignalKind.QUESTIONABLE, SignalKind.UTILITY)


def decay_curve(entry: Entry, signals: Iterable[Signal], uses: Iterable[Use], spec: TypeSpec, now: datetime) -> tuple[Point, ...]:
    """The decay score from a memory's creation until it is archived, as known at `now`; empty if the memory does not fade."""
    ordered, writer = moving(counting(signals), by_origin(entry.origin))
    used = sorted((moment, count) for at, count in accesses(ordered, uses) if (moment := parse_time(at)))
    reviewed = writer is OWNER
    born = parse_time(entry.text("created")) or parse_time(entry.observed) or now
    last = _archived(entry, _belief(used, now, reviewed), spec, now)
    if last is None:
        return ()
    moments = {now, *_evenly(min(born, now), now, _POINTS), *_evenly(now, last, _POINTS // 2)}
    # One point just before each access and one at it, because the curve jumps there.
    for at, _ in used[-_ACCESSES:]:
        moments |= {at - timedelta(seconds=1), at} if born < at <= now else set()
    return tuple(Point(stamp(at), round(entry_decay(entry, _belief(used, at, reviewed), spec, at), 4)) for at in sorted(moments))


def fading(entry: Entry, belief: Belief, spec: TypeSpec, now: datetime, *, used: bool = False) -> tuple[Reached, ...]:
    """The times at which a memory falls to each lower standing if it stays unused; with `used`, if it is used once at `now`."""
    score = entry_decay(entry, belief, spec, now)
    if score >= PINNED:
        return ()
    if used:
        importance = weights(entry, spec.importance, belief.reviewed)[1]
        score = importance * usage(belief.access_count + 1) * spec.weight
    return tuple(_fallen(score, now))


def _fallen(score: float, now: datetime) -> Iterator[Reached]:
    for least, _ in THRESHOLDS:
        if score >= least:
            at = now + timedelta(days=log(score / least) / RATE)
            # A score that equals the threshold still has the higher standing.
            yield Reached(standing(least * (1 - 1e-9)), stamp(at))


def _archived(entry: Entry, belief: Belief, spec: TypeSpec, now: datetime) -> datetime | None:
    """The end of the curve; None for a memory that does not fade."""
    score = entry_decay(entry, belief, spec, now)
    if score >= PINNED:
        return None
    days = log(score / THRESHOLDS[-1][0]) / RATE if score > THRESHOLDS[-1][0] else 0.0
    return now + min(timedelta(days=1.2 * days + 7), _AHEAD)


def _belief(used: Sequence[tuple[datetime, int]], moment: datetime, reviewed: bool) -> Belief:
    """The known uses of a memory at a moment."""
    until = [(at, count) for at, count in used if at <= moment]
    last = stamp(until[-1][0]) if until else None
    count = sum(count for _, count in until)
    return Belief(truth=0.0, access_count=count, last_accessed=last, reviewed_at=stamp(moment) if reviewed else None)


def _evenly(first: datetime, last: datetime, count: int) -> Iterator[datetime]:
    span: Callable[[int], timedelta] = lambda n: (last - first) * n / count  # noqa: E731  (a name for what follows)
    return (first + span(n) for n in range(count + 1)) if last > first else iter((first,))
