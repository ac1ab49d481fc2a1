"""What a memory says beside its text (steps, conditions, problem, failure mode, rationale, mood) is told with it everywhere."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.git_repos import git, write
from vault_tool import Vault
from vault_tool.cli.output import to_json
from vault_tool.errors import UsageError
from vault_tool.features.recall.recall import Bundle

pytestmark = pytest.mark.without_git

STEPS = ("Stop the quartz workers.", "Load the newest dump.", "Start one worker alone.")
BEFORE, AFTER = "A dump of this week is there.", "The queue is empty."
WHY = "Two restores without it lost jobs."
FAILED = "the lock file was never released"
EACH = (*STEPS, BEFORE, AFTER, WHY, "curious")


def _ids(vault: Vault) -> dict[str, str]:
    agent = vault.as_(origin="agent", session="s1")
    procedure = agent.remember(
        "How the quartz queue is restored.", ["Quartz", "Lab"], kind="procedure", steps=STEPS, preconditions=[BEFORE],
        postconditions=[AFTER], rationale=WHY, mood="curious",
    )  # fmt: skip
    problem = agent.remember("The quartz queue hangs after a restart.", ["Quartz"], kind="problem")
    solved = agent.remember(
        "Deleting the stale lock lets the quartz queue run.", ["Quartz"], kind="solution", problem=problem.id, rationale=WHY
    )
    failed = agent.remember(
        "Restarting the quartz queue twice in a row.", ["Quartz"], kind="failed_tactic", problem=problem.id, failure_mode=FAILED
    )
    return {"procedure": procedure.id, "problem": problem.id, "solution": solved.id, "failed": failed.id}


@pytest.fixture
def ids(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> dict[str, str]:
    """A procedure, a problem with its solution and a failed tactic, each with all that its type may say."""
    found: dict[str, str] = once(_ids)
    return found


Answer = Callable[[Vault, str], Any]
ASKED = "how is the quartz queue restored?"

ANSWERS: dict[str, Answer] = {
    "recall": lambda vault, identity: vault.recall(ASKED),
    "recall of a subject": lambda vault, identity: vault.recall("Quartz"),
    "bring_to_mind": lambda vault, identity: vault.bring_to_mind("How the quartz queue is restored"),
    "search": lambda vault, identity: vault.search("quartz queue restored"),
    "search_observations": lambda vault, identity: vault.search_observations(["Quartz"], "queue restored"),
    "get": lambda vault, identity: vault.get(identity),
    "show": lambda vault, identity: vault.show(identity),
    "snapshot": lambda vault, identity: vault.snapshot(),
    "consolidate": lambda vault, identity: vault.consolidate(packet="Quartz"),
    "open_intersection": lambda vault, identity: vault.open_intersection("Quartz", "Lab"),
    "report": lambda vault, identity: vault.get_consolidation_report(),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_procedure_is_told_with_its_steps(vault: Vault, ids: dict[str, str], name: str) -> None:
    answer = ANSWERS[name](vault, ids["procedure"])
    told = to_json(answer)
    assert [text for text in EACH if text not in told] == []
    if hasattr(answer, "lean"):
        lean = json.dumps(answer.lean(lambda identity: identity[:6]))
        assert [text for text in EACH if text not in lean] == []


@pytest.mark.parametrize(
    "typed",
    [
        f"recall '{ASKED}'", "recall Quartz", "bring-to-mind 'How the quartz queue is restored'", "get {procedure}",
        "show {procedure}", "snapshot", "consolidate --packet Quartz", "core --print",
    ],
)  # fmt: skip
def test_so_are_the_answers_that_people_read(root: Path, vault: Vault, ids: dict[str, str], typed: str) -> None:
    vault.close()
    words = [word.format(**ids) for word in shlex.split(typed)]
    printed = " ".join(vt("--vault", str(root), *words).stdout.replace("|", " ").split())
    assert [text for text in EACH if text.rstrip(".") not in printed] == []


def test_a_read_by_contract_tells_problem_reason_and_how_it_failed(vault: Vault, ids: dict[str, str]) -> None:
    found = {one.memory_id: one for one in vault.read("the quartz queue hangs after a restart").results}
    assert found[ids["solution"]].details == {"problem": ids["problem"], "rationale": WHY}
    assert found[ids["failed"]].details == {"problem": ids["problem"], "failure_mode": FAILED}


def test_what_a_caution_says_is_not_said_twice(vault: Vault, ids: dict[str, str]) -> None:
    found = vault.recall("restarting the quartz queue twice")
    assert isinstance(found, Bundle)
    (one,) = [one for one in found.results if one.id == ids["failed"]]
    lean = one.lean(lambda identity: identity[:6])
    assert (lean["problem"], json.dumps(lean).count(FAILED)) == (ids["problem"][:6], 1)


def test_what_waits_for_a_person_is_shown_with_its_steps(vault: Vault) -> None:
    vault.remember("How the lab is restored.", kind="procedure", steps=STEPS, ask=True)
    (waits,) = vault.as_person().review().results
    assert (waits.details, waits.reason) == ({"steps": STEPS}, "its writer asks for a person's review")


def test_a_turn_tells_them_in_its_prompt(vault: Vault) -> None:
    vault.as_(user="u1", session="s1").remember(
        "Mara opens the old gate.", ["Mara"], kind="procedure", steps=["Turn the left key.", "Knock twice."]
    )
    told = vault.turn("s1", "u1", "", "We stand before the old gate with Mara.").prompt
    assert "Mara opens the old gate. (step 1: Turn the left key; step 2: Knock twice)" in told


def test_steps_and_moods_are_searched(vault: Vault, ids: dict[str, str]) -> None:
    for words in ("newest dump", "curious", "dump of this week", "queue is empty"):
        assert ids["procedure"] in [one.id for one in vault.search(words, mode="text").results], words


def test_every_result_says_when_it_was_so_and_how_sure_its_writer_was(vault: Vault, ids: dict[str, str]) -> None:
    agent = vault.as_(origin="agent", session="s1")
    dated = agent.remember("The quartz queue ran dry.", ["Quartz"], observed_at="2026-10-01", confidence=0.6)
    answers: tuple[Any, ...] = (vault.recall("quartz queue"), vault.search("quartz queue"), vault.read("quartz queue"))
    for found in answers:
        by_id = {getattr(one, "memory_id", None) or one.id: one for one in found.results}
        # The contract of reading has its own name for the same fact.
        when = {key: getattr(one, "observed", "") or getattr(one, "observed_at", "") for key, one in by_id.items()}
        assert (when[dated.id], by_id[dated.id].confidence) == ("2026-10-01T00:00:00+00:00", 0.6)
        assert (when[ids["problem"]], by_id[ids["problem"]].confidence) == ("2026-11-20T10:00:00+00:00", 0.8)
    (seen, *_) = vault.search_observations(["Quartz"], "ran dry").results
    assert (seen.observed, seen.confidence) == ("2026-10-01T00:00:00+00:00", 0.6)
    assert {one.confidence for one in vault.open_intersection("Quartz", "Lab").observations} == {0.8}
    for one in (vault.get(ids["problem"]), vault.snapshot().memories[-1]):
        assert (one.observed[:4], one.confidence is not None) == ("2026", True)


@pytest.mark.parametrize("mood", ["curious", "precise", "understanding-check", "wehmütig"])
def test_a_mood_is_kept_and_shown(vault: Vault, mood: str) -> None:
    made = vault.remember("She asked twice what a quorum is.", mood=mood)
    assert vault.show(made.id).details == {"mood": mood}


@pytest.mark.parametrize("mood", ["rather curious about it", "??", "-", "a" * 60])
def test_a_mood_is_a_word(vault: Vault, mood: str) -> None:
    with pytest.raises(UsageError, match="is no mood"):
        vault.remember("She asked twice what a quorum is.", mood=mood)


@pytest.mark.in_git
def test_doctor_names_moods_that_nobody_would_look_for(vault: Vault, root: Path) -> None:
    for name, mood in (("a", "grumpy"), ("b", "curious"), ("c", "it was a long day")):
        text = f"---\nid: 1111111{ord(name) % 10}-1111-4111-8111-111111111111\ntype: fact\nmood: {mood}\n---\nSeen {name}.\n"
        write(root, f"vault/observations/{name}.md", text)
    git(root, "add", "-A")
    found = {(one.severity.value, one.path.rpartition("/")[2]) for one in vault.doctor().problems if one.code == "odd-mood"}
    assert found == {("note", "a.md"), ("warning", "c.md")}


def test_asking_for_a_person_holds_this_one_note(vault: Vault) -> None:
    held = vault.remember("Perhaps she dislikes calls.", ["Ada"], ask=True)
    kept = vault.remember("She likes letters.", ["Ada"])
    assert (held.pending_review, kept.pending_review) == (True, False)
    assert [one.id for one in vault.search("dislikes calls").results] == []
    vault.as_person().review(accept=[held.id])
    assert held.id in [one.id for one in vault.search("dislikes calls").results]


def test_by_contract_too_a_mood_is_kept_and_a_person_is_asked(vault: Vault) -> None:
    memory = {"text": "She likes letters.", "scope": "repo", "kind": "preference", "confidence": 0.9, "mood": "curious"}
    kept = vault.op({"op": "write", "repo_id": "Lab", "memory": memory})
    assert vault.show(kept["memory_id"]).details == {"mood": "curious"}
    held = vault.op({"op": "write", "repo_id": "Lab", "memory": {**memory, "text": "She dislikes calls.", "ask": True}})
    assert (held["ok"], held["needs_review"]) == (True, True)
    wrong = vault.op({"op": "write", "repo_id": "Lab", "memory": {**memory, "text": "Hm.", "mood": "rather curious"}})
    assert wrong["errors"][0]["pointer"] == "/memory/mood"
