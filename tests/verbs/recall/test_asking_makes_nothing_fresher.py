"""A question counts as a use of its best answer alone: what only supports it stays where it was, at every door."""

from __future__ import annotations

import pytest

from vault_tool import Vault
from vault_tool.vault.retrieval.engine import Query, gather

pytestmark = pytest.mark.without_git


@pytest.mark.parametrize(
    ("older", "newer", "asked"),
    [
        ("The office in Lyon is at Hall Street 5.", "The office in Lyon is at Mill Lane 9.", "where is the office in Lyon?"),
        ("The pump of the okapi takes oil 46.", "The pump of the okapi takes oil 68.", "which oil takes the okapi pump?"),
    ],
)  # fmt: skip
def test_asking_brings_no_older_value_before_the_newer(vault: Vault, older: str, newer: str, asked: str) -> None:
    first = vault.remember(older, ["House"], kind="fact", observed_at="2025-03-01")
    second = vault.remember(newer, ["House"], kind="fact", observed_at="2026-03-01")
    for session in ("s1", "s2", "s3"):
        asker = vault.as_(session=session)
        orders = [
            [found.title for found in asker.search(asked).results],
            [found.title for found in asker.recall(asked).results],  # type: ignore[union-attr]
            [found.title for found in gather(asker, Query(query=asked, profile="ambient")).results],
        ]
        assert all(order[0].startswith(newer.rstrip(".")) for order in orders), (session, orders)
    assert [vault.show(memory.id).access_count for memory in (second, first)] == [3, 0]
