"""A stand-in for a model, on this machine alone: it records what a client asks it, and answers with one word."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

ANSWER = "Seen."
_LONGEST = 2**26


class Stub(ThreadingHTTPServer):
    """An HTTP server that speaks enough of the Messages and the Responses APIs; `asked` are the bodies that it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def listening() -> Iterator[Stub]:
    """A stub that answers until the end."""
    with Stub() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Stub

    def do_POST(self) -> None:
        """A call of the model, or something else that a client posts."""
        length = min(int(self.headers.get("Content-Length") or 0), _LONGEST)
        data = self.rfile.read(length).decode("utf-8", "replace")
        path = self.path.partition("?")[0]
        if path.endswith(("/messages", "/responses")):
            self.server.asked.append(data)
            streamed = '"stream":true' in data.replace(" ", "")
            events = _message() if path.endswith("/messages") else _response()
            if streamed:
                text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
                self._answers(text.encode(), "text/event-stream")
                return
            self._answers(json.dumps(_whole()).encode())
            return
        self._answers(b'{"input_tokens": 1}' if path.endswith("/count_tokens") else b"{}")

    def do_GET(self) -> None:
        """Whatever else is looked up: there is nothing."""
        self._answers(b'{"data": [], "models": []}')

    def do_HEAD(self) -> None:
        """Answers health checks."""
        self._answers(b"")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is said."""

    def _answers(self, data: bytes, kind: str = "application/json") -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _whole() -> dict[str, Any]:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "stub", "stop_reason": "end_turn",
        "stop_sequence": None, "content": [{"type": "text", "text": ANSWER}],
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }  # fmt: skip


def _message() -> list[dict[str, Any]]:
    begun = _whole() | {"content": [], "stop_reason": None}
    return [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]


def _response() -> list[dict[str, Any]]:
    message = {
        "type": "message", "id": "m1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}],
    }  # fmt: skip
    usage = {
        "input_tokens": 1,
        "output_tokens": 1,
        "total_tokens": 2,
        "input_tokens_details": None,
        "output_tokens_details": None,
    }
    return [
        {"type": "response.created", "response": {"id": "r1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {"type": "response.completed", "response": {"id": "r1", "usage": usage}},
    ]
