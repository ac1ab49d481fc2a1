"""What is weak says why, alike at every door."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle

pytestmark = pytest.mark.without_git

DESK = "The phone at the front desk of the clinic is answered from eight in the morning."


def _first(vault: Vault, question: str) -> tuple[bool, str]:
    answer = vault.recall(question, count=False)
    assert isinstance(answer, Bundle)
    assert (answer.best_answer is None) == answer.results[0].weak
    return answer.results[0].weak, answer.results[0].weak_why


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("phone at the front desk of the clinic", (False, "")),
        ("phone 869869919842 at the front desk of the clinic", (True, "no word of *869869919842*")),
        ("is ticket QX-7781 about the phone at the front desk of the clinic", (True, "no word of *qx-7781*")),
        ("was the line at the front desk of the clinic moved to VOIP9 by phone", (True, "no word of *voip9*")),
        ("does Katharina answer the phone at the front desk of the clinic in the morning", (True, "no word of *katharina*")),
        ("phone charger tariff roaming abroad contract", (True, "only 1 of 6 words")),
    ],
)
def test_the_reason_stands_beside_it(vault: Vault, question: str, told: tuple[bool, str]) -> None:
    made = vault.remember(DESK, ["Clinic"])
    assert _first(vault, question) == told
    doors: Mapping[str, tuple[bool | None, str]] = {
        "search": next((one.weak, one.weak_why) for one in vault.search(question).results if one.id == made.id),
        "read": next((one.weak, one.weak_why) for one in vault.read(question).results),
        "lean": _lean(vault, question),
    }
    assert set(doors.values()) == {told}, doors
    why = vault.recall(question, why_not=made.id, count=False).why_not  # type: ignore[union-attr]
    assert why is not None
    assert (why.weak, why.weak_why) == told


def _lean(vault: Vault, question: str) -> tuple[bool, str]:
    found = vault.recall(question, count=False).lean(str)["results"][0]
    return found.get("weak", False), found.get("weak_why", "")


def test_where_several_fit_alike_nothing_stands_out(vault: Vault) -> None:
    for room in ("kitchen", "cellar", "attic", "garage", "garden"):
        vault.remember(f"The window of the {room} was painted by the neighbours in the summer.")
    assert _first(vault, "which window was painted by the neighbours in the summer last") == (True, "nothing stands out")


def test_a_name_that_a_memory_has_by_its_subject_is_there(vault: Vault) -> None:
    vault.create_subjects([{"name": "Katharina Berg", "aliases": ["Kathi"]}])
    vault.remember("She answers the phone at the front desk in the morning.", ["Katharina Berg"])
    assert _first(vault, "does Kathi answer the phone at the front desk in the morning") == (False, "")


def test_what_lacks_a_name_comes_after_what_has_it(vault: Vault) -> None:
    vault.remember("The house by the lake has a boat, and the keys of the boat hang in the kitchen of the house.")
    with_name = vault.remember("Miro keeps the keys of the boat.")
    answer = vault.recall("where does Miro keep the keys of the boat of the house by the lake", count=False)
    assert isinstance(answer, Bundle)
    assert [one.weak for one in answer.results] == sorted(one.weak for one in answer.results)
    lacking = [one for one in answer.results if "miro" in one.weak_why]
    assert with_name.id not in {one.id for one in lacking}
    assert lacking
