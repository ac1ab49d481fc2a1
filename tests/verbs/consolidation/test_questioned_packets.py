"""What is questioned is worth a look: its subject's packet comes sooner for it, never later."""

from __future__ import annotations

import pytest

from vault_tool import Vault

pytestmark = pytest.mark.without_git


def _worth(vault: Vault) -> dict[str, float]:
    return {packet.label: packet.value for packet in vault.get_pending_consolidation().subjects}


@pytest.mark.parametrize("understood", [False, True])
def test_a_questionable_mark_raises_the_worth_of_its_packet(vault: Vault, understood: bool) -> None:
    for subject in ("Ferry", "Mill"):
        ids = [vault.remember(f"The {subject} was seen {when}.", [subject]).id for when in ("on Monday", "at noon", "in fog")]
        if understood:
            vault.create_understanding([subject], f"The {subject} stands.", "It stands.", source_observation_ids=ids)
            ids = [vault.remember(f"The {subject} was {what}.", [subject]).id for what in ("painted", "closed")]
    before = _worth(vault)
    vault.mark_questionable(ids[-1], "It was another one.")
    after = _worth(vault)
    assert after["Mill"] > before["Mill"]
    assert after["Ferry"] == before["Ferry"]
    assert list(after) == ["Mill", "Ferry"]
