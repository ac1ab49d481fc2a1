"""Recall with the real local model: paraphrases, precision, and what is near what."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.precision import make_own_vault, own_questions, silence
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle

MODELS = os.environ.get("VAULT_TEST_MODELS", "")
pytestmark = pytest.mark.skipif(not MODELS, reason="VAULT_TEST_MODELS names no folder with the local model")


def test_meaning_finds_and_keeps_silent(tmp_path: Path) -> None:
    make_own_vault(tmp_path / "own")
    answered, unanswered = own_questions()
    environ = {"VAULT_MODELS": MODELS, "VAULT_PROVIDER": "local", "HOME": str(tmp_path)}
    with Vault.open(tmp_path / "own", environ=environ) as vault:
        vault.embedding.vectors.catch_up()
        vault.is_current = lambda: True
        found = vault.recall("who must never eat nuts?")
        assert isinstance(found, Bundle)
        assert found.results[0].content.startswith("Tomas is allergic")
        assert found.degraded == ()
        assert "meaning" in found.results[0].why
        absent = silence([(vault, question) for question in unanswered])
        there = silence([(vault, question) for question in answered])
    assert absent.silent >= 0.9
    assert absent.weak >= 0.8
    assert there.silent <= 0.1
