from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import git
from tests.statuses import said
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


def test_the_active_understandings_of_all_named_subjects_come_with_their_provenance(vault: Vault) -> None:
    writer = vault.as_(session="s1", model="m-large")
    old = writer.create_understanding(["James"], "He builds.", "James builds.")
    new = writer.update_understanding(old.id, "He builds and rests.", "James builds and rests.", reason="he rested")
    both = writer.create_understanding(["James", "Audrey"], "They are married.", "Married.")
    found = vault.get_understandings(["James"]).results
    assert {one.id for one in found} == {new.new_understanding_id, both.id}
    revised = next(one for one in found if one.id == new.new_understanding_id)
    assert (revised.content, revised.session, revised.model, revised.origin) == (
        "He builds and rests.",
        "s1",
        "m-large",
        "agent",
    )
    assert (revised.supersedes, said(revised, "superseded"), revised.reason) == ((old.id,), (), "he rested")
    assert [one.id for one in vault.get_understandings(["James", "Audrey"]).results] == [both.id]


def test_a_subject_is_known_by_its_alias_and_an_unknown_one_is_said(vault: Vault) -> None:
    vault.create_subjects([{"name": "Memory system", "aliases": ["the vault"]}])
    made = vault.create_understanding(["Memory system"], "What it is.", "Sum.")
    assert [one.id for one in vault.get_understandings(["the_vault"]).results] == [made.id]
    with pytest.raises(NotFound, match="no subject is called `Memmory`"):
        vault.get_understandings(["Memmory"])
    with pytest.raises(UsageError, match="no subject was named"):
        vault.get_understandings([])


def test_the_history_goes_from_the_one_asked_for_back_to_the_original(vault: Vault) -> None:
    first = vault.create_understanding(["Redis"], "One.", "One.").id
    second = vault.update_understanding(first, "Two.", "Two.").new_understanding_id
    third = vault.update_understanding(second, "Three.", "Three.").new_understanding_id
    assert [one.id for one in vault.get_understanding_history(third).results] == [third, second, first]
    assert [one.id for one in vault.get_understanding_history(second[:8]).results] == [second, first]
    assert said(vault.get_understanding_history(second).results[0], "superseded") == (third,)


def test_an_understanding_that_has_expired_is_no_longer_what_is_known_of_a_subject(
    vault: Vault, root: Path, clock: FixedClock
) -> None:
    made = vault.create_understanding(["Redis"], "It is down this week.", "Down.")
    file = root / made.path
    file.write_text(file.read_text().replace("origin: agent\n", "origin: agent\nexpires: 2026-11-20T12:00:00+01:00\n"))
    before = vault.get_subjects(["Redis"]).results[0]
    assert before.single_subject_understanding and before.understanding_count == 1
    clock.advance(timedelta(hours=2))
    after = vault.get_subjects(["Redis"]).results[0]
    assert (after.single_subject_understanding, after.understanding_count) == (None, 0)


@pytest.mark.in_git
def test_a_subjects_summary_changes_its_line_alone(vault: Vault, root: Path) -> None:
    made = vault.create_subjects([{"name": "Redis", "summary": "A cache.", "tags": ["lab"]}]).results[0]
    before = (root / made.path).read_bytes()
    done = vault.update_subject_summary("redis", "A cache\nand a queue.")
    assert (done.changed, done.summary, done.previous_summary) == (True, "A cache and a queue.", "A cache.")
    after = (root / made.path).read_bytes()
    assert after == before.replace(b"A cache.", b"A cache and a queue.")
    assert [one.id for one in vault.search("queue").results] == [made.id]
    head = git(root, "rev-parse", "HEAD")
    assert not vault.update_subject_summary("Redis", "A cache and a queue.").changed
    assert git(root, "rev-parse", "HEAD") == head
