"""Articles before words of a vault."""

from __future__ import annotations

import pytest

from vault_tool.util.text import with_article


@pytest.mark.parametrize(
    ("noun", "written"),
    [
        ("soul", "a soul"), ("orientation", "an orientation"), ("understanding", "an understanding"), ("edge", "an edge"),
        ("insight", "an insight"), ("user_story", "a user_story"), ("unit", "a unit"), ("hour", "an hour"),
        ("one_off", "a one_off"),
    ],
)  # fmt: skip
def test_a_word_has_its_article(noun: str, written: str) -> None:
    assert with_article(noun) == written
