from __future__ import annotations

import pytest

from vault_tool.recall.question import read, word_count, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Why do Redis connections drop?", "Redis connections drop?"),
        ('What did we say about "idle limit" in May?', 'say "idle limit"'),
        ("Who are you?", "Who are you?"),
        ("接続はなぜ切れるのか", "接続はなぜ切れるのか"),
        ("I'm where?", "I'm where?"),
        ("", ""),
    ],
)
def test_only_what_tells_of_the_answer_is_searched(text: str, words: str) -> None:
    assert read(text).words == words


def test_names_are_runs_of_words_as_subjects_are_compared() -> None:
    names = read("What does Memory_System's owner say of the Home-Lab?").names
    assert {"memory system", "home lab", "owner"} <= set(names)
    assert "the" not in names


@pytest.mark.parametrize(("text", "own"), [("Where did I park?", True), ("my sprint", True), ("Where is mice?", False)])
def test_a_question_about_the_asker_is_known_by_its_pronouns(text: str, own: bool) -> None:
    assert read(text).own is own


def test_lengths_and_words_of_scripts_without_spaces() -> None:
    assert word_count("one two three") == 3
    assert word_count("猫" * 120) == 10
    assert words_of("Red red ice") == {"red", "ice"}
    assert len(words_of("東京都庁の設定について話しました") & words_of("東京都庁の設定について書きました")) > 5
