"""`FakeOllama`: a server on loopback that speaks Ollama's protocol, with vectors made of words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.fakes.loopback import Loopback, Mode, Reply, Request

DIMENSIONS = 64


@dataclass
class FakeOllama(Loopback):
    """Has `models` (name to dimensions); `library` are those that it can pull. `with FakeOllama() as ollama: ollama.url`.

    The time to load is part of no answer; `mode` is about /api/embed alone, so that probes find the model there.
    """

    models: dict[str, int] = field(default_factory=lambda: {"nomic-embed-text:latest": DIMENSIONS})
    library: Mapping[str, int] = field(default_factory=lambda: {"nomic-embed-text": DIMENSIONS, "all-minilm": 32})
    chatter: int = 0
    """So many bytes of progress it sends before a pull is done."""
    listing: Mode | str = Mode.WELL
    """How it answers what models it has."""
    chat: Callable[[Request], object] = lambda request: {"keep": []}
    """What it says in a chat: a text as it is, anything else as JSON."""
    chatting: Mode | str = Mode.WELL
    """How it answers in a chat."""

    def answer(self, request: Request, reply: Reply) -> None:
        """One answer of Ollama's."""
        name = _whole(str(request.body.get("model") or request.body.get("name") or ""))
        match request.path:
            case "/api/tags":
                self._list(reply)
            case "/api/show" if name in self.models:
                reply.json({"model_info": {"fake.embedding_length": self.models[name]}, "capabilities": ["embedding"]})
            case "/api/pull":
                self._pull(name, reply)
            case "/api/chat" if name in self.models:
                self._chat(request, name, reply)
            case "/api/embed" if name in self.models:
                self._embed(request, name, reply)
            case _:
                reply.json({"error": f'model "{name}" not found, try pulling it first'}, 404)

    def _list(self, reply: Reply) -> None:
        if not self.answered_badly([self.poison], reply, self.listing):
            reply.json({"models": [{"name": name, "model": name, "size": 1} for name in self.models]})

    def _pull(self, name: str, reply: Reply) -> None:
        short = name.removesuffix(":latest")
        if short not in self.library:
            reply.lines([{"status": "pulling manifest"}, {"error": "pull model manifest: file does not exist"}])
            return
        self.models[name] = self.library[short]
        total = 1_000
        steps = [{"status": "pulling a", "digest": "a", "total": total, "completed": done} for done in (0, 500, total)]
        said = "." * 60_000
        more = [{"status": f"{said}{number}"} for number in range(self.chatter // len(said))]
        reply.lines([{"status": "pulling manifest"}, *more, *steps, {"status": "success"}])

    def _chat(self, request: Request, name: str, reply: Reply) -> None:
        if not self.answered_badly([self.poison], reply, self.chatting):
            said = self.chat(request)
            text = said if isinstance(said, str) else json.dumps(said)
            message = {"role": "assistant", "content": text}
            reply.json({"model": name, "message": message, "done": True, "prompt_eval_count": 700, "eval_count": 50})

    def _embed(self, request: Request, name: str, reply: Reply) -> None:
        given = request.body.get("input", "")
        texts = [given] if isinstance(given, str) else list(given)
        if not self.answered_badly(texts, reply):
            reply.json({"model": name, "embeddings": self.vectors(texts, self.models[name])})


def _whole(name: str) -> str:
    return name if ":" in name or not name else f"{name}:latest"
