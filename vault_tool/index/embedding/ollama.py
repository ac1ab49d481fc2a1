"""The Ollama embedder; and the short question whether one is there and has a model."""

from __future__ import annotations

import json
import socket
import urllib.parse
from collections.abc import Callable, Sequence

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.index.embedding.batching import BadBatch, Numbers
from vault_tool.index.embedding.calling import LATER, waiting, within
from vault_tool.index.embedding.served import Limits, Served, mapping
from vault_tool.util.hints import step
from vault_tool.util.text import one_line

MODEL = "nomic-embed-text"
# Seconds that the question what models are there may take in all.
PROBE = 0.8

_START = "start it with `ollama serve`"
_ABOUT_A_TEXT = ("nan", "unsupported value", "context length", "too long", "exceeds")
_LONGEST_LIST = 2**20


class Ollama(Served):
    """A model of the Ollama server at `host`; it pulls only by `pull`."""

    provider = "ollama"
    option = "ollama_host"

    def __init__(self, host: str, model: str = "", limits: Limits | None = None) -> None:
        super().__init__(host, short_name(model or MODEL), "Ollama", limits or Limits())
        self.host = host

    def pull(self, progress: Callable[[int, int], None]) -> None:
        """Have the server fetch the model; `progress` is told megabytes. Raises EmbeddingUnavailable."""
        with self._explained(), waiting(self._who, self._limits.idle) as news:
            for step in self._server.report("/api/pull", {"model": self.model, "stream": True}, self._limits.idle):
                news()
                if "error" in step:
                    raise self._fault(0, one_line(str(step["error"])[:1000], 100))
                total = step.get("total")
                if total:
                    progress(int(step.get("completed") or 0) // 1_000_000, int(total) // 1_000_000)

    def _answered(self, texts: Sequence[str], seconds: float, most: int) -> Sequence[Numbers]:
        answer = self._server.ask("/api/embed", {"model": self.model, "input": list(texts)}, seconds, most)
        if answer.status != 200:
            error = answer.value.get("error") if isinstance(answer.value, dict) else ""
            raise self._fault(answer.status, one_line(str(error or "")[:1000], 100))
        rows = mapping(answer.value)["embeddings"]
        if not isinstance(rows, list):
            raise TypeError("no list")
        return rows

    def _hint(self, refused: bool) -> str:
        return f"{_START}; {LATER}" if refused else f"see its own log; {LATER}"

    def _fault(self, status: int, answer: str) -> Exception:
        if status == 404:
            return EmbeddingUnavailable(f"{self._who} has no model {self.model}", f"{step('embed', provider='ollama')} pulls it")
        if status in (400, 500) and any(words in answer.lower() for words in _ABOUT_A_TEXT):
            return BadBatch(answer)
        answered = f"answered {status}: " if status > 0 else "says: "
        return EmbeddingUnavailable(f"{self._who} {answered}{answer}", f"see its own log; {LATER}")


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
        raise EmbeddingUnavailable(f"{who}: {reason}", _START) from fault


def short_name(model: str) -> str:
    """A model's name without the tag that is meant anyway."""
    return model.removesuffix(":latest")


def _listed(parts: urllib.parse.SplitResult, seconds: float) -> tuple[str, ...]:
    import http.client  # 30 ms, and only where somebody listens

    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(str(parts.hostname), parts.port, timeout=seconds)
    try:
        connection.request("GET", f"{parts.path}/api/tags", headers={"Accept": "application/json"})
        # What is longer is cut, and then no JSON.
        value = json.loads(connection.getresponse().read(_LONGEST_LIST))
        return tuple(short_name(str(model["name"])) for model in value["models"])
    except (ValueError, KeyError, TypeError, RecursionError, http.client.HTTPException) as fault:
        raise OSError("what answers there is no Ollama") from fault
    finally:
        connection.close()
