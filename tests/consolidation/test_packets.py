from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vault_tool.consolidation.packets import (
    MOST_TAGS,
    Due,
    fitted,
    in_order,
    is_contained,
    keys_of,
    news_first,
    shortened,
    weight,
)
from vault_tool.util.text import tokens

IDS = st.sets(st.sampled_from("123456789"), min_size=1)
CANDIDATES = st.dictionaries(st.sampled_from("abcdef"), IDS, max_size=6)


def due(keys: str, new: Iterable[str], **more: Any) -> Due:
    return Due(keys=tuple(keys), weights=dict.fromkeys(sorted(new), 1.0), tokens=100, **more)


@pytest.mark.parametrize(("keys", "packets"), [("", []), ("b", ["b"]), ("ba", ["b", "a", "ab"])])
def test_a_memory_is_in_the_packet_of_each_subject_and_of_each_pair(keys: str, packets: list[str]) -> None:
    assert ["".join(one) for one in keys_of(keys)] == packets


def test_a_memory_of_many_subjects_makes_few_pairs() -> None:
    assert sum(len(one) > 1 for one in keys_of([str(number) for number in range(40)])) == MOST_TAGS * (MOST_TAGS - 1) / 2


@given(found=CANDIDATES, known=IDS)
def test_a_pass_takes_the_best_first_and_no_repetition(found: dict[str, set[str]], known: set[str]) -> None:
    """The same as looking at all of them again for each turn."""
    candidates: dict[tuple[str, ...], Due] = {(key,): due(key, new) for key, new in found.items()}
    names = {keys: keys[0] for keys in candidates}
    taken = in_order(candidates, names, known)
    shown, waiting, wanted = set(known), dict(candidates), []
    while waiting := {keys: one for keys, one in waiting.items() if one.says_enough(shown)}:
        best = min(waiting, key=lambda keys: (-waiting[keys].worth(shown), names[keys]))
        wanted.append((waiting[best], waiting[best].worth(shown)))
        shown |= set(waiting.pop(best).weights)
    assert taken == wanted


@pytest.mark.parametrize(
    ("new", "known", "enough"), [("123", "", True), ("1234", "12", True), ("1234", "123", False), ("12345678", "12345", True)]
)
def test_what_is_mostly_shown_already_says_too_little(new: str, known: str, enough: bool) -> None:
    assert due("a", new).says_enough(set(known)) is enough


def test_what_is_overtaken_is_no_news() -> None:
    packet = Due(keys=("a",), weights={"1": 0.0, "2": 0.0, "3": 1.0, "4": 1.0, "5": 1.0}, tokens=100)
    assert not packet.says_enough({"3", "4"}) and packet.says_enough({"3"})
    assert Due(keys=("a",), weights={"1": 0.0}).says_enough(set())
    assert not Due(keys=("a",), weights={"1": 0.0}).says_enough({"1"})


@pytest.mark.parametrize(
    ("few", "shaken", "order"),
    [(4, False, "nomr"), (3, False, "nom"), (2, False, "no"), (0, False, "no"), (0, True, "nor")],
)
def test_what_other_texts_rest_on_already_comes_after_the_news_and_fills_a_small_pass(few: int, shaken: bool, order: str) -> None:
    repeated = due("r", "def", shaken=True) if shaken else due("r", "de")
    packets = {packet.keys: packet for packet in (due("n", "1234"), due("o", "567"), due("m", "abc8"), repeated)}
    names = {keys: keys[0] for keys in packets}
    taken = news_first(packets, names, (), set("abcdef"), few)
    assert "".join(packet.keys[0] for packet, _ in taken) == order


def test_a_repetition_within_one_pass_is_left_also_where_it_fills_a_small_one() -> None:
    packets = {packet.keys: packet for packet in (due("n", "1234"), due("r", "234"))}
    taken = news_first(packets, {keys: keys[0] for keys in packets}, (), "", 4)
    assert [packet.keys for packet, _ in taken] == [("n",)]


def test_worth_rises_with_what_is_new_and_with_doubts_of_what_was_written() -> None:
    little = due("a", "12")
    assert little.worth({"1"}) < little.worth() < due("a", "123").worth()
    assert little.worth() < due("a", "12", shown=3).worth() < due("a", "12", shaken=True).worth()
    assert due("ab", "12").worth() == little.worth() / 2
    assert (
        Due(keys=("a",), weights={"1": 1.0}, tokens=400).worth() == Due(keys=("a",), weights={"1": 1.0}, tokens=100).worth() / 2
    )


def test_what_changes_or_solves_weighs_more_than_a_fact_and_what_is_related_twice() -> None:
    kinds = ["change", "solution", "problem", "preference", "fact"]
    found = [weight(kind, {"preference": 1.0}.get(kind, 0.5), related=False) for kind in kinds]
    assert found == sorted(found, reverse=True) and found[-1] >= 0.8
    assert weight("fact", 0.5, related=True) == 2 * found[-1]


@pytest.mark.parametrize(
    ("shared", "one", "other", "part"), [(4, 5, 90, True), (3, 4, 4, False), (3, 3, 9, True), (3, 9, 9, False)]
)
def test_a_subject_that_shares_most_of_what_it_has_is_a_part(shared: int, one: int, other: int, part: bool) -> None:
    assert is_contained(shared, one, other) is part


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
