"""An edit changes the lines of one field and no other byte, does exactly what was asked, or refuses."""

from __future__ import annotations

import re

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from tests.corpus.heads import EMPTY, PAGES, READ_ONLY, Bad, Good, bad_heads, good_heads
from vault_tool.errors import EditRefused, Exit
from vault_tool.files.frontmatter import (
    AddItems,
    Change,
    Plain,
    Raw,
    Remove,
    RemoveItems,
    Set,
    Value,
    add_fields,
    add_head,
    edit,
    lists,
    read,
    split,
)

OTHER_LINE_ENDS = ("\x85", "\u2028", "\u2029")
GOOD = list(good_heads())
TEXTS = (
    "changed",
    "no",
    "with: colon # and hash",
    "'single' and \"double\"",
    "two\nlines\n",
    "",
    "日本 😀 \u2028",
    "x" * 200,
    "0123",
    "@x",
)


def values_of(data: bytes) -> dict[str, Raw]:
    head, _, _ = read(data)
    assert head is not None and head.usable, data
    return dict(head.values)


def assert_only_field_changed(good: Good, result: bytes) -> None:
    """Every byte around the field is as it was, and an independent reader finds every other field as it was."""
    around = good.before, good.after + good.body
    assert result.startswith(around[0]) and result.endswith(around[1]), (good.name, result)
    assert len(result) >= sum(map(len, around)), good.name
    assert others(result, good.key) == others(good.data, good.key), good.name
    if not any(end in good.data.decode() for end in OTHER_LINE_ENDS):
        assert independent(result, good.key) == independent(good.data, good.key), good.name


def others(data: bytes, key: str) -> dict[str, Raw]:
    return {name: value for name, value in values_of(data).items() if name != key}


def independent(data: bytes, key: str) -> object:
    parts = split(data)
    found = yaml.load(data[parts.start : parts.end], Loader=yaml.CBaseLoader) or {}
    return {name: value for name, value in found.items() if name != key}


def appended(good: Good, lines: str) -> bytes:
    """The file with `lines` as the head's last: what adding a field must give."""
    newline = split(good.data).newline
    return good.before + good.field + good.after + lines.replace("\n", newline).encode() + good.body


@pytest.mark.parametrize("chunk", range(8))
def test_setting_a_text_changes_only_its_field(chunk: int) -> None:
    for good in GOOD[chunk::8]:
        for text in TEXTS:
            result = edit(good.data, [Set(good.key, text)])
            assert_only_field_changed(good, result)
            assert values_of(result)[good.key] == text, good.name
            assert edit(result, [Set(good.key, text)]) is result, good.name


@pytest.mark.parametrize(
    "value", [True, 3, 0.25, -1e-9, None, [], ["a", "b: c", "no"], ["x" * 70, "y" * 70], {"a": [1, "1"]}, [["b"]]], ids=str
)
def test_setting_any_value_changes_only_its_field(value: Value) -> None:
    for good in GOOD:
        result = edit(good.data, [Set(good.key, value)])
        assert_only_field_changed(good, result)
        assert edit(result, [Set(good.key, value)]) is result, good.name


def test_setting_the_present_value_is_no_change() -> None:
    for good in GOOD:
        data = good.data
        raw = values_of(data)[good.key]
        if not isinstance(raw, dict):
            present: Value = raw if raw is None else str(raw)
            if isinstance(raw, list):
                present = [str(item) for item in raw if isinstance(item, str)]
            if not isinstance(raw, list) or present == raw:
                assert edit(data, [Set(good.key, present)]) is data, good.name
        assert edit(data, []) is data
        assert edit(data, [Remove("absent"), RemoveItems("absent", ["x"]), AddItems("absent", [])]) is data


def test_pin_appends_one_line() -> None:
    for good in GOOD:
        assert edit(good.data, [Set("pinned", True)]) == appended(good, "pinned: true\n"), good.name


def test_new_list_appends_one_line() -> None:
    for good in GOOD:
        assert edit(good.data, [AddItems("new", ["a b", "c: d"])]) == appended(good, 'new: [a b, "c: d"]\n'), good.name


def test_removing_takes_the_field_and_nothing_else() -> None:
    for good in GOOD:
        result = edit(good.data, [Remove(good.key)])
        assert result == good.before + good.after + good.body, good.name


def test_items_are_added_and_removed_within_the_field() -> None:
    for good in GOOD:
        raw = values_of(good.data)[good.key]
        if isinstance(raw, dict):
            with pytest.raises(EditRefused, match=r"line \d+: `map` is a map"):
                edit(good.data, [AddItems(good.key, ["x"])])
            continue
        # What the field's reader takes for several items is written as several.
        form = lists.form_of(good.key)
        read = [raw] if raw is not None and form is None else lists.texts(raw, form)
        present = raw if isinstance(raw, list) else read or []
        grown = edit(good.data, [AddItems(good.key, ["new item", "x: y", "new item"])])
        assert_only_field_changed(good, grown)
        assert values_of(grown)[good.key] == [*present, "new item", "x: y"], good.name
        assert edit(grown, [AddItems(good.key, ["x: y", "new item"])]) is grown
        shrunk = edit(grown, [RemoveItems(good.key, ["x: y", "new item"])])
        assert_only_field_changed(good, shrunk)
        assert values_of(shrunk)[good.key] == present, good.name
        if isinstance(raw, list) and raw:
            assert shrunk == good.data, good.name


def test_each_item_can_be_removed_alone() -> None:
    for good in GOOD:
        raw = values_of(good.data)[good.key]
        for item in raw[:5] if isinstance(raw, list) else []:
            if isinstance(item, str):
                result = edit(good.data, [RemoveItems(good.key, [item])])
                assert_only_field_changed(good, result)
                assert values_of(result)[good.key] == [other for other in raw or [] if other != item], good.name


@pytest.mark.parametrize("bad", [*bad_heads(), *READ_ONLY], ids=lambda bad: bad.name)
def test_bad_head_is_refused_with_its_line(bad: Bad) -> None:
    before = bytes(bad.data)
    with pytest.raises(EditRefused, match=f"line {bad.line}: ") as refusal:
        edit(bad.data, [Set("pinned", True)])
    assert bad.data == before
    assert refusal.value.exit_code is Exit.REFUSED and "\n" not in str(refusal.value) and len(str(refusal.value)) <= 200


@pytest.mark.parametrize("name", PAGES)
def test_page_has_no_head_to_edit_but_can_be_given_one(name: str) -> None:
    data = PAGES[name]
    with pytest.raises(EditRefused, match="no head"):
        edit(data, [Set("a", "b")])
    result = add_head(data, [("id", "x"), ("type", "fact"), ("title", "a: b")])
    assert values_of(result) == {"id": "x", "type": "fact", "title": "a: b"}
    mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    assert result.startswith(mark + b"---") and result.endswith(data[len(mark) :])
    head = result[len(mark) : len(result) - len(data) + len(mark)]
    assert head.replace(b"\r\n", b"\n") == b'---\nid: x\ntype: fact\ntitle: "a: b"\n---\n'
    assert (b"\r\n" in head) == (name == "crlf page")


@pytest.mark.parametrize("name", EMPTY)
def test_empty_head_takes_its_first_field(name: str) -> None:
    data = EMPTY[name]
    parts = split(data)
    line = f"id: x{parts.newline}".encode()
    assert edit(data, [Set("id", "x")]) == data[: parts.end] + line + data[parts.end :]


def test_a_head_is_not_given_twice() -> None:
    with pytest.raises(EditRefused, match="already"):
        add_head(b"---\na: b\n---\n", [("id", "x")])
    with pytest.raises(EditRefused, match="line 1: the head is never closed"):
        add_head(b"---\na: b\n", [("id", "x")])
    with pytest.raises(EditRefused, match="not UTF-8"):
        add_head(b"caf\xe9", [("id", "x")])
    with pytest.raises(EditRefused, match="given twice"):
        add_head(b"page", [("id", "x"), ("id", "y")])


def check(source: str, changes: list[Change], wanted: str) -> None:
    assert edit(f"---\n{source}---\nbody".encode(), changes).decode() == f"---\n{wanted}---\nbody"


@pytest.mark.parametrize(
    ("source", "change", "wanted"),
    [
        ("a: b  # why\n", Set("a", "c"), "a: c  # why\n"),
        ("a: 'b' # why\n", Set("a", "it's"), "a: 'it''s' # why\n"),
        ('a: "b"\n', Set("a", 'say "c"'), 'a: "say \\"c\\""\n'),
        ("a: 'b'\n", Set("a", "two\nlines"), 'a: "two\\nlines"\n'),
        ("a: b\n", Set("a", "no"), 'a: "no"\n'),
        ("a: 'true'\n", Set("a", True), "a: true\n"),
        ("a: # why\n", Set("a", "c"), "a: c # why\n"),
        ("a: b # why\n", Set("a", None), "a: # why\n"),
        ("a: [x, 'y', \"z\"] # why\n", Set("a", ["y", "z", "w"]), "a: ['y', \"z\", w] # why\n"),
        ("a:\n    -  'x'\n    -  y\n", Set("a", ["z", "x"]), "a:\n    -  z\n    -  'x'\n"),
        ("a: # why\n  - x\n", Set("a", []), "a: [] # why\n"),
        ("a: # why\n  - x\n", Set("a", "z"), "a: z # why\n"),
        ("a: |\n   old\n   text\nb: c\n", Set("a", "new\n\ntext\n"), "a: |\n   new\n\n   text\nb: c\n"),
        ("a: |\n   old\n", Set("a", "no newline"), "a: |-\n   no newline\n"),
        ("a: |\n  old\n\n    \n\nb: c\n", Set("a", "new\n"), "a: |\n  new\n\nb: c\n"),
        ("a: >-\n  old\n", Set("a", "new"), "a: >-\n  new\n"),
        ("a: |\n  old\n", Set("a", " leading"), 'a: " leading"\n'),
        ("a: one\n  two # why\nb: c\n", Set("a", "x"), "a: x # why\nb: c\n"),
        ("  a: b\n  c: d\n", Set("e", "f"), "  a: b\n  c: d\n  e: f\n"),
        ("a: b\n# end\n", Set("e", "f"), "a: b\n# end\ne: f\n"),
        ("a: b\n", Set("on", "f"), 'a: b\n"on": f\n'),
        ("a: [x, y]\n", AddItems("a", ["z"]), "a: [x, y, z]\n"),
        ("a: [ x,y, ] # why\n", AddItems("a", ["z"]), "a: [ x,y, z, ] # why\n"),
        ('a: ["x"]\n', AddItems("a", ["z"]), 'a: ["x", "z"]\n'),
        ("a:\n- 'x'\n", AddItems("a", ["z"]), "a:\n- 'x'\n- 'z'\n"),
        ("a: x # why\n", AddItems("a", ["z"]), "a: [x, z] # why\n"),
        ("a: x # why\n", AddItems("a", ["x"]), "a: x # why\n"),
        ("a: [\n  x, # one\n  y # two\n]\n", AddItems("a", ["z"]), "a: [\n  x, # one\n  y, z # two\n]\n"),
        ("a: [ x, y, z ]\n", RemoveItems("a", ["x", "z"]), "a: [ y ]\n"),
        ("a: [\n  x,\n  y,\n  z\n]\n", RemoveItems("a", ["y"]), "a: [\n  x,\n  z\n]\n"),
        ("a: [x]\n", RemoveItems("a", ["x"]), "a: []\n"),
        ("a: x\n", RemoveItems("a", ["x"]), "a: []\n"),
        ("a:\n  # of x\n  - x # x\n  # of y\n  - y\n", RemoveItems("a", ["x"]), "a:\n  # of x\n  # of y\n  - y\n"),
        ("a:\n  - x\n  - y\n  - x\n", RemoveItems("a", ["x"]), "a:\n  - y\n"),
        ("a: b\n\n# of c\nc: d\n", Remove("a"), "\n# of c\nc: d\n"),
        ("a: 0.80\n", Set("a", 0.8), "a: 0.80\n"),
        ("a: 1\n", Set("a", 1.0), "a: 1\n"),
        ("a: 1\n", Set("a", 10**30), f"a: {10**30}\n"),
        ("a: TRUE\n", Set("a", True), "a: TRUE\n"),
        ("a: '0.8'\n", Set("a", 0.8), "a: 0.8\n"),
        ("a: ''\n", Set("a", None), "a:\n"),
    ],
    ids=repr,
)
def test_edits_keep_the_hand_of_the_writer(source: str, change: Change, wanted: str) -> None:
    check(source, [change], wanted)


def test_changes_are_made_one_after_the_other() -> None:
    changes: list[Change] = [
        Set("a", "1x"),
        AddItems("t", ["x"]),
        AddItems("t", ["z"]),
        RemoveItems("t", ["x"]),
        Remove("b"),
        Set("b", 2),
    ]
    check("a: 1\nb: 2\n", changes, "a: 1x\nt: [z]\nb: 2\n")


def test_changes_that_cancel_give_the_same_object() -> None:
    data = b"---\na: [x]\n---\n"
    assert edit(data, [AddItems("a", ["y"]), RemoveItems("a", ["y"])]) is data


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("a: |\n  text\nb: c\n   \n", Remove("b")),
        ("a: [\n  x, # one\n  y\n]\n", RemoveItems("a", ["x"])),
        ("a: b\n", Set("k" * 2000, "x")),
        ("a: b\n", Set("a", float("nan"))),
        ("a: b\n", Set("a", "\ud800")),
        ("a: b\n", Set("a", ["x"] * 60_000)),
    ],
    ids=["spaces would become text", "comment between items", "key too long", "no number", "half a pair", "too many values"],
)
def test_what_cannot_be_written_faithfully_is_refused(source: str, change: Change) -> None:
    with pytest.raises(EditRefused) as refusal:
        edit(f"---\n{source}---\n".encode(), [change])
    assert "\n" not in str(refusal.value)


def test_an_edit_that_would_move_the_end_of_the_head_is_refused() -> None:
    # After blank lines only what begins with a field is a head: without its last one this would be a page.
    with pytest.raises(EditRefused, match="move the end of the head"):
        edit(b"\n---\na: b\n---\nbody\n", [Remove("a")])


def test_fields_that_cannot_be_added_faithfully_are_refused() -> None:
    with pytest.raises(EditRefused, match="cannot take another field"):
        add_fields(b"---\na: b\n---\n", [("c", "d"), ("k" * 2000, "x")])


def test_newlines_follow_the_field_and_new_keys_the_opening_fence() -> None:
    mixed = b"---\r\na:\n- x\nb:\r\n- x\r\n---\nbody\r\n"
    result = edit(mixed, [AddItems("a", ["z"]), AddItems("b", ["z"]), Set("c", "d")])
    assert result == b"---\r\na:\n- x\n- z\nb:\r\n- x\r\n- z\r\nc: d\r\n---\nbody\r\n"


_KEYS = st.sampled_from(["a", "b", "on", "x y", "é", "title", "2024"])
_WORDS = st.text(st.sampled_from("ab é日😀:#-'\"[]{},|>&*!%@`~=?\\ \t\n\u2028\x85\ufeff0.5"), max_size=8)
_SOURCES = st.sampled_from(
    [
        " plain", " 'single'  # c", ' "double"', "", "   # c", " [a, b] # c", " [ 'a' ,b, ]", " []",
        " |\n  literal\n\n  text\n", " >-\n    folded", " over\n  lines # c", " {a: b}", ' "a\n# b\nc"', " [a,\n  b]", "\tx",
        "\n  - - a\n    - b\n  - c", "\n- a\n- b", "\n  a: b\n  c: [d]", " x\u2028y",
        "\n  - a # c\n  # d\n  - 'b'",
    ]
)  # fmt: skip
_BETWEEN = st.sampled_from(["", "\n", "# c\n", "\n# c\n\n", "  # c\n", "   \n"])
_VALUES = st.one_of(
    _WORDS,
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.none(),
    st.lists(_WORDS, max_size=4),
)


@st.composite
def heads(draw: st.DrawFn) -> tuple[bytes, dict[str, tuple[int, int]]]:
    """A file, and for each key the offsets of its first line and of the next field's first line."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    keys = draw(st.lists(_KEYS, min_size=1, max_size=4, unique=True))
    data = ("---\n" + draw(_BETWEEN)).replace("\n", newline).encode()
    spans: dict[str, tuple[int, int]] = {}
    for key in keys:
        start = len(data)
        data += f"{key}:{draw(_SOURCES)}\n{draw(_BETWEEN)}".replace("\n", newline).encode()
        spans[key] = start, len(data)
    return data + f"---{newline}body\n--- \x0c".encode(), spans


_CHANGES = st.one_of(
    st.builds(Set, _KEYS, _VALUES),
    st.builds(Remove, _KEYS),
    st.builds(AddItems, _KEYS, st.lists(_WORDS, max_size=2)),
    st.builds(RemoveItems, _KEYS, st.lists(st.sampled_from(["a", "b", "c", "plain"]), max_size=2)),
)


@settings(max_examples=examples(1200), deadline=None)
@given(heads(), _CHANGES)
def test_any_edit_of_any_layout_is_faithful_or_refused(made: tuple[bytes, dict[str, tuple[int, int]]], change: Change) -> None:
    data, spans = made
    before = values_of(data)
    try:
        result = edit(data, [change])
    except EditRefused:
        in_map = isinstance(before.get(change.key), dict) and isinstance(change, AddItems)
        # Without the field, what is indented below it would become part of the block text above it.
        falls_in = isinstance(change, Remove) and re.search(rb": [|>]", data) and re.search(rb"\n  +[# \r\n]", data)
        assert in_map or falls_in or (isinstance(change, RemoveItems) and b"#" in data), (data, change)
        return
    start, stop = spans.get(change.key, (split(data).end, split(data).end))
    assert result[:start] == data[:start] and result.endswith(data[stop:])
    after = values_of(result)
    assert {k: v for k, v in after.items() if k != change.key} == {k: v for k, v in before.items() if k != change.key}
    assert edit(result, [change]) is result
    if isinstance(change, Set) and isinstance(change.value, str | list):
        assert after[change.key] == change.value
    if isinstance(change, Set) and isinstance(change.value, bool | int | float) and before.get(change.key) != after[change.key]:
        assert isinstance(after[change.key], Plain)
