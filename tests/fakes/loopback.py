"""An HTTP server on loopback whose answers misbehave on demand, and vectors by which similar texts are near each other."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from enum import StrEnum
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_PREFIX = re.compile(r"search_(query|document): ")
_LIGHT = 0.2


class Mode(StrEnum):
    """How a server answers when it is asked for vectors."""

    WELL = "well"
    REFUSE = "refuse"  # nobody listens there
    SLOW = "slow"  # `delay` seconds, then well
    HANG = "hang"  # takes the request and never answers
    DRIP = "drip"  # a byte now and then, for ever: no time between two bytes is long
    ERROR = "500"
    HTML = "html"  # 200 with a page, as a proxy or a captive portal sends
    NAN = "nan"  # one NaN in one vector
    INF = "inf"
    NULL = "null"  # null for a number
    NAN_ERROR = "nan-error"  # 500 that says why: a NaN cannot be written as JSON
    EMPTY = "empty"  # one vector without numbers
    SHORT = "short"  # one vector shorter by one
    FEW = "few"  # one vector too few
    WRONG = "wrong"  # every vector of half the size
    ZERO = "zero"  # one vector of zeros
    DROP = "drop"  # hangs up in the middle of the body
    UNAUTHORIZED = "401"  # the answer repeats the key, as real ones do in part
    LIMITED = "429"
    REDIRECT = "redirect"  # 307 to `elsewhere`, with which a client would send the body there
    INFLATE = "inflate"  # 120 MB of white space in 120 KB of gzip
    NEST = "nest"  # lists in lists, 200,000 deep
    WIDE = "wide"  # vectors of 200,000 numbers
    MANY = "many"  # twenty vectors a text
    ENDLESS = "endless"  # chunks without end, as fast as they are taken
    HEADERS = "headers"  # headers without end
    OTHER = "other"  # JSON that is an object of something else
    DIGITS = "digits"  # a number of 400 digits in each vector


@dataclass(frozen=True)
class Request:
    """One request as the server saw it; the names of headers in small letters."""

    method: str
    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str]


@dataclass
class Loopback:
    """A context manager: serves while it is open. `mode` and `poison` may be changed while it runs.

    With `poison`, only requests that hold a text with that word meet the mode, and in a vector's fault only that text.
    """

    mode: Mode | str = Mode.WELL
    poison: str = ""
    delay: float = 0.3
    elsewhere: str = ""
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self.port = self._server.server_address[1]

    @property
    def url(self) -> str:
        """Where it listens; in mode `refuse`, where nobody does."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        if Mode(self.mode) is Mode.REFUSE:
            self._server.server_close()
        else:
            threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *fault: object) -> None:
        self.closing.set()
        if Mode(self.mode) is not Mode.REFUSE:
            self._server.shutdown()
            self._server.server_close()

    def asked(self, path: str) -> list[Request]:
        """The requests for one path, in order."""
        return [request for request in self.requests if request.path == path]

    def answer(self, request: Request, reply: Reply) -> None:
        """What a kind of server says; for subclasses."""
        raise NotImplementedError

    def misbehaves(self, texts: list[str]) -> bool:
        """Whether the mode is meant for these texts."""
        return not self.poison or any(self.poison in text for text in texts)

    def answered_badly(self, texts: list[str], reply: Reply, mode: Mode | str = "") -> bool:
        """Answer as the mode says where that is no matter of single vectors; false if it is still to be answered."""
        mode = Mode(mode or self.mode)
        if not self.misbehaves(texts):
            return False
        if mode is Mode.SLOW:
            self.closing.wait(self.delay)
            return False
        bad = _WHOLE.get(mode)
        if bad is not None:
            bad(self, reply)
        return bad is not None

    def vectors(self, texts: list[str], dimensions: int) -> list[list[float | None]]:
        """A vector a text, with the fault of the mode in the poisoned one (else the last)."""
        mode, rows = Mode(self.mode), [list[float | None](map(float, vector(text, dimensions))) for text in texts]
        if not rows or not self.misbehaves(texts):
            return rows
        at = next((n for n, text in enumerate(texts) if self.poison and self.poison in text), len(texts) - 1)
        if mode is Mode.WRONG:
            return [row[: dimensions // 2] for row in rows]
        if mode is Mode.WIDE:
            return [[0.5] * 200_000 for _ in rows]
        if mode is Mode.MANY:
            return rows * 20
        if mode is Mode.DIGITS:
            return [[10**400, *row[1:]] for row in rows]
        if mode is Mode.FEW:
            return [row for n, row in enumerate(rows) if n != at]
        rows[at] = _faulty(mode, rows[at])
        return rows


class Reply:
    """What may be sent back to one request."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self._handler = handler

    def json(self, value: object, status: int = 200) -> None:
        """A JSON answer; a NaN is written as one, as lenient servers do."""
        self.send(json.dumps(value).encode(), "application/json", status)

    def lines(self, values: list[Mapping[str, Any]]) -> None:
        """JSON a line, as progress is reported."""
        self.send("".join(f"{json.dumps(value)}\n" for value in values).encode(), "application/x-ndjson")

    def send(self, body: bytes, kind: str, status: int = 200, *, headers: Mapping[str, str] | None = None, cut: int = 0) -> None:
        """A body of a type, its last `cut` bytes promised but never sent."""
        self._handler.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})}.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()
        self._handler.wfile.write(body[: len(body) - cut])
        if cut:
            self._handler.wfile.flush()
            self._handler.close_connection = True

    def drip(self, closing: threading.Event) -> None:
        """Endless white space before an answer that never comes."""
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.end_headers()
        while not closing.wait(0.05):
            self._handler.wfile.write(b" ")
            self._handler.wfile.flush()

    def endless(self, closing: threading.Event) -> None:
        """Chunks that never end, until nobody takes them."""
        self._handler.send_response(200)
        self._handler.send_header("Content-Type", "application/json")
        self._handler.send_header("Transfer-Encoding", "chunked")
        self._handler.end_headers()
        while not closing.is_set():
            self._handler.wfile.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")

    def headers(self, closing: threading.Event) -> None:
        """Headers that never end."""
        self._handler.send_response(200)
        self._handler.flush_headers()
        while not closing.is_set():
            self._handler.wfile.write(b"X-More: " + b"x" * 100 + b"\r\n")

    @property
    def key(self) -> str:
        """What the request authorised itself by."""
        return self._handler.headers.get("Authorization", "")


def vector(text: str, dimensions: int) -> NDArray[np.float32]:
    """A unit vector made of the text's words: the more words two texts share, the nearer they are. Short words weigh little."""
    total = np.zeros(dimensions)
    for word in _WORD.findall(_PREFIX.sub("", text).lower()):
        total += _direction(word, dimensions) * (1.0 if len(word) > 3 else _LIGHT)
    norm = float(np.linalg.norm(total))
    return (total / norm if norm else _direction("", dimensions)).astype(np.float32)


@lru_cache(maxsize=10_000)
def _direction(word: str, dimensions: int) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    found = np.random.default_rng(seed).standard_normal(dimensions)
    unit: NDArray[np.float64] = found / np.linalg.norm(found)
    return unit


@lru_cache(maxsize=1)
def _bomb() -> bytes:
    squeezed = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    return b"".join(squeezed.compress(b" " * 2**20) for _ in range(120)) + squeezed.flush()


def _faulty(mode: Mode, row: list[float | None]) -> list[float | None]:
    rest = row[1:]
    match mode:
        case Mode.NAN:
            return [float("nan"), *rest]
        case Mode.INF:
            return [float("inf"), *rest]
        case Mode.NULL:
            return [None, *rest]
        case Mode.EMPTY:
            return []
        case Mode.SHORT:
            return rest
        case Mode.ZERO:
            return [0.0] * len(row)
    return row


_Bad = Callable[[Loopback, Reply], object]
_WHOLE: Mapping[Mode, _Bad] = {
    Mode.HANG: lambda server, reply: server.closing.wait(),
    Mode.DRIP: lambda server, reply: reply.drip(server.closing),
    Mode.ERROR: lambda server, reply: reply.json({"error": "something\nwent wrong"}, 500),
    Mode.HTML: lambda server, reply: reply.send(b"<html><body>Please log in</body></html>", "text/html"),
    Mode.NAN_ERROR: lambda server, reply: reply.json({"error": "failed to encode response: json: unsupported value: NaN"}, 500),
    Mode.DROP: lambda server, reply: reply.send(b'{"embeddings": [[0.1, 0.2', "application/json", cut=5),
    Mode.UNAUTHORIZED: lambda server, reply: reply.json(
        {"error": {"message": f"Incorrect API key provided: {reply.key}.", "type": "invalid_request_error"}}, 401
    ),
    Mode.REDIRECT: lambda server, reply: reply.send(b"{}", "application/json", 307, headers={"Location": server.elsewhere}),
    Mode.INFLATE: lambda server, reply: reply.send(_bomb(), "application/json", headers={"Content-Encoding": "gzip"}),
    Mode.NEST: lambda server, reply: reply.send(b"[" * 200_000, "application/json"),
    Mode.ENDLESS: lambda server, reply: reply.endless(server.closing),
    Mode.HEADERS: lambda server, reply: reply.headers(server.closing),
    Mode.OTHER: lambda server, reply: reply.json({"data": 7, "embeddings": 7}),
    Mode.LIMITED: lambda server, reply: reply.json({"error": {"message": "Rate limit reached"}}, 429),
}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is part of the game."""


def _lowered(headers: Message) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def _handler(owner: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(self.command, self.path, json.loads(data) if data else {}, _lowered(self.headers))
            owner.requests.append(request)
            owner.answer(request, Reply(self))

        do_GET = do_POST = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler
