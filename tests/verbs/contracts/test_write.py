"""`write`: what it stores, what it refuses all at once, what it strengthens instead, what waits, and where things go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import git
from tests.verbs.looking import assert_committed, codes, identity, in_commit, subjects, text, untouched
from tests.wording import typed
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
from vault_tool.vault.request_faults import InvalidRequest

SAID = "The migration failed because the column exists already."


def refused(vault: Vault, text: str = SAID, kind: str = "fact", confidence: float = 0.8, **more: Any) -> dict[str, str]:
    """The faults of a write by their pointers; nothing is changed by it."""
    with untouched(vault.root), pytest.raises(InvalidRequest) as caught:
        vault.write(text, kind, confidence, **more)
    return {fault.pointer: fault.message for fault in caught.value.faults}


def test_everything_that_was_said_is_in_one_commit(vault: Vault, root: Path, problem: str) -> None:
    other = vault.remember("Another thing.")
    made = vault.write(
        SAID, "failed_tactic", 0.78, rationale="Seen twice.", problem_id=problem[:8], related_memory_ids=[other.id, other.id[:9]],
        evidence_refs=["session:turn_42", "file:db/add_y.sql"], subject_names=["DB"], tags=["sql"],
        failure_mode="duplicate column",
    )  # fmt: skip
    assert_committed(made, root)
    assert (made.resolved.scope, made.resolved.kind) == ("repo", "failed_tactic")
    assert (made.ok, made.needs_review, made.duplicate_of, made.similar, made.warnings) == (True, False, None, (), ())
    assert made.subjects_created == ("DB",)
    assert subjects(root) == ["write: The migration failed because the column exists already"]
    head = text(root, made.path)
    for line in (
        f"id: {made.memory_id}", "type: failed_tactic", "confidence: 0.78", "rationale: Seen twice.", f"problem: {problem}",
        'evidence: ["session:turn_42", "file:db/add_y.sql"]', "failure_mode: duplicate column", "origin: agent",
    ):  # fmt: skip
        assert f"\n{line}\n" in head
    edges = [path for path in in_commit(root) if path.startswith("vault/edges/")]
    assert len(edges) == 1
    assert f"to_id: {other.id}\n" in text(root, edges[0])
    assert f"from_id: {made.memory_id}\n" in text(root, edges[0])
    assert "type: RELATED_TO\n" in text(root, edges[0])
    assert vault.show(made.memory_id or "").truth == 0.78
    assert codes(vault) == []


def test_a_change_is_found_from_what_it_changes(vault: Vault) -> None:
    old = vault.write("The column is called y.", "fact", 0.9)
    change = vault.write("The column is called z since July.", "change", 0.9, change_targets=[old.memory_id or ""])
    links = vault.related(old.memory_id or "").results
    assert [(one.relation, one.direction, one.id) for one in links] == [("change_targets", "in", change.memory_id)]


def test_every_rule_that_is_broken_is_told_at_once(vault: Vault) -> None:
    fact = vault.remember("A fact.", ["DB"], kind="fact")
    assert refused(
        vault, "  ", "solution", repo_id="another", problem_id=fact.id, related_memory_ids=["ffff0000", "DB"],
        change_targets=["abc"], evidence_refs=["session:1", "seen", "memory:ffff0000"],
    ).keys() == {
        "/repo_id", "/memory/text", "/memory/links/problem_id", "/memory/links/related_memory_ids/0",
        "/memory/links/related_memory_ids/1", "/memory/links/change_targets/0", "/memory/evidence_refs/1",
        "/memory/evidence_refs/2",
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["solution", "failed_tactic"])
def test_what_is_for_a_problem_names_it(vault: Vault, kind: str) -> None:
    assert list(refused(vault, kind=kind)) == ["/memory/links/problem_id"]


def test_a_change_names_what_it_changes(vault: Vault) -> None:
    assert list(refused(vault, kind="change")) == ["/memory/links/change_targets"]


def test_the_shape_is_checked_of_parameters_too(vault: Vault) -> None:
    assert refused(vault, "", "idea", 7).keys() == {"/memory/text", "/memory/kind", "/memory/confidence"}


def test_the_vault_answers_to_its_names(vault: Vault, root: Path) -> None:
    [workspace] = [entry for entry in vault.index.catalog.snapshot().entries if entry.type == "workspace"]
    for number, name in enumerate([workspace.id, "Lab", "lab"]):
        assert vault.write(f"{number}", "fact", 0.8, repo_id=name).committed
    assert list(refused(vault, repo_id="repo_123")) == ["/repo_id"]
    (root / "vault.toml").write_text('repo_ids = ["repo_123"]\n' + (root / "vault.toml").read_text())
    with Vault.open(root) as again:
        assert again.write("Named.", "fact", 0.8, repo_id="repo_123").committed


def test_an_exact_duplicate_is_strengthened(vault: Vault, root: Path) -> None:
    first = vault.write(SAID, "fact", 0.8, subject_names=["DB"])
    again = vault.write(f"  {SAID}\n", "fact", 0.9, subject_names=["DB", "Deploy"], evidence_refs=["session:9"])
    assert (again.memory_id, again.duplicate_of) == (first.memory_id, first.memory_id)
    assert again.subject_names == ("DB", "Deploy")
    assert again.subjects_created == ("Deploy",)
    assert_committed(again, root)
    assert "subjects: [DB, Deploy]" in text(root, first.path)
    shown = vault.show(first.memory_id or "", belief=True)
    assert shown.belief is not None
    assert shown.belief.useful == 1
    assert shown.utility == pytest.approx(0.625)
    assert shown.truth == 0.8
    assert len(vault.search("migration").results) == 1
    assert vault.write(SAID, "problem", 0.8).duplicate_of is None


def test_nearly_the_same_comes_back_with_the_id_to_update(vault: Vault) -> None:
    first = vault.write(SAID, "fact", 0.8)
    again = vault.write(SAID.replace("exists", "does exist"), "fact", 0.8)
    [near] = again.similar
    assert (near.memory_id, near.kind) == (first.memory_id, "fact")
    assert "vt update" in typed(again.warnings[0])
    assert again.memory_id != first.memory_id


def test_a_dry_run_writes_nothing_and_says_what_would_happen(vault: Vault, root: Path, problem: str) -> None:
    known = vault.write("Known.", "fact", 0.8)
    with untouched(root):
        new = vault.write(SAID, "solution", 0.8, problem_id=problem, subject_names=["DB"], dry_run=True)
        again = vault.write("Known.", "fact", 0.8, dry_run=True)
        unsure = vault.write("Perhaps.", "fact", 0.4, dry_run=True)
    assert (new.memory_id, new.dry_run, new.subjects_created, new.committed) == (None, True, ("DB",), False)
    assert again.duplicate_of == known.memory_id
    assert unsure.needs_review
    assert not list((root / "_local").glob("inbox/*.md"))


def test_what_its_writer_doubts_waits_for_a_person(vault: Vault, root: Path, problem: str) -> None:
    with untouched_but_local(root):
        made = vault.write(SAID, "failed_tactic", 0.49, problem_id=problem, related_memory_ids=[problem])
    assert made.needs_review and not made.committed
    assert made.path.startswith("_local/inbox/")
    assert "vt review" in typed(made.warnings[0])
    assert [one.id for one in vault.search("migration", everything=True).results] == [problem]


def test_a_vault_under_review_holds_everything_that_agents_write(vault: Vault, root: Path) -> None:
    (root / "vault.toml").write_text('write_policy = "review"\n' + (root / "vault.toml").read_text())
    with Vault.open(root) as again:
        assert again.write(SAID, "fact", 0.9).needs_review


def test_a_global_memory_goes_to_the_global_vault(beside: Vault, root: Path, shared: Path) -> None:
    with untouched(root):
        made = beside.write("I like short functions.", "preference", 0.9, scope="global", subject_names=["Taste"])
    assert made.resolved.scope == "global"
    assert git(shared, "log", "-1", "--format=%s") == "write: I like short functions"
    head = text(shared, made.path)
    assert "session: s1\n" in head
    assert (shared / "vault/subjects/taste.md").exists()


def test_a_global_memory_cannot_name_what_only_the_repo_has(beside: Vault, shared: Path) -> None:
    local = beside.remember("Local.", kind="problem").id
    with untouched(shared):
        assert list(refused(beside, kind="solution", scope="global", problem_id=local)) == ["/memory/links/problem_id"]


def test_without_a_global_vault_there_is_no_global_scope(root: Path, tmp_path: Path, clock: FixedClock) -> None:
    with Vault.open(root, clock=clock, environ={"VAULT_GLOBAL": str(tmp_path / "none")}) as vault:
        assert list(refused(vault, scope="global")) == ["/memory/scope"]


def test_the_global_vault_itself_knows_only_its_own_scope(shared: Path, clock: FixedClock) -> None:
    with Vault.open(shared, clock=clock, environ={"VAULT_GLOBAL": str(shared)}) as vault:
        assert list(refused(vault)) == ["/memory/scope"]
        assert vault.write(SAID, "fact", 0.8, scope="global").committed


def test_an_unreadable_problem_of_another_type_is_named(vault: Vault, root: Path) -> None:
    assert "nothing in this vault" in refused(vault, kind="solution", problem_id=identity(7))["/memory/links/problem_id"]


def untouched_but_local(root: Path) -> Any:
    """Like `untouched`, but what is only this machine's may change."""
    from contextlib import contextmanager

    @contextmanager
    def block() -> Any:
        before = git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain", "--untracked-files=all")
        yield
        assert (git(root, "rev-parse", "HEAD"), git(root, "status", "--porcelain", "--untracked-files=all")) == before

    return block()
