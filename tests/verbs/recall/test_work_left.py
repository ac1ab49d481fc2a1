"""The question where the work was left is answered with what was left to do, whatever words that has."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.recall.wishes import asks_what_is_left
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

ARMS = "The rocking chair needs arms. Next: turn them on the lathe."
CANE = "The seat of the rocking chair waits for its cane."
ASKED = (
    "Where was the work left?", "What is left to do?", "what's next?", "Where did we leave off?", "Where were we?",
    "what comes next", "Continue the work", "What should I do next?", "What is still open here?", "next steps",
)  # fmt: skip
OTHERS = (
    "Where did Ann leave the keys?", "What was left of the cake?", "Where is the work bench?", "What is next to the church?",
    "Continue the fence to the gate", "Where does the lathe stand?", "What did Kaspar do next with the oak?",
)  # fmt: skip


@pytest.mark.parametrize("question", ASKED)
def test_where_the_work_was_left_is_found_whatever_words_it_has(vault: Vault, question: str) -> None:
    vault.remember("Runa pays by cheque.", ["Runa"], kind="fact")
    vault.remember(ARMS, kind="task_state")
    bundle = vault.recall(question)
    assert isinstance(bundle, Bundle)
    first = bundle.results[0]
    assert (first.content, first.weak) == (ARMS, False)
    assert "where the work was left" in first.why


def sure(vault: Vault, question: str) -> set[str]:
    bundle = vault.recall(question)
    assert isinstance(bundle, Bundle)
    return {result.content for result in bundle.results if not result.weak}


@pytest.mark.parametrize("question", OTHERS)
def test_what_asks_for_something_else_is_no_such_question(question: str) -> None:
    assert not asks_what_is_left(question)


def test_it_is_of_the_project_that_is_worked_on_and_the_latest(root: Path, clock: FixedClock) -> None:
    for project, text in (("Planner", "The planner waits for its migration."), ("Sender", "The sender counts twice.")):
        with Vault.open(root, origin="agent", clock=clock, session=project, project=project) as vault:
            vault.create_subjects([{"name": project}])
            vault.end_session(left_to_do=text)
    with Vault.open(root, origin="agent", clock=clock, project="Planner", session="s9") as vault:
        assert sure(vault, "Where was the work left?") == {"The planner waits for its migration."}
        for number in range(4):
            clock.advance(timedelta(days=1))
            vault.remember(f"State {number} of the planner.", ["Planner"], kind="task_state")
        assert sure(vault, "What is left to do?") == {f"State {number} of the planner." for number in (1, 2, 3)}


def test_work_that_was_closed_is_left_no_longer_by_any_door(root: Path, clock: FixedClock) -> None:
    with Vault.open(root, origin="agent", clock=clock, session="s1") as vault:
        vault.remember(ARMS, kind="task_state")
        clock.advance(timedelta(hours=1))
        seat = vault.remember(CANE, kind="task_state")
        assert sure(vault, "Where was the work left?") == {ARMS, CANE}
        vault.correct(seat.id, "It is woven.")
        assert sure(vault, "Where was the work left?") == {ARMS}
        assert CANE not in vault.core(preview=True).text
        bundle = vault.recall("Where was the work left?")
        assert isinstance(bundle, Bundle) and bundle.results[0].content == ARMS
