from __future__ import annotations

import pytest

from vault_tool.recall.question import MOST_SENTENCES, parse_question, without, word_count, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Why do Redis connections drop?", "Redis connections drop?"),
        ('What did they say about "idle limit" in May?', 'say "idle limit"'),
        ("Which bank did I go to before our move?", "bank I go before our move?"),
        ("Who are you?", "Who are you?"),
        ("接続はなぜ切れるのか", "接続はなぜ切れるのか"),
        ("I'm where?", "I'm"),
        ("", ""),
    ],
)
def test_only_what_tells_of_the_answer_is_searched(text: str, words: str) -> None:
    assert parse_question(text).words == words


def test_names_are_runs_of_words_as_subjects_are_compared() -> None:
    names = parse_question("What does Memory_System's owner say of the Home-Lab?").names
    assert {"memory system", "home lab", "owner"} <= set(names)
    assert "the" not in names


@pytest.mark.parametrize(("text", "own"), [("Where did I park?", True), ("my sprint", True), ("Where is mice?", False)])
def test_a_question_about_the_asker_is_known_by_its_pronouns(text: str, own: bool) -> None:
    assert parse_question(text).own is own


@pytest.mark.parametrize(
    ("text", "names", "rest"),
    [
        ("Why does Redis drop connections?", {"redis"}, "Why does drop connections?"),
        ("What is the Home-Lab server's job?", {"home lab", "home"}, "What is the server's job?"),
        ("Where did Ada's brother meet “Bob”?", {"ada", "bob"}, "Where did brother meet"),
        ("What about Redis?", {"redis"}, ""),
        ("Why do connections drop?", {"redis"}, ""),
    ],
)
def test_a_question_can_be_asked_without_the_names_in_it(text: str, names: set[str], rest: str) -> None:
    assert without(text, names) == rest


def test_what_is_said_is_read_in_sentences_without_what_frames_them() -> None:
    said = parse_question(
        "Morning! I saw Priya's Redis\nagain. It's late.\n- buy candles 。接続。\n\nAnd you?", conversational=True
    )
    assert [dict(one) for one in said.sentences] == [
        {"morning": 0.5},
        {"saw": 1.0, "priya": 1.0, "redis": 1.0},
        {"late": 0.5},
        {"buy": 1.0, "candles": 1.0},
        {"接続。": 1.0},
    ]
    assert said.conversational
    asked = parse_question("Why does Redis drop?")
    assert not asked.conversational and [dict(one) for one in asked.sentences] == [{"redis": 1.0, "drop": 1.0}]
    assert not parse_question("What is it?", conversational=True).conversational


def test_what_is_said_is_embedded_as_it_stands_and_names_count_in_either_number() -> None:
    said = parse_question("Morning! Would CRDTs have saved me? I couldn't say. LET US RELEASE IT", conversational=True)
    assert said.windows == ("Morning!", "Would CRDTs have saved me?", "LET US RELEASE IT")
    assert [dict(one) for one in said.sentences] == [{"morning": 0.5}, {"crdts": 1.7, "saved": 1.0}, {"let": 0.5, "release": 1.0}]
    assert {"release", "releases", "crdt"} <= set(said.names)
    assert "releases" not in parse_question("release it").names


def test_a_page_has_names_and_sentences_up_to_its_end() -> None:
    page = parse_question(f"{'We talked about nothing. ' * 20} Then Priya wrote.")
    assert page.page and "priya" in page.names and dict(page.sentences[-1]) == {"priya": 1.0, "wrote": 1.0}
    endless = parse_question(" ".join(f"word{n}" for n in range(10_000)))
    assert len(endless.sentences) == MOST_SENTENCES and "word9999" in endless.sentences[-1]


def test_lengths_and_words_of_scripts_without_spaces() -> None:
    assert word_count("one two three") == 3
    assert word_count("猫" * 120) == 10
    assert words_of("Red red ice") == {"red", "ice"}
    assert len(words_of("東京都庁の設定について話しました") & words_of("東京都庁の設定について書きました")) > 5
