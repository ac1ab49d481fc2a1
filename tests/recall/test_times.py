"""The times that a question names, seen from Friday, 20 November 2026."""

from __future__ import annotations

from datetime import date

import pytest

from vault_tool.recall import question
from vault_tool.recall.time_words import names_some
from vault_tool.recall.times import about, read

TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("text", "first", "over"),
    [
        ("what did Ada do on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("what did Ada say on May 24th, 2023?", "2023-05-24", "2023-05-25"),
        ("the talk of December 1,2023", "2023-12-01", "2023-12-02"),
        ("notes of 2024-03-12", "2024-03-12", "2024-03-13"),
        ("was geschah am 12.03.2024?", "2024-03-12", "2024-03-13"),
        ("am 12. März 2024", "2024-03-12", "2024-03-13"),
        ("el 12 de marzo de 2024", "2024-03-12", "2024-03-13"),
        ("le 12 mars 2024", "2024-03-12", "2024-03-13"),
        ("2024年3月12日", "2024-03-12", "2024-03-13"),
        ("what happened in June 2023?", "2023-06-01", "2023-07-01"),
        ("im Frühling 2025", "2025-03-01", "2025-06-01"),
        ("the budget of Q3 2024", "2024-07-01", "2024-10-01"),
        ("who joined in 2022?", "2022-01-01", "2023-01-01"),
        ("what did we decide yesterday?", "2026-11-19", "2026-11-20"),
        ("the day before yesterday", "2026-11-18", "2026-11-19"),
        ("what did we decide last week?", "2026-11-09", "2026-11-16"),
        ("was geschah letzte Woche?", "2026-11-09", "2026-11-16"),
        ("¿qué decidimos la semana pasada?", "2026-11-09", "2026-11-16"),
        ("what was it last Friday?", "2026-11-13", "2026-11-14"),
        ("what did I do on Monday?", "2026-11-16", "2026-11-17"),
        ("three days ago", "2026-11-17", "2026-11-18"),
        ("il y a trois jours", "2026-11-17", "2026-11-18"),
        ("two weeks ago", "2026-11-03", "2026-11-10"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("between August 11 and August 15 2023", "2023-08-11", "2023-08-16"),
        ("from 3 to 5 May 2024", "2024-05-03", "2024-05-06"),
        ("the week before August 3, 2023", "2023-07-27", "2023-08-03"),
        ("on the Sunday before October 25, 2022", "2022-10-23", "2022-10-24"),
        ("the last week of August 2023", "2023-08-25", "2023-09-01"),
        ("at the beginning of November 2022", "2022-11-01", "2022-11-13"),
    ],
)
def test_a_time_is_read(text: str, first: str, over: str) -> None:
    spans, _ = read(text, TODAY)

    assert names_some(text)
    assert [(str(one.first), str(one.over)) for one in spans] == [(first, over)]


@pytest.mark.parametrize(
    "text",
    [
        "May I use the second deck?", "who may march on?", "is 1.4.16 better than 2.3?", "which port is 2022?", "spring boot",
        "what did June say?", "which of the 12 may be left out?", "list 20 sat images", "the fall of a vase", "31 April 2023",
        "how long ago was it?", "in 99999999 years", "12345678 days ago", "0 May 2020", "2023-13-45",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_is_none(text: str) -> None:
    assert read(text, TODAY)[0] == ()


def test_a_month_without_a_year_is_the_last_one_and_less_so_that_of_any_year() -> None:
    (last, any_year), _ = read("what did we buy in June?", TODAY)

    assert (last.first, last.holds(date(2026, 6, 30)), last.holds(date(2025, 6, 30))) == (date(2026, 6, 1), 0.8, 0.0)
    assert any_year.holds(date(2019, 6, 1)) == pytest.approx(0.6) and any_year.holds(date(2019, 5, 31)) == 0


def test_a_day_counts_more_than_a_year_and_what_is_told_in_the_days_after_it_a_part() -> None:
    (day,), _ = read("on 7 May 2023", TODAY)
    (year,), _ = read("in 2023", TODAY)

    assert (day.holds(date(2023, 5, 7)), day.holds(date(2023, 5, 8)), day.holds(date(2023, 5, 15))) == (1.0, 0.6, 0.6)
    assert (day.holds(date(2023, 5, 6)), day.holds(date(2023, 5, 16)), year.holds(date(2023, 5, 7))) == (0, 0, 0.3)


def test_as_of_a_day_all_before_it_counts_a_little_and_nothing_after_it() -> None:
    spans, rest = read("as of 1 May 2023, who runs it?", TODAY)

    def counts(day: date) -> float:
        return max(span.holds(day) for span in spans)

    assert (counts(date(2023, 5, 1)), counts(date(2020, 1, 1)), counts(date(2023, 5, 2))) == (1.0, 0.3, 0.0)
    assert rest == ", who runs it?"


def test_a_memory_is_about_the_times_that_it_tells_seen_from_its_day() -> None:
    (asked,), _ = read("on 7 May 2023", TODAY)

    (yesterday,) = about("I went there yesterday", "I went there yesterday.", "", date(2023, 5, 8))
    (planned,) = about("The dentist is on 7 May 2023", "The dentist is on 7 May 2023", "", date(2023, 1, 2))
    (year,) = about("In 2023 it was", "In 2023 it was", "", date(2024, 1, 2))
    assert [asked.meets(one) for one in (yesterday, planned, year)] == [1.0, 1.0, 0.0]


def test_a_question_knows_its_times_and_whether_it_asks_for_anything_else() -> None:
    alone = question.parse_question("what happened last week?", today=TODAY).times
    more = question.parse_question("what did Ada say about Zurich last week?", today=TODAY).times

    assert alone is not None and alone.alone and more is not None and not more.alone
    assert more.rest == "what did Ada say about Zurich ?"
    assert question.parse_question("what did Ada say?", today=TODAY).times is None
    assert question.parse_question("what happened last week?").times is None
