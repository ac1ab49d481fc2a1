"""Questions made of memories: the rarest words are left out, and too few words make none."""

from __future__ import annotations

from collections import Counter

from vault_tool.recall.proof_questions import question_of, stand_together, unrelated_question, words_of

FERRY = words_of("The ferry to Corfu leaves Brindisi at noon on Fridays")
PUMP = words_of("The pump in the cellar hums at night and wakes Marta")
COUNT = Counter([*FERRY, *PUMP, *FERRY, "corfu", "brindisi"])


def test_the_two_rarest_words_are_left_out() -> None:
    question = question_of("a", PUMP, {**dict.fromkeys(PUMP, 5), "cellar": 1, "marta": 2})
    assert question is not None
    assert set(question.masked) == {"cellar", "marta"}
    assert question.text == "the pump hums night and wakes"


def test_words_of_one_or_two_letters_do_not_count_and_too_few_make_no_question() -> None:
    assert words_of("We go to Ai by an old A7, 京都 too") == ("old", "京都", "too")
    assert question_of("a", words_of("Red boats sail far"), {}) is None
    assert question_of("a", words_of("Red boats sail far away"), {}) is not None


def test_a_text_with_all_words_fits_and_one_with_a_word_less_does_not() -> None:
    question = question_of("a", FERRY, COUNT)
    assert question is not None
    assert question.fits(frozenset(FERRY)) and not question.fits(frozenset(FERRY) - {question.words[0]})


def test_an_unrelated_question_has_two_words_of_each_and_knows_a_text_that_has_both() -> None:
    first, second = question_of("a", FERRY, COUNT), question_of("b", PUMP, COUNT)
    assert first is not None and second is not None
    pair = unrelated_question(first, second, COUNT)
    assert len(pair.words) == 4
    assert set(pair.words[:2]) <= set(FERRY) and set(pair.words[2:]) <= set(PUMP)
    assert not stand_together(pair, frozenset(pair.words[:2]))
    assert stand_together(pair, frozenset(pair.words[1:3]))
