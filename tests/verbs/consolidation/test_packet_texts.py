from __future__ import annotations

from datetime import timedelta

import pytest

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.features.consolidation.consolidating import LISTED
from vault_tool.features.consolidation.packet_texts import AHEAD
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git

MANY = LISTED + 5


@pytest.fixture
def broad(vault: Vault) -> Vault:
    """A vault in which more subjects are new than an answer lists."""
    vault.add_observations(
        [{"content": f"Part {n} follows, {place}.", "subject_names": [f"Part {n}"]} for n in range(MANY) for place in range(3)]
    )
    return vault


def test_answers_about_a_broad_pass_list_its_first_packets_and_count_the_rest(broad: Vault) -> None:
    begun = broad.begin_consolidation()
    assert (len(begun.packets), begun.more) == (LISTED, MANY - LISTED)
    pending = broad.get_pending_consolidation()
    assert (len(pending.subjects), pending.intersections, pending.more) == (LISTED, (), MANY - LISTED)
    whole = broad.get_pending_consolidation(limit=None)
    assert (len(whole.subjects), whole.intersections, whole.more) == (MANY, (), 0)
    assert whole.subjects[:LISTED] == pending.subjects


def test_a_step_names_what_comes_next_and_not_the_whole_pass_again(broad: Vault) -> None:
    step = broad.consolidate()
    assert step.packet is not None
    assert (len(step.packets), step.remaining) == (AHEAD, MANY)
    assert step.packets[0].label == step.packet.label
    after = broad.consolidate(skip=[step.packet.label])
    assert after.remaining == MANY - 1
    assert after.packets[0].label == step.packets[1].label


def test_a_person_can_list_them_all(broad: Vault) -> None:
    ran = vt("--vault", str(broad.root), "get-pending-consolidation")
    assert ran.stdout.count("Part ") < MANY
    assert "more: `vt consolidate --list` shows them" in ran.stdout
    ran = vt("--vault", str(broad.root), "consolidate", "--list")
    assert f"Part {MANY - 1}" in ran.stdout and "more:" not in ran.stdout


def test_what_was_related_to_an_understanding_comes_first_in_its_packet_and_makes_it_stale(
    vault: Vault, clock: FixedClock
) -> None:
    view = vault.create_understanding(["tides"], "The gauge reads low in easterly winds.", "Low in the east.").id
    clock.advance(timedelta(days=1))
    said = vault.remember("Thursday: 40 cm below the tables.", ["logbook"], kind="fact", related_to=[view]).id
    clock.advance(timedelta(days=1))
    newer = vault.remember("The gauge got a new float.", ["tides"], kind="fact").id
    stale = {one.id: one.new_observation_count for one in vault.get_consolidation_report().stale_understandings}
    assert stale == {view: 2}
    packet = vault.consolidate(packet="tides").packet
    assert packet is not None and packet.current is not None and packet.current.id == view
    assert [one.id for one in packet.observations] == [said, newer]


def test_what_was_related_alone_makes_its_understanding_due(vault: Vault, clock: FixedClock) -> None:
    view = vault.create_understanding(["tides"], "The gauge reads low in easterly winds.", "Low in the east.").id
    clock.advance(timedelta(days=1))
    vault.remember("Thursday: 40 cm below the tables.", ["logbook"], kind="fact", related_to=[view])
    assert {one.label for one in vault.get_pending_consolidation().subjects} == {"tides"}


def test_a_source_in_doubt_makes_its_packet_worth_more(vault: Vault) -> None:
    kept: dict[str, str] = {}
    for name in ("pump", "gate"):
        kept[name] = vault.remember(f"The {name} leaks.", [name], kind="fact").id
        vault.create_understanding([name], f"The {name}.", f"The {name}.", source_observation_ids=[kept[name]])
        for part in range(2):
            vault.remember(f"Part {part} of the {name}.", [name], kind="fact")
    vault.mark_questionable(kept["gate"], "seen once")
    worth = {one.label: one.value for one in vault.get_pending_consolidation().subjects}
    assert worth["gate"] > worth["pump"] > 0


def test_what_is_tagged_with_nothing_but_related_to_an_understanding_is_placed(vault: Vault, clock: FixedClock) -> None:
    view = vault.create_understanding(["tides"], "The gauge reads low in easterly winds.", "Low in the east.").id
    clock.advance(timedelta(days=1))
    said = vault.remember("Thursday: 40 cm below the tables.", kind="fact", related_to=[view]).id
    loose = vault.remember("Something else.", kind="fact").id
    begun = vault.begin_consolidation()
    assert (begun.unplaced, [one.label for one in begun.packets]) == ((loose,), ["tides"])
    packet = vault.consolidate().packet
    assert packet is not None and [one.id for one in packet.observations] == [said]


def test_what_was_related_to_a_revision_that_was_replaced_meanwhile_is_read_with_the_newest(
    vault: Vault, clock: FixedClock
) -> None:
    old = vault.create_understanding(["tides"], "The gauge reads low in easterly winds.", "Low in the east.").id
    vault.remember("Known when it was revised.", kind="fact", related_to=[old])
    clock.advance(timedelta(days=1))
    vault.update_understanding(old, "It reads low in all winds.", "Low in all winds.")
    clock.advance(timedelta(days=1))
    said = vault.remember("From another clone: low in the west too.", kind="fact", related_to=[old]).id
    packet = vault.consolidate(packet="tides").packet
    assert packet is not None and [one.id for one in packet.observations] == [said]


def test_what_was_related_to_the_orientation_begins_a_pass_and_is_read_with_it(vault: Vault, clock: FixedClock) -> None:
    view = vault.create_understanding([], "We are at the beginning.", "The beginning.", kind="orientation").id
    structure = vault.set_structural_understanding(vault.create_subjects([{"name": "tides"}]).results[0].name, "A gauge.")
    clock.advance(timedelta(days=1))
    said = vault.remember("The beginning is over.", kind="fact", related_to=[view]).id
    vault.remember("There are two gauges.", ["tides"], kind="fact", related_to=[structure.understanding_id])
    stale = {one.id for one in vault.get_consolidation_report().stale_understandings}
    assert stale == {view, structure.understanding_id}
    packet = vault.consolidate().packet
    assert packet is not None and packet.type == "orientation"
    assert [one.id for one in packet.observations] == [said]
