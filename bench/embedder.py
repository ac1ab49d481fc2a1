"""A stand-in for a model: vectors made of words by arithmetic, in the process itself or as an Ollama on loopback.

Nothing is measured of the vectors but what it costs to keep and search them, and a real model takes an hour for 100,000 notes.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from vault_tool.index.embedding.embedder import Embedded, Role
from vault_tool.index.embedding.onnx import Local

DIMENSIONS = 384
MODEL = "all-minilm"
"""A name whose passages are as long as the local model's."""

_WORDS = re.compile(r"\w+")


def vectors_of(texts: Sequence[str]) -> NDArray[np.float32]:
    """A vector of length 1 a text: the sum of its words' directions, so that texts with words in common are near each other."""
    rows = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
    for number, text in enumerate(texts):
        row = sum(map(_direction, _WORDS.findall(text.casefold())), start=_direction(""))
        rows[number] = row / np.linalg.norm(row)
    return rows


@lru_cache(maxsize=50_000)
def _direction(word: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.blake2b(word.encode("utf-8"), digest_size=8).digest(), "big")
    return np.random.Generator(np.random.PCG64(seed)).standard_normal(DIMENSIONS, dtype=np.float32)


class AsLocal(Local):
    """The local model's name and passages with made-up vectors: fills a vault at once for questions that the real one embeds."""

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text, in order."""
        return Embedded(vectors_of(texts))


@contextmanager
def ollama() -> Iterator[str]:
    """A server that speaks as much of Ollama's protocol as embedding takes; gives its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._say({"models": [{"name": f"{MODEL}:latest", "model": f"{MODEL}:latest", "size": 1}]})

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        given = asked.get("input", [])
        texts = [given] if isinstance(given, str) else given
        self._say({"model": MODEL, "embeddings": vectors_of(texts)})

    def _say(self, answer: dict[str, Any]) -> None:
        data = orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nothing: what is measured is on standard output."""
