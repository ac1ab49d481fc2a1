"""`FakeOpenAI`: a server on loopback that speaks OpenAI's embeddings protocol, with vectors made of words."""

from __future__ import annotations

import base64
import struct
from dataclasses import dataclass

from tests.fakes.loopback import Loopback, Mode, Reply, Request

DIMENSIONS = 1536


@dataclass
class FakeOpenAI(Loopback):
    """Takes the one `key` (any, when it is empty) for /v1/embeddings; `base_url` is what a client is told."""

    key: str = ""
    dimensions: int = DIMENSIONS

    @property
    def base_url(self) -> str:
        """The address that a client is configured with."""
        return f"{self.url}/v1"

    def answer(self, request: Request, reply: Reply) -> None:
        """One answer of OpenAI's."""
        given = request.body.get("input", "")
        texts = [given] if isinstance(given, str) else list(given)
        if request.path != "/v1/embeddings":
            reply.json({"error": {"message": "Unknown request URL", "type": "invalid_request_error"}}, 404)
        elif self.key and reply.key != f"Bearer {self.key}":
            reply.json({"error": {"message": f"Incorrect API key provided: {reply.key}.", "type": "invalid_request_error"}}, 401)
        elif not self.answered_badly(texts, reply):
            reply.json(self._vectors(texts, request))

    def _vectors(self, texts: list[str], request: Request) -> object:
        packed = request.body.get("encoding_format") == "base64" and Mode(self.mode) is not Mode.NULL
        rows = self.vectors(texts, self.dimensions)
        data = [{"object": "embedding", "index": n, "embedding": _packed(row) if packed else row} for n, row in enumerate(rows)]
        return {
            "object": "list",
            "data": data,
            "model": request.body.get("model"),
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }


def _packed(row: list[float | None]) -> str:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *(value or 0.0 for value in row))).decode()
