"""Marks move a memory's utility a little, are told why, and are settled as they should be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.typed import vt
from tests.verbs.looking import assert_committed, fails, subjects, untouched
from vault_tool import Vault
from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.features.recall.recall import Bundle

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


@pytest.mark.in_git
def test_a_useful_memory_rises_and_counts_as_used(vault: Vault, root: Path) -> None:
    made = vault.remember("Keepalive helps.")
    marked = vault.mark_useful(made.id[:8], "it named the setting")
    assert_committed(marked, root)
    assert (marked.id, marked.mark, marked.rationale, marked.questions) == (made.id, "useful", "it named the setting", ())
    assert marked.utility.before == 0.5
    assert marked.utility.after == pytest.approx(0.53125)
    assert subjects(root) == ["mark-useful: Keepalive helps"]
    after = vault.show(made.id)
    assert after.utility == pytest.approx(marked.utility.after)
    assert after.access_count == 1


def test_a_question_stays_open_until_it_is_settled(vault: Vault) -> None:
    made = vault.remember("The port is 6379.")
    asked = vault.as_(session="a").mark_questionable(made.id, "it moved")
    assert asked.questions == ("it moved",)
    assert asked.utility.after < 0.5
    # In the same second: what is said later counts later.
    for _ in range(5):
        assert vault.mark_questionable(made.id, "again").questions[-1] == "again"
        assert vault.mark_useful(made.id, "no, it is so").questions == ()


def test_a_mark_for_a_problem_moves_the_utility_for_it(vault: Vault) -> None:
    problem = vault.remember("Redis drops connections.", kind="problem")
    made = vault.remember("Keepalive helps.")
    marked = vault.mark_useful(made.id, "solved it", problem=problem.id[:8])
    assert marked.problem == problem.id
    assert marked.for_problem is not None and marked.for_problem.applied > 0
    shown = vault.show(made.id, belief=True)
    assert shown.belief is not None and shown.posterior is not None
    assert shown.belief.by_problem == {problem.id: pytest.approx(marked.for_problem.after)}
    assert set(shown.posterior) == {"truth", "utility", f"utility for {problem.id}"}


def test_a_mark_without_a_reason_is_taken_and_says_so(vault: Vault) -> None:
    made = vault.remember("One.")
    assert "no reason" in vault.mark_useful(made.id).warnings[0]
    assert vault.mark_useful(made.id, "so").warnings == ()


@pytest.mark.in_git
def test_what_cannot_be_judged_is_refused(vault: Vault, root: Path) -> None:
    made = vault.remember("One.", ["Redis"])
    with untouched(root), fails(UsageError, "subject", "claims nothing"):
        vault.mark_useful("Redis", "x")
    with untouched(root), fails(NotFound, "ffff0000"):
        vault.mark_useful("ffff0000", "x")
    with untouched(root), fails(UsageError, "not a problem"):
        vault.mark_useful(made.id, "x", problem=made.id)
    with untouched(root), fails(Refused):
        vault.mark_useful(made.id, "the key is AKIA" + "QYLPMN5HHHFPZZTZ")


def test_the_line_says_who_judged(vault: Vault, root: Path) -> None:
    made = vault.remember("One.")
    vault.as_(session="s1", model="m1").mark_questionable(made.id, "a\nb")
    [journal] = (root / "vault" / "signals").iterdir()
    line = json.loads(journal.read_text())
    assert {key: line[key] for key in ("target", "kind", "rationale", "session", "model", "origin")} == {
        "target": made.id, "kind": "questionable", "rationale": "a b", "session": "s1", "model": "m1", "origin": "agent",
    }  # fmt: skip


def test_steps_are_told_without_the_dust_of_binary_fractions(vault: Vault) -> None:
    made = vault.remember("Redis restarts.", confidence=0.78)
    truth = {"target": 0.2, "confidence": 0.9, "rationale": "gone", "evidence_refs": ["test:test_redis"]}
    found = vault.update(made.id, truth=truth, mode="dry_run").truth
    assert found is not None
    assert (found.before, found.after, found.step, found.applied) == (0.78, 0.63, -0.261, -0.15)


def test_the_same_question_asked_again_is_printed_once(vault: Vault) -> None:
    made = vault.remember("Redis restarts.")
    # One day is one session where none is named, so all three are of one clock.
    said = [vt("--vault", str(vault.root), "mark-questionable", made.id, "is it?").stdout for _ in range(3)]
    assert said[-1].count("is it?") == 1
    assert "voted down:  1 session\n" in vt("--vault", str(vault.root), "show", made.id, "--belief").stdout


def test_a_judgement_of_what_was_replaced_names_what_answers_now(vault: Vault) -> None:
    old = vault.create_understanding(["Redis"], "It drops.", "It drops.").id
    new = vault.update_understanding(old, "It keeps.", "It keeps.").new_understanding_id
    says = f"{old[:6]} is superseded by {new[:6]}, which answers in its place: judge that"
    assert vault.mark_useful(old, "It helped.").warnings == (says,)
    assert vault.mark_questionable(old, "It is old.").warnings == (says,)
    utility = {"target": 0.9, "confidence": 0.9, "rationale": "It helped."}
    assert vault.update(old, utility=utility, mode="dry_run").warnings == (says,)
    assert says in vault.update(old, utility=utility).warnings
    ended = vault.as_(session="s1").end_session(votes=[{"id": old, "value": "useful", "reason": "It did."}])
    assert says in ended.warnings
    assert vault.mark_useful(new, "It helps.").warnings == ()


@pytest.mark.in_git
def test_a_mark_with_evidence_counts_four_times_and_keeps_it(vault: Vault, root: Path) -> None:
    bare, shown = vault.remember("The port is 6379."), vault.remember("The host is blue.")
    one = vault.as_(session="a").mark_questionable(bare.id, "it moved")
    other = vault.as_(session="a").mark_questionable(shown.id, "it moved", evidence=["test:test_host", "commit:9f3c1e2"])
    assert other.utility.step == pytest.approx(4 * one.utility.step)
    assert vault.index.catalog.signals(shown.id)[-1].evidence == ("test:test_host", "commit:9f3c1e2")
    with untouched(root), fails(UsageError, "`hearsay` is no evidence reference", "session:<turn>"):
        vault.mark_useful(bare.id, "x", evidence=["hearsay"])


def test_three_sessions_against_and_none_for_are_enough_to_stay_silent(vault: Vault) -> None:
    made = vault.remember("Redis drops idle connections after ten minutes.", ["Redis"])
    vault.remember("The apple tree is a Boskoop.", ["Garden"])
    about = "redis idle connections drop"
    for session in "abc":
        assert [one.id for one in vault.as_(session="z").bring_to_mind(about, include_seen=True).results] == [made.id]
        vault.as_(session=session).mark_questionable(made.id, "it did not")
    assert vault.bring_to_mind(about).results == ()
    found = vault.recall(about)
    assert isinstance(found, Bundle)
    assert [one.id for one in found.results] == [made.id]
    vault.as_(session="d").mark_useful(made.id, "it did here")
    assert [one.id for one in vault.bring_to_mind(about).results] == [made.id]


def test_a_mark_without_a_reason_is_no_empty_question(vault: Vault) -> None:
    made = vault.remember("The crane is vermilion.")
    asked = vault.mark_questionable(made.id)
    assert asked.questions == ("nobody said why",)
    assert vault.mark_questionable(made.id, "it was painted").questions == ("nobody said why", "it was painted")
