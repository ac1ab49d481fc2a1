from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.ollama_server import FakeOllama
from vault_tool import Vault
from vault_tool.errors import NotFound, UsageError
from vault_tool.index.catalog import Catalog
from vault_tool.util.clock import FixedClock

pytestmark = pytest.mark.without_git


def said(vault: Vault, *arguments: object, **options: object) -> list[str]:
    return [one.content for one in vault.search_observations(*arguments, **options).results]  # type: ignore[arg-type]


def _told(vault: Vault) -> None:
    vault.add_observations(
        [
            {"content": "Redis restarts at three.", "subject_names": ["Redis", "Lab"]},
            {"content": "The queue restarts with Redis.", "subject_names": ["Redis", "Queue"]},
            {"content": "The lamp restarts when it likes.", "subject_names": ["Lab"]},
            {
                "content": "Redis restarts were over by May.",
                "subject_names": ["Redis"],
                "expires": "2026-06-01T00:00:00+00:00",
                "observed_at": "2026-05-01",
            },
        ]
    )
    vault.create_understanding(["Redis"], "Redis restarts too often.", "It restarts.")


@pytest.fixture
def told(vault: Vault, once: Callable[[Callable[[Vault], Any]], Any]) -> Vault:
    once(_told)
    return vault


def test_only_the_evidence_on_all_named_subjects_is_searched(told: Vault) -> None:
    assert set(said(told, ["Redis"], "restarts")) == {"Redis restarts at three.", "The queue restarts with Redis."}
    assert said(told, ["redis", "LAB"], "restarts") == ["Redis restarts at three."]
    assert set(said(told, [], "restarts")) == {
        "Redis restarts at three.",
        "The queue restarts with Redis.",
        "The lamp restarts when it likes.",
    }


def test_what_is_rare_among_many_is_still_found(vault: Vault) -> None:
    vault.add_observations([{"content": f"Restart number {n} of the lamp.", "subject_names": ["Lamp"]} for n in range(60)])
    vault.remember("A restart of Redis, told in rather more words than those of the lamp ever were.", ["Redis"])
    assert len(said(vault, ["Redis"], "restart", limit=1)) == 1


def test_without_vectors_the_words_decide_and_the_answer_says_so(told: Vault) -> None:
    found = told.search_observations(["Redis"], "restarts", mode="embedding")
    assert (found.mode, found.degraded) == ("text", ("no embeddings",))
    assert len(found.results) == 2
    assert told.search_observations(["Redis"], "restarts").degraded == ()


def test_what_was_written_just_now_is_found_by_meaning(told: Vault, root: Path, clock: FixedClock) -> None:
    with FakeOllama() as ollama, Vault.open(root, clock=clock, environ={**os.environ, "OLLAMA_HOST": ollama.url}) as vault:
        asked = partial(vault.search_observations, ["Lab"], "lamp", mode="embedding")
        # An answer embeds for a moment only: on a slow machine it takes several.
        found = next(found for _ in range(100) if not (found := asked()).degraded)
        assert (found.mode, len(found.results)) == ("embedding", 2)
        vault.remember("The lamp is broken for good.", ["Lab"])
        again = next(found for _ in range(100) if not (found := asked()).degraded)
        assert len(again.results) == 3


def test_by_meaning_the_vectors_rank_what_the_subjects_allow(told: Vault, root: Path, clock: FixedClock) -> None:
    with FakeOllama() as ollama, Vault.open(root, clock=clock, environ={**os.environ, "OLLAMA_HOST": ollama.url}) as vault:
        assert vault.embedding.vectors.catch_up().whole
        found = vault.search_observations(["Lab"], "the lamp likes", mode="embedding")
        assert (found.mode, found.degraded) == ("embedding", ())
        assert found.results[0].content == "The lamp restarts when it likes."
        assert {one.matched_perspective for one in found.results} <= set(vault.embedding.vectors.perspectives)
        assert all("Lab" in one.subjects for one in found.results)
        assert vault.get_stats().embedding_coverage.share == 1


def test_what_cannot_be_meant_is_refused(told: Vault) -> None:
    with pytest.raises(UsageError, match="no mode of search"):
        told.search_observations(["Redis"], "restarts", mode="magic")
    with pytest.raises(UsageError, match="query is empty"):
        told.search_observations(["Redis"], " ")
    with pytest.raises(NotFound, match="no subject is called `Rediss`"):
        told.search_observations(["Rediss"], "restarts")


def test_stats_count_what_there_is(told: Vault) -> None:
    counted = told.get_stats()
    assert (counted.subject_count, counted.observation_count, counted.active_understanding_count) == (3, 4, 4)
    assert counted.workspace.name == "Lab"
    assert counted.by_type["general"] == 4
    assert counted.current_generation == 0
    assert counted.last_consolidated_at is None


def test_without_subjects_no_more_is_read_than_what_was_found(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.add_observations([{"content": f"The lamp number {n} hums.", "subject_names": ["Lamp"]} for n in range(30)])
    vault.remember("Redis restarts at three.", ["Redis"])
    assert said(vault, [], "Redis restarts") == ["Redis restarts at three."]
    read: list[int] = []
    rows = Catalog.rows

    def counted(catalog: Catalog, query: str, values: Sequence[Any] = ()) -> list[Any]:
        found = rows(catalog, query, values)
        read.append(len(found))
        return found

    monkeypatch.setattr(Catalog, "rows", counted)
    assert said(vault, [], "Redis restarts") == ["Redis restarts at three."]
    assert read and max(read) < 30
