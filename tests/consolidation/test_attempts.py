"""What a log tells of attempts: which entries, how they ended, for which problem."""

from __future__ import annotations

import pytest

from vault_tool.features.sessions.attempts import Event, Outcome, SessionProblem, Tie, attempts, outcome_of

DAY = "2026-11-20T"
REDIS = SessionProblem(id="p1", text="Redis drops idle connections after 300 s", subjects=("Redis",), at=f"{DAY}09:00:30+00:00")
DISK = SessionProblem(id="p2", text="The backup disk fills up every week", subjects=("Backup",), at=f"{DAY}10:00:00+00:00")


def event(text: str, *, at: str = "11:00", type: str = "", subjects: tuple[str, ...] = (), problem: str = "") -> Event:
    return Event(at=f"{DAY}{at}:00+00:00", text=text, type=type, subjects=subjects, problem=problem)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Tried a larger pool; it did not help.", Outcome.FAILED),
        ("Raised the limit to 50, to no avail", Outcome.FAILED),
        ("Restarted Redis; it still drops connections", Outcome.FAILED),
        ("It doesn’t work with TLS", Outcome.FAILED),
        ("Rolled back the upgrade", Outcome.FAILED),
        ("Set tcp-keepalive to 60: the drops are gone", Outcome.WORKED),
        ("Pinned the version, which fixed it", Outcome.WORKED),
        ("The suite passes now", Outcome.WORKED),
        ("Trying another driver", Outcome.UNCLEAR),
        ("The first patch failed, the second one fixed it", Outcome.UNCLEAR),
        ("Had lunch", None),
        ("Audrey works at the observatory", None),
        ("Moved the lab to the new rack", None),
        ("Das hat nicht geholfen", None),
    ],
)
def test_how_an_attempt_ended_is_read_off_its_words(text: str, outcome: Outcome | None) -> None:
    assert outcome_of(event(text)) is outcome


@pytest.mark.parametrize(
    ("type", "outcome"),
    [
        ("fix", Outcome.WORKED), ("solution", Outcome.WORKED), ("failed_tactic", Outcome.FAILED), ("error", Outcome.FAILED),
        ("problem", None), ("fact", None), ("preference", None), ("decision", None), ("general", Outcome.FAILED),
    ],
)  # fmt: skip
def test_a_type_says_more_than_words(type: str, outcome: Outcome | None) -> None:
    assert outcome_of(event("The old cable did not work", type=type)) is outcome


def tie_of(one: Event, *problems: SessionProblem) -> tuple[str, Tie | None]:
    (found,) = attempts([one], problems)
    return found.problem, found.tie


def test_an_attempt_is_tied_to_the_problem_that_it_names() -> None:
    assert tie_of(event("Tried it", problem="p9", subjects=("Redis",)), REDIS, DISK) == ("p9", Tie.SAID)


def test_else_to_the_one_about_the_same_subject() -> None:
    assert tie_of(event("Tried another one", subjects=("redis",)), REDIS, DISK) == ("p1", Tie.SUBJECTS)


def test_else_to_the_one_with_most_words_in_common() -> None:
    assert tie_of(event("Tried to keep idle connections open"), REDIS, DISK) == ("p1", Tie.WORDS)


def test_else_to_the_last_one_before_it() -> None:
    assert tie_of(event("Tried something"), REDIS, DISK) == ("p2", Tie.ORDER)
    assert tie_of(event("Tried something", at="09:30"), REDIS, DISK) == ("p1", Tie.ORDER)
    assert tie_of(event("Tried something", at="09:00"), REDIS, DISK) == ("p1", Tie.ORDER)


def test_what_was_tried_before_any_problem_was_named_is_for_one_that_came_after() -> None:
    assert tie_of(event("Tried another disk for the backup", at="08:00"), REDIS, DISK) == ("p2", Tie.WORDS)


def test_without_a_problem_only_what_says_that_it_was_tried_is_an_attempt() -> None:
    told = [event("The printer worked"), event("Tried the printer"), event("Cleaned the printer", type="fix")]
    assert [(one.event.text, one.problem, one.tie) for one in attempts(told, [])] == [
        ("Tried the printer", "", None),
        ("Cleaned the printer", "", None),
    ]


def test_no_entries_no_attempts() -> None:
    assert list(attempts([], [REDIS])) == []
