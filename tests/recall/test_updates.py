"""Supposed updates: told by words, of pairs that were invented and of others beside them."""

from __future__ import annotations

import pytest

from bench.__main__ import main
from bench.updates import PRECISION, RECALL, pairs, told
from vault_tool.recall.updates import changed


def test_of_the_pairs_set_aside_nearly_all_that_are_told_are_updates_and_most_are_told() -> None:
    aside = told([pair for pair in pairs() if pair.aside])
    assert aside.precision >= PRECISION
    assert aside.recall >= RECALL


def test_there_are_as_many_updates_as_pairs_that_only_look_like_one_in_either_half() -> None:
    halves = [(pair.aside, pair.update) for pair in pairs()]
    assert [halves.count(half) for half in sorted(set(halves))] == [60, 60, 60, 60]


def test_the_command_prints_both_halves_and_what_is_told_wrongly(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["updates", "--wrong"]) == 0
    printed = capsys.readouterr().out
    assert "| tuned on " in printed
    assert "| set aside " in printed
    assert "missed (status): Tom is single. / Tom is engaged to Ria." in printed


@pytest.mark.parametrize(
    ("older", "newer", "before", "after"),
    [
        ("rent is 900", "rent is 950 now", "900", "950"),
        ("The office in Lyon is at Hall Street 5.", "The office in Lyon is at Mill Lane 9.", "Hall Street 5", "Mill Lane 9"),
        ("Our office is in Berlin.", "Our office moved to Hamburg.", "Berlin", "Hamburg"),
        ("The default branch is master.", "The default branch is main.", "master", "main"),
        ("Deploys happen on Friday.", "Deploys happen on Tuesday.", "Friday", "Tuesday"),
        ("Sarah's email is sarah@old.example", "Sarah's email is sarah@new.example", "sarah@old.example", "sarah@new.example"),
    ],
)
def test_an_update_names_what_stood_there_and_what_stands_there_now(older: str, newer: str, before: str, after: str) -> None:
    found = changed(older, newer)
    assert found is not None
    assert (found.before, found.after) == (before, after)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I drink coffee every morning.", "I no longer drink coffee in the morning."),
        (
            "Use the old script for every release of the mobile app.",
            "Never use the old script for every release of the mobile app.",
        ),
        ("We use MySQL for the orders service.", "We use Postgres instead of MySQL for the orders service."),
    ],
)
def test_who_says_no_or_instead_changes_what_was_said(older: str, newer: str) -> None:
    assert changed(older, newer) is not None


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Marta lives in Porto.", "Jonas lives in Porto."),
        ("The lease of the flat ends in March.", "The lease of the car ends in March."),
        ("Fix login bug", "Fix logout bug"),
        ("Section 2 explains the setup.", "Section 3 explains the setup."),
        ("Went to the gym, 40 minutes.", "Went to the gym, 55 minutes."),
        ("Emma plays tennis with Julia.", "Emma plays tennis with Sofia."),
        ("Meeting with Anna about the budget.", "Meeting with Anna about the roadmap."),
        ("Maria's salary is 4000.", "Jonas's salary is 5000."),
        ("The same.", "The same."),
        ("", "rent is 900"),
        ("rent is 900", "..."),
    ],
)
def test_what_happens_again_or_is_said_of_another_thing_changes_nothing(older: str, newer: str) -> None:
    assert changed(older, newer) is None
