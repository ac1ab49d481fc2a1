"""The same server over HTTP: one process for many clients, each request for itself; and who may ask at all."""

from __future__ import annotations

import asyncio
import hmac
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from vault_tool.errors import VaultError
from vault_tool.mcp.backends import Backend
from vault_tool.mcp.listening import PATIENCE, App, Door, Message, Receive, Scope, Send, admit, foreign, headers_of

PATH, ALIVE, READY = "/mcp", "/health", "/health/ready"

# Of one request: a little more than the longest call may take, which then says in words that it is too long.
MOST_BYTES = 5 * 2**20

_SAID = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-type", b"text/plain; charset=utf-8"),
)


def application(server: Server[Any], backend: Backend, door: Door) -> App:
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
            # A host's name is the same in capitals.
            scope = {**scope, "headers": [_plain(name, value.strip(b" \t")) for name, value in scope["headers"]]}
            refused = _refused(scope, door)
            if door.token and refused is None and scope["path"] == PATH:
                admit(scope)
            if refused is not None:
                await _say(send, *refused)
            elif scope["path"] == ALIVE:
                await _say(send, 200, "alive")
            elif scope["path"] == READY:
                await _say(send, *await _ready(backend))
            else:
                await _in_time(inner, scope, receive, send, door.slowest)

    return outer


def _plain(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    return name, value.lower() if name.lower() == b"host" else value


def _refused(scope: Scope, door: Door) -> tuple[int, str] | None:
    """The status and reason that refuse a request (another site's page, a foreign host name, no token), or None."""
    if reason := foreign(scope, door):
        return 403, reason
    if scope["path"] in (ALIVE, READY):
        return None if scope["method"] in ("GET", "HEAD") else (405, "GET")
    headers = headers_of(scope, b"authorization")
    if door.token and (len(headers) != 1 or not _shows(headers[0], door.token)):
        return 401, "show the token of this vault: Authorization: Bearer TOKEN"
    if scope["path"] != PATH:
        return 404, f"there is {PATH}"
    # Nothing is ever said first to a client of old, for no state is kept between requests.
    return None if scope["method"] == "POST" else (405, "POST")


def _shows(header: str, token: str) -> bool:
    kind, _, shown = header.partition(" ")
    return kind.lower() == "bearer" and hmac.compare_digest(shown.strip().encode("latin-1"), token.encode())


async def _ready(backend: Backend) -> tuple[int, str]:
    """Whether the vault can be asked now, with its indexes up to date."""
    try:
        await asyncio.wait_for(backend.ready(), PATIENCE)
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
                message = await receive()
                if message["type"] == "http.disconnect":
                    return
                body += message.get("body", b"")
                more = message.get("more_body", False)
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
