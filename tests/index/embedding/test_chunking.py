"""Which texts stand for a note: no word is lost, none is longer than the window, each says what it is about."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from vault_tool.index.embedding.chunking import passages

LONG = " ".join(f"Sentence number {number} tells of the move to Postgres." for number in range(60))


def test_a_short_note_is_one_passage_with_who_and_what() -> None:
    assert passages("The move", "We moved to Postgres.", "Ada", ["Homelab", "Databases"]) == (
        "Ada, Homelab, Databases: The move. We moved to Postgres.",
    )


def test_a_title_that_the_body_begins_with_counts_once() -> None:
    assert passages("We moved to Postgres…", "We moved  to Postgres last week.") == ("We moved  to Postgres last week.",)
    assert passages("We moved.", "", subjects=["Ada"]) == ("Ada: We moved.",)


def test_a_name_counts_once() -> None:
    assert passages("", "Hello.", "Ada", ["Ada", "Bob"]) == ("Ada, Bob: Hello.",)


def test_nothing_is_one_empty_text() -> None:
    assert passages("", "") == ("",)


def test_a_long_note_overlaps_at_sentences() -> None:
    found = passages("The move", LONG, window=400)
    assert len(found) > 5
    assert all(len(one) <= 400 for one in found)
    assert all(one.startswith("The move. Sentence number") and one.endswith(".") for one in found)
    for earlier, later in pairwise(found):
        repeated = later.removeprefix("The move. ").split(". ")[0]
        assert repeated in earlier


def test_without_overlap_the_passages_are_the_note() -> None:
    found = passages("", LONG, window=400, overlap=0)
    assert " ".join(found) == LONG


def test_a_paragraph_is_kept_together_where_it_fits() -> None:
    body = "First thought. " * 20 + "\n\n" + "Second thought. " * 20
    assert passages("", body, window=400, overlap=0)[0].endswith("First thought.")


def test_wide_scripts_take_smaller_passages() -> None:
    found = passages("", "記憶は文章である。" * 100, window=400)
    assert max(map(len, found)) <= 100
    assert all(one.endswith("。") for one in found)
    assert max(map(len, passages("", "Слово за слово. " * 100, window=400))) <= 240


def test_a_word_without_end_is_cut() -> None:
    found = passages("", "x" * 1000, window=300, overlap=0)
    assert "".join(found) == "x" * 1000
    assert max(map(len, found)) == 300


def test_a_title_and_subjects_without_end_leave_room_for_the_text() -> None:
    found = passages("word " * 500, "The body says something.", "Ada", [f"Subject {n}" for n in range(200)], window=300)
    assert len(found) == 1
    assert len(found[0]) <= 300
    assert found[0].endswith("The body says something.")


@settings(deadline=None)
@given(st.text(max_size=400), st.text(max_size=30), st.integers(40, 200), st.sampled_from([0.0, 0.15, 0.5]))
def test_no_word_is_lost_and_it_ends(body: str, title: str, window: int, overlap: float) -> None:
    found = passages(title, body, window=window, overlap=overlap)
    assert 1 <= len(found) <= len(body) + 1
    joined = "".join(found)
    assert all(character in joined for character in body if not character.isspace())
