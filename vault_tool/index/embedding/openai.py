"""The OpenAI embedder, by its official client; its key reaches no message, log or traceback."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import MappingProxyType
from typing import Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.batching import BadBatch, Numbers
from vault_tool.index.embedding.port import Embedded, Role
from vault_tool.index.embedding.served import Limits, Served
from vault_tool.machine import Key
from vault_tool.util.text import one_line

MODEL = "text-embedding-3-small"
RETRIES = 2
LIMITS = Limits(query=15.0, first=90.0, batch=90.0)
DIMENSIONS: Mapping[str, int] = MappingProxyType(
    {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}
)

_LATER = "notes are caught up later"
_KEY_HINT = "give it a valid key: OPENAI_API_KEY, or `vt config --openai-key -`"


class OpenAI(Served):
    """A model at `url`, OpenAI's own or one that speaks its protocol, asked with `key`."""

    provider = "openai"

    def __init__(self, key: Key, url: str, model: str = "", limits: Limits = LIMITS, retries: int = RETRIES) -> None:
        super().__init__(url, model or MODEL, "OpenAI", limits, DIMENSIONS.get(model or MODEL))
        self.url = url
        self._key = key
        self._retries = retries

    def embed(self, texts: Sequence[str], role: Role, instruction: str = "") -> Embedded:
        """A vector a text; see the port. Without a key nothing is asked."""
        if not self._key:
            raise EmbeddingUnavailable("there is no key for OpenAI", _KEY_HINT)
        return super().embed(texts, role, instruction)

    def _told(self, text: str) -> str:
        return text or " "  # the provider declines an empty text

    def _ready(self) -> None:
        _ = self._client

    def _answered(self, texts: Sequence[str]) -> Sequence[Numbers]:
        with self._explained():
            found = self._client.embeddings.create(model=self.model, input=list(texts))
            if not hasattr(found, "data"):
                raise EmbeddingUnavailable(f"{self._who} does not speak OpenAI's protocol", "see `vt config`: openai_url")
            return [row.embedding for row in sorted(found.data, key=lambda row: int(row.index))]

    @cached_property
    def _client(self) -> Any:
        import openai  # 600 ms, and only this provider needs it

        # Neither a proxy on the way to this machine nor a redirection may carry texts and key to where nobody sent them.
        http = openai.DefaultHttpxClient(timeout=self._limits.batch, trust_env=self.remote, follow_redirects=False)
        return openai.OpenAI(api_key=self._key.reveal(), base_url=self.url, max_retries=self._retries, http_client=http)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the client raises into one line without the key, also where an answer repeats it."""
        import openai  # loaded with the client already

        try:
            yield
        except openai.APIStatusError as fault:
            raise self._fault(fault.status_code, self._scrubbed(str(fault.message))) from None
        except openai.APITimeoutError:
            raise EmbeddingUnavailable(f"{self._who} did not answer in time", _LATER) from None
        except openai.APIError:
            raise EmbeddingUnavailable(f"{self._who} cannot be reached", f"is there a network? {_LATER}") from None
        except AttributeError:
            # What the client makes of a page where it expected JSON is a plain text, and it trips over that.
            raise EmbeddingUnavailable(f"{self._who} does not speak OpenAI's protocol", "see `vt config`: openai_url") from None
        except (ValueError, TypeError):
            raise BadBatch("the answer holds no list of numbers for each text") from None

    def _fault(self, status: int, said: str) -> Exception:
        if status in (401, 403):
            return EmbeddingUnavailable(f"{self._who} refuses the key ({status})", _KEY_HINT)
        if status == 400:
            return BadBatch(said)
        if status == 404:
            return EmbeddingUnavailable(f"{self._who} has no model {self.model}", "see `vt config`: model, openai_url")
        return EmbeddingUnavailable(f"{self._who} answered {status}: {said}", _LATER)

    def _scrubbed(self, said: str) -> str:
        return one_line(said.replace(self._key.reveal(), "***"), 100)
