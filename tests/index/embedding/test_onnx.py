"""The local model: the same vectors as Chroma's default function makes, and a clear word where its files are bad."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from tests.index.embedding.models import MODELS, needs_model
from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.embedder import Role
from vault_tool.index.embedding.onnx import DIMENSIONS, FILES, Local, folder_in, present, usual_models

TEXTS = [
    "The database moved to Postgres last week.",
    "",
    "Short.",
    "Ünïcödé, 日本語のテキスト, العربية, Кириллица and 🎉.",
    "word " * 700,
    "We migrated the data store from MySQL.",
    *(f"Note {number} says " + "a little more " * (number % 23) for number in range(90)),
]


@needs_model
def test_the_vectors_are_those_of_chromas_default_function(monkeypatch: pytest.MonkeyPatch) -> None:
    from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

    monkeypatch.setattr(ONNXMiniLM_L6_V2, "DOWNLOAD_PATH", folder_in(MODELS).parent)
    texts = TEXTS[:12]  # Chroma's own way takes a hundred times as long
    theirs = np.array(ONNXMiniLM_L6_V2(preferred_providers=["CPUExecutionProvider"])(texts))
    ours = Local(folder_in(MODELS)).embed(texts, Role.DOCUMENT).vectors
    assert ours.shape == (len(texts), DIMENSIONS)
    assert ours.dtype == np.float32
    assert np.abs(ours - theirs).max() < 1e-5


@needs_model
def test_a_text_has_the_same_vector_in_any_company() -> None:
    embedder = Local(folder_in(MODELS))
    together = embedder.embed(TEXTS, Role.DOCUMENT, "ignored:").vectors
    for at in (0, 4, 20):
        alone = embedder.embed([TEXTS[at]], Role.QUERY).vectors[0]
        assert np.abs(together[at] - alone).max() < 1e-5
    assert together[0] @ together[5] > together[0] @ together[2] + 0.2


@needs_model
def test_threads_share_it() -> None:
    embedder = Local(folder_in(MODELS))
    found: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: found.append(embedder.embed(TEXTS[:9], Role.QUERY).vectors)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(np.abs(one - found[0]).max() < 1e-5 for one in found)


@needs_model
def test_half_a_character_is_no_fault() -> None:
    assert np.isfinite(Local(folder_in(MODELS)).embed(["half \ud83d of it"], Role.DOCUMENT).vectors).all()


@needs_model
def test_nothing_is_nothing() -> None:
    assert Local(folder_in(MODELS)).embed([], Role.DOCUMENT).vectors.shape == (0, DIMENSIONS)


def test_files_that_are_not_there_are_named_with_what_brings_them(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingUnavailable, match=r"Vault\.embed\(download=True\)") as caught:
        Local(tmp_path).embed(["x"], Role.QUERY)
    assert str(tmp_path) in str(caught.value)


@pytest.mark.parametrize("garbage", [b"garbage", b"{}", b"\x00" * 5000])
def test_broken_files_are_one_line(tmp_path: Path, garbage: bytes) -> None:
    for name in FILES:
        (tmp_path / name).write_bytes(garbage)
    with pytest.raises(EmbeddingUnavailable, match="cannot be used") as caught:
        Local(tmp_path).embed(["x"], Role.QUERY)
    assert "\n" not in str(caught.value)


@needs_model
def test_a_cut_off_model_is_one_line(tmp_path: Path) -> None:
    shutil.copy(folder_in(MODELS) / "tokenizer.json", tmp_path)
    (tmp_path / "model.onnx").write_bytes((folder_in(MODELS) / "model.onnx").read_bytes()[:1_000_000])
    with pytest.raises(EmbeddingUnavailable, match="cannot be used"):
        Local(tmp_path).embed(["x"], Role.QUERY)


def test_where_the_files_are(tmp_path: Path) -> None:
    assert folder_in(tmp_path) == tmp_path / "all-MiniLM-L6-v2" / "onnx"
    assert not present(folder_in(tmp_path))
    for name in FILES:
        (tmp_path / name).write_text("x")
    assert folder_in(tmp_path) == tmp_path
    assert usual_models(Path("/home/x")) == Path("/home/x/.cache/chroma/onnx_models")


@needs_model
def test_it_calls_nobody() -> None:
    """Every connection, name lookup and message of a process that embeds with it is a failure."""
    program = """
import sys
def hear(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        sys.stderr.write(f"{event} {arguments}\\n")
        sys.stderr.flush()
        import os
        os._exit(9)
sys.addaudithook(hear)
from pathlib import Path
from vault_tool.index.embedding.onnx import Local, folder_in
from vault_tool.index.embedding.embedder import Role
found = Local(folder_in(Path(sys.argv[1]))).embed(["a text", "another"], Role.DOCUMENT)
assert found.vectors.any()
"""
    done = subprocess.run([sys.executable, "-c", program, str(MODELS)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_ear_of_that_test_hears() -> None:
    program = """
import os, socket, sys
sys.addaudithook(lambda event, arguments: os._exit(9) if event == "socket.connect" else None)
socket.socket().connect_ex(("127.0.0.1", 9))
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 9
