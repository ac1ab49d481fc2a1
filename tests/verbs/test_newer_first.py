"""On the page what seems to have been changed stands directly below what changed it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from vault_tool import Vault
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The office in Lyon is at Hall Street 5.", "The office in Lyon is at Mill Lane 9."),
        ("The server of the shop listens on port 8080.", "The server of the shop listens on port 9090."),
    ],
)
@pytest.mark.parametrize("used", [False, True])
def test_the_newer_one_comes_first(vault: Vault, clock: FixedClock, older: str, newer: str, used: bool) -> None:
    old = vault.remember(older, ["Place"], kind="fact").id
    clock.advance(timedelta(days=2))
    vault.remember("The gate of the yard is green.", ["Yard"], kind="fact")
    vault.remember(newer, ["Place"], kind="fact")
    if used:
        # What was useful is worth more: by that alone it would stand above.
        for session in ("a", "b", "c"):
            vault.as_(session=session).mark_useful(old, "It helped.")
    page = vault.core().text
    lines = [line for line in page.split("\n") if line.startswith("- ")]
    places = [next(n for n, line in enumerate(lines) if text[:-1] in line) for text in (newer, older)]
    assert places[1] == places[0] + 1, lines
