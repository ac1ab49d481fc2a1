"""Small vaults of one-line notes, and turns of a conversation: by words and with the local model, which lowers nothing."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from vault_tool import Vault

pytestmark = pytest.mark.without_git

MODELS = os.environ.get("VAULT_TEST_MODELS", "")
by_meaning = pytest.mark.skipif(not MODELS, reason="VAULT_TEST_MODELS names no folder with the local model")

VAULTS: dict[str, dict[str, Any]] = tomllib.loads(Path(__file__).with_name("notes_and_turns.toml").read_text(encoding="utf-8"))

# Of 22 turns at least so many have the right note first.
LEAST = 9


def _brought(vault: Vault, name: str) -> tuple[set[str], list[str]]:
    """The turns that bring the right note first, and those beside everything that bring any."""
    told = VAULTS[name]
    right = set()
    for turn, number in told["turns"]:
        found = vault.bring_to_mind(turn).results
        if found and found[0].content.strip() == told["notes"][number - 1]:
            right.add(turn)
    return right, [turn for turn in told["beside"] if vault.bring_to_mind(turn).results]


def _by_words(root: Path, name: str) -> tuple[set[str], list[str]]:
    """The same, asked of a vault that is told the notes first."""
    with Vault.open(root, environ={"VAULT_PROVIDER": "none", "HOME": str(root.parent)}) as vault:
        for note in VAULTS[name]["notes"]:
            vault.remember(note, kind="fact")
        vault.is_current = lambda: True
        return _brought(vault, name)


@pytest.mark.parametrize("name", VAULTS)
def test_turns_bring_the_right_note_by_words(root: Path, name: str) -> None:
    right, beside = _by_words(root, name)
    assert len(right) >= LEAST
    assert not beside


@by_meaning
@pytest.mark.parametrize("name", VAULTS)
def test_with_the_model_turns_bring_what_words_bring_and_more(root: Path, name: str) -> None:
    by_words, _ = _by_words(root, name)
    with Vault.open(root, environ={"VAULT_PROVIDER": "local", "VAULT_MODELS": MODELS, "HOME": str(root.parent)}) as vault:
        vault.fresh()
        assert vault.embedding.vectors.catch_up().behind == 0
        vault.is_current = lambda: True
        right, beside = _brought(vault, name)
    assert by_words < right
    assert not beside
