"""The present state as one document: what is active, with what replaced it and what changed it since."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.statuses import said
from tests.verbs.looking import head, untouched
from vault_tool import Vault
from vault_tool.features.recall.present_state import PROJECTION_VERSION, PresentMemory

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def told(vault: Vault) -> dict[str, PresentMemory]:
    return {one.id: one for one in vault.snapshot().memories}


@pytest.mark.in_git
def test_every_active_memory_with_its_belief_and_use(vault: Vault, root: Path) -> None:
    problem = vault.remember("Redis drops connections.", ["Redis"], kind="problem")
    made = vault.as_(model="m1").write("Keepalive helps.", "solution", 0.9, problem_id=problem.id, subject_names=["Redis"])
    vault.get(made.memory_id or "")
    vault.mark_questionable(made.memory_id or "", "is it?")
    with untouched(root):
        found = vault.snapshot()
    one = next(one for one in found.memories if one.id == made.memory_id)
    assert (one.record_class, one.type, one.title, one.content) == (
        "observation",
        "solution",
        "Keepalive helps",
        "Keepalive helps.",
    )
    assert (one.subjects, one.problem, one.origin, one.model) == (("Redis",), problem.id, "agent", "m1")
    assert (one.truth, one.access_count, one.questionable, bool(said(one, "doubtful"))) == (0.9, 1, 1, False)
    assert one.utility == pytest.approx(vault.show(one.id).utility, abs=1e-4)
    assert (one.replaces, one.later) == ((), ())
    assert (found.version, found.as_of, found.commit) == (PROJECTION_VERSION, "2026-11-20T10:00:00+00:00", head(root))
    assert found.count == len(found.memories) == len({one.id for one in found.memories})
    assert set(found.made_from) == {one.id for one in found.memories}
    assert [one.decay_score for one in found.memories] == sorted((one.decay_score for one in found.memories), reverse=True)


def test_what_was_replaced_is_named_but_no_memory_of_its_own(vault: Vault) -> None:
    first = vault.create_understanding(["Redis"], "One.", summary="One").id
    second = vault.update_understanding(first, "Two.", "Two").new_understanding_id
    third = vault.update_understanding(second, "Three.", "Three").new_understanding_id
    found = told(vault)
    assert found[third].replaces == (second, first)
    assert {first, second}.isdisjoint(found)
    assert {first, second, third} <= set(vault.snapshot().made_from)


def test_the_update_chain_is_resolved_in_order(vault: Vault) -> None:
    fact = vault.write("The column is y.", "fact", 0.9).memory_id or ""
    change = vault.write("The column is z since July.", "change", 0.8, change_targets=[fact]).memory_id or ""
    again = vault.write("The column is zz since August.", "change", 0.7, change_targets=[change]).memory_id or ""
    edge = vault.write("The table is gone.", "fact", 0.6).memory_id or ""
    vault.link(edge, "CHANGES", fact, "The table went.")
    changes = told(vault)[fact].later
    assert {one.id for one in changes} == {change, again, edge}
    assert {one.id: one.truth for one in changes} == {change: 0.8, again: 0.7, edge: 0.6}
    assert "The column is z since July." in {one.content for one in changes}


def test_a_change_of_what_was_replaced_still_counts(vault: Vault) -> None:
    first = vault.create_understanding(["Redis"], "One.", summary="One").id
    change = vault.write("Not so any more.", "change", 0.8, change_targets=[first]).memory_id
    second = vault.update_understanding(first, "Two.", "Two").new_understanding_id
    assert [one.id for one in told(vault)[second].later] == [change]


def test_circles_end(vault: Vault) -> None:
    one = vault.write("One.", "fact", 0.9).memory_id or ""
    other = vault.write("Other.", "fact", 0.9).memory_id or ""
    vault.link(one, "CHANGES", other)
    vault.link(other, "CHANGES", one)
    found = told(vault)
    assert [change.id for change in found[one].later] == [other]
    assert [change.id for change in found[other].later] == [one]


def test_what_is_over_is_counted_and_left_out(vault: Vault) -> None:
    gone = vault.remember("Yesterday's.", expires="2026-11-19T10:00:00+00:00", observed_at="2026-11-18")
    found = vault.snapshot()
    assert gone.id not in {one.id for one in found.memories}
    assert found.expired == 1
