"""Nearly the same is found before a twin is made, in any script, and is never the memory itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.ollama_server import FakeOllama
from vault_tool import Vault
from vault_tool.util.clock import FixedClock
from vault_tool.vault.similar import dice, features, near

pytestmark = pytest.mark.without_git

SAID = "Redis drops idle connections after 300 seconds because keepalive is off."


@pytest.mark.parametrize(
    "text",
    [
        "Redis drops idle connections after 300 seconds because socket keepalive is off.",
        "redis drops idle connections after 300 seconds, because keepalive is off!",
        'Redis "drops" idle* connections after 300 seconds because keepalive is off, it seems',
    ],
)
def test_nearly_the_same_text_is_found(vault: Vault, text: str) -> None:
    made = vault.remember(SAID, kind="fact")
    [found] = near(vault, text, "fact")
    assert (found.id, found.same_type, found.path) == (made.id, True, made.path)
    assert 0.5 <= found.likeness <= 1
    assert not near(vault, text, "insight")[0].same_type


def test_other_texts_and_the_exact_twin_are_not(vault: Vault) -> None:
    vault.remember(SAID)
    assert near(vault, "Postgres drops idle connections when the pool is full.") == ()
    assert near(vault, "  " + SAID.replace(" ", "\n")) == ()
    assert near(vault, "...") == () == near(vault, SAID + " x", limit=0)


def test_the_same_said_as_another_type_is_no_silent_twin(vault: Vault) -> None:
    made = vault.remember(SAID, kind="fact")
    again = vault.remember(SAID, kind="decision")
    assert [(one.id, one.likeness, one.same_type) for one in again.similar] == [(made.id, 1.0, False)]
    assert again.duplicate_of is None


def test_scripts_without_spaces_are_compared_by_letter(vault: Vault) -> None:
    made = vault.remember("记忆系统使用向量检索来查找笔记。")
    assert [one.id for one in near(vault, "记忆系统使用向量检索来查找旧笔记。")] == [made.id]


def test_remember_says_what_is_nearly_the_same(vault: Vault) -> None:
    made = vault.remember(SAID)
    again = vault.remember(SAID.replace("300", "300.0"))
    assert [one.id for one in again.similar] == [made.id]
    assert again.duplicate_of is None
    assert made.similar == ()


@given(st.text(max_size=80), st.text(max_size=80))
def test_likeness_is_symmetric_and_in_the_unit_interval(one: str, other: str) -> None:
    a, b = features(one), features(other)
    assert dice(a, b) == dice(b, a)
    assert 0 <= dice(a, b) <= 1
    assert dice(a, a) == (1.0 if a else 0.0)


def test_paraphrases_are_found_where_meanings_are_compared_already(root: Path, clock: FixedClock) -> None:
    models = os.environ.get("VAULT_TEST_MODELS")
    if not models:
        pytest.skip("VAULT_TEST_MODELS names no folder of models")
    with Vault.open(root, clock=clock, environ={"VAULT_MODELS": models, "VAULT_PROVIDER": "local"}) as vault:
        made = vault.remember(SAID)
        said = "With no keepalive, Redis loses connections that were idle for five minutes."
        assert near(vault, said) == ()
        assert vault.embedding.choice.embedder is not None
        vault.embedding.vectors.catch_up(vault.embedding.choice.embedder)
        [found] = near(vault, said)
        assert (found.id, found.by) == (made.id, "meaning")
        assert near(vault, "The garden needs water in July.") == ()


def test_no_server_is_asked_while_a_write_holds_the_lock(root: Path, clock: FixedClock) -> None:
    with FakeOllama() as ollama, Vault.open(root, clock=clock, environ={**os.environ, "OLLAMA_HOST": ollama.url}) as vault:
        vault.remember(SAID)
        assert vault.embedding.vectors.catch_up().whole
        asked = len(ollama.requests)
        vault.remember("With no keepalive, Redis loses connections that were idle for five minutes.")
        assert len(ollama.requests) == asked
