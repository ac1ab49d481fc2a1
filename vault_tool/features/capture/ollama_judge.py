"""A model of an Ollama server, asked what of a session is worth keeping."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vault_tool.errors import EmbeddingUnavailable
from vault_tool.features.capture.judge import MOST_BYTES, SECONDS, JudgeFault, Judgement, counted_by, stops_for
from vault_tool.index.embedding.asking import EmbeddingServer, NoAnswer, NoJson
from vault_tool.index.embedding.calling import within
from vault_tool.machine import is_loopback
from vault_tool.util.text import one_line

_PATH = "/api/chat"
_LONGEST_REASON = 120
# Tokens of an answer: six memories, and no more than that.
_ANSWER = 800
# Rules, digest and answer have room in it.
_CONTEXT = 6144


class OllamaJudge:
    """A model of the server at a host, asked at temperature 0 for JSON of a form."""

    def __init__(self, host: str, model: str, seconds: float = SECONDS) -> None:
        self._model = model
        self._who = f"Ollama at {host}"
        self._seconds = seconds
        self._server = EmbeddingServer(host, remote=not is_loopback(host))

    def ask(self, rules: str, question: str, schema: Mapping[str, Any]) -> Judgement:
        """Ask once. Raises JudgeFault."""
        messages = [{"role": "system", "content": rules}, {"role": "user", "content": question}]
        body = {
            "model": self._model, "messages": messages, "format": schema, "stream": False, "think": False,
            "options": {"temperature": 0, "num_predict": _ANSWER, "num_ctx": _CONTEXT},
        }  # fmt: skip
        self._server.ready()
        try:
            reply = within(self._seconds, lambda: self._server.ask(_PATH, body, self._seconds, MOST_BYTES), self._who)
        except NoAnswer as fault:
            raise JudgeFault(f"{self._who} {fault}") from None
        except NoJson:
            raise JudgeFault(f"{self._who} sends no JSON") from None
        except EmbeddingUnavailable as fault:
            raise JudgeFault(fault.message) from None
        answer = reply.value if isinstance(reply.value, dict) else {}
        message = answer.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if reply.status != 200 or not isinstance(text, str):
            error = answer.get("error")
            why = one_line(error, _LONGEST_REASON) if isinstance(error, str) else "nothing of what was asked"
            reason = f"{self._who} answers {reply.status}: {why}"
            raise JudgeFault(reason, stops=reply.status in (401, 402, 403, 429) or stops_for(why))
        return Judgement(text, counted_by(answer, "prompt_eval_count", "eval_count"))
