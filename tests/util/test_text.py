"""Names, titles, slugs, links and time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.util.clock import FixedClock, days_between, parse_time, stamp
from vault_tool.util.note_links import links_in, readings
from vault_tool.util.text import (
    beginning,
    body_hash,
    first_sentence,
    first_tokens,
    normal_name,
    one_line,
    prose_lines,
    slug,
    tokens,
    unwrap_link,
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Memory system", "memory_system"),
        ("Memory  System", "memory-system"),
        ("Straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("Ｗｉｄｅ", "wide"),
        (" a ", "a"),
    ],
)
def test_names_are_one_after_normalisation(one: str, other: str) -> None:
    assert normal_name(one) == normal_name(other)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normal_name(normal_name(text)) == normal_name(text)


@given(st.text())
def test_a_slug_is_a_safe_name(text: str) -> None:
    made = slug(text)
    assert made
    assert len(made) <= 65
    assert len(made.encode("utf-8")) <= 85
    assert not made.startswith((".", "-"))
    assert not set(made) & set('/\\:*?"<>|\0 \n')
    assert made.casefold() not in {"con", "nul", "aux", "prn", "com1", "lpt1"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Wealth Simulator: v2.0!", "wealth-simulator-v2-0"),
        ("Crème brûlée", "creme-brulee"),
        ("Привет, мир", "привет-мир"),
        ("内存系统", "内存系统"),
        ("й", "й"),
        ("../../etc/passwd", "etc-passwd"),
        ("-rf", "rf"),
        ("CON", "con-note"),
        ("🎉", "untitled"),
        ("", "untitled"),
    ],
)
def test_slugs(text: str, expected: str) -> None:
    assert slug(text) == expected


@given(st.text(), st.integers(10, 80))
def test_one_line_is_one_line(text: str, limit: int) -> None:
    made = one_line(text, limit)
    assert len(made) <= limit
    assert made.isprintable()


@given(st.text(alphabet="ab ,.\n\x07\u202e\u3000é", max_size=60), st.integers(min_value=1, max_value=20))
def test_one_line_of_a_long_text_is_that_of_its_whole(text: str, limit: int) -> None:
    whole = one_line(text)
    assert one_line(text, limit) == (whole if len(whole) <= limit else one_line(whole, limit))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("Hello world. More.", "Hello world"),
        ("\n\n## Heading ##\n", "Heading ##"),
        ("> quoted text", "quoted text"),
        ("1. first", "first"),
        ("v1.2 is out! Yes.", "v1.2 is out!"),
        ("中文句子。第二句。", "中文句子"),
        ("---\nauthor: Ann\n---\nThe ferry leaves at six. Be there.", "The ferry leaves at six"),
        ('---\ntitle: "Ferry times"\n---\nIt leaves at six.', "Ferry times"),
        ("---\n\nAfter a rule. More.", "After a rule"),
        ("```py\nimport os\n```\nIt lists files.", "It lists files"),
        ("~~~\nimport os\n~~~\n", "import os"),
        ("```\n```", ""),
        ("| port | ship |\n|---|---|\n| Wismar | Anna |", "port, ship"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n\nThe table of all. More.", "The table of all"),
        ("- one\n- two", "one"),
        ("*Emphasis* first. Then.", "Emphasis first"),
        ("`vt get` shows one. More.", "vt get shows one"),
        ("***\nStars above", "Stars above"),
        ("", ""),
    ],
)
def test_the_first_sentence_is_a_title(body: str, expected: str) -> None:
    assert first_sentence(body) == expected


def test_links_are_found_in_prose_alone() -> None:
    body = "[[a]] ![[b.png]] `[[no]]`\n```\n[[no]]\n```\n[[c#h|C]] [[d^x]]\n~~~\n[[no]]\n"
    assert list(links_in(body)) == ["a", "c#h|C", "d^x"]
    assert list(links_in("[[T #7]] [x](a%20b.md#c 'd')")) == ["T #7", "./a b.md"]
    assert (readings("T #7|l"), readings("./a b.md"), readings("#h")) == (("T #7", "T", "l"), ("./a b.md",), ())
    assert unwrap_link("[[redis|Redis]]") == "Redis"
    assert unwrap_link("Redis") == "Redis"


def test_a_fence_ends_with_its_own_mark() -> None:
    lines = [line for _, line in prose_lines("a\n````\nb\n```\nc\n````\nd")]
    assert lines == ["a", "d"]


def test_bodies_that_say_the_same_share_a_hash() -> None:
    assert body_hash("a  b\n\nc ") == body_hash("a b c")
    assert body_hash("é") == body_hash("e\u0301")
    assert body_hash(" \n") == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20", "2026-11-20T00:00:00+00:00"),
        ("2026-11-20T10:00:00Z", "2026-11-20T10:00:00+00:00"),
        ("2026-11-20T10:00:00.5+01:00", "2026-11-20T09:00:00+00:00"),
        ("2026-11-01T01:30:00-04:00", "2026-11-01T05:30:00+00:00"),
        ("2026-11-01T01:30:00-05:00", "2026-11-01T06:30:00+00:00"),
    ],
)
def test_times_are_utc(text: str, expected: str) -> None:
    moment = parse_time(text)
    assert moment is not None
    assert stamp(moment) == expected


@pytest.mark.parametrize("text", ["", "2024-02-30", "11/20/2026", "2016-12-31T23:59:60Z", "yesterday", "99999-01-01"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_time(text) is None


def test_clocks_never_run_backwards_between_machines() -> None:
    clock = FixedClock(datetime(2026, 11, 20, tzinfo=UTC))
    before = clock.now()
    clock.advance(timedelta(days=1, hours=12))
    assert days_between(before, clock.now()) == 1.5
    assert days_between(clock.now(), before) == 0


def test_a_token_is_about_four_letters_and_an_ideograph_nearly_one() -> None:
    assert tokens("a" * 40) == 10
    assert tokens("天" * 40) == 30
    assert (tokens(""), tokens("a")) == (0, 1)


@given(text=st.text(max_size=60) | st.just("half \ud800 a pair"), count=st.integers(-1, 20))
def test_the_first_tokens_are_the_longest_beginning_of_so_many(text: str, count: int) -> None:
    found = first_tokens(text, count)
    assert text.startswith(found) and tokens(found) <= max(0, count)
    assert found == text or tokens(text[: len(found) + 1]) > count


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two…"),
        ("one two three", 8, "one two…"),
        ("one\ntwo three", 9, "one\ntwo…"),
        ("onetwothree", 8, "onetwot…"),
        ("", 3, ""),
    ],
)
def test_a_beginning_ends_with_a_word(text: str, limit: int, expected: str) -> None:
    assert beginning(text, limit) == expected
    assert len(beginning(text, limit)) <= max(limit, len(expected))
