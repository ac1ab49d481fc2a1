"""`update`: bounded steps of truth and utility, previewed and then taken, each with its reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.verbs.looking import assert_committed, subjects, untouched
from vault_tool import Vault
from vault_tool.vault.request_faults import InvalidRequest

FALSE: dict[str, Any] = {"target": 0.0, "confidence": 0.3, "rationale": "Renamed.", "evidence_refs": ["commit:9f3c1e2"]}
HELPED: dict[str, Any] = {"target": 1.0, "confidence": 0.4, "rationale": "It helped."}


def refused(vault: Vault, memory_id: str, **more: Any) -> dict[str, str]:
    with untouched(vault.root), pytest.raises(InvalidRequest) as caught:
        vault.update(memory_id, **more)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def test_a_dry_run_says_what_a_commit_then_does(vault: Vault, root: Path) -> None:
    made = vault.write("The column is y.", "fact", 0.8)
    memory = made.memory_id or ""
    with untouched(root):
        said = vault.update(memory[:8], truth=FALSE, utility=HELPED, mode="dry_run")
    done = vault.update(memory, truth=FALSE, utility=HELPED)
    assert (said.truth, said.utility) == (done.truth, done.utility)
    assert (said.mode, said.committed, done.mode, done.memory_id) == ("dry_run", False, "commit", memory)
    assert done.truth is not None and done.utility is not None
    assert done.truth.before == 0.8
    assert done.truth.after == pytest.approx(0.8 - 0.8 * 0.3 * 0.5)
    assert done.utility.after == pytest.approx(0.5 + 0.5 * 0.4 * 0.5 / 4)
    assert "quarter" in done.utility.reason
    assert_committed(done, root)
    assert subjects(root) == ["update: The column is y"]
    shown = vault.show(memory)
    assert [shown.truth, shown.utility] == pytest.approx([done.truth.after, done.utility.after])


def test_one_session_moves_a_value_by_no_more_than_the_bound(vault: Vault) -> None:
    memory = vault.write("The column is y.", "fact", 0.8).memory_id or ""
    strong = {**FALSE, "confidence": 1.0}
    first = vault.as_(session="s").update(memory, truth=strong)
    second = vault.as_(session="s", model="other").update(memory, truth=strong)
    assert first.truth is not None and second.truth is not None
    assert [first.truth.step, first.truth.applied] == pytest.approx([-0.4, -0.15])
    assert second.truth.applied == pytest.approx(0)
    assert "0.15" in second.truth.reason


def test_nothing_is_written_where_the_value_is_there_already(vault: Vault, root: Path) -> None:
    memory = vault.write("The column is y.", "fact", 0.8).memory_id or ""
    with untouched(root):
        same = vault.update(memory, truth={**FALSE, "target": 0.805})
    assert same.truth is not None
    assert (same.truth.applied, same.committed) == (0, False)
    assert "within 0.01" in same.truth.reason


def test_utility_is_kept_for_each_problem(vault: Vault, problem: str) -> None:
    memory = vault.write("Check the schema first.", "fact", 0.8).memory_id or ""
    done = vault.update(memory, utility={**HELPED, "context_problem_id": problem[:8]})
    assert done.context_problem_id == problem
    assert done.utility == done.global_utility
    again = vault.as_(session="t", model="n").update(memory, utility=HELPED)
    assert again.utility is not None and done.utility is not None
    assert again.utility.before == pytest.approx(done.utility.after)
    belief = vault.show(memory, belief=True).belief
    assert belief is not None
    assert belief.by_problem == {problem: pytest.approx(done.utility.after)}


def test_every_fault_is_told_at_once(vault: Vault) -> None:
    fact = vault.write("A fact.", "fact", 0.8).memory_id or ""
    truth = {**FALSE, "evidence_refs": ["commit:9f3c1e2", "seen"]}
    utility = {**HELPED, "context_problem_id": fact}
    assert refused(vault, "ffff0000", truth=truth, utility=utility, repo_id="other").keys() == {
        "/repo_id", "/memory_id", "/updates/truth/evidence_refs/1", "/updates/utility/context_problem_id",
    }  # fmt: skip


def test_truth_without_evidence_is_refused(vault: Vault) -> None:
    fact = vault.write("A fact.", "fact", 0.8).memory_id or ""
    assert list(refused(vault, fact, truth={**FALSE, "evidence_refs": []})) == ["/updates/truth/evidence_refs"]
    assert list(refused(vault, fact)) == ["/updates"]
    assert list(refused(vault, fact, utility=HELPED, mode="perhaps")) == ["/mode"]


def test_a_subject_claims_nothing_that_could_be_true(vault: Vault) -> None:
    vault.create_subjects([{"name": "Redis"}])
    assert list(refused(vault, "Redis", utility=HELPED)) == ["/memory_id"]


def test_a_global_memory_is_judged_in_the_global_vault(beside: Vault, root: Path, shared: Path) -> None:
    memory = beside.write("I like short functions.", "preference", 0.9, scope="global").memory_id or ""
    here = beside.remember("Too long functions.", kind="problem").id
    with untouched(root):
        done = beside.update(memory, utility={**HELPED, "context_problem_id": here})
    assert (done.scope, done.context_problem_id) == ("global", here)
    marked = beside.mark_useful(memory[:9], "again", problem=here)
    assert marked.problem == here
    assert marked.for_problem is not None and done.utility is not None
    assert marked.for_problem.before == pytest.approx(done.utility.after)
    assert list((shared / "vault/signals").iterdir())
