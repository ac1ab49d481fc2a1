"""What keeps notes findable by meaning: caught up in the background, told by doctor where that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.loopback import Mode
from tests.fakes.ollama_server import FakeOllama
from vault_tool import Vault
from vault_tool.features.doctor.doctor import doctor
from vault_tool.index.seals import lock
from vault_tool.vault.vector_upkeep import UpkeepResult, keep_vectors

pytestmark = pytest.mark.without_git


def _opened(root: Path, ollama: FakeOllama, store: str) -> Vault:
    environ = {"VAULT_PROVIDER": "ollama", "OLLAMA_HOST": ollama.url, "VAULT_VECTORS": store, "HOME": str(root)}
    return Vault.open(root, environ=environ)


@pytest.mark.parametrize("store", ["exact", "chroma"])
def test_what_is_behind_is_kept_up(root: Path, store: str) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, store) as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        vault.fresh()
        kept = keep_vectors(vault, 20)
        assert (kept.done > 0, kept.behind, kept.fault) == (True, 0, "")
        assert keep_vectors(vault, 20) == UpkeepResult(embedder="ollama:nomic-embed-text")
        status = vault.embedding.vectors.status()
        assert (status.store, status.behind, status.mirror_behind, status.fault) == (store, 0, 0, "")
        hits = vault.embedding.vectors.search(vault.embedding.vectors.query("kelp dries"), 3)
        assert any("kelp" in hit.path for hit in hits)
        assert (root / "_cache/chroma").is_dir() == (store == "chroma")


def test_nothing_is_done_without_an_embedder(vault: Vault) -> None:
    assert keep_vectors(vault, 5) == UpkeepResult()


def test_what_cannot_be_done_is_said_and_left_to_a_later_call(root: Path) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, "http://127.0.0.1:9") as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        ollama.mode = Mode.ERROR
        kept = keep_vectors(vault, 20)
        assert (kept.done, kept.behind > 0, "500" in kept.fault) == (0, True, True)
        ollama.mode = Mode.WELL
        kept = keep_vectors(vault, 20)
        assert (kept.done > 0, kept.behind > 0, "http://127.0.0.1:9" in kept.fault) == (True, True, True)
        done = vault.embed()
        assert (done.complete, done.attention, done.mirrored) == (True, True, 0)
        assert "http://127.0.0.1:9" in done.mirror_fault
        assert any(done.mirror_fault in warning for warning in done.warnings)


def test_embed_brings_chroma_up_to_date(root: Path) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, "chroma") as vault:
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        done = vault.embed()
        # Two notes, whatever number of angles they are seen from, beside the three that a vault begins with.
        assert (done.mirrored, done.mirror_fault, done.attention) == (vault.embedding.vectors.status().notes, "", False)
        assert vault.embedding.vectors.chroma_missing_count() == 0
        assert vault.embed().mirrored == 0


def test_another_process_at_it_is_no_fault(root: Path) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, "chroma") as vault:
        vault.embed()
        vault.remember("Kelp dries on the harbor wall.", subject_names=["Harbor"])
        folder = next((root / "_cache/vectors").iterdir())
        with lock(folder / "fill.lock", 1, "it"), lock(folder / "chroma.lock", 1, "it"):
            kept = keep_vectors(vault, 20)
        assert (kept.done, kept.behind > 0, kept.fault) == (0, True, "")


def test_doctor_names_what_is_not_embedded(root: Path) -> None:
    with FakeOllama() as ollama, _opened(root, ollama, "exact") as vault:
        ollama.mode, ollama.poison = Mode.NAN, "lichen"
        vault.remember("Grey lichen grows on basalt.", subject_names=["Stone"])
        keep_vectors(vault, 20)
        found = [problem for problem in doctor(vault).problems if problem.code == "not-embedded"]
        assert len(found) == 1
        assert "lichen" in found[0].path
        assert "NaN" in found[0].message
