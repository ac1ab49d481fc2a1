"""Beliefs are the same however signals arrive, stay in bounds, and cannot be talked away by invented sessions."""

from __future__ import annotations

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from vault_tool.belief.fold import BOUND, FLOOR, Belief, Meter, counting, fold, in_order, preview
from vault_tool.model.authority import AGENT, OWNER, by_origin
from vault_tool.model.signals import Signal, SignalKind, Use, withdrawals
from vault_tool.model.snapshot import pulled

_numbers = count(1)
CLOSE = 1e-9


def signal(kind: SignalKind = SignalKind.TRUTH, value: float = 1.0, **more: object) -> Signal:
    number = next(_numbers)
    at = "2026-11-20T10:00:00+00:00"
    base = Signal(id=f"{number:08d}", at=at, target="m", kind=kind, value=value, session=f"s{number}", model=f"m{number}")
    return replace(base, **{"origin": "agent", "confidence": 1.0, "evidence": ("test:one",), **more})


_ats = st.builds(
    lambda day, hour: f"2026-11-{day:02d}T{hour:02d}:00:00+00:00", st.integers(1, 5), st.integers(0, 23)
)  # fmt: skip
_signals = st.builds(
    Signal,
    id=st.uuids().map(str),
    at=_ats,
    target=st.just("m"),
    kind=st.sampled_from(SignalKind),
    value=st.floats(-1, 3) | st.just(float("nan")) | st.just(float("inf")),
    confidence=st.none() | st.floats(0, 1),
    evidence=st.sampled_from([(), ("test:one",)]),
    problem=st.sampled_from(["", "p", "q"]),
    session=st.sampled_from(["", "s", "t", "u"]),
    model=st.sampled_from(["opus", "haiku"]),
    origin=st.sampled_from(["owner", "agent", "import"]),
)


def _pointing(signals: list[Signal]) -> list[Signal]:
    """The same, where each taking back takes back one of the list, maybe itself, maybe in a circle."""
    ids = [one.id for one in signals]
    return [
        replace(one, withdraws=ids[int(one.id[:8], 16) % len(ids)]) if one.kind is SignalKind.WITHDRAWN else one
        for one in signals
    ]


_lists = st.lists(_signals, max_size=30).map(_pointing)


@given(_lists, st.floats(0, 1), st.booleans(), st.randoms())
def test_order_and_copies_do_not_matter(signals: list[Signal], start: float, protected: bool, random: object) -> None:
    before = fold(signals, start=start, writer=OWNER if protected else AGENT)
    shuffled = signals + signals[: len(signals) // 2]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert repr(fold(shuffled, start=start, writer=OWNER if protected else AGENT)) == repr(before)


@given(_lists, st.integers(0, 30), st.floats(0, 1))
def test_any_split_into_files_gives_the_same(signals: list[Signal], place: int, start: float) -> None:
    one, other = in_order(signals[:place]), in_order(signals[place:])
    assert repr(fold([*other, *one], start=start)) == repr(fold(signals, start=start))


@given(_lists, st.floats(0, 1), st.booleans())
def test_values_stay_in_the_unit_interval(signals: list[Signal], start: float, protected: bool) -> None:
    belief = fold(signals, start=start, writer=OWNER if protected else AGENT)
    assert all(0.0 <= value <= 1.0 for value in (belief.truth, belief.utility, *belief.by_problem.values()))
    assert belief.access_count >= 0


@given(_lists, st.floats(0, 1), st.booleans())
def test_no_session_and_no_author_in_a_day_moves_a_value_by_more_than_the_bound(
    signals: list[Signal], start: float, protected: bool
) -> None:
    meter = Meter(start, protected)
    moved: dict[tuple[str, str], float] = {}
    for one in in_order(signals):
        move = meter.push(one)
        keys = [(one.author, one.at[:10])] + ([("session", one.session)] if one.session else [])
        for key in keys:
            moved[key] = moved.get(key, 0.0) + move.applied
            assert abs(moved[key]) <= BOUND + CLOSE


@given(st.lists(_signals.map(lambda s: replace(s, origin="agent")), max_size=60), st.floats(0, 1))
def test_agents_alone_never_take_a_protected_memory_below_the_floor(signals: list[Signal], start: float) -> None:
    belief = fold(signals, start=start, writer=OWNER)
    assert belief.truth >= min(start, FLOOR) - CLOSE
    assert belief.utility >= FLOOR - CLOSE
    assert all(value >= FLOOR - CLOSE for value in belief.by_problem.values())
    assert not belief.set_aside


def test_of_two_that_share_an_id_the_earlier_counts_wherever_it_stands() -> None:
    one = signal(value=0.0)
    later = replace(one, at="2026-11-21T10:00:00+00:00", value=1.0)
    assert in_order([later, one]) == in_order([one, later]) == [one]


def test_a_pulled_line_displaces_none_of_ours_and_one_bringer_is_one_voice() -> None:
    ours = signal(SignalKind.UTILITY, 1.0, origin="owner", at="2026-11-20T12:00:00+00:00")
    theirs = replace(ours, value=0.0, origin=pulled("Mallory"), at="2026-11-19T12:00:00+00:00")
    assert fold([theirs, ours], start=0.8) == fold([ours], start=0.8)
    many = [signal(SignalKind.QUESTIONABLE, origin=pulled("Mallory")) for _ in range(5)]
    assert fold(many, start=0.8, writer=by_origin(pulled("Mallory"))).against == 1


def test_five_invented_sessions_cannot_hide_an_owners_memory() -> None:
    attack = [signal(value=0.0) for _ in range(5)] + [signal(SignalKind.QUESTIONABLE) for _ in range(5)]
    guarded, bare = fold(attack, start=0.9, writer=OWNER), fold(attack, start=0.9)
    assert guarded.truth == pytest.approx(FLOOR)
    assert not guarded.set_aside
    assert len(guarded.questionable) == 5
    assert bare.truth == pytest.approx(0.9 - 5 * BOUND)
    assert bare.set_aside


def test_the_owner_may_lower_what_agents_may_not() -> None:
    days = [signal(value=0.0, at=f"2026-11-{day:02d}T10:00:00+00:00") for day in range(1, 6)]
    owners = [replace(one, origin="owner", model="") for one in days]
    assert fold(owners, start=0.9, writer=OWNER).truth == pytest.approx(0.9 - 5 * BOUND)
    assert fold([*owners, signal(value=0.0)], start=0.9, writer=OWNER).truth == pytest.approx(0.9 - 5 * BOUND)


def test_a_step_is_half_of_what_confidence_leaves_of_the_gap() -> None:
    one = signal(value=0.5)
    assert fold([replace(one, confidence=0.4)], start=0.9).truth == pytest.approx(0.9 - 0.4 * 0.4 * 0.5)


def test_truth_needs_evidence_and_utility_without_it_shrinks_to_a_quarter() -> None:
    assert fold([replace(signal(value=0.0), evidence=())], start=0.8).truth == 0.8
    with_it, without = signal(SignalKind.UTILITY, 0.9), replace(signal(SignalKind.UTILITY, 0.9), evidence=())
    assert fold([replace(with_it, confidence=0.5)], start=0.8).utility == pytest.approx(0.6)
    assert fold([replace(without, confidence=0.5)], start=0.8).utility == pytest.approx(0.525)


def test_the_dead_zone_does_nothing() -> None:
    assert fold([signal(value=0.81)], start=0.8).truth == 0.8
    assert fold([signal(value=0.812)], start=0.8).truth == pytest.approx(0.806)


@pytest.mark.parametrize("kind", [SignalKind.TRUTH, SignalKind.UTILITY])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_moves_nothing(kind: SignalKind, value: float) -> None:
    assert fold([signal(kind, value)], start=0.8) == fold([], start=0.8)


def test_marks_are_utility_targets_at_half_confidence() -> None:
    assert fold([signal(SignalKind.USEFUL)], start=0.8).utility == pytest.approx(0.625)
    assert fold([signal(SignalKind.QUESTIONABLE)], start=0.8).utility == pytest.approx(0.375)


def test_utility_is_kept_apart_for_each_problem() -> None:
    belief = fold([signal(SignalKind.USEFUL, problem="p"), signal(SignalKind.QUESTIONABLE, problem="q")], start=0.8)
    assert belief.by_problem == {"p": pytest.approx(0.625), "q": pytest.approx(0.375)}
    assert belief.votes == {"p": 1, "q": 1}
    assert 0.4 < belief.utility < 0.6


def test_the_global_prior_leans_to_what_is_recent() -> None:
    early = [signal(SignalKind.USEFUL, at=f"2026-01-{d:02d}T00:00:00+00:00") for d in range(1, 11)]
    late = [signal(SignalKind.QUESTIONABLE, at=f"2026-11-{d:02d}T00:00:00+00:00") for d in range(1, 11)]
    assert fold(early + late, start=0.8).utility < 0.3
    swapped = [replace(one, kind=SignalKind.QUESTIONABLE) for one in early]
    assert fold(swapped + [replace(one, kind=SignalKind.USEFUL) for one in late], start=0.8).utility > 0.7


@pytest.mark.parametrize(
    "kind, origin, settles", [("useful", "agent", True), ("reviewed", "owner", True), ("reviewed", "agent", False)]
)
def test_a_question_stays_open_until_a_later_vote_or_a_persons_review(kind: str, origin: str, settles: bool) -> None:
    asked = signal(SignalKind.QUESTIONABLE)
    answer = signal(SignalKind(kind), at="2026-11-21T10:00:00+00:00")
    belief = fold([replace(answer, origin=origin), asked], start=0.8)
    assert (belief.questionable == ()) is settles
    assert belief.reviewed is (kind == "reviewed" and origin == "owner")
    assert fold([replace(answer, origin=origin, at="2026-11-19T10:00:00+00:00"), asked], start=0.8).questionable == (asked,)


def test_access_is_shared_use_votes_and_local_use() -> None:
    shared = signal(SignalKind.USE, 3.0, at="2026-11-18T23:59:59+00:00")
    voted = signal(SignalKind.USEFUL, at="2026-11-19T08:00:00+00:00")
    local = Use(at="2026-11-20T07:00:00+00:00", target="m")
    belief = fold([shared, voted, signal(SignalKind.USE, float("inf"))], start=0.8, uses=[local])
    assert (belief.access_count, belief.last_accessed, belief.useful) == (5, local.at, 1)
    assert fold([], start=0.8) == Belief(truth=0.8)


def test_the_bound_holds_over_sessions_of_one_author_and_is_lifted_the_next_day() -> None:
    same = [signal(value=0.0, model="opus") for _ in range(4)]
    assert fold(same, start=0.9).truth == pytest.approx(0.9 - BOUND)
    spread = [replace(one, at=f"2026-11-{10 + n}T10:00:00+00:00") for n, one in enumerate(same)]
    assert fold(spread, start=0.9).truth == pytest.approx(0.9 - 4 * BOUND)
    one_session = [replace(one, session="s") for one in spread]
    assert fold(one_session, start=0.9).truth == pytest.approx(0.9 - BOUND)


def test_a_day_is_a_utc_day() -> None:
    late, next_day = "2026-11-20T23:30:00-05:00", "2026-11-21T03:00:00+00:00"
    both = [signal(value=0.0, model="opus", at=at) for at in (late, next_day)]
    assert fold(both, start=0.9).truth == pytest.approx(0.9 - BOUND)


@given(_lists, _signals, st.floats(0, 1), st.booleans())
@settings(max_examples=60)
def test_a_preview_tells_what_the_fold_then_does(signals: list[Signal], last: Signal, start: float, protected: bool) -> None:
    proposal = replace(last, id="f" * 40, kind=SignalKind.TRUTH, value=0.5, at="2027-01-01T00:00:00+00:00")
    move = preview(signals, proposal, start=start, writer=OWNER if protected else AGENT)
    assert move.before == fold(signals, start=start, writer=OWNER if protected else AGENT).truth
    assert move.after == fold([*signals, proposal], start=start, writer=OWNER if protected else AGENT).truth
    assert move.applied == pytest.approx(move.after - move.before)
    assert bool(move.reason) or move.applied == pytest.approx(move.step)


def test_reasons_say_why_a_step_was_not_taken_whole() -> None:
    low = signal(value=0.0)
    assert "evidence" in preview([], replace(low, evidence=()), start=0.8).reason
    assert "0.15" in preview([], low, start=0.8).reason
    assert "owner" in preview([], low, start=0.45, writer=OWNER).reason
    assert "0.01" in preview([], signal(value=0.8), start=0.8).reason
    assert "quarter" in preview([], replace(signal(SignalKind.UTILITY), evidence=()), start=0.8).reason
    assert preview([], signal(SignalKind.UTILITY, 0.7, problem="p"), start=0.8) == preview(
        [], signal(SignalKind.UTILITY, 0.7), start=0.8
    )


def test_sessions_that_voted_it_down_are_counted_once_each() -> None:
    votes = [
        signal(SignalKind.QUESTIONABLE, session="s"),
        signal(SignalKind.QUESTIONABLE, session="s"),
        signal(SignalKind.QUESTIONABLE),
    ]
    assert fold([*votes, signal(SignalKind.USEFUL)], start=0.8).against == 2


def taking_back(one: Signal, **more: object) -> Signal:
    return replace(signal(SignalKind.WITHDRAWN), withdraws=one.id, evidence=(), confidence=None, **more)


@given(_lists, st.floats(0, 1), st.booleans())
def test_what_was_taken_back_is_as_if_it_had_not_been_said(signals: list[Signal], start: float, protected: bool) -> None:
    left = [one for one in counting(signals) if one.kind is not SignalKind.WITHDRAWN]
    assert repr(fold(signals, start=start, writer=OWNER if protected else AGENT)) == repr(
        fold(left, start=start, writer=OWNER if protected else AGENT)
    )


@pytest.mark.parametrize("kind", [kind for kind in SignalKind if kind is not SignalKind.WITHDRAWN])
@pytest.mark.parametrize(
    ("said_by", "taken_by", "counts"),
    [
        ({"origin": "agent", "model": "m"}, {"origin": "agent", "model": "m"}, True),
        ({"origin": "agent", "model": "m"}, {"origin": "owner", "model": ""}, True),
        ({"origin": "owner", "model": ""}, {"origin": "owner", "model": ""}, True),
        ({"origin": pulled("Eve <e@x>")}, {"origin": "owner"}, True),
        ({"origin": pulled("Eve <e@x>")}, {"origin": pulled("Eve <e@x>")}, True),
        ({"origin": "agent", "model": "m"}, {"origin": "agent", "model": "n"}, False),
        ({"origin": "owner"}, {"origin": "agent"}, False),
        ({"origin": "owner"}, {"origin": pulled("Eve <e@x>")}, False),
        ({"origin": "agent"}, {"origin": pulled("Eve <e@x>")}, False),
        ({"origin": pulled("Eve <e@x>")}, {"origin": "agent"}, False),
    ],
)
def test_the_owner_takes_back_all_and_others_their_own(
    kind: SignalKind, said_by: dict[str, str], taken_by: dict[str, str], counts: bool
) -> None:
    one = replace(signal(kind), **said_by)
    other = signal(SignalKind.USEFUL, origin="owner")
    gone = withdrawals(in_order([one, other, taking_back(one, **taken_by)]))
    assert [*gone] == ([one.id] if counts and kind is not SignalKind.CONSENT else [])


def test_a_taking_back_is_taken_back_and_a_circle_takes_nothing_back() -> None:
    one = signal(SignalKind.QUESTIONABLE, origin="agent")
    first = taking_back(one, origin="owner")
    second = taking_back(first, origin="owner")
    # Clocks of two machines differ: what takes back may be dated before it.
    third = replace(taking_back(second, origin="owner"), at="2026-11-01T10:00:00+00:00")
    assert fold([one], start=0.8).questionable == (one,)
    assert fold([one, first], start=0.8).questionable == ()
    assert fold([second, one, first], start=0.8).questionable == (one,)
    assert fold([third, second, one, first], start=0.8).questionable == ()
    circle = [replace(first, withdraws=second.id), replace(second, withdraws=first.id), one]
    assert fold(circle, start=0.8).questionable == (one,)
    assert fold([replace(first, withdraws=first.id), one], start=0.8).questionable == (one,)
