"""The same server over HTTP: one process for many clients, each request for itself; and who may ask at all."""

from __future__ import annotations

import asyncio
import errno
import hmac
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Collection, Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from vault_tool.errors import Busy, Refused, UsageError, VaultError
from vault_tool.mcp.server import Run

PATH, ALIVE, READY = "/mcp", "/health", "/health/ready"
PORT = 8377
LOOPBACK = ("127.0.0.1", "localhost", "::1")

MOST_BYTES = 5 * 2**20
"""Of one request: a little more than the longest call may take, which then says in words that it is too long."""

MOST_CONNECTIONS = 128
SLOWEST = 30.0
"""Seconds in which a request must have come in whole."""

PATIENCE = 5.0
"""Seconds that a question for readiness waits for a vault that is at work."""

_TAKEN = (errno.EADDRINUSE, errno.EACCES)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_SAID = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-type", b"text/plain; charset=utf-8"),
)


@dataclass(frozen=True, slots=True)
class Door:
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
        return tuple(dict.fromkeys((*(f"{_bracketed(one)}:{self.port}" for one in near), *self.names)))

    @property
    def allowed_origins(self) -> tuple[str, ...]:
        """The exact values that an Origin header may have: this server itself, and those that were named."""
        scheme = "https" if self.tls else "http"
        return (*(f"{scheme}://{host}" for host in self.hosts), *self.origins)

    @property
    def url(self) -> str:
        """Where a client finds it."""
        return f"{'https' if self.tls else 'http'}://{_bracketed(self.host)}:{self.port}{PATH}"


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
    found = socket.socket(family)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
        found.listen(MOST_CONNECTIONS)
    except OSError as fault:
        found.close()
        if isinstance(fault, socket.gaierror) or fault.errno not in _TAKEN:
            raise UsageError(
                f"{host}:{port} cannot be listened on: {fault.strerror}", "an address of this machine, and a port"
            ) from fault
        raise Busy(f"something else listens on {host}:{port}", "choose another with --port; 0 takes any that is free") from fault
    return found


def application(server: Server[Any], run: Run, door: Door) -> App:
    """The ASGI application: the server at /mcp and two signs of life, behind the door's checks."""
    security = TransportSecuritySettings(allowed_hosts=list(door.hosts), allowed_origins=list(door.allowed_origins))
    inner: App = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=2 * MOST_BYTES,  # what is larger than we allow is refused before
        transport_security=security,
        host=door.host,
    )

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await inner(scope, receive, send)
        elif scope["type"] == "http":
            # White space around a value is none of it (RFC 9110), but reaches us from some parsers, and the SDK would compare it.
            scope = {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}
            refused = _refused(scope, door)
            if refused is not None:
                await _say(send, *refused)
            elif scope["path"] == ALIVE:
                await _say(send, 200, "alive")
            elif scope["path"] == READY:
                await _say(send, *await _ready(run))
            else:
                await _in_time(inner, scope, receive, send, door.slowest)

    return outer


async def serve_http(app: App, found: socket.socket, *, cert: str = "", key: str = "") -> None:
    """Serve until this process is told to end."""
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=int(SLOWEST),
        timeout_graceful_shutdown=int(PATIENCE),
        ws="none",
        ssl_certfile=cert or None,
        ssl_keyfile=key or None,
    )
    await _Server(config).serve(sockets=[found])


class _Server(uvicorn.Server):
    """One for which to be told to end is no failure: the signal is not raised again when all is closed."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take the signals that end a process for as long as this lasts."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {one: signal.signal(one, self.handle_exit) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def _refused(scope: Scope, door: Door) -> tuple[int, str] | None:
    """The answer to who may not ask: a page of another site, a name that is not ours, or nobody that we know."""
    said = [(name.lower(), value.decode("latin-1")) for name, value in scope["headers"]]
    hosts = [value for name, value in said if name == b"host"]
    if len(hosts) != 1 or hosts[0].lower() not in door.hosts:
        return 403, "this server does not go by that name"
    origins = [value for name, value in said if name == b"origin"]
    if any(one not in door.allowed_origins for one in origins) or len(origins) > 1:
        return 403, "pages of other sites are not served"
    if not origins and any(name == b"sec-fetch-site" and value not in ("same-origin", "none") for name, value in said):
        return 403, "pages of other sites are not served"
    if scope["path"] in (ALIVE, READY):
        return None if scope["method"] in ("GET", "HEAD") else (405, "GET")
    given = [value for name, value in said if name == b"authorization"]
    if door.token and (len(given) != 1 or not _shows(given[0], door.token)):
        return 401, "show the token of this vault: Authorization: Bearer TOKEN"
    if scope["path"] != PATH:
        return 404, f"there is {PATH}"
    # Nothing is ever said first to a client of old, for no state is kept between requests.
    return None if scope["method"] == "POST" else (405, "POST")


def _shows(given: str, token: str) -> bool:
    kind, _, shown = given.partition(" ")
    return kind.lower() == "bearer" and hmac.compare_digest(shown.strip().encode("latin-1"), token.encode())


async def _ready(run: Run) -> tuple[int, str]:
    """Whether the vault can be asked now, with its indexes up to date."""
    try:
        await asyncio.wait_for(run(lambda vault: vault.fresh()), PATIENCE)
    except TimeoutError:
        return 503, "at work"
    except VaultError as fault:
        return 503, fault.message
    return 200, "ready"


async def _in_time(app: App, scope: Scope, receive: Receive, send: Send, seconds: float) -> None:
    """Ask the server once the request is there, which may take only so long and be only so large."""
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                found = await receive()
                if found["type"] == "http.disconnect":
                    return
                body += found.get("body", b"")
                more = found.get("more_body", False)
                if len(body) > MOST_BYTES:
                    await _say(send, 413, f"a request may take {MOST_BYTES // 2**20} MiB")
                    return
    except TimeoutError:
        await _say(send, 408, "the request did not come in whole")
        return
    waiting: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    await app(scope, received, send)


async def _say(send: Send, status: int, text: str) -> None:
    headers = [*_SAID]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="vault"'))
    if status == 405:
        headers.append((b"allow", text.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
