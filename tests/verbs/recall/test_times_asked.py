"""Questions that name a time find what was observed then, or is about it."""

from __future__ import annotations

import pytest

from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle

pytestmark = pytest.mark.without_git


def _titles(vault: Vault, query: str) -> list[str]:
    answer = vault.recall(query)
    assert isinstance(answer, Bundle)
    return [f"{one.title}." for one in answer.results]


def _tell(vault: Vault, *told: tuple[str, str]) -> None:
    for day, text in told:
        vault.remember(text, ["Ada"], observed_at=f"{day}T10:00:00+00:00")


@pytest.fixture
def diary(vault: Vault) -> Vault:
    """A vault with a few days of a diary."""
    _tell(
        vault,
        ("2023-05-07", "Ada painted a lake at noon."),
        ("2023-05-08", "Ada painted a barn at noon."),
        ("2024-05-07", "Ada painted a bridge at noon."),
        ("2026-11-10", "Ada painted a mill at noon."),
        ("2026-11-19", "The kettle was repaired."),
    )
    return vault


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("what did Ada paint on 7 May 2023?", "Ada painted a lake at noon."),
        ("what did Ada paint on May 8, 2023?", "Ada painted a barn at noon."),
        ("what did Ada paint in May 2024?", "Ada painted a bridge at noon."),
        ("what did Ada paint last week?", "Ada painted a mill at noon."),
        ("was malte Ada letzte Woche?", "Ada painted a mill at noon."),
        ("what did Ada paint in 2024?", "Ada painted a bridge at noon."),
    ],
)
def test_what_was_observed_then_comes_first(diary: Vault, query: str, first: str) -> None:
    assert _titles(diary, query)[0] == first


def test_a_named_day_is_found_without_a_shared_word(diary: Vault) -> None:
    assert _titles(diary, "anything about household appliances on 19 November 2026?") == ["The kettle was repaired."]


def test_a_question_for_a_time_alone_is_answered_by_all_of_it(diary: Vault) -> None:
    assert _titles(diary, "what happened yesterday?") == ["The kettle was repaired."]
    answer = diary.recall("what happened in May 2023?")
    assert isinstance(answer, Bundle)
    assert [one.title for one in answer.results[:2]] == ["Ada painted a barn at noon", "Ada painted a lake at noon"]
    assert not answer.results[0].weak and "of a time that is named" in answer.results[0].why


def test_what_tells_of_a_day_is_found_by_that_day(diary: Vault) -> None:
    diary.remember("The dentist expects Bo on 3 March 2027.", ["Bo"])
    diary.remember("The dentist expects Cy on 9 April 2027.", ["Cy"])

    assert _titles(diary, "whom does the dentist expect on 2027-04-09?")[0] == "The dentist expects Cy on 9 April 2027."
    assert _titles(diary, "whom does the dentist expect on 2027-03-03?")[0] == "The dentist expects Bo on 3 March 2027."


def test_a_time_that_nothing_is_of_brings_nothing(diary: Vault) -> None:
    assert _titles(diary, "what happened on 3 March 1999?") == []


def test_the_memory_of_a_named_day_is_sure_though_it_has_none_of_the_words_of_the_day(diary: Vault) -> None:
    dated, undated = (
        diary.recall(query) for query in ("what did Ada paint on 7 May 2023?", "what did Ada paint in Paris for Cy?")
    )

    assert isinstance(dated, Bundle) and isinstance(undated, Bundle)
    assert not dated.results[0].weak and undated.results[0].weak
