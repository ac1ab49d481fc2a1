"""The Ollama embedder, by its official client; and the short question whether one is there and has a model."""

from __future__ import annotations

import json
import socket
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.batching import BadBatch, Numbers
from vault_tool.index.embedding.calling import within
from vault_tool.index.embedding.served import Limits, Served
from vault_tool.util.text import one_line

MODEL = "nomic-embed-text"
PROBE = 0.8
"""Seconds that the question what models are there may take in all."""

_ABOUT_A_TEXT = ("nan", "unsupported value", "context length", "too long", "exceeds")
_LATER = "notes are caught up later"


class Ollama(Served):
    """A model of the Ollama server at `host`; it pulls only by `pull`."""

    provider = "ollama"

    def __init__(self, host: str, model: str = "", limits: Limits | None = None) -> None:
        super().__init__(host, short_name(model or MODEL), "Ollama", limits or Limits())
        self.host = host

    def pull(self, progress: Callable[[int, int], None]) -> None:
        """Have the server fetch the model; `progress` is told megabytes. Raises EmbeddingUnavailable."""
        with self._explained():
            for step in self._client(self._limits.idle).pull(self.model, stream=True):
                if step.total:
                    progress((step.completed or 0) // 1_000_000, step.total // 1_000_000)

    def _ready(self) -> None:
        _ = self._embedding

    def _answered(self, texts: Sequence[str]) -> Sequence[Numbers]:
        with self._explained():
            return self._embedding.embed(self.model, list(texts)).embeddings  # type: ignore[no-any-return]

    @cached_property
    def _embedding(self) -> Any:
        return self._client(self._limits.first)

    def _client(self, limit: float) -> Any:
        import ollama  # 300 ms, and only this provider needs it

        # Neither a proxy nor a redirection may carry texts to where nobody sent them.
        return ollama.Client(self.host, timeout=limit, trust_env=self.remote, follow_redirects=False)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn what the client raises into one line; what may be the fault of a text becomes BadBatch."""
        import httpx  # loaded with the client already
        import ollama

        try:
            yield
        except ollama.ResponseError as fault:
            raise self._fault(fault.status_code, one_line(str(fault.error), 100)) from None
        except (httpx.HTTPError, OSError) as fault:
            reason = "cannot be reached" if isinstance(fault, ConnectionError) else f"broke off ({type(fault).__name__})"
            raise EmbeddingUnavailable(f"{self._who} {reason}", f"start it with `ollama serve`; {_LATER}") from None
        except json.JSONDecodeError:
            raise EmbeddingUnavailable(f"{self._who} does not speak Ollama's protocol", "see `vt config`: ollama_host") from None
        except ValueError:
            raise BadBatch("the answer holds no list of numbers for each text") from None

    def _fault(self, status: int, said: str) -> Exception:
        if status == 404:
            return EmbeddingUnavailable(f"{self._who} has no model {self.model}", "`vt embed --provider ollama` pulls it")
        if status in (400, 500) and any(words in said.lower() for words in _ABOUT_A_TEXT):
            return BadBatch(said)
        answered = f"answered {status}: " if status > 0 else "says: "
        return EmbeddingUnavailable(f"{self._who} {answered}{said}", f"see its own log; {_LATER}")


def models_at(host: str, seconds: float = PROBE) -> tuple[str, ...]:
    """The names of the models that the server at `host` has; EmbeddingUnavailable if it does not say within `seconds`.

    By the standard library alone, after a bare connection: where nobody listens, this costs a millisecond.
    """
    who = f"Ollama at {host}"
    parts = urllib.parse.urlsplit(host)
    try:
        socket.create_connection((parts.hostname, parts.port or 80), seconds).close()
        # The call's own bound comes first: a socket that gives up at the same moment would look like nobody listening.
        return within(seconds, lambda: _listed(parts, 2 * seconds), who)
    except OSError as fault:
        reason = "nobody answers" if isinstance(fault, (ConnectionError, TimeoutError)) else one_line(str(fault), 60)
        raise EmbeddingUnavailable(f"{who}: {reason}", "start it with `ollama serve`") from fault


def short_name(model: str) -> str:
    """A model's name without the tag that is meant anyway."""
    return model.removesuffix(":latest")


def _listed(parts: urllib.parse.SplitResult, seconds: float) -> tuple[str, ...]:
    import http.client  # 30 ms, and only where somebody listens

    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=seconds)
    try:
        connection.request("GET", f"{parts.path}/api/tags", headers={"Accept": "application/json"})
        found = json.loads(connection.getresponse().read())
        return tuple(short_name(str(model["name"])) for model in found["models"])
    except (ValueError, KeyError, TypeError, http.client.HTTPException) as fault:
        raise OSError("what answers there is no Ollama") from fault
    finally:
        connection.close()
