"""The model of the extra `multilingual`: found without running its Python, checked, tried in a child, given safe texts."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes.ollama_server import FakeOllama
from tests.index.embedding.languages import PAIRS
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding import multilingual
from vault_tool.index.embedding.choose import choose, choose_anew, named
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.local_model import MULTILINGUAL, MULTILINGUAL_PACKAGE
from vault_tool.index.embedding.multilingual import INSTALL_IT, WEIGHTS, Multilingual, installed, readable
from vault_tool.index.embedding.onnx import MODEL, Local, folder_in
from vault_tool.index.vectors.calibration import UNKNOWN, shipped
from vault_tool.machine import Machine

BOOM = "raise RuntimeError('the code of the package was run')\n"

# An engine of the same interface whose vectors tell the number of bytes of a text, and its role.
ENGINE = """
#include <stdlib.h>
#include <string.h>
void omp_set_num_threads(int count) { (void)count; }
void *e5_load(const char *path) { (void)path; return malloc(8); }
int e5_dim(const void *model) { (void)model; return 384; }
int e5_embed_batch(void *model, const char **texts, int count, int is_query, float *out) {
    (void)model;
    for (int row = 0; row < count; row++) {
        for (int at = 0; at < 384; at++) out[row * 384 + at] = 0;
        out[row * 384 + (strlen(texts[row]) % 100) + 100 * is_query] = 1;
    }
    return 0;
}
int e5_embed(void *model, const char *text, int is_query, float *out) {
    FAULT
    return e5_embed_batch(model, &text, 1, is_query, out);
}
"""

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    choose_anew()
    yield
    choose_anew()


def _package(site: Path, monkeypatch: pytest.MonkeyPatch, fault: str = "") -> Path:
    """An installed package with such an engine, and weights that pass for those that were looked at."""
    folder = site / MULTILINGUAL_PACKAGE
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(BOOM)
    (folder / WEIGHTS).write_bytes(b"weights")
    source = site / "engine.c"
    source.write_text(ENGINE.replace("FAULT", fault))
    engine = folder / "_engine.cpython-312-x86_64-linux-gnu.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", engine, source], check=True)
    monkeypatch.setattr(multilingual, "BYTES", 7)
    monkeypatch.setattr(multilingual, "SHA256", hashlib.sha256(b"weights").hexdigest())
    monkeypatch.syspath_prepend(site)
    return folder


@needs_compiler
def test_a_package_is_found_and_its_engine_embeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(tmp_path / "site", monkeypatch)
    model = installed()
    assert model is not None
    assert (model.there, model.name) == (True, f"local:{MULTILINGUAL}")
    texts = ["x" * count for count in range(40)]
    documents = model.embed(texts, Role.DOCUMENT)
    assert documents.vectors.argmax(axis=1).tolist() == list(range(40))
    assert model.embed(texts, Role.QUERY).vectors.argmax(axis=1).tolist() == list(range(100, 140))
    assert documents.state == model.state() != ""
    assert MULTILINGUAL_PACKAGE not in sys.modules


@needs_compiler
@pytest.mark.parametrize(("fault", "said"), [("__builtin_trap();", "AVX2"), ("return 1;", "gave no vector")])
def test_an_engine_that_cannot_run_ends_a_child_and_not_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, said: str
) -> None:
    _package(tmp_path / "site", monkeypatch, fault)
    model = installed()
    assert model is not None
    with pytest.raises(EmbeddingUnavailable, match=said):
        model.embed(["a text"], Role.DOCUMENT)


@needs_compiler
def test_other_weights_are_refused_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _package(tmp_path / "site", monkeypatch)
    (folder / WEIGHTS).write_bytes(b"WEIGHTS")
    model = installed()
    assert model is not None
    with pytest.raises(EmbeddingUnavailable, match="is not the file that was checked") as caught:
        model.embed(["a text"], Role.DOCUMENT)
    assert caught.value.hint == INSTALL_IT
    (folder / WEIGHTS).write_bytes(b"short")
    assert installed() is None


@needs_compiler
def test_auto_takes_it_where_no_other_local_model_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _package(tmp_path / "site", monkeypatch)
    monkeypatch.setattr("vault_tool.index.embedding.choose.PACKAGE", "no_such_package")
    with FakeOllama(models={}) as server:
        machine = Machine(ollama_host=server.url)
        choice = choose(machine, tmp_path / "none")
        assert isinstance(choice.embedder, Multilingual)
        assert "installed package" in choice.why
        own = folder_in(tmp_path / "models")
        own.mkdir(parents=True)
        for name in ("model.onnx", "tokenizer.json"):
            (own / name).write_text("x")
        choose_anew()
        usual = choose(machine, tmp_path / "models").embedder
        assert usual is not None
        assert usual.name == f"local:{MODEL}"
    chosen = Machine(provider="local", model=MULTILINGUAL)
    assert isinstance(named(chosen, "local", tmp_path / "models"), Multilingual)
    assert isinstance(named(Machine(provider="local", model=MODEL), "local", tmp_path / "none"), Local)


def test_where_it_is_not_installed_it_says_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multilingual, "package_folders", lambda package: iter(()))
    choice = choose(Machine(provider="local", model=MULTILINGUAL), tmp_path)
    assert choice.embedder is not None
    assert "multilingual]'` installs it" in choice.lacks
    with pytest.raises(EmbeddingUnavailable) as caught:
        choice.embedder.embed(["a text"], Role.QUERY)
    assert caught.value.hint == INSTALL_IT


@given(st.text(st.characters(codec=None), max_size=60))
def test_no_text_grows_within_the_engine(text: str) -> None:
    """The engine takes compatible forms apart in room for four code points a byte; nothing is left for it to take apart."""
    data = readable(text)
    assert b"\0" not in data
    plain = data.decode("utf-8")
    assert all(unicodedata.normalize("NFKC", letter) == letter for letter in plain)


def test_a_text_of_ligatures_is_no_longer_than_any_other() -> None:
    assert len(readable("\ufdfa" * 100_000).decode()) == 8000


def test_its_background_is_not_that_of_an_unknown_model() -> None:
    background = shipped(f"local:{MULTILINGUAL}")
    assert background is not UNKNOWN
    assert background.mean > 0.7


def test_the_real_engine_finds_what_was_said_in_other_languages() -> None:
    model = installed()
    if model is None:
        pytest.skip("the extra `multilingual` is not installed")
    for language, pairs in PAIRS.items():
        texts = model.embed([text for text, _ in pairs], Role.DOCUMENT).vectors
        asked = model.embed([question for _, question in pairs], Role.QUERY).vectors
        right = int((np.argmax(asked @ texts.T, axis=1) == np.arange(len(pairs))).sum())
        assert right >= 10, language
    model.embed(["\ufdfa" * 5000, "half \ud800", "zero \0 byte", "", "\u0f0b" * 4000], Role.DOCUMENT)
