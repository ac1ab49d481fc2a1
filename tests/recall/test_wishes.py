"""What somebody wants in general, told by its words."""

from __future__ import annotations

import pytest

from vault_tool.recall.wishes import asks_for_advice, wish_in


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("Always use metric units in reports.", "instruction"),
        ("Never push to main without a review.", "instruction"),
        ("Please always answer in German.", "instruction"),
        ("From now on, name branches after tickets.", "instruction"),
        ("When I ask for a recipe, leave out nuts.", "instruction"),
        ("Immer zuerst die Tests laufen lassen.", "instruction"),
        ("I prefer tea over coffee.", "preference"),
        ("I'd rather walk than drive.", "preference"),
        ("I'm allergic to nuts.", "preference"),
        ("I don't like crowded places.", "preference"),
        ("My favourite editor is Helix.", "preference"),
        ("Ada: I can't stand loud music.", "preference"),
        ("The user prefers short answers.", "preference"),
        ("Always On VPN", ""),
        ("Always Use Strict Mode In Shell Scripts", ""),
        ("Never say never", ""),
        ("The service always restarts at noon.", ""),
        ("Redis drops idle connections.", ""),
        ("", ""),
    ],
)
def test_a_wish_is_told_from_a_title_and_a_fact(text: str, wish: str) -> None:
    assert wish_in(text) == wish


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("what would you recommend for dinner?", True),
        ("how do I format a table?", True),
        ("could you help me plan a trip?", True),
        ("where should I stay in Lyon?", True),
        ("what did you recommend for dinner?", False),
        ("summarize how we should have done it", False),
        ("when did Ada leave?", False),
        ("what is the ideal temperature?", False),
    ],
)
def test_a_question_asks_for_advice_or_looks_back(text: str, advice: bool) -> None:
    assert asks_for_advice(text) == advice
