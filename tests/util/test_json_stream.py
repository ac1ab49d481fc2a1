"""JSON read piece by piece: what a parser of the whole says, whatever the reads are; mutilated, it ends and goes on."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bounds import examples
from vault_tool.util import json_stream
from vault_tool.util.json_stream import pieces

TEXTS = st.text(st.sampled_from('ab"\\{}[],:\n é\u2028😀'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def _read(data: bytes) -> list[Any]:
    return [("fault" if piece.fault else piece.key, piece.value) for piece in pieces(io.BytesIO(data))]


@pytest.fixture(params=[1, 3, 7, 2**20])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """So much is read at once."""
    monkeypatch.setattr(json_stream, "CHUNK", request.param)
    return int(request.param)


@pytest.mark.parametrize("size", [1, 2, 5, 64, 2**20])
@settings(max_examples=examples(300), deadline=None)
@given(items=st.lists(VALUES, max_size=6), indent=st.sampled_from([None, 1]))
def test_a_list_is_its_items(size: int, items: list[Any], indent: int | None) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", size)
        assert _read(json.dumps(items, indent=indent, ensure_ascii=False).encode()) == [("", item) for item in items]


@pytest.mark.parametrize("size", [1, 5, 2**20])
@settings(max_examples=examples(300), deadline=None)
@given(members=st.dictionaries(TEXTS, VALUES, min_size=2, max_size=5))
def test_an_object_is_its_members_and_their_items(size: int, members: dict[str, Any]) -> None:
    flat = [(key, item) for key, value in members.items() for item in (value if isinstance(value, list) else [value])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", size)
        assert _read(json.dumps(members, indent=1).encode()) == flat


@pytest.mark.parametrize("size", [1, 5, 2**20])
@settings(max_examples=examples(500), deadline=None)
@given(items=st.lists(VALUES, min_size=1, max_size=4), data=st.data())
def test_what_is_mutilated_ends_and_says_so(size: int, items: list[Any], data: st.DataObject) -> None:
    whole = json.dumps(items, ensure_ascii=False).encode()
    at = data.draw(st.integers(0, len(whole)))
    torn = whole[:at] + data.draw(st.binary(max_size=3)) + whole[at + data.draw(st.integers(0, 3)) :]
    try:
        intact = json.loads(torn) == items
    except (ValueError, UnicodeDecodeError):
        intact = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "CHUNK", size)
        found = _read(torn)
    assert not intact or found == [("", item) for item in items]


def test_a_bad_item_is_named_and_the_next_one_read(chunk: int) -> None:
    found = list(pieces(io.BytesIO(b'[{"a": 1}, {"a": nope}, {"a": 3}]')))
    assert [(piece.number, piece.value, bool(piece.fault)) for piece in found] == [
        (1, {"a": 1}, False),
        (2, None, True),
        (3, {"a": 3}, False),
    ]


def test_a_cut_list_is_read_up_to_its_cut(chunk: int) -> None:
    *whole, last = pieces(io.BytesIO(b'[{"a": 1}, {"a": "x'))
    assert [piece.value for piece in whole] == [{"a": 1}] and last.fault == "the file ends in the middle"


def test_lines_are_read_one_by_one_and_joined_or_torn_ones_as_far_as_they_are_whole() -> None:
    whole = [b'{"type":"entity","name":"%b"}' % name for name in (b"A", b"B", b"C")]
    lines = b"".join([whole[0], whole[1], b'\n{"type":"ent\n{"type":"relation"}\n{"type":"e', whole[2], b"\n"])
    found = list(pieces(io.BytesIO(lines)))
    assert [piece.value["name"] for piece in found if piece.value and "name" in piece.value] == ["A", "B", "C"]
    assert [piece.number for piece in found if piece.fault] == [2, 4]


def test_an_item_that_is_too_long_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "LONGEST_PIECE", 1000)
    monkeypatch.setattr(json_stream, "CHUNK", 100)
    first, second, third = pieces(io.BytesIO(b'["a", {"b": "' + b'\\"]}' * 3000 + b'"}, "c"]'))
    assert (first.value, third.value) == ("a", "c") and "longer than" in second.fault


@pytest.mark.parametrize(
    "data", [b"[" * 100_000, b'{"a":' * 100_000, b'["\\ud800"]', b"[1e999999]", b"[NaN]", b"\xff\xfe[", b"   "]
)
def test_hostile_texts_end(data: bytes) -> None:
    assert "\ud800" not in repr(_read(data))
