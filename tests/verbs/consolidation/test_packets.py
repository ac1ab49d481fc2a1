from __future__ import annotations

import pytest

from tests.cli.typed import vt
from vault_tool import Vault
from vault_tool.verbs.consolidation.consolidating import LISTED
from vault_tool.verbs.consolidation.packets import AHEAD

MANY = LISTED + 5


@pytest.fixture
def broad(vault: Vault) -> Vault:
    """A vault in which more subjects are new than an answer lists, each pair of neighbours with one shared observation."""
    vault.add_observations(
        [{"content": f"Part {n} follows.", "subject_names": [f"Part {n}", f"Part {n + 1}"]} for n in range(MANY - 1)]
    )
    return vault


def test_answers_about_a_broad_pass_list_its_first_packets_and_count_the_rest(broad: Vault) -> None:
    begun = broad.begin_consolidation()
    assert (len(begun.packets), begun.more) == (LISTED, 2 * MANY - 1 - LISTED)
    pending = broad.get_pending_consolidation()
    assert (len(pending.subjects), len(pending.intersections)) == (LISTED, LISTED)
    assert (pending.more, pending.trivial) == (2 * MANY - 1 - 2 * LISTED, MANY - 1)
    whole = broad.get_pending_consolidation(limit=None)
    assert (len(whole.subjects), len(whole.intersections), whole.more) == (MANY, MANY - 1, 0)
    assert whole.subjects[:LISTED] == pending.subjects


def test_a_step_names_what_comes_next_and_not_the_whole_pass_again(broad: Vault) -> None:
    step = broad.consolidate()
    assert step.packet is not None
    assert (len(step.packets), step.remaining, step.trivial) == (AHEAD, 2 * MANY - 1, MANY - 1)
    assert step.packets[0].label == step.packet.label
    after = broad.consolidate(skip=[step.packet.label], skip_trivial=True)
    assert (after.remaining, after.trivial) == (MANY - 1, 0)
    assert after.packets[0].label == step.packets[1].label


def test_a_person_can_list_them_all(broad: Vault) -> None:
    ran = vt("--vault", str(broad.root), "get-pending-consolidation")
    assert ran.stdout.count("Part ") < MANY
    assert "more: `vt consolidate --list` shows them" in ran.stdout
    ran = vt("--vault", str(broad.root), "consolidate", "--list")
    assert f"Part {MANY - 1}" in ran.stdout and "more:" not in ran.stdout
