from __future__ import annotations

from datetime import UTC, datetime

import pytest

from vault_tool.files.frontmatter import Plain
from vault_tool.importing.dates import created, read_date


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2023-10-05", (2023, 10, 5)),
        ("2023-10-05 14:30", (2023, 10, 5, 14, 30)),
        ("2023-10-05T14:30:15Z", (2023, 10, 5, 14, 30, 15)),
        ("2023/10/05 2:30 PM", (2023, 10, 5, 14, 30)),
        ("2020-02-29 08:00:00 +0100", (2020, 2, 29, 7)),
        ("10/05/2023", (2023, 10, 5)),
        ("25/12/2023", (2023, 12, 25)),
        ("5.10.2023", (2023, 10, 5)),
        ("Oct 5th, 2023", (2023, 10, 5)),
        ("Thursday, 5 October 2023", (2023, 10, 5)),
        ("October 5, 2023 12:05 am", (2023, 10, 5, 0, 5)),
        ("202310051430", (2023, 10, 5, 14, 30)),
        ("[[2023-10-05]]", (2023, 10, 5)),
    ],
)
def test_a_date_is_read_as_people_write_it(text: str, moment: tuple[int, ...]) -> None:
    year, month, day, hour, minute, second = (*moment, 0, 0, 0)[:6]
    assert read_date(text) == datetime(year, month, day, hour, minute, second, tzinfo=UTC)


@pytest.mark.parametrize(
    "text", ["", "soon", "30/02/2023", "2023-02-30", "13/13/2023", "<% tp.date.now() %>", "{{date}}", "5", "2023-10-05 and later"]
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert read_date(text) is None


def test_the_field_that_means_creation_wins_whatever_its_place_and_case() -> None:
    head = {"date": Plain("2020-01-01"), "Date Created": Plain("2019-01-01"), "updated": Plain("2024-01-01")}
    assert created(head, "note") == datetime(2019, 1, 1, tzinfo=UTC)


def test_the_name_of_a_daily_note_dates_it() -> None:
    assert created({}, "2023-10-05-walk.md") == datetime(2023, 10, 5, tzinfo=UTC)
    assert created({"date": Plain("someday")}, "walk.md") is None
    assert created({}, "2023-13-05.md") is None


def test_an_unquoted_link_to_a_day_is_a_date() -> None:
    assert created({"created": [[Plain("2023-10-05")]]}, "x") == datetime(2023, 10, 5, tzinfo=UTC)
