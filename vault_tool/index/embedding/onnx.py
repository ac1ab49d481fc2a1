"""The local embedder: all-MiniLM-L6-v2 run by onnxruntime on this machine, the only importer of it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.embedder import Embedded, Role
from vault_tool.util.deferred import deferred
from vault_tool.util.native_errors import translated

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = deferred("numpy")  # 0.2 s

MODEL = "all-MiniLM-L6-v2"
DIMENSIONS = 384
# Most tokens of a text that the model was trained to read; the rest of a longer one is not seen.
TOKENS = 256

FILES = ("model.onnx", "tokenizer.json")
GET_IT = "`vt embed --download` fetches the local model"

_WINDOW = 900
# Tokens of a batch, padding included: what the caches of a processor hold is done a third faster than large batches.
_BATCH_TOKENS = 512
_BATCH_TEXTS = 32


class Local:
    """all-MiniLM-L6-v2 from the files in `folder`: mean of the token vectors, as Chroma's default function makes it.

    The files are opened by the first `embed`. Nothing is fetched, nothing leaves the machine. Threads may share one.
    """

    provider = "local"
    model = MODEL
    name = f"local:{MODEL}"
    dimensions: int | None = DIMENSIONS
    follows_instructions: bool | None = False
    window = _WINDOW
    remote = False

    def __init__(self, folder: Path, threads: int = 0) -> None:
        self.folder = folder
        self._threads = threads
        self._loading = threading.Lock()

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text; role and instruction make no difference to this model, and it answers in its own time."""
        with self._loading:
            tokenizer, session = self._tokenizer, self._session
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        encoded = tokenizer.encode_batch_fast(list(map(_readable, texts)))
        # Alike lengths together: a batch is padded to its longest, and padding costs as much as text.
        for batch in _batches(sorted(range(len(texts)), key=lambda at: len(encoded[at].ids))[::-1], encoded):
            vectors[batch] = self._vectors(session, [encoded[at].ids for at in batch])
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        vectors[bad] = 0.0
        return Embedded(vectors, {int(at): "the vector holds a NaN or an infinity" for at in bad})

    def _vectors(self, session: Any, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        ids = np.zeros((len(rows), len(rows[0])), np.int64)
        mask = np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._able(lambda: session.run(None, given)[0])
        weights = mask[:, None, :].astype(np.float32)
        pooled = (weights @ states)[:, 0, :] / weights.sum(axis=2)
        length = np.linalg.norm(pooled, axis=1, keepdims=True)
        unit: NDArray[np.float32] = (pooled / np.maximum(length, 1e-12)).astype(np.float32)
        return unit

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer  # 30 ms, and only this model needs it

        self._check()
        tokenizer = self._able(lambda: Tokenizer.from_file(str(self.folder / "tokenizer.json")))
        tokenizer.enable_truncation(max_length=TOKENS)
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> Any:
        import onnxruntime  # 150 ms, and only this model needs it

        self._check()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self._threads
        # Idle threads that spin would slow down whatever else the machine does.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = str(self.folder / "model.onnx")
        return self._able(lambda: onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]))

    def _check(self) -> None:
        if not present(self.folder):
            raise EmbeddingUnavailable(f"the local model is not in {self.folder}", GET_IT)

    def _able(self, work: Callable[[], Any]) -> Any:
        """What one of the two libraries does; both raise bare exceptions when a file is not what it should be."""
        where = f"the local model in {self.folder}"
        with translated(
            lambda said: EmbeddingUnavailable(f"{where} cannot be used: {said}", f"remove that folder; {GET_IT}"), 80
        ):
            return work()


def folder_in(models: Path) -> Path:
    """Where the model's files are below a folder of models (or that folder itself, when they are right in it)."""
    return models if present(models) else models / MODEL / "onnx"


def usual_models(home: Path) -> Path:
    """The folder of models that Chroma's default function fills, so that one download serves both."""
    return home / ".cache" / "chroma" / "onnx_models"


def present(folder: Path) -> bool:
    """Whether the files are there, none of them empty; what is in them is known when they are loaded."""
    return all(_size(folder / name) for name in FILES)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _batches(order: Sequence[int], encoded: Sequence[Any]) -> Iterator[list[int]]:
    """Runs of the order (longest first) whose padded size stays within bounds."""
    start = 0
    while start < len(order):
        longest = max(1, len(encoded[order[start]].ids))
        count = max(1, min(_BATCH_TEXTS, _BATCH_TOKENS // longest))
        yield list(order[start : start + count])
        start += count


def _readable(text: str) -> str:
    """The text without halves of characters, which the tokenizer takes no text with."""
    return text.encode("utf-8", "replace").decode("utf-8")
