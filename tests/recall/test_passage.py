"""The passage beside a title that names nothing of the question."""

from __future__ import annotations

from vault_tool.recall.passage import with_passage


def test_an_address_in_a_passage_is_cut_so_that_it_is_no_wider_than_its_column() -> None:
    text = 'A frame: src="https://video.example.org/embed/iframe/f2674kdaot?component=true&seo=false" and the phone plays it.'
    shown = with_passage("Interpreter", text, "which phone plays frames")
    assert shown.startswith("Interpreter: A frame: ") and shown.endswith("the phone plays it.")
    assert "https://video" in shown and max(map(len, shown.split())) <= 24


def test_a_title_that_names_something_of_the_question_stands_alone() -> None:
    assert with_passage("Phones", "A phone plays frames.", "which phone plays frames") == "Phones"
