"""A local model whose files become others under the same name: it is said, and nothing that the old ones made is mixed in."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.cli.typed import vt
from tests.fakes import tiny_model
from tests.wording import typed
from vault_tool import Vault
from vault_tool.errors import EmbeddingUnavailable, UsageError
from vault_tool.index.embedding import choose
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.onnx import INT8, MODEL, Local, folder_in
from vault_tool.index.vectors import sets

pytestmark = pytest.mark.without_git

TEXTS = ("The pump knocks at night.", "Kelp dries on the harbour wall.", "Redis keeps the sessions.")
TITLES = tuple(text.removesuffix(".") for text in TEXTS)


@pytest.fixture
def models(root: Path) -> Path:
    choose.choose_anew()
    tiny_model.put(root.parent / "models", 1)
    return root.parent / "models"


def _opened(root: Path, models: Path, **environ: str) -> Vault:
    return Vault.open(root, environ={"VAULT_PROVIDER": "local", "VAULT_MODELS": str(models), "HOME": str(root.parent), **environ})


def _swap(models: Path, data: bytes) -> None:
    """Other weights in the same file: as large, written in place, its time put back."""
    file = folder_in(models) / "model.onnx"
    was = file.stat()
    file.write_bytes(data)
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))


def _told(vault: Vault) -> None:
    for text in TEXTS:
        vault.remember(text, ["House"])


def _made_by(vault: Vault, models: Path) -> bool:
    """Whether every vector is one that the files make which are there now."""
    vault.fresh()
    paths = [entry.path for entry in vault.index.catalog.snapshot().entries if entry.title in TITLES]
    found = vault.embedding.vectors.vectors_of(paths)
    fresh = Local(folder_in(models))
    for path, vector in found.items():
        [(_, text)] = [item for note in vault.embedding.vectors._notes.texts([path], fresh.window) for item in note.items()]
        if float(np.dot(fresh.embed([text], Role.DOCUMENT).vectors[0], vector)) < 0.999:
            return False
    return len(found) == len(TEXTS)


def test_other_weights_are_said_and_everything_is_embedded_anew(root: Path, models: Path) -> None:
    with _opened(root, models) as vault:
        _told(vault)
        first = vault.embed()
        assert first.complete and _made_by(vault, models)
    _swap(models, tiny_model.weights_of(2))
    with _opened(root, models) as vault:
        said = vault.status()
        assert said.embeddings.vectors is not None and said.embeddings.vectors.outdated == f"local:{MODEL}"
        assert any("its files are others than those that made the vectors" in line for line in said.next)
        assert vault.embed().embedded == first.embedded
        assert _made_by(vault, models)
        now = vault.status().embeddings.vectors
        assert now is not None and (now.outdated, now.behind) == ("", 0)


def test_a_process_that_stays_notices_it_between_two_questions(root: Path, models: Path) -> None:
    with _opened(root, models) as vault:
        _told(vault)
        vault.embed()
        vault.recall("which pump knocks?")
        _swap(models, tiny_model.weights_of(2))
        vault.recall("which pump knocks?")
        vault.embed()
        assert _made_by(vault, models)


def test_a_memory_written_after_it_joins_no_older_vectors(root: Path, models: Path) -> None:
    with _opened(root, models) as vault, _opened(root, models) as other:
        _told(vault)
        vault.embed()
        other.recall("which pump knocks?")
        _swap(models, tiny_model.weights_of(3))
        other.remember("A fourth text of another day.", ["House"])
        other.recall("a fourth text")
        vault.embed()
        assert _made_by(other, models) and _made_by(vault, models)


def test_files_that_are_half_written_cost_no_vector(root: Path, models: Path) -> None:
    with _opened(root, models) as vault:
        _told(vault)
        vault.embed()
    whole = (folder_in(models) / "model.onnx").read_bytes()
    (folder_in(models) / "model.onnx").write_bytes(whole[:1000])
    with _opened(root, models) as vault:
        assert "cannot be used" in vault.embed().stopped
        assert vault.search("pump knocks").results
    (folder_in(models) / "model.onnx").write_bytes(whole)
    with _opened(root, models) as vault:
        assert vault.embed().embedded == 0
        assert not vault.recall("which pump knocks?").degraded


def test_the_same_content_in_a_new_file_and_vectors_from_before_marks_are_kept(root: Path, models: Path) -> None:
    with _opened(root, models) as vault:
        _told(vault)
        vault.embed()
        [(folder, _, _)] = sets.folders(root / "_cache")
    (folder / "model.mark").unlink()
    file = folder_in(models) / "model.onnx"
    shutil.copy(file, file.with_suffix(".new"))
    file.with_suffix(".new").replace(file)
    with _opened(root, models) as vault:
        assert vault.embed().embedded == 0
        assert (folder / "model.mark").is_file()


def test_the_command_line_says_it(root: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_PROVIDER", "local")
    monkeypatch.setenv("VAULT_MODELS", str(models))
    with _opened(root, models) as vault:
        _told(vault)
        vault.embed()
    _swap(models, tiny_model.weights_of(5))
    for command in ("status", "doctor"):
        done = vt(command, "--vault", str(root))
        assert "made the vectors" in done.stdout + done.stderr


def test_the_form_of_eight_bits_has_a_name_and_vectors_of_its_own(root: Path, models: Path) -> None:
    folder = tiny_model.put(models, 4, INT8)
    assert folder != folder_in(models)
    with _opened(root, models) as vault:
        _told(vault)
        vault.embed()
    with _opened(root, models, VAULT_EMBEDDING_MODEL=INT8) as vault:
        assert vault.embed().model == INT8
        assert vault.embedding.vectors.model == f"local:{INT8}"
        assert not vault.recall("which pump knocks?").degraded
        assert len(sets.folders(root / "_cache")) == 2


def test_it_is_made_where_the_package_is_there_and_else_said_what_to_do(root: Path, models: Path) -> None:
    with _opened(root, models) as vault:
        if find_spec("onnx") is not None:
            assert vault.embed(make_int8=True).model == INT8
            return
        with pytest.raises(EmbeddingUnavailable, match="the package `onnx` is needed") as caught:
            vault.embed(make_int8=True)
        assert "pip install onnx" in caught.value.hint
        assert not list((models / INT8).glob("*"))


def test_no_other_model_is_made_smaller(root: Path, models: Path) -> None:
    with _opened(root, models) as vault, pytest.raises(UsageError, match="no other"):
        vault.embed(provider="ollama", make_int8=True)


@pytest.mark.parametrize(("model", "said"), [(INT8, "--make-int8"), ("all-MiniLM-L12", f"known are {MODEL}, {INT8}")])
def test_a_local_model_that_is_not_there_is_named_with_what_brings_it(root: Path, models: Path, model: str, said: str) -> None:
    with _opened(root, models, VAULT_EMBEDDING_MODEL=model) as vault:
        assert any(said in typed(line) for line in vault.status().next)
