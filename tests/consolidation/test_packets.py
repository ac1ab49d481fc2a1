from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.consolidation.packets import (
    Due,
    Item,
    due,
    fitted,
    is_trivial,
    shortened,
    worth,
)
from vault_tool.util.text import tokens

ITEMS = st.lists(
    st.builds(
        Item,
        id=st.uuids().map(str),
        importance=st.floats(0, 1),
        keys=st.lists(st.sampled_from("abcdef"), unique=True, max_size=5).map(tuple),
    ),
    unique_by=lambda item: item.id,
    max_size=12,
)


@given(items=ITEMS)
def test_every_subject_and_every_pair_of_what_is_new_is_due_once(items: list[Item]) -> None:
    found = {one.keys: set(one.new) for one in due(items)}
    wanted: dict[tuple[str, ...], set[str]] = {}
    for item in items:
        for keys in [(key,) for key in item.keys] + [tuple(sorted(pair)) for pair in combinations(item.keys, 2)]:
            wanted.setdefault(keys, set()).add(item.id)
    assert found == wanted


def test_nothing_new_makes_nothing_due() -> None:
    assert due([]) == []
    assert due([Item("1", 0.5, ())]) == []


@pytest.mark.parametrize(("keys", "shared", "trivial"), [(("a",), 1, False), (("a", "b"), 2, True), (("a", "b"), 3, False)])
def test_a_pair_is_trivial_up_to_two_observations_and_a_subject_never(keys: tuple[str, ...], shared: int, trivial: bool) -> None:
    assert is_trivial(Due(keys, {"1": 0.5}), shared) is trivial


def test_worth_rises_with_what_is_new_and_with_what_nobody_wrote_yet() -> None:
    little, much = Due(("a",), {"1": 0.5}), Due(("a",), {"1": 0.5, "2": 0.8})
    assert worth(little, 5, True) < worth(much, 5, True) < worth(much, 5, False)
    pair = Due(("a", "b"), {"1": 0.5})
    assert worth(pair, 1, True) < worth(pair, 5, True) < worth(little, 5, True)


def test_what_is_known_already_is_not_due() -> None:
    assert Due(("a",), {"1": 0.5, "2": 0.25}).without({"1"}) == Due(("a",), {"2": 0.25})


@given(texts=st.lists(st.text(max_size=300), max_size=10), room=st.integers(1, 200))
def test_a_packet_keeps_its_budget_and_the_order_of_its_texts(texts: list[str], room: int) -> None:
    found = fitted(texts, room, lambda place, cut: tokens(cut.text) + place)
    assert sum(tokens(cut.text) + place for place, cut in enumerate(found)) <= room
    for text, cut in zip(texts, found, strict=False):
        assert cut.text == text if cut.whole else text.startswith(cut.text.removesuffix("…"))


@given(text=st.text(max_size=200), room=st.integers(0, 50))
def test_a_shortened_text_is_a_beginning_within_its_room(text: str, room: int) -> None:
    cut = shortened(text, room)
    assert tokens(cut.text) <= room
    assert cut.whole == (tokens(text) <= room)
    assert text.startswith(cut.text.removesuffix("…"))


def test_a_text_is_cut_at_a_word() -> None:
    assert shortened("one two three four five", 4).text == "one two…"


def test_a_script_of_more_bytes_takes_more_of_a_budget() -> None:
    assert len(shortened("天" * 400, 100).text) < 140 < 390 < len(shortened("a" * 500, 100).text)
