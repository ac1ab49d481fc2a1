"""Where a server listens and under which names it is asked for, and the serving itself: nothing of what is served."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import uvicorn
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from vault_tool.errors import Busy, Refused, UsageError
from vault_tool.util.structs import Struct

LOOPBACK = ("127.0.0.1", "localhost", "::1")

# Connections of those who have shown nothing yet: one more, and the oldest of them ends. Clients who come in a burst are all
# connected before the first of them is heard, so for a moment there may be more of them.
MOST_CONNECTIONS = 128
MOST_IN_A_BURST = 512
BURST = 2.0
# Seconds in which the headers of a request must have come in whole.
HEADERS = 10.0
# Seconds in which a request must have come in whole.
SLOWEST = 30.0

# Seconds between two looks at whether whoever asked is still known, while an answer stays open.
LOOKS = 0.5

# Seconds that a question for readiness waits for a vault that is at work.
PATIENCE = 5.0

_TAKEN = (errno.EADDRINUSE, errno.EACCES)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Door(Struct):
    """Where is listened, under which names it is asked for, and what must be shown: no `token` is needed where it is empty."""

    host: str
    port: int
    token: str
    names: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    tls: bool = False
    slowest: float = SLOWEST

    @property
    def hosts(self) -> tuple[str, ...]:
        """The exact values that a Host header may have."""
        near = (*LOOPBACK, self.host) if self.host in LOOPBACK else (self.host,)
        return tuple(dict.fromkeys((*(f"{_bracketed(host)}:{self.port}" for host in near), *self.names)))

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """The exact values that an Origin header may have: this server itself, and those that were named."""
        scheme = "https" if self.tls else "http"
        return (*(f"{scheme}://{host}" for host in self.hosts), *self.origins)

    @property
    def url(self) -> str:
        """Where it is found."""
        return f"{'https' if self.tls else 'http'}://{_bracketed(self.host)}:{self.port}"


def require_safe(host: str, *, names: Collection[str], token: bool, tls: bool, without_tls: bool) -> None:
    """Refused for what would let others than this machine's user read the memory, and UsageError for what cannot be reached."""
    if host in LOOPBACK:
        return
    if not token:
        raise Refused(f"{host} can be reached from elsewhere, and so needs the token", "leave --no-token away")
    if not tls and not without_tls:
        hint = "--tls-cert and --tls-key, or --without-tls behind a proxy that encrypts"
        raise Refused(f"{host} can be reached from elsewhere, where the token would be sent in the clear", hint)
    if host in ("0.0.0.0", "::") and not names:
        raise UsageError(
            f"{host} is every address of this machine, and no name", "say what it is called: --name vault.example.org"
        )


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens there; Busy where something else does, UsageError for an address that is not this machine's."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(MOST_IN_A_BURST)
    except OSError as fault:
        listener.close()
        if isinstance(fault, socket.gaierror) or fault.errno not in _TAKEN:
            raise UsageError(
                f"{host}:{port} cannot be listened on: {fault.strerror}", "an address of this machine, and a port"
            ) from fault
        raise Busy(f"something else listens on {host}:{port}", "choose another with --port; 0 takes any that is free") from fault
    return listener


async def serve_http(app: App, listener: socket.socket, *, cert: str = "", key: str = "") -> None:
    """Serve until this process is told to end."""
    await http_server(app, cert=cert, key=key).serve(sockets=[listener])


def http_server(app: App, *, cert: str = "", key: str = "") -> uvicorn.Server:
    """A server of `app` with our bounds; it ends when the process is told to, or when its `should_exit` is set."""
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        http=_Connection,
        timeout_keep_alive=int(SLOWEST),
        timeout_graceful_shutdown=int(PATIENCE),
        ws="none",
        ssl_certfile=cert or None,
        ssl_keyfile=key or None,
    )
    return _Server(config)


# Who is connected and has shown nothing yet, by the address of the server and then by their own, the oldest first.
_strangers: dict[Any, dict[Any, _Connection]] = {}


def admit(scope: Scope) -> None:
    """Count the connection of a request no longer among those who have shown nothing: it showed what it must."""
    _strangers.get(scope.get("server"), {}).pop(scope.get("client"), None)


class UntilGone:
    """A request's two ends, until `is_gone` says that its asker is (a token, a browser): an open answer ends soon after it."""

    def __init__(self, receive: Receive, send: Send, is_gone: Callable[[], bool]) -> None:
        self._receive, self._send, self._is_gone = receive, send, is_gone
        self._open = self._ended = False

    async def send(self, message: Message) -> None:
        """Send a part of the answer; of one that goes on nothing more, once the asker is gone."""
        if self._ended:
            return
        if message["type"] == "http.response.body":
            self._open = message.get("more_body", False)
            if self._open and self._is_gone():
                await self._end()
                return
        await self._send(message)

    async def receive(self) -> Message:
        """The client's next message; its going, where the asker is gone while an answer stays open."""
        coming = asyncio.ensure_future(self._receive())
        try:
            while not coming.done():
                await asyncio.wait({coming}, timeout=LOOKS)
                if self._open and not coming.done() and self._is_gone():
                    await self._end()
                    return {"type": "http.disconnect"}
            return coming.result()
        finally:
            coming.cancel()

    async def _end(self) -> None:
        self._ended, self._open = True, False
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})


class _Connection(AutoHTTPProtocol):  # type: ignore[misc,valid-type]
    """One connection, which is ended where a request's headers do not come in whole, and where too many who show nothing come."""

    _limit: asyncio.TimerHandle | None = None
    _since: float = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin to count."""
        super().connection_made(transport)
        strangers = _strangers.setdefault(self.server, {})
        strangers[self.client] = self
        self._since = self.loop.time()
        while len(strangers) > MOST_CONNECTIONS:
            # Who waits for an answer goes last.
            ends = next(
                (stranger for stranger in strangers.values() if not stranger._is_answered()), next(iter(strangers.values()))
            )
            if self._since - ends._since < BURST and len(strangers) <= _most_in_a_burst():
                break
            strangers.pop(ends.client, None)
            ends.transport.abort()
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        _strangers.get(self.server, {}).pop(self.client, None)
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """A part of a request came, or several requests."""
        if not self._is_answered():
            self._begin()
        super().data_received(data)
        if self._is_answered():
            self._stop()

    def _is_answered(self) -> bool:
        """Whether a request is there whose answer is under way."""
        return self.cycle is not None and not self.cycle.response_complete

    def _begin(self) -> None:
        if self._limit is None:
            self._limit = self.loop.call_later(HEADERS, self.transport.abort)

    def _stop(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None


@cache
def _most_in_a_burst() -> int:
    """As many as a burst may have, where this process may have twice as many descriptors."""
    if sys.platform == "win32":
        return MOST_IN_A_BURST
    import resource  # not on Windows

    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_IN_A_BURST if most < 0 else max(MOST_CONNECTIONS, min(MOST_IN_A_BURST, most // 2))


class _Server(uvicorn.Server):
    """One for which to be told to end is no failure: the signal is not raised again when all is closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals that end a process for as long as this lasts."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def headers_of(scope: Scope, name: bytes) -> list[str]:
    """All values of a header, by its name in small letters."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


def foreign(scope: Scope, door: Door) -> str | None:
    """Why a request is none of ours: asked under another name (rebinding), or from a page of another site; None where it is."""
    hosts = headers_of(scope, b"host")
    if len(hosts) != 1 or hosts[0].lower() not in door.hosts:
        return "this server does not go by that name"
    origins = headers_of(scope, b"origin")
    if any(origin not in door.allowed_origins for origin in origins) or len(origins) > 1:
        return "pages of other sites are not served"
    if not origins and any(site not in ("same-origin", "none") for site in headers_of(scope, b"sec-fetch-site")):
        return "pages of other sites are not served"
    return None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
