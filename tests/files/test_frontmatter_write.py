"""What is written reads back as exactly what was meant, here and by readers that resolve plain scalars."""

from __future__ import annotations

import frontmatter
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from vault_tool.errors import EditRefused
from vault_tool.files.frontmatter import Plain, Quoted, Raw, Value, read, read_head, render_head, split
from vault_tool.files.frontmatter.head_writer import as_raw


def read_back(fields: list[tuple[str, Value]]) -> dict[str, Raw]:
    head, body, faults = read((render_head(fields) + "body").encode())
    assert head is not None and (body, faults) == ("body", ())
    return dict(head.values)


def test_a_head_as_the_vault_writes_it() -> None:
    fields: list[tuple[str, Value]] = [
        ("id", "a1b2c3d4-e5f6-4890-abcd-ef1234567890"),
        ("type", "solution"),
        ("title", Quoted("Fixed Redis connection timeouts")),
        ("subjects", ["Redis", "Homelab"]),
        ("importance", 0.8),
        ("generation", 4),
        ("created", "2026-11-20T10:00:00+00:00"),
        ("turn", "42"),
        ("evidence", ["file:src/redis.py@9f3c1e2", "session:turn_42"]),
        ("links", ["[[memory-system|Memory system]]"]),
        ("related_to", []),
        ("pinned", False),
        ("steps", ["Open the configuration of the connection pool.", "Set socket_keepalive and the time-out: 300."]),
        ("reason", None),
        ("extra", {"a": [1, "1", None], "b: c": {}}),
    ]
    assert (
        render_head(fields)
        == """---
id: a1b2c3d4-e5f6-4890-abcd-ef1234567890
type: solution
title: "Fixed Redis connection timeouts"
subjects: [Redis, Homelab]
importance: 0.8
generation: 4
created: 2026-11-20T10:00:00+00:00
turn: "42"
evidence: ["file:src/redis.py@9f3c1e2", "session:turn_42"]
links: ["[[memory-system|Memory system]]"]
related_to: []
pinned: false
steps:
  - Open the configuration of the connection pool.
  - "Set socket_keepalive and the time-out: 300."
reason:
extra: {a: [1, "1", null], "b: c": {}}
---
"""
    )
    assert read_back(fields)["steps"] == fields[12][1]


@pytest.mark.parametrize(
    "text",
    [
        "no", "No", "ON", "y", "true", "null", "~", "", "=", "<<", "0123", "1.10", "12:30", "1e3", "1e10", "0x1f", "0b1", "0o7",
        "1_000", ".5", "5.", "-5", "+5", ".inf", "-.INF", ".nan", "2024-01-01", "2024-1-1 10:00:00", "a: b", "a:", "a #b", "#a",
        "- a", "-", "? a", ": a", "[a]", "{a}", "*a", "&a", "!a", "|", ">", "%a", "@a", "`a`", "'a'", '"a"', " a", "a ", "\ta",
        "a\tb", "a\nb", "a\r\nb", "\\n", "---", "...", "a\u2028b", "a\x85b", "\ufeffa", "a\u202eb", "a\x00b", "a\x1b[0m",
        "{{date}}",
        "190:20:30", "1:60", "0o8", "123e4567-e89b-42d3-a456-426614174000", "00000000-0000-4000-8000-000000000000", "\uffff",
        "1__", "_",
    ],
)  # fmt: skip
def test_texts_stay_texts(text: str) -> None:
    assert read_back([("k", text), ("l", [text]), ("m", {"n": text})]) == {"k": text, "l": [text], "m": {"n": text}}
    rendered = render_head([("k", text), ("l", [text])])
    for loader in (yaml.SafeLoader, yaml.CSafeLoader):
        assert yaml.load(rendered.split("---\n")[1] if "---\n" not in text else rendered[4:-4], Loader=loader) == {
            "k": text,
            "l": [text],
        }
    assert frontmatter.loads(rendered + "body").metadata == {"k": text, "l": [text]}


@pytest.mark.parametrize(
    "text", ["Redis", "it's 5 o'clock", "a, b", "C#", "50 %", "a:b", "日本語", "😀", "(x)", "3 ways", "a\u00a0b"]
)
def test_texts_that_need_no_quotes_have_none(text: str) -> None:
    assert render_head([("k", text)]) == f"---\nk: {text}\n---\n"
    assert read_head(f"k: {text}\n").values == {"k": Plain(text)}


def test_whole_times_are_plain_and_dates_are_not() -> None:
    assert (
        render_head([("a", "2026-11-20T10:00:00Z"), ("b", "2026-11-20")])
        == '---\na: 2026-11-20T10:00:00Z\nb: "2026-11-20"\n---\n'
    )


@pytest.mark.parametrize("number", [0, -1, 10**30, 0.1, 1.0, -0.0, 1e-7, 1e16, 1.5e300, 5e-324, 0.30000000000000004])
def test_numbers_are_numbers_for_other_readers(number: float) -> None:
    loaded = yaml.safe_load(render_head([("k", number)])[4:-4])["k"]
    assert (loaded, type(loaded)) == (number, type(number))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\udc80", ["\ud800"]])
def test_what_no_head_can_hold_is_refused(value: Value) -> None:
    with pytest.raises(EditRefused):
        render_head([("k", value)])


_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.text(
    st.sampled_from("01239.:-+eExo_ tTzZ#'\"\\,[]{}\n")
)
_KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
_FIELD_VALUES = st.recursive(
    _TEXTS | _TEXTS.map(Quoted) | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(600), deadline=None)
@given(st.dictionaries(_KEYS, _FIELD_VALUES, max_size=4))
def test_any_values_read_back_as_they_were(fields: dict[str, Value]) -> None:
    wanted = {key: None if value is None else as_raw(value) for key, value in fields.items()}
    assert read_back(list(fields.items())) == wanted


@settings(max_examples=examples(600), deadline=None)
@given(st.dictionaries(_KEYS, _TEXTS | st.lists(_TEXTS, max_size=3), max_size=4))
def test_other_readers_take_texts_for_texts(fields: dict[str, Value]) -> None:
    rendered = render_head(list(fields.items()))
    parts = split(rendered.encode())
    assert yaml.load(rendered.encode()[parts.start : parts.end], Loader=yaml.CBaseLoader) == fields or not fields
    loaded = yaml.load(rendered.encode()[parts.start : parts.end], Loader=yaml.CSafeLoader) or {}
    for key, value in fields.items():
        if isinstance(loaded[key], str | list):
            assert loaded[key] == value
        else:
            assert len(str(value)) >= 20 and "T" in str(value)  # A whole time is meant to be one.
