from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.git_repos import write
from tests.verbs.looking import identity, note, untouched
from vault_tool import Vault
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git
"""But for those that say so, these look at no git."""


@pytest.fixture
def kept(vault: Vault, clock: FixedClock) -> Vault:
    """A vault with something of everything that a report names."""
    old = vault.create_understanding(["Redis"], "It is a cache.", "A cache.")
    clock.advance(timedelta(hours=1))
    for number in range(3):
        vault.remember(f"Redis at home, part {number}.", ["Redis", "Homelab"], kind="fact")
    vault.remember("Evidence.", ["Redis"], kind="fact", related_to=[old.id])
    problem = vault.remember("It times out.", ["Redis"], kind="problem", tags=["timeout"])
    vault.remember("A longer timeout.", ["Redis"], kind="solution", tags=["timeout"])
    vault.remember("A second connection.", ["Redis"], kind="failed_tactic", problem=problem.id)
    return vault


@pytest.mark.in_git
def test_each_list_names_what_needs_it(kept: Vault, root: Path) -> None:
    doubted = kept.remember("Doubtful.", ["Garden"], kind="fact")
    kept.mark_questionable(doubted.id, "it was another day")
    with untouched(root):
        report = kept.get_consolidation_report()

    needing = [(one.name, one.observation_count) for one in report.subjects_needing_understanding]
    assert needing == [("Homelab", 3), ("Garden", 1)]
    [stale] = report.stale_understandings
    assert (stale.subject_names, stale.summary, stale.new_observation_count) == (("Redis",), "A cache.", 7)
    [changed] = report.intersections_needing_synthesis
    assert (changed.subject_a, changed.subject_b, changed.intersection_size, changed.new_generation_count) == (
        "Homelab", "Redis", 3, 3,
    )  # fmt: skip
    assert changed.existing_understanding is None
    [dense] = report.semantically_dense_intersections
    assert (dense.subject_a, dense.subject_b, dense.similarity_score, dense.intersection_size) == ("Homelab", "Redis", None, 3)
    assert "no embeddings: similarity is left out" in report.degraded
    assert (report.pending_consolidation_count, report.due_packets, len(report.unlinked_observations)) == (7, 1, 7)
    assert "Evidence." not in [one.content for one in report.unlinked_observations]
    [item] = report.questionable_items
    assert (item.id, item.kind, item.reason) == (doubted.id, "observation", "it was another day")
    [suggested] = report.edge_suggestions
    assert (suggested.from_title, suggested.type, suggested.to_title) == ("A longer timeout", "SOLVES", "It times out")
    assert (report.contested_understandings, report.untouched_subjects, report.hygiene) == ((), (), ())
    assert report.counts["unlinked_observations"] == 7


def test_what_is_settled_leaves_the_report(kept: Vault) -> None:
    doubted = kept.remember("Doubtful.", ["Redis"], kind="fact")
    kept.mark_questionable(doubted.id, "perhaps")
    kept.mark_useful(doubted.id, "it was right")
    kept.create_understanding(["Redis", "Homelab"], "Redis runs at home.", "At home.")
    kept.create_understanding(["Homelab"], "The rack.", "The rack.")
    report = kept.get_consolidation_report()
    assert report.questionable_items == ()
    assert report.semantically_dense_intersections == ()
    assert report.subjects_needing_understanding == ()


def test_lists_are_cut_and_counted(vault: Vault) -> None:
    for number in range(4):
        vault.remember(f"Fact {number}.", [f"Subject {number}"], kind="fact")
    report = vault.get_consolidation_report(limit=2)
    assert len(report.subjects_needing_understanding) == len(report.unlinked_observations) == 2
    assert report.counts["subjects_needing_understanding"] == report.counts["unlinked_observations"] == 4


def test_the_orientation_is_stale_once_enough_moved(vault: Vault, clock: FixedClock) -> None:
    clock.advance(timedelta(days=1))
    for number in range(3):
        vault.remember(f"Fact {number}.", [f"Subject {number}"], kind="fact")
    stale = vault.get_consolidation_report().stale_orientation
    assert stale is not None
    assert stale.reason == "3 subjects have new observations since"
    vault.begin_consolidation()
    stale = vault.get_consolidation_report().stale_orientation
    assert stale is not None and stale.reason.endswith("and a pass of consolidation began since")


def test_a_soul_that_became_a_list_is_named(vault: Vault) -> None:
    rules = "\n".join(f"- Always do thing {number}." for number in range(6))
    vault.as_(origin="owner").create_understanding([], rules, "Rules.", kind="soul")
    [finding] = vault.get_consolidation_report().hygiene
    assert (finding.kind, finding.sign) == ("soul", "procedural")


def test_a_protocol_that_became_a_diary_is_named(vault: Vault) -> None:
    lessons = "\n\n".join(f"Today we learned in session {number} that tests come first." for number in range(4))
    vault.as_(origin="owner").create_understanding([], lessons, "Lessons.", kind="protocol")
    [finding] = vault.get_consolidation_report().hygiene
    assert (finding.kind, finding.sign) == ("protocol", "tactical")


def test_a_subject_in_use_that_nothing_was_added_to_for_generations_is_named(vault: Vault, root: Path) -> None:
    for number in range(3):
        vault.remember(f"Old {number}.", ["Garden"], kind="decision", pinned=True)
    parent = ""
    for number in range(4):
        head = f"id: {identity(number + 1)}\ntype: consolidation\ngeneration: {number + 1}\n{parent}"
        write(root, f"vault/consolidations/{number}.md", f"---\n{head}---\nPass.\n")
        parent = f"parents: [{identity(number + 1)}]\n"
    write(root, "vault/new.md", note(9, "New.", subjects="[Redis]", generation="4"))
    [untouched_] = vault.get_consolidation_report().untouched_subjects
    assert (untouched_.name, untouched_.observation_count, untouched_.generations_ago) == ("Garden", 3, 4)


def test_the_reflection_names_what_is_uncovered_and_stale(kept: Vault) -> None:
    page = kept.reflection(preview=True).text
    assert "- **stale**: [A cache](vault/understandings/" in page
    assert "- **uncovered**: [Homelab](vault/subjects/homelab.md) - 3 observations and no understanding" in page


def test_a_subject_that_is_nearly_contained_in_another_is_a_suggestion_and_no_packet(vault: Vault) -> None:
    for number in range(4):
        vault.remember(f"The pump of the mill, part {number}.", ["Pump", "Mill"], kind="fact")
    vault.remember("The pump alone.", ["Pump"], kind="fact")
    for number in range(4):
        vault.remember(f"The mill alone, part {number}.", ["Mill"], kind="fact")
    for number in range(3):
        vault.remember(f"The mill and the shop, part {number}.", ["Mill", "Shop"], kind="fact")
        vault.remember(f"The shop alone, part {number}.", ["Shop"], kind="fact")
    for name in ("Pump", "Mill", "Shop"):
        vault.create_understanding([name], f"What {name} is.", f"{name}.", source_observation_ids=[])
    (contained,) = vault.get_consolidation_report().contained_subjects
    assert (contained.part, contained.whole, contained.part_count, contained.shared_count) == ("Pump", "Mill", 5, 4)
    packets = vault.get_pending_consolidation(limit=None)
    assert "Mill × Pump" not in [one.label for one in packets.intersections]
    vault.create_understanding(["Mill"], "The pump is a part of the mill.", "Parts.", kind="structural")
    assert vault.get_consolidation_report().contained_subjects == ()


def test_two_names_of_one_thing_are_told_once(vault: Vault) -> None:
    for number in range(3):
        vault.remember(f"The lab, part {number}.", ["Homelab", "The lab"], kind="fact")
    (contained,) = vault.get_consolidation_report().contained_subjects
    assert (contained.part, contained.whole, contained.shared_count) == ("Homelab", "The lab", 3)
