"""The OpenAI embedder, and what speaks its protocol; its key reaches no message, log or traceback."""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.asking import NoAnswer, ServerReply
from vault_tool.index.embedding.batching import BadBatch, Numbers
from vault_tool.index.embedding.calling import LATER
from vault_tool.index.embedding.embedder import Embedded, Role
from vault_tool.index.embedding.served import Limits, Served, mapping
from vault_tool.machine import Key
from vault_tool.util.deferred import numpy as np
from vault_tool.util.hints import step
from vault_tool.util.text import one_line

MODEL = "text-embedding-3-small"
RETRIES = 2
LIMITS = Limits(first=90.0, batch=90.0)
DIMENSIONS: Mapping[str, int] = MappingProxyType(
    {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
)
KEY_HINT = f"give it a valid key: OPENAI_API_KEY, or {step('config', openai_key=...)}"

_AGAIN = (408, 409, 429)
# Seconds before a second try; twice as long before a third.
_PAUSE = 0.5


class OpenAI(Served):
    """A model at `url`, OpenAI's own or one that speaks its protocol, asked with `key`."""

    provider = "openai"
    option = "openai_url"

    def __init__(self, key: Key, url: str, model: str = "", limits: Limits = LIMITS, retries: int = RETRIES) -> None:
        super().__init__(url, model or MODEL, "OpenAI", limits, DIMENSIONS.get(model or MODEL))
        self.url = url
        self._key = key
        self._retries = retries

    @property
    def has_key(self) -> bool:
        """Whether it may ask at all."""
        return bool(self._key)

    def embed(
        self, texts: Sequence[str], role: Role, instruction: str | Sequence[str] = "", seconds: float | None = None
    ) -> Embedded:
        """A vector a text; see the port. Without a key nothing is asked."""
        if not self._key:
            raise EmbeddingUnavailable("there is no key for OpenAI", KEY_HINT)
        return super().embed(texts, role, instruction, seconds)

    def _acceptable(self, text: str) -> str:
        return super()._acceptable(text) or " "  # the provider declines an empty text

    def _answered(self, texts: Sequence[str], seconds: float, most: int) -> Sequence[Numbers]:
        answer = self._tried({"model": self.model, "input": list(texts), "encoding_format": "base64"}, seconds, most)
        if answer.status != 200:
            raise self._fault(answer.status, self._scrubbed(_words(answer.value)))
        rows = sorted(map(mapping, mapping(answer.value)["data"]), key=lambda row: int(row["index"]))
        return [_numbers(row["embedding"]) for row in rows]

    def _tried(self, body: Mapping[str, Any], seconds: float, most: int) -> ServerReply:
        """The answer, asked for again where the provider says that it is busy or breaks off, while there is time."""
        until = time.monotonic() + seconds
        pauses = [_PAUSE * 2**attempt for attempt in range(self._retries)]
        while True:
            may = bool(pauses)
            try:
                answer = self._server.ask("/embeddings", body, until - time.monotonic(), most, self._key.reveal())
                may = may and (answer.status in _AGAIN or answer.status >= 500)
                if not may or time.monotonic() + pauses[0] > until:
                    return answer
            except NoAnswer:
                if not may or time.monotonic() + pauses[0] > until:
                    raise
            time.sleep(pauses.pop(0))

    def _hint(self, refused: bool) -> str:
        if not self.remote:
            return f"start what is to answer there, or see {step('config')}: openai_url; {LATER}"
        return f"is there a network? {LATER}" if refused else LATER

    def _fault(self, status: int, answer: str) -> Exception:
        if status in (401, 403):
            return EmbeddingUnavailable(f"{self._who} refuses the key ({status})", KEY_HINT)
        if status == 400:
            return BadBatch(answer)
        if status == 404:
            return EmbeddingUnavailable(f"{self._who} has no model {self.model}", f"see {step('config')}: model, openai_url")
        return EmbeddingUnavailable(f"{self._who} answered {status}: {answer}", LATER)

    def _scrubbed(self, answer: str) -> str:
        return one_line(answer[:2000].replace(self._key.reveal(), "***"), 100)


def _words(value: Any) -> str:
    """The reason in an answer that tells of an error."""
    error = value.get("error") if isinstance(value, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else ""


def _numbers(value: Any) -> Numbers:
    """A vector as it comes: numbers, or their four bytes each in base64. What is neither is refused as a vector."""
    if not isinstance(value, str):
        return value  # type: ignore[no-any-return]

    try:
        data = base64.b64decode(value, validate=True)
        return np.frombuffer(data, "<f4").tolist() if data else []
    except (binascii.Error, ValueError):
        raise BadBatch("the answer holds no list of numbers for each text") from None
