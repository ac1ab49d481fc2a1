from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.git_repos import git
from tests.verbs.looking import assert_committed, in_commit
from vault_tool import Vault
from vault_tool.errors import UsageError

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""

BATCH = (
    {"content": "Redis restarts at three.", "subject_names": ["Redis", "Lab nights"]},
    {"content": "Audrey prefers tea.", "kind": "preference", "confidence": 0.9, "observed_at": "2026-11-01T09:00:00+00:00"},
    {"content": "Redis restarts at three. ", "subject_names": ["Redis"]},
    {"content": "The queue is on Redis too.", "subject_names": ["redis"]},
)


def commits(root: Path) -> list[str]:
    return git(root, "log", "--format=%s").splitlines()


@pytest.mark.in_git
def test_a_batch_is_one_commit_with_each_said_once_and_each_subject_minted_once(vault: Vault, root: Path) -> None:
    before = len(commits(root))
    made = vault.add_observations(BATCH)
    assert made.committed
    assert len(commits(root)) == before + 1
    first, second, repeat, third = made.results
    assert first.subjects_created == ("Redis", "Lab nights")
    assert (repeat.id, repeat.duplicate_of, repeat.subjects_created) == (first.id, first.id, ())
    assert third.subject_names == ("Redis",)
    assert third.subjects_created == ()
    assert len(list((root / "vault/subjects").glob("redis*.md"))) == 1
    kept = vault.show(second.id)
    assert (kept.type, kept.head["confidence"], kept.head["observed"]) == ("preference", 0.9, "2026-11-01T09:00:00+00:00")


@pytest.mark.in_git
def test_what_the_vault_says_already_is_named_and_not_written(vault: Vault, root: Path) -> None:
    known = vault.remember("Redis restarts at three.", ["Redis"])
    before = commits(root)
    made = vault.add_observations([{**BATCH[0], "subject_names": ["Redis"]}])
    assert made.results[0].duplicate_of == known.id
    assert made.results[0].id == known.id
    assert commits(root) == before


@pytest.mark.in_git
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ({"content": "  "}, "observation 2: there is nothing to remember"),
        ({"content": "x", "colour": "red"}, "observation 2 has an unknown field `colour`"),
        ({"content": "x", "confidence": 2}, "observation 2: confidence"),
        ({"content": "x", "observed_at": "soon"}, "observation 2: observed_at"),
        ({"content": "x", "related_to": ["abcdef"]}, "observation 2: nothing in this vault"),
    ],
)
def test_one_fault_refuses_all_and_is_named_by_its_number(vault: Vault, root: Path, fault: dict[str, object], said: str) -> None:
    before = commits(root)
    with pytest.raises(UsageError, match=said):
        vault.add_observations([BATCH[0], fault])
    assert commits(root) == before
    assert not list((root / "vault").rglob("redis*"))


def test_a_field_by_the_name_that_a_note_has_for_it_is_answered_by_the_parameters_name(vault: Vault) -> None:
    with pytest.raises(UsageError, match="unknown field `type`") as refused:
        vault.add_observations([{"content": "Redis listens on 6380.", "type": "fact"}])
    assert refused.value.hint == "write it as `kind`"


@pytest.mark.in_git
def test_only_the_session_that_wrote_it_deletes_an_observation(vault: Vault, root: Path) -> None:
    mine = vault.as_(session="s1").remember("Written by mistake.")
    other = vault.as_(session="s2").remember("Written on purpose.")
    done = vault.as_(session="s1").delete_observations([mine.id, other.id, "0000aaaa"])
    assert done.deleted == (mine.id,)
    assert [one.id for one in done.rejected] == [other.id, "0000aaaa"]
    assert "session mismatch" in done.rejected[0].reason
    assert not (root / mine.path).exists()
    assert (root / other.path).exists()
    assert mine.id not in [one.id for one in vault.search("mistake").results]
    assert git(root, "show", f"HEAD~1:{mine.path}")
    assert commits(root)[0] == "delete-observations: Written by mistake"


def test_what_a_person_wrote_pinned_or_built_upon_is_not_deleted(vault: Vault) -> None:
    agent = vault.as_(session="s1")
    owned = vault.as_(session="s1", origin="owner").remember("By the person.")
    pinned = agent.remember("Pinned.", pinned=True)
    source = agent.remember("A source.", ["Lab"])
    agent.create_understanding(["Lab"], "What it comes to.", "Sum.", source_observation_ids=[source.id])
    done = agent.delete_observations([owned.id, pinned.id, source.id])
    assert done.deleted == ()
    assert [one.id for one in done.rejected] == [owned.id, pinned.id, source.id]
    assert "stands on it" in done.rejected[2].reason
    assert not done.committed


def test_without_a_session_nothing_can_be_deleted(vault: Vault) -> None:
    made = vault.remember("Whose?")
    with pytest.raises(UsageError, match="no session is named"):
        vault.delete_observations([made.id])


def test_a_batch_says_what_one_alone_would_say(vault: Vault) -> None:
    vault.remember("It models portfolios.", ["Wealth simulator"])
    many = [f"Guest {number}" for number in range(5)]
    made = vault.add_observations(
        [
            {"content": "It models decades.", "subject_names": ["wealth_sim"]},
            {"content": "All of them came.", "subject_names": many},
            {"content": "It models portfolios.", "subject_names": ["Wealth simulator", "Money"]},
        ]
    )
    assert made.results[0].similar_subjects == {"wealth_sim": ["Wealth simulator"]}
    assert made.results[2].duplicate_of
    assert made.results[2].added == ("subjects Money",)
    (wide,) = made.warnings
    assert wide.startswith("2: 5 subjects are 10 claims")


def test_a_field_that_there_is_not_is_named_with_the_one_that_was_meant(vault: Vault) -> None:
    with pytest.raises(UsageError, match="unknown field `subject`") as refused:
        vault.add_observations([{"content": "x", "subject": ["Redis"]}])
    assert refused.value.hint == "did you mean `subject_names`?"
    with pytest.raises(UsageError) as refused:
        vault.add_observations([{"content": "x", "zzz": 1}])
    assert refused.value.hint.startswith("the fields are ask, change_targets, ")


def test_all_names_of_a_large_batch_are_on_the_disk_before_it_is_answered_for(
    vault: Vault, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited_for: set[str] = set()
    wait = os.fsync

    def watched(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            waited_for.update(os.listdir(descriptor))
        wait(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    made = vault.add_observations([{"content": f"Seen for the {number}th time."} for number in range(25)])
    assert {Path(one.path).name for one in made.results} <= waited_for


@pytest.mark.parametrize(
    ("field", "value", "meant"),
    [
        ("content", [], "a text"), ("title", 3, "a text"), ("tags", [1], "a list of texts"), ("importance", "high", "a number"),
        ("confidence", True, "a number"), ("pinned", "yes", "true or false"), ("subject_names", {"a": 1}, "a list of texts"),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_named_by_its_field(vault: Vault, field: str, value: object, meant: str) -> None:
    with pytest.raises(UsageError, match=f"observation 1: `{field}` is {meant}, not"):
        vault.add_observations([{"content": "Fine.", field: value}])
    assert vault.search("fine").results == ()


@pytest.mark.in_git
def test_a_subject_that_a_deleted_write_made_goes_with_it_where_nothing_else_names_it(vault: Vault, root: Path) -> None:
    mine = vault.as_(session="s1")
    mine.create_subjects([{"name": "Made on purpose"}])
    vault.remember("Of the shared one.", ["Shared"])
    slips = [
        mine.remember("A slip.", ["Fresh", "Made on purpose", "Shared", "Described", "Linked", "Twice"]).id,
        mine.remember("Another.", ["Twice"]).id,
    ]
    mine.update_subject_summary("Described", "It is worth a word.")
    vault.remember("See [[Linked]].")
    first = mine.delete_observations(slips[:1])
    assert first.subjects_removed == ("Fresh",)
    assert_committed(first, root)
    assert in_commit(root)["vault/subjects/fresh.md"] == "D"
    assert mine.delete_observations(slips[1:]).subjects_removed == ("Twice",)
    left = {one.name for one in vault.get_subjects().results}
    assert left == {"Made on purpose", "Shared", "Described", "Linked"}
    vault.as_person().undo()
    assert {one.name for one in vault.get_subjects().results} == {*left, "Twice"}
