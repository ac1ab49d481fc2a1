"""What is said again: a repeat adds its links and says what it dropped; other steps, titles and problems are other memories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.git_repos import commit_all, git, write
from tests.verbs.looking import assert_committed, identity, note, text, untouched
from tests.wording import all_typed, typed
from vault_tool import Vault
from vault_tool.errors import Refused

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

SAID = "Deleting the stale lock lets the queue run."


@pytest.fixture
def problems(vault: Vault) -> tuple[str, str]:
    """Two problems that the same words may solve."""
    return (
        vault.remember("The quartz queue hangs after a restart.", kind="problem").id,
        vault.remember("The printer queue hangs on Mondays.", kind="problem").id,
    )


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ({"steps": ["Stop it."]}, {"steps": ["Stop it.", "Wait."]}),
        ({}, {"steps": ["Stop it."]}),
        ({"steps": ["Stop it."], "preconditions": ["A dump."]}, {"steps": ["Stop it."], "preconditions": ["No dump."]}),
        ({"postconditions": ["It runs."]}, {"postconditions": ["It is empty."]}),
        ({}, {"title": "How to free the queue"}),
        ({"title": "Locks"}, {"title": "How to free the queue"}),
    ],
)
def test_other_steps_conditions_and_titles_are_memories_of_their_own(vault: Vault, first: Any, again: Any) -> None:
    one = vault.remember(SAID, kind="procedure", **first)
    other = vault.remember(SAID, kind="procedure", **again)
    assert (other.duplicate_of, other.id != one.id) == (None, True)
    assert [vault.remember(SAID, kind="procedure", **said).id for said in (first, again)] == [one.id, other.id]


@pytest.mark.parametrize("kind", ["solution", "failed_tactic"])
def test_the_same_words_for_another_problem_are_found_from_both(vault: Vault, problems: tuple[str, str], kind: str) -> None:
    made = [vault.write(SAID, kind, 0.8, problem_id=problem).memory_id for problem in problems]
    assert made[0] != made[1]
    for problem, mine in zip(problems, made, strict=True):
        found = vault.read(vault.show(problem).content).results
        assert mine in [one.memory_id for one in found]
    again = vault.write(SAID, kind, 0.8, problem_id=problems[1])
    assert again.duplicate_of == made[1]


def test_a_repeat_without_a_title_or_steps_is_one_of_what_has_them(vault: Vault) -> None:
    one = vault.remember(SAID, kind="procedure", title="Locks", steps=["Stop it."], tags=["lab"])
    again = vault.remember(SAID, kind="procedure")
    assert (again.duplicate_of, again.added, again.dropped) == (one.id, (), ())


@pytest.mark.in_git
def test_a_repeat_adds_subjects_tags_and_a_problem(vault: Vault, root: Path, problems: tuple[str, str]) -> None:
    one = vault.remember(SAID, ["Quartz"], kind="solution", tags=["lab"])
    again = vault.remember(SAID, ["quartz", "Printer"], kind="solution", tags=["Lab", "locks"], problem=problems[1])
    assert (again.id, again.duplicate_of) == (one.id, one.id)
    assert again.added == ("subjects Printer", "tags locks", f"problem {problems[1][:8]}")
    assert (again.subject_names, again.subjects_created, again.dropped) == (("Quartz", "Printer"), ("Printer",), ())
    assert_committed(again, root)
    assert "subjects: [Quartz, Printer]" in text(root, one.path)
    assert "tags: [lab, locks]" in text(root, one.path)
    assert one.id in [found.id for found in vault.related(problems[1]).results]
    with untouched(root):
        vault.remember(SAID, ["Printer"], kind="solution", tags=["locks"], problem=problems[1])


@pytest.mark.in_git
def test_a_repeat_says_what_it_dropped(vault: Vault, root: Path) -> None:
    one = vault.remember(SAID, kind="fact", evidence=["commit:9f3c1e2"])
    with untouched(root):
        again = vault.remember(
            SAID, kind="fact", confidence=0.4, rationale="Seen twice.", evidence=["commit:9f3c1e2", "test:queue"],
            observed_at="2026-10-01", mood="precise",
        )  # fmt: skip
    assert again.dropped == (
        "rationale Seen twice.", "evidence test:queue", "confidence 0.4", "observed 2026-10-01T00:00:00+00:00", "mood precise",
    )  # fmt: skip
    short = one.id[:6]
    assert all_typed(again.warnings) == [
        f"remembered already as {short}, without its {', '.join(again.dropped)}: `vt edit {short}` adds that"
    ]


def test_a_repeat_by_contract_links_what_it_names_as_related(vault: Vault, problems: tuple[str, str]) -> None:
    one = vault.write(SAID, "fact", 0.8, related_memory_ids=[problems[0]])
    again = vault.write(SAID, "fact", 0.6, related_memory_ids=list(problems), rationale="Again.", evidence_refs=["session:9"])
    assert (again.memory_id, again.added) == (one.memory_id, (f"RELATED_TO {problems[1][:6]}",))
    assert again.dropped == ("confidence 0.6",)
    assert typed(again.warnings[0]).endswith("`vt edit " + str(one.memory_id)[:6] + "` adds that")
    linked = {relation.id for relation in vault.related(str(one.memory_id)).results if relation.relation == "RELATED_TO"}
    assert linked == set(problems)
    assert vault.write(SAID, "fact", 0.8, related_memory_ids=list(problems)).added == ()


@pytest.mark.in_git
def test_a_dry_run_of_a_repeat_says_what_it_would_add(vault: Vault, root: Path, problems: tuple[str, str]) -> None:
    vault.write(SAID, "fact", 0.8)
    with untouched(root):
        again = vault.write(SAID, "fact", 0.8, related_memory_ids=[problems[0]], subject_names=["Quartz"], dry_run=True)
    assert again.added == ("subjects Quartz", f"RELATED_TO {problems[0][:6]}")


def test_repeats_within_a_batch_are_one_with_the_links_of_all(vault: Vault, problems: tuple[str, str]) -> None:
    made = vault.add_observations(
        [
            {"content": SAID, "kind": "solution", "subject_names": "Quartz"},
            {"content": SAID, "kind": "solution", "subject_names": ["Printer"], "problem": problems[0], "rationale": "Seen."},
            {"content": SAID, "kind": "solution", "problem": problems[1]},
        ]
    )
    first, again, other = made.results
    assert (first.id, first.subject_names) == (again.id, ("Quartz", "Printer"))
    assert vault.show(first.id).head["problem"] == problems[0]
    assert (other.duplicate_of, vault.show(other.id).head["problem"]) == (None, problems[1])
    assert again.dropped == ("rationale Seen.",)
    assert all_typed(made.warnings) == [
        f"2: remembered already as {first.id[:6]}, without its rationale Seen.: `vt edit {first.id[:6]}` adds that"
    ]


@pytest.mark.in_git
def test_of_a_batch_one_may_wait_for_a_person(vault: Vault) -> None:
    made = vault.add_observations([{"content": "It runs.", "subject_names": ["Quartz"]}, {"content": "Perhaps.", "ask": True}])
    assert [one.pending_review for one in made.results] == [False, True]
    assert (made.committed, all_typed(made.warnings)) == (True, ["waits for a person's review: `vt review` at a terminal"])


@pytest.mark.in_git
def test_what_cannot_be_written_now_is_left_out_and_said(vault: Vault, root: Path) -> None:
    path = "vault/somewhere/hers.md"
    write(root, path, note(1, SAID))
    git(root, "add", "-A")
    git(root, "commit", "-qm", "hers")
    (root / path).write_text(text(root, path).replace("type: fact", "{type: fact"))
    again = vault.remember(SAID, ["Quartz"], kind="fact")
    assert (again.duplicate_of, again.added, again.dropped) == (identity(1), (), ("subjects Quartz",))


def test_a_person_s_own_wording_waits_once_for_each_problem(vault: Vault, problems: tuple[str, str]) -> None:
    held = [vault.remember(SAID, kind="solution", problem=problem, ask=True) for problem in (*problems, problems[0])]
    assert (held[0].id == held[2].id, held[0].id != held[1].id) == (True, True)


def test_what_is_so_again_after_a_change_is_news(vault: Vault) -> None:
    first = vault.remember("The build runs on Jenkins.", kind="fact")
    moved = vault.remember("The build runs on GitHub now.", kind="change", change_targets=[first.id])
    back = vault.remember("The build runs on Jenkins.", kind="fact")
    assert back.duplicate_of is None and back.id != first.id
    assert vault.remember("The build runs on Jenkins.", kind="fact").duplicate_of == back.id
    assert vault.add_observations([{"content": "The build runs on Jenkins.", "kind": "fact"}]).results[0].duplicate_of == back.id
    assert vault.remember("The build runs on GitHub now.", kind="change", change_targets=[first.id]).duplicate_of == moved.id


@pytest.mark.in_git
def test_a_repeat_that_rests_on_the_same_file_drops_nothing_until_the_file_changed(vault: Vault, root: Path) -> None:
    write(root, "build.py", "print('built')\n")
    commit_all(root, "code")
    first = vault.remember("The build prints one word.", evidence=["file:build.py"])
    again = vault.remember("The build prints one word.", evidence=["file:build.py"])
    assert (again.duplicate_of, again.dropped, again.warnings) == (first.id, (), ())
    write(root, "build.py", "print('built')  # still\n")
    commit_all(root, "a remark")
    assert "evidence file:build.py@" in vault.remember("The build prints one word.", evidence=["file:build.py"]).dropped[0]


@pytest.mark.in_git
def test_a_repeat_that_is_undone_leaves_the_note_that_a_person_made_by_hand(vault: Vault, root: Path) -> None:
    head = "---\nid: 11111111-1111-4111-8111-111111111111\ntype: fact\n---\n"
    write(root, "vault/mine.md", f"{head}Written by hand, of the quarry.\n")
    with vault.as_person() as owner:
        repeat = owner.remember("Written by hand, of the quarry.", ["Stone"], kind="fact", tags=["new"])
        assert repeat.duplicate_of and repeat.commit
        with pytest.raises(Refused, match="a person made it"):
            owner.undo(repeat.commit)
        assert "Written by hand" in (root / "vault/mine.md").read_text()
