"""Filters of kinds and the chains: what a filter hides still leads to what it lets through, and nothing stale comes unmarked."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest

from tests.cli.typed import vt
from tests.statuses import overtaken_by, why
from vault_tool import Vault
from vault_tool.features.contracts.read import ReadMemory
from vault_tool.features.recall.recall import Bundle
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

SEED_KINDS = ("problem", "solution", "failed_tactic", "fact", "preference")
"""What the contract's own example asks for: no changes among them."""

HANGS = "The quartz queue hangs after every restart of the night."
MINUTE = timedelta(minutes=1)
QUESTION = "the quartz queue hangs after every restart of the night"


def asked(vault: Vault, query: str, *, limit: int = 10, kinds: Sequence[str] = ()) -> Bundle:
    found = vault.recall(query, limit, kinds=kinds)
    assert isinstance(found, Bundle)
    return found


def read(vault: Vault, query: str, *, kinds: Sequence[str] = SEED_KINDS, update_links: bool = True) -> dict[str, ReadMemory]:
    found = vault.read(query, kinds=kinds, include_update_links=update_links)
    return {one.memory_id: one for one in found.results}


@pytest.fixture
def lab(vault: Vault, clock: FixedClock) -> dict[str, str]:
    """A problem whose solution and failed tactic share no word with it, among other things."""
    for number, thing in enumerate(("printer", "heater", "kettle", "scanner", "router", "ledger")):
        vault.remember(f"The {thing} in room {number} is checked on Mondays.", [thing], kind="fact")
        vault.remember(f"Cleaning the {thing} with vinegar works.", [thing], kind="solution")
    problem = vault.remember(HANGS, kind="problem")
    failed = vault.remember(
        "Doubling the workers.", kind="failed_tactic", problem=problem.id, failure_mode="the lock was still held"
    )
    clock.advance(MINUTE)
    solved = vault.remember("Removing stale locks at boot.", kind="solution", problem=problem.id)
    return {"problem": problem.id, "failed": failed.id, "solution": solved.id}


@pytest.mark.parametrize("kinds", [("solution", "failed_tactic"), ("solution",), ("failed_tactic",)])
def test_a_problem_that_a_filter_hides_leads_to_what_was_done_about_it(
    vault: Vault, lab: dict[str, str], kinds: tuple[str, ...]
) -> None:
    names = ["solution", "failed"] if len(kinds) == 2 else ["solution" if kinds == ("solution",) else "failed"]
    wanted = [lab[name] for name in names]
    found = asked(vault, QUESTION, kinds=kinds)
    assert [one.id for one in found.results[: len(wanted)]] == wanted
    assert not any(one.weak for one in found.results[: len(wanted)])
    assert {one.type for one in found.results} <= set(kinds)
    unfiltered = {one.id: one.match for one in asked(vault, QUESTION).results}
    assert [one.match for one in found.results[: len(wanted)]] == pytest.approx([unfiltered[one] for one in wanted], abs=0.05)
    assert {one.id for one in vault.bring_to_mind(QUESTION, kinds=kinds).results} >= set(wanted)
    assert set(wanted) <= read(vault, QUESTION, kinds=kinds).keys()


def test_what_fits_by_a_chance_word_does_not_lead_in_place_of_the_problem(vault: Vault, clock: FixedClock) -> None:
    problem = vault.remember("The queue hangs after a restart.", kind="problem").id
    failed = vault.remember("Restart it twice.", kind="failed_tactic", problem=problem).id
    clock.advance(MINUTE)
    solved = vault.remember("Delete the stale lock.", kind="solution", problem=problem).id
    found = asked(vault, "the queue hangs after a restart", kinds=("solution", "failed_tactic")).results
    assert [(one.id, one.weak) for one in found] == [(solved, False), (failed, False)]


def test_what_a_filter_hides_is_never_an_answer(vault: Vault, lab: dict[str, str]) -> None:
    for kinds in (("solution",), ("fact",), ("preference",)):
        assert {one.type for one in asked(vault, QUESTION, kinds=kinds).results} <= set(kinds)


def test_other_filters_hold_for_what_leads_on_too(vault: Vault, lab: dict[str, str]) -> None:
    other = vault.as_(project="other")
    problem = other.remember("The quartz queue hangs after every restart of the night, here as well.", kind="problem")
    theirs = other.remember("Reading the manual.", kind="solution", problem=problem.id)
    vault.as_(project="ours").remember("Locks are removed at boot.", kind="solution")
    found = vault.recall(QUESTION, kinds=("solution",), project="ours")
    assert isinstance(found, Bundle)
    assert theirs.id not in [one.id for one in found.results] and lab["solution"] not in [one.id for one in found.results]


def test_a_stale_fact_brings_its_change_whatever_kinds_are_asked_for(vault: Vault, clock: FixedClock) -> None:
    fact = vault.remember("The quartz queue listens on port 6379.", ["Quartz"], kind="fact")
    clock.advance(MINUTE)
    change = vault.remember("It was moved to 6380 in May.", ["Quartz"], kind="change", change_targets=[fact.id])
    for found in (read(vault, "quartz queue port"), read(vault, "quartz queue port", kinds=("fact",))):
        assert list(found) == [change.id, fact.id]
        assert (overtaken_by(found[fact.id]), found[change.id].came_with) == (change.id, fact.id)
    alone = read(vault, "quartz queue port", update_links=False)
    assert (list(alone), overtaken_by(alone[fact.id])) == ([fact.id], change.id)
    assert [one.id for one in asked(vault, "quartz queue port", kinds=("fact",)).results] == [change.id, fact.id]


def test_what_was_overtaken_never_comes_without_its_change_though_that_was_seen(vault: Vault, clock: FixedClock) -> None:
    texts = ("The quartz queue listens on port 6379.", "Backups of the ledger run at noon.")
    facts = [vault.remember(text, kind="fact").id for text in texts]
    clock.advance(MINUTE)
    change = vault.remember("All of it was moved in May.", kind="change", change_targets=facts).id
    agent = vault.as_(session="s1")
    first = agent.bring_to_mind(texts[0], kinds=["fact"])
    assert [one.id for one in first.results] == [change, facts[0]]
    second = agent.bring_to_mind(texts[1], first.heartbeat_token, kinds=["fact"])
    assert [(one.id, overtaken_by(one)) for one in second.results] == [(change, None), (facts[1], change)]
    third = agent.bring_to_mind(texts[1], second.heartbeat_token, kinds=["fact"])
    assert third.results == (), "what it overtook was seen as well"


def test_a_search_marks_what_was_overtaken_or_is_questioned(vault: Vault, clock: FixedClock) -> None:
    fact = vault.remember("The quartz queue listens on port 6379.", ["Quartz"], kind="fact")
    clock.advance(MINUTE)
    change = vault.remember("It was moved to 6380 in May.", kind="change", change_targets=[fact.id])
    vault.mark_questionable(fact.id, "The firewall says otherwise.")
    new, one = vault.search("quartz queue port", kinds=["fact"]).results
    assert (new.id, one.id) == (change.id, fact.id)
    assert (overtaken_by(one), why(one, "questioned")) == (change.id, "The firewall says otherwise.")
    printed = vt("--vault", str(vault.root), "search", "quartz", "queue", "port").stdout
    assert f"{fact.id[:6]} is overtaken by {change.id[:6]}" in printed
    assert f"{fact.id[:6]} is questioned: The firewall says otherwise." in printed


def test_a_change_that_nobody_linked_marks_what_it_overtook_under_a_filter_too(vault: Vault, clock: FixedClock) -> None:
    fact = vault.remember("The quartz queue listens on port 6379 of the lab.", ["Quartz"], kind="fact")
    clock.advance(MINUTE)
    change = vault.remember("The quartz queue of the lab now listens on port 6380.", ["Quartz"], kind="change")
    results = asked(vault, "which port does the quartz queue listen on?", kinds=("fact",)).results
    assert [(one.id, overtaken_by(one)) for one in results] == [(change.id, None), (fact.id, change.id)]


def test_a_change_of_a_change_comes_along(vault: Vault, clock: FixedClock) -> None:
    fact = vault.remember("The quartz queue listens on port 6379.", ["Quartz"], kind="fact")
    clock.advance(MINUTE)
    first = vault.remember("It was moved to 6380 in May.", kind="change", change_targets=[fact.id])
    clock.advance(MINUTE)
    second = vault.remember("It is back on its old number since June.", kind="change", change_targets=[first.id])
    found = read(vault, "quartz queue port 6379")
    assert set(found) == {fact.id, first.id, second.id}
    assert next(iter(found)) == second.id
    assert (overtaken_by(found[fact.id]), overtaken_by(found[first.id])) == (first.id, second.id)


def test_a_later_success_is_linked_to_what_failed(vault: Vault, lab: dict[str, str], clock: FixedClock) -> None:
    by_id = {one.id: one for one in asked(vault, QUESTION).results}
    assert by_id[lab["failed"]].solved_by == lab["solution"]
    assert by_id[lab["failed"]].lean(lambda identity: identity[:6])["solved_by"] == lab["solution"][:6]
    assert read(vault, QUESTION)[lab["failed"]].solved_by == lab["solution"]
    assert vault.show(lab["failed"]).solved_by == lab["solution"]
    clock.advance(MINUTE)
    later = vault.remember("Halving the workers.", kind="failed_tactic", problem=lab["problem"])
    assert vault.show(later.id).solved_by is None, "what failed after it was not solved by it"


def test_a_success_and_a_failure_of_the_same_words_are_both_told(vault: Vault, lab: dict[str, str]) -> None:
    made = [vault.remember("Restarting the quartz pod twice.", kind=kind, problem=lab["problem"]).id
            for kind in ("solution", "failed_tactic")]  # fmt: skip
    assert set(made) <= {one.id for one in asked(vault, "restarting the quartz pod twice").results}


def test_the_same_words_with_other_steps_or_for_another_problem_are_all_told(vault: Vault, lab: dict[str, str]) -> None:
    steps = [vault.remember("How the quartz pod is restored.", kind="procedure", steps=[step]).id for step in ("Wait.", "Pray.")]
    assert set(steps) <= {one.id for one in asked(vault, "how is the quartz pod restored").results}
    other = vault.remember("The kettle leaks.", kind="problem").id
    same = [vault.remember("Turning it off and on.", kind="solution", problem=problem).id for problem in (lab["problem"], other)]
    assert set(same) <= {one.id for one in asked(vault, "turning it off and on").results}


def test_of_what_failed_the_best_fit_is_first(vault: Vault, lab: dict[str, str]) -> None:
    tactics = [
        vault.remember(text, kind="failed_tactic", problem=lab["problem"]).id
        for text in (
            "Restarting the broker.",
            "Restarting the quartz broker with fewer threads.",
            "Restarting it.",
            "Fewer threads.",
        )
    ]
    found = [
        one for one in asked(vault, "restarting the quartz broker with fewer threads").results if one.type == "failed_tactic"
    ]
    assert found[0].id == tactics[1]
    scores = [one.score for one in found]
    assert scores == sorted(scores, reverse=True) and len(set(scores)) == len(scores)
    assert [one.match for one in found] == sorted((one.match for one in found), reverse=True)
