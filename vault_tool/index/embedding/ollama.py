"""The Ollama embedder, by its official client; and the short question whether one is there and has a model."""

from __future__ import annotations

import json
import socket
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.batching import BadBatch, Numbers, in_batches
from vault_tool.index.embedding.calling import Patience, within
from vault_tool.index.embedding.port import Embedded, Role
from vault_tool.index.embedding.prompts import prompts_of
from vault_tool.machine import is_loopback
from vault_tool.util.text import one_line

MODEL = "nomic-embed-text"
BATCH = 50
PROBE = 0.8
"""Seconds that the question what models are there may take in all."""

_ABOUT_A_TEXT = ("nan", "unsupported value", "context length", "too long", "exceeds")
_LATER = "notes are caught up later"


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds in all for one call: for a question that somebody waits for, a first batch (a model loads), later ones."""

    query: float = 10.0
    first: float = 300.0
    batch: float = 60.0
    idle: float = 300.0
    """Seconds without a word in which a pull is given up."""


class Ollama:
    """A model of the Ollama server at `host`. Nothing is asked of it before the first `embed`, and it pulls only by `pull`."""

    provider = "ollama"

    def __init__(self, host: str, model: str = "", limits: Limits | None = None) -> None:
        self.host = host
        self.model = short_name(model or MODEL)
        self.dimensions: int | None = None
        self.remote = not is_loopback(host)
        self._prompts = prompts_of(self.model)
        self._limits = limits or Limits()
        self._patience = Patience()
        self._who = f"Ollama at {host}"

    @property
    def name(self) -> str:
        """Provider and model."""
        return f"{self.provider}:{self.model}"

    @property
    def follows_instructions(self) -> bool:
        """Whether the model heeds an instruction."""
        return self._prompts.follows_instructions

    @property
    def window(self) -> int:
        """Characters of a passage."""
        return self._prompts.window

    def embed(self, texts: Sequence[str], role: Role, instruction: str = "") -> Embedded:
        """A vector a text, fifty a call; see the port."""
        told = [self._prompts.before(text, role, instruction) for text in texts]
        done = in_batches(told, lambda batch: self._asked(batch, role), BATCH, self.dimensions, self._who)
        self.dimensions = self.dimensions or done.vectors.shape[1] or None
        return done

    def pull(self, progress: Callable[[int, int], None]) -> None:
        """Have the server fetch the model; `progress` is told megabytes. Raises EmbeddingUnavailable."""
        with self._explained():
            for step in self._client(self._limits.idle).pull(self.model, stream=True):
                if step.total:
                    progress((step.completed or 0) // 1_000_000, step.total // 1_000_000)

    def _asked(self, texts: Sequence[str], role: Role) -> Sequence[Numbers]:
        limit = (
            self._limits.query if role is Role.QUERY else self._limits.first if self.dimensions is None else self._limits.batch
        )
        client = self._embedding  # made before the clock runs: loading it takes its time
        return self._patience.call(limit, lambda: self._answered(client, texts), self._who, waiting=role is Role.QUERY)

    def _answered(self, client: Any, texts: Sequence[str]) -> Sequence[Numbers]:
        with self._explained():
            return client.embed(self.model, list(texts)).embeddings  # type: ignore[no-any-return]

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
        return within(seconds, lambda: _listed(parts, seconds), who)
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
