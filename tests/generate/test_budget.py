"""Shares are fair, cuts fall at paragraphs, and no one source crowds out the others."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vault_tool.generate.budget import cut, interleaved, shares


@given(st.lists(st.integers(0, 5000), max_size=6), st.integers(-5, 8000))
def test_shares_use_all_that_is_wanted_and_there(wanted: list[int], total: int) -> None:
    granted = shares(wanted, total)
    assert all(0 <= got <= want for got, want in zip(granted, wanted, strict=True))
    assert sum(granted) == min(sum(wanted), max(0, total))


def test_what_one_leaves_goes_to_the_others_alike() -> None:
    assert shares([100, 1000, 1000], 1100) == (100, 500, 500)
    assert shares([10, 10], 100) == (10, 10)


@given(st.text(alphabet="ab \n", max_size=300), st.integers(0, 320))
def test_a_cut_is_a_beginning_within_its_limit(text: str, limit: int) -> None:
    found = cut(text, limit)
    assert len(found) <= limit
    assert text.startswith(found.removesuffix("…"))


def test_cuts_prefer_paragraphs_then_lines_then_words() -> None:
    assert cut("one two\n\nthree four\n\nfive", 20) == "one two\n\nthree four"
    assert cut("> one\n>\n> two\n>\n> three", 14) == "> one\n>\n> two"
    assert cut("one two\nthree four five", 12) == "one two"
    assert cut("one two three", 9) == "one two…"
    assert cut("onetwothree", 5) == ""
    assert cut("whole", 5) == "whole"


@given(st.lists(st.sampled_from(["", "", "agent a", "import b"]), max_size=60))
def test_no_source_takes_more_than_half_while_others_wait(sources: list[str]) -> None:
    items = list(enumerate(sources))
    found = interleaved(items, lambda item: item[1])
    assert sorted(found) == items
    for place, (_, source) in enumerate(found):
        waiting = {name for _, name in found[place:]} - {source}
        taken = sum(name == source for _, name in found[: place + 1])
        assert not source or not waiting or taken <= place // 2 + 1
    for name in set(sources):
        assert [item for item in found if item[1] == name] == [item for item in items if item[1] == name]


def test_the_best_comes_first_and_a_lone_source_keeps_its_order() -> None:
    assert interleaved([1, 2, 3], lambda _: "import x") == [1, 2, 3]
    assert interleaved(["a1", "a2", "a3", "a4", "b1", "b2"], lambda item: item[0]) == ["a1", "b1", "a2", "b2", "a3", "a4"]
