"""What answers say of the vectors behind them: who proposed the best, and what could not be asked."""

from __future__ import annotations

import shutil
from math import inf
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.fakes.ollama_server import FakeOllama
from vault_tool import Vault
from vault_tool.features.recall.recall import Bundle
from vault_tool.recall.weights import PROFILES, TARGETED
from vault_tool.vault import vector_upkeep
from vault_tool.vault.retrieval import vector_scores
from vault_tool.vault.retrieval.engine import Query, gather

pytestmark = pytest.mark.without_git


def _opened(root: Path, ollama: FakeOllama, store: str) -> Vault:
    environ = {"VAULT_PROVIDER": "ollama", "OLLAMA_HOST": ollama.url, "VAULT_VECTORS": store, "HOME": str(root)}
    return Vault.open(root, environ=environ)


def _degraded(vault: Vault) -> tuple[str, ...]:
    found = vault.recall("where does kelp dry?")
    assert isinstance(found, Bundle)
    assert found.results[0].content.startswith("Kelp dries")
    assert vault.search("where does kelp dry?").degraded == found.degraded
    assert vault.search_observations([], "kelp dries", mode="embedding").degraded == found.degraded
    return found.degraded


@pytest.mark.parametrize(("store", "said"), [("exact", ()), ("chroma", ("approximate (chroma)",))])
def test_who_proposes_is_said(root: Path, store: str, said: tuple[str, ...]) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, store) as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        vault.embed()
        assert _degraded(vault) == said


def test_the_exact_store_answers_for_one_that_cannot_and_says_so(root: Path) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, "chroma") as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        vault.embed()
        shutil.rmtree(root / "_cache/chroma")
        (said,) = _degraded(vault)
        assert said.startswith("exact search instead of chroma: the Chroma collection is not made yet")
        vault.embed()
        assert _degraded(vault) == ("approximate (chroma)",)


def test_vectors_that_are_cut_in_the_middle_of_an_answer_fail_no_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_upkeep, "_A_MOMENT", inf)
    settings = root / "vault.toml"
    settings.write_text(f"embedding_wait = 60\n{settings.read_text()}")
    with FakeOllama() as ollama, _opened(root, ollama, "exact") as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        vault.embed()
        found, lacks = vector_scores.ask(vault, ["where does kelp dry?"], PROFILES["targeted"], inf)
        assert found is not None
        assert lacks == ()
        paths = found.top(3)
        for rows in (root / "_cache/vectors").rglob("*.vec"):
            with rows.open("r+b") as file:
                file.truncate(700)
        assert set(found.of(paths)) == set(paths)
        assert _degraded(vault) == ()  # the next question has them made again


def test_what_waits_in_bulk_is_left_to_embed_and_a_few_are_caught_up(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_upkeep, "_SOME", 2)
    with FakeOllama() as ollama, _opened(root, ollama, "exact") as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        vault.embed()
        vault.add_observations([{"content": f"The wall has stone number {n}."} for n in range(3)])
        assert _degraded(vault) == ("not embedded yet: 3 notes",)
        vault.embed()
        vault.remember("The wall has a gate.")
        assert _degraded(vault) == ()


def test_what_is_replaced_is_no_step_of_a_chain(root: Path) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, "exact") as vault:
        hit = vault.remember("Kelp dries on the harbor wall in the wind.")
        old = vault.create_understanding(["Harbor"], "The harbor wall in the wind is where nets hang.", summary="Nets")
        vault.embed()
        query = "where does kelp dry?"
        everything = replace(TARGETED, least=0.0)
        assert {hit.id, old.id} == {one.id for one in gather(vault, Query(query=query, hops=2), everything).results}
        vault.update_understanding(old.id, "Nothing.", new_summary="Nothing")
        vault.embed()
        assert old.id not in {one.id for one in gather(vault, Query(query=query, hops=2), everything).results}
