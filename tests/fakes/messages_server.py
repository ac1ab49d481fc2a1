"""`FakeMessages`: a server on loopback that speaks the protocol of the models that Claude Code asks, in a few words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.fakes.loopback import Loopback, Reply, Request

_USAGE = {"input_tokens": 900, "output_tokens": 40, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


@dataclass(frozen=True)
class ToolCall:
    """The use of a tool that a model asks for."""

    name: str
    given: Mapping[str, Any]


@dataclass
class FakeMessages(Loopback):
    """Answers each request with what `says` makes of it: a text, or a `ToolCall`. `with FakeMessages() as server: server.url`."""

    says: Callable[[Request], str | ToolCall] = lambda request: "Done."

    def answer(self, request: Request, reply: Reply) -> None:
        """One answer: a message, at once or as a stream of events; anything else that is asked is not there."""
        if not request.path.startswith("/v1/messages"):
            reply.json({"type": "error", "error": {"type": "not_found_error", "message": "not here"}}, 404)
        elif "count_tokens" in request.path:
            reply.json({"input_tokens": 100})
        elif request.body.get("stream"):
            events = _events(str(request.body.get("model")), self.says(request))
            body = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            reply.send(body.encode(), "text/event-stream")
        else:
            block, _, stops = _block(self.says(request))
            reply.json({**_message(str(request.body.get("model"))), "content": [block], "stop_reason": stops})


def spoken(request: Request) -> str:
    """All text of a request's system prompt and messages."""
    said = [request.body.get("system"), *(message.get("content") for message in request.body.get("messages", ()))]
    return "\n".join(text for part in said for text in _texts(part))


def has_result(request: Request) -> bool:
    """Whether the result of a tool stands in it."""
    contents = [message.get("content") for message in request.body.get("messages", ())]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    return any(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        yield from (block["text"] for block in content if isinstance(block, dict) and isinstance(block.get("text"), str))


def _message(model: str) -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "stop_reason": None,
        "stop_sequence": None, "usage": _USAGE,
    }  # fmt: skip


def _block(said: str | ToolCall) -> tuple[dict[str, Any], dict[str, Any], str]:
    """The part of a message that says it, how a stream tells what is in it, and why the message ends there."""
    if isinstance(said, str):
        return {"type": "text", "text": said}, {"type": "text_delta", "text": said}, "end_turn"
    call = {"type": "tool_use", "id": "toolu_1", "name": said.name, "input": dict(said.given)}
    return call, {"type": "input_json_delta", "partial_json": json.dumps(said.given)}, "tool_use"


def _events(model: str, said: str | ToolCall) -> Iterator[Mapping[str, Any]]:
    block, delta, stops = _block(said)
    empty = {**block, "text": ""} if isinstance(said, str) else {**block, "input": {}}
    yield {"type": "message_start", "message": _message(model)}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": stops, "stop_sequence": None}, "usage": {"output_tokens": 40}}
    yield {"type": "message_stop"}
