"""What keeps notes findable by meaning: caught up in the background, told by doctor where that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import FakeOllama
from vault_tool import Vault
from vault_tool.verbs.upkeep import doctor
from vault_tool.verbs.vector_upkeep import keep_vectors


def _opened(root: Path, ollama: FakeOllama, store: str) -> Vault:
    environ = {"VAULT_PROVIDER": "ollama", "OLLAMA_HOST": ollama.url, "VAULT_VECTORS": store, "HOME": str(root)}
    return Vault.open(root, environ=environ)


@pytest.mark.parametrize("store", ["exact", "chroma"])
def test_what_is_behind_is_kept_up(root: Path, store: str) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, store) as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        vault.fresh()
        assert keep_vectors(vault, 20) > 0
        assert keep_vectors(vault, 20) == 0
        status = vault.vectors.status()
        assert (status.store, status.behind, status.mirror_behind, status.fault) == (store, 0, 0, "")
        hits = vault.vectors.search(vault.vectors.query("kelp dries"), 3)
        assert any("kelp" in hit.path for hit in hits)
        assert (root / "_cache/chroma").is_dir() == (store == "chroma")


def test_nothing_is_done_without_an_embedder(vault: Vault) -> None:
    assert keep_vectors(vault, 5) == 0


def test_doctor_names_what_is_not_embedded(root: Path) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, "exact") as vault:
        ollama.mode, ollama.poison = Mode.NAN, "lichen"
        vault.remember("Grey lichen grows on basalt.", subject_names=["Stone"])
        keep_vectors(vault, 20)
        found = [problem for problem in doctor(vault).problems if problem.code == "not-embedded"]
        assert len(found) == 1
        assert "lichen" in found[0].path
        assert "NaN" in found[0].message
