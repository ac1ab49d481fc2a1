from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.typed import vt
from tests.fakes.ollama_server import FakeOllama
from tests.git_repos import write
from tests.statuses import said
from tests.verbs.looking import fails, note, untouched
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git


def _couple(vault: Vault) -> None:
    vault.create_subjects([{"name": "James", "summary": "He builds.", "tags": ["person"]}, {"name": "Audrey"}])
    for number in range(3):
        vault.remember(f"They did thing {number} together.", ["James", "Audrey"], kind="relationship_beat")
    vault.remember("He went home.", ["James", "Home"], kind="fact")
    vault.remember("He sleeps.", ["James"], kind="fact")


@pytest.fixture
def couple(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> Vault:
    """Two people with three shared observations, and a place that one of them shares with nobody's file."""
    once(_couple)
    return vault


@pytest.mark.in_git
def test_neighbours_come_by_the_size_of_what_they_share(couple: Vault, root: Path) -> None:
    understood = couple.create_understanding(["James", "Audrey"], "They are married.", "Married.")
    with untouched(root):
        found = couple.open_around("james")
    assert (found.subject.name, found.subject.summary, found.subject.tags) == ("James", "He builds.", ("person",))
    assert [(one.subject.name, one.intersection_size) for one in found.neighbors] == [("Audrey", 4), ("Home", 1)]
    first, second = found.neighbors
    assert first.intersection_understanding is not None
    assert (first.intersection_understanding.id, first.intersection_understanding.summary) == (understood.id, "Married.")
    assert second.intersection_understanding is None
    assert (first.reading, second.reading) == ("documented", "small")
    assert first.similarity_score is None
    assert found.degraded == ("no embeddings: similarity is left out",)
    assert found.notice.startswith("Memories are hypotheses")


def test_what_was_written_just_now_is_compared_in_meaning(couple: Vault, root: Path, clock: FixedClock) -> None:
    with FakeOllama() as ollama, Vault.open(root, clock=clock, environ={**os.environ, "OLLAMA_HOST": ollama.url}) as vault:
        # An answer embeds for a moment only: on a slow machine it takes several.
        found = next(found for _ in range(100) if not (found := vault.open_around("James")).degraded)
        assert found.neighbors[0].similarity_score is not None
        assert vault.find_similar_subjects().degraded == vault.get_consolidation_report().degraded == ()


def test_the_neighbours_of_a_hub_are_counted_where_they_are_not_listed(vault: Vault) -> None:
    vault.add_observations([{"content": f"Guest {n} came.", "subject_names": ["Hub", f"Guest {n}"]} for n in range(25)])
    found = vault.open_around("Hub")
    assert (len(found.neighbors), found.more) == (20, 5)
    assert len(vault.open_around("Hub", limit=None).neighbors) == 25


def test_what_is_superseded_is_not_counted(couple: Vault) -> None:
    old = couple.create_understanding(["James", "Audrey"], "Engaged.", "Engaged.")
    couple.update_understanding(old.id, "Married.", "Married.")
    assert couple.open_around("Audrey").neighbors[0].intersection_size == 4
    assert couple.open_intersection("James", "Audrey").intersection_size == 4


def test_a_subject_that_is_only_named_works_as_well(vault: Vault, root: Path) -> None:
    write(root, "vault/a.md", note(1, "Of both.", subjects="[Nobody, Nowhere]"))
    found = vault.open_around("nobody")
    assert (found.subject.id, found.neighbors[0].subject.name, found.neighbors[0].subject.id) == (None, "Nowhere", None)
    assert vault.open_intersection("Nowhere", "Nobody").intersection_size == 1
    with fails(NotFound, "no subject is called `Nothing`"):
        vault.open_around("Nothing")


def test_an_intersection_is_all_that_two_share(couple: Vault, clock: FixedClock) -> None:
    first = couple.create_understanding(["James", "Audrey"], "They met.", "Met.", reason="a first look")
    clock.advance(timedelta(days=1))
    second = couple.as_(model="opus", session="s9").update_understanding(
        first.id, "They are married.", "Married.", reason="the wedding"
    )
    found = couple.open_intersection("Audrey", "James")

    assert (found.subject_a.name, found.subject_b.name, found.intersection_size) == ("Audrey", "James", 4)
    one = found.relationship_understanding
    assert one is not None
    assert (one.id, one.content, one.model_tier, one.session_id) == (
        second.new_understanding_id,
        "They are married.",
        "opus",
        "s9",
    )
    assert [(r.id, r.summary, r.reason, said(r, "superseded")) for r in found.provenance] == [
        (second.new_understanding_id, "Married.", "the wedding", ()),
        (first.id, "Met.", "a first look", (second.new_understanding_id,)),
    ]
    assert len(found.observations) == 3
    assert {observation.kind for observation in found.observations} == {"relationship_beat"}
    assert found.observations[0].content.startswith("They did thing ")
    assert len(couple.open_intersection("Audrey", "James", limit=1).observations) == 1
    assert couple.open_intersection("Audrey", "James", limit=1).more == 2


def test_other_understandings_of_both_are_listed_and_contested_ones_named(couple: Vault, root: Path) -> None:
    couple.create_understanding(["James", "Audrey", "Home"], "All three.", "All three.")
    couple.create_understanding(["James", "Audrey"], "One.", "One.")
    head = "type: relationship\nsummary: Another.\nsubjects: [Audrey, James]\ncreated: 2026-11-20T10:00:00+00:00"
    # Of one moment the larger id counts as newer.
    write(root, "vault/two.md", f"---\nid: ffffffff-ffff-4fff-bfff-fffffffffff9\n{head}\n---\nAnother.\n")
    found = couple.open_intersection("James", "Audrey")
    assert found.relationship_understanding is not None
    assert found.relationship_understanding.summary == "Another."
    assert [brief.summary for brief in found.contested] == ["Another.", "One."]
    assert {brief.summary for brief in found.other_understandings} == {"All three.", "One."}


def test_one_subject_has_no_intersection_with_itself(couple: Vault) -> None:
    with fails(UsageError, "are one subject"):
        couple.open_intersection("James", "james")


def test_the_commands_show_both(couple: Vault, root: Path) -> None:
    couple.close()
    around = vt("open-around", "James", "--vault", str(root), "--json")
    assert [one["subject"]["name"] for one in json.loads(around.stdout)["neighbors"]] == ["Audrey", "Home"]
    shared = vt("open-intersection", "James", "Audrey", "--vault", str(root))
    assert "Audrey" in shared.stdout and "They did thing 0 together" in shared.stdout


def test_what_has_expired_is_no_part_of_an_answer(couple: Vault) -> None:
    couple.remember("They share a flat until May.", ["James", "Audrey"], expires="2026-05-01", observed_at="2026-01-01")
    couple.create_understanding(["James", "Audrey"], "They share a flat.", "Flatmates.")
    found = couple.open_intersection("James", "Audrey")
    assert found.intersection_size == 4
    assert all("until May" not in one.content for one in found.observations)
    assert couple.open_around("James").neighbors[0].intersection_size == 4
