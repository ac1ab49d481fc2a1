"""One question to a server over HTTP, of whose answer so many bytes are read, in so much time, and no redirection followed."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vault_tool.util.deferred import deferred
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    import httpx
else:
    httpx = deferred("httpx")  # 0.2 s

_LONGEST_LINE = 2**16
# Bytes of a whole report in lines.
_MOST_LINES = 2**26
_AFTERWARDS = 1.0


class NoAnswer(Exception):
    """No answer came, or it ended early, is too long, or is compressed; the sentence says which.

    `refused` says that nobody listens there.
    """

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.refused = refused


class NoJson(Exception):
    """The answer is no JSON that can be read."""


class ServerReply(Struct):
    """A server's answer: the status, and its JSON (None for an answer of another status than 200 without JSON)."""

    status: int
    value: Any


class EmbeddingServer:
    """The server at `url`. It is connected to by the first question; threads may share one."""

    def __init__(self, url: str, *, remote: bool) -> None:
        self._url = url.rstrip("/")
        self._remote = remote

    def ready(self) -> None:
        """Load the client: before a clock runs, for it takes its time."""
        _ = self._client

    def ask(self, path: str, body: Mapping[str, Any], seconds: float, most: int, key: str = "") -> ServerReply:
        """The answer to a POST, of at most so many bytes. Raises NoAnswer and NoJson.

        Whoever waits counts the `seconds` (`calling.within`); here they end a call that nobody waits for any more.
        """
        until = time.monotonic() + seconds + _AFTERWARDS
        with self._posted(path, body, seconds + _AFTERWARDS, key) as response:
            data = bytearray()
            for piece in response.iter_raw():
                data += piece
                if len(data) > most:
                    raise NoAnswer(f"sends more than {most:,} bytes")
                if time.monotonic() > until:
                    raise NoAnswer("did not answer in time")
        try:
            return ServerReply(response.status_code, _json(bytes(data)))
        except NoJson:
            if response.status_code == 200:
                raise
            return ServerReply(response.status_code, None)

    def report(self, path: str, body: Mapping[str, Any], idle: float) -> Iterator[Mapping[str, Any]]:
        """The lines of JSON in which a server says how far it is; one that says nothing new for `idle` seconds is left."""
        until, last, size, rest = time.monotonic() + idle, b"", 0, b""
        with self._posted(path, body, idle, "") as response:
            for piece in response.iter_raw():
                size += len(piece)
                *lines, rest = (rest + piece).split(b"\n")
                if len(rest) > _LONGEST_LINE or size > _MOST_LINES:
                    raise NoAnswer("sends more than a report is long")
                for line in filter(bytes.strip, lines):
                    if line != last:
                        until, last = time.monotonic() + idle, line
                    yield _step(line)
                if time.monotonic() > until:
                    raise NoAnswer(f"said nothing new for {idle:g} s")
            if rest.strip():
                yield _step(rest)

    @contextmanager
    def _posted(self, path: str, body: Mapping[str, Any], seconds: float, key: str) -> Iterator[httpx.Response]:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            with self._client.stream("POST", f"{self._url}{path}", json=body, headers=headers, timeout=seconds) as response:
                if response.headers.get("Content-Encoding", "identity").lower() not in ("identity", ""):
                    # A few bytes can unpack to more than this machine holds, and nothing compressed was asked for.
                    raise NoAnswer("sends a compressed answer, which nobody asked for")
                yield response
        except httpx.TimeoutException:
            raise NoAnswer("did not answer in time") from None
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, OSError, ValueError) as fault:
            refused = isinstance(fault, (httpx.ConnectError, httpx.InvalidURL))
            raise NoAnswer("cannot be reached" if refused else f"broke off ({type(fault).__name__})", refused=refused) from None

    @cached_property
    def _client(self) -> httpx.Client:
        # Neither a proxy on the way to this machine nor a redirection may carry texts and key to where nobody sent them.
        return httpx.Client(trust_env=self._remote, follow_redirects=False, headers={"Accept-Encoding": "identity"})


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as fault:
        raise NoJson(str(fault)[:80]) from None


def _step(line: bytes) -> Mapping[str, Any]:
    value = _json(line)
    if not isinstance(value, dict):
        raise NoJson("a line is no object")
    return value
