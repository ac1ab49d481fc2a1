"""`read`: what it answers of each memory, what it counts as used, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repos import git
from tests.statuses import said
from vault_tool import Vault
from vault_tool.vault.request_faults import InvalidRequest

pytestmark = pytest.mark.without_git


@pytest.mark.in_git
def test_every_field_is_true_of_the_memory(vault: Vault, root: Path, problem: str) -> None:
    tip = git(root, "rev-parse", "--short", "HEAD")
    made = vault.as_(model="m1").write(
        "Dropping the column first failed.", "failed_tactic", 0.7, problem_id=problem, subject_names=["DB"],
        evidence_refs=["session:turn_42", f"file:vault.toml@{tip}"],
    )  # fmt: skip
    [one] = [one for one in vault.read("dropping the column").results if one.memory_id == made.memory_id]
    assert (one.scope, one.kind, one.text) == ("repo", "failed_tactic", "Dropping the column first failed.")
    assert (one.truth, one.utility, bool(said(one, "doubtful")), one.problem_id) == (0.7, 0.5, False, problem)
    assert one.evidence_refs == ("session:turn_42", f"file:vault.toml@{tip}")
    assert (one.subject_names, one.origin, one.model, one.path) == (("DB",), "agent", "m1", made.path)
    assert one.retrieval_reason
    assert not one.evidence_moved
    (root / "vault.toml").write_text("# other\n" + (root / "vault.toml").read_text())
    [one] = [one for one in vault.read("dropping the column").results if one.memory_id == made.memory_id]
    assert one.evidence_moved


def test_kinds_are_a_filter(vault: Vault, problem: str) -> None:
    vault.write("Migrations are run by hand.", "fact", 0.8)
    assert {one.kind for one in vault.read("migrations", kinds=["fact"], include_problem_links=False).results} == {"fact"}


def test_being_answered_counts_as_used_once_a_session(vault: Vault) -> None:
    made = vault.write("Keepalive is off.", "fact", 0.8).memory_id or ""
    one = vault.as_(session="one")
    for _ in range(2):
        assert made in [found.memory_id for found in one.read("keepalive").results]
    assert vault.show(made).access_count == 1
    vault.as_(session="two").read("keepalive")
    assert vault.show(made).access_count == 2
    vault.as_(session="three").read("keepalive", mode="ambient")
    assert vault.show(made).access_count == 2


def test_global_memories_are_read_beside_the_repos(beside: Vault) -> None:
    made = beside.write("Functions are short here.", "preference", 0.9, scope="global").memory_id
    assert (made, "global") in [(one.memory_id, one.scope) for one in beside.read("short functions").results]
    assert beside.get(made or "").content == "Functions are short here."
    alone = beside.read("short functions", include_global=False).results
    assert {one.scope for one in alone} <= {"repo"}


def test_all_faults_come_at_once(vault: Vault) -> None:
    fact = vault.write("A fact.", "fact", 0.8).memory_id or ""
    with pytest.raises(InvalidRequest) as caught:
        vault.read(" ", repo_id="other", context_problem_id=fact)
    assert [fault.pointer for fault in caught.value.faults] == ["/context_problem_id", "/query", "/repo_id"]
    with pytest.raises(InvalidRequest) as caught:
        vault.read("", mode="x", kinds=["idea"], limit=0, semantic_hops=4)
    assert [fault.pointer for fault in caught.value.faults] == ["/expand/semantic_hops", "/kinds/0", "/limit", "/mode", "/query"]
