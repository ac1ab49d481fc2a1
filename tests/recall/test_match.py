from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.recall.candidates import candidate
from vault_tool.recall.match import (
    AGREES,
    AMONG,
    CONVERSATION_BASELINE,
    NEARER,
    NO_WORDS,
    baseline,
    beyond,
    certainty,
    match,
    pair_match,
)
from vault_tool.recall.weights import AMBIENT, LEAST, PROFILES, TARGETED


def test_a_match_is_on_an_absolute_scale() -> None:
    assert match(candidate("nothing", cosine=0.0)) < 0.05
    assert match(candidate("nothing")) < 0.05
    assert match(candidate("all words", words=1.0)) > AMBIENT.least
    assert match(candidate("meaning alone", cosine=5.0)) > AMBIENT.least
    assert certainty(candidate("an exact code that no model knows", words=1.0, cosine=0.5)) > TARGETED.weak
    assert certainty(candidate("all words", words=1.0)) > TARGETED.weak > certainty(candidate("nothing"))


def test_what_many_fit_as_well_is_no_sure_answer() -> None:
    several = [candidate(f"one of {AMONG}", words=0.9) for _ in range(AMONG)]
    assert certainty(several[0], baseline(several)) < TARGETED.weak < certainty(several[0], baseline(several[: AMONG - 1]))
    near = [candidate("as near as all are", cosine=6.0) for _ in range(AMONG)]
    assert certainty(near[0], baseline(near)) < TARGETED.weak < certainty(near[0], baseline(near[:1]))


def test_what_is_mentioned_by_more_than_chance_counts_beside_vectors_as_without() -> None:
    for mention in (0.55, 0.95):
        alone, beside = candidate("by words", words=mention), candidate("with vectors", words=mention, cosine=0.4)
        alone.mention = beside.mention = mention
        assert match(beside) == match(alone) > AMBIENT.least
        assert certainty(beside, CONVERSATION_BASELINE, page=True) == certainty(alone, CONVERSATION_BASELINE, page=True)
        assert match(candidate("asked", words=mention, cosine=0.4)) < match(beside)
    assert beyond(NO_WORDS, 5.0) > 0 > beyond(NO_WORDS, 4.0)
    assert beyond(1.0, 2.5) == 1.0 > beyond(1.0, 1.0)


@given(st.floats(0.01, 1.5), st.floats(0, 4))
def test_a_meaning_that_agrees_lowers_nothing(words: float, more: float) -> None:
    alone, agreeing = candidate("by words", words=words), candidate("with a meaning", words=words, cosine=AGREES + more)
    assert match(agreeing) >= match(alone)
    assert match(candidate("against", words=min(words, 0.9), cosine=0.0)) < match(candidate("alone", words=min(words, 0.9)))
    said = 10 * words - NO_WORDS
    assert beyond(said, AGREES + more) >= said > beyond(said, AGREES - 0.1)


def test_a_meaning_that_agrees_gives_no_words_to_what_has_none() -> None:
    assert match(candidate("no vector")) == 0.0
    assert match(candidate("no word", cosine=AGREES)) < TARGETED.least
    assert beyond(NO_WORDS, AGREES) == NO_WORDS


def test_what_is_asked_fits_as_what_is_said_does() -> None:
    said, asked = candidate("said", words=0.6, cosine=2.0), candidate("asked", words=0.2, cosine=2.0)
    said.mention, asked.heard = 0.6, 0.6
    assert match(asked) == match(said) > AMBIENT.least
    assert certainty(asked) == certainty(candidate("no sentence", words=0.2, cosine=2.0))
    asked = candidate("near among what is all far", cosine=5.0)
    asked.nearest = 0.5
    assert match(asked) == match(candidate("as near as its sentence", cosine=0.5 + NEARER))


def test_below_the_least_match_is_what_has_nothing_of_the_question() -> None:
    assert match(candidate("by words")) < LEAST < match(candidate("one word of many", words=0.02))
    assert match(candidate("by chance", words=0.05, cosine=1.0)) < LEAST < match(candidate("by meaning", cosine=2.0))


def test_one_word_that_stands_everywhere_is_still_one_word() -> None:
    told = candidate("a title that repeats it", words=1.7)
    told.covered = 0.15
    assert match(told) < AMBIENT.least
    assert certainty(told) < TARGETED.weak
    told.covered = 1.0
    assert match(told) > AMBIENT.least
    told.covered, told.cosine = 0.15, 0.0
    assert certainty(told) < TARGETED.weak


@given(st.floats(0, 3), st.floats(0, 3), st.floats(-3, 8), st.floats(0, 3))
def test_a_better_lane_never_matches_worse(words: float, more: float, cosine: float, nearer: float) -> None:
    base, better = candidate("base", words=words, cosine=cosine), candidate("more", words=words + more, cosine=cosine + nearer)
    for scale in (match, certainty):
        assert 0 <= scale(base) <= scale(better) <= 1
    assert pair_match(cosine + nearer) >= pair_match(cosine)


def test_unprompted_recall_is_stricter_than_an_asked_one() -> None:
    assert AMBIENT.least > TARGETED.least
    assert AMBIENT.weak >= TARGETED.weak
    for weights in PROFILES.values():
        assert weights.local_utility > weights.global_utility
