"""The same server over HTTP: one process for many clients, each request for itself; and who may ask at all."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable, Sequence
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from vault_tool.errors import VaultError
from vault_tool.mcp.backends import Backend, scope_missing
from vault_tool.mcp.listening import PATIENCE, App, Door, Message, Receive, Scope, Send, UntilGone, admit, foreign, headers_of
from vault_tool.mcp.tools import Caller
from vault_tool.model.served_person import WRITE, ServedPerson, shown_by

PATH, ALIVE, READY = "/mcp", "/health", "/health/ready"

# Of one request: a little more than the longest call may take, which then says in words that it is too long.
MOST_BYTES = 5 * 2**20

# The people who may ask by tokens of their own, as they are now.
People = Callable[[], Sequence[ServedPerson]]

# Under this name a request's scope holds whose it is.
_CALLER = "vault.caller"

_NEEDS_WRITE = f'Bearer realm="vault", error="insufficient_scope", scope="{WRITE}"'.encode()

_SAID = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-type", b"text/plain; charset=utf-8"),
)


def application(server: Server[Any], backend: Backend, door: Door, caller: Caller | None = None, people: People = tuple) -> App:
    """The ASGI application: the server at /mcp and two signs of life, behind the door's checks.

    `caller` is whose a request is that shows the vault's own token, or needs none; `people` have tokens of their own.
    """
    security = TransportSecuritySettings(allowed_hosts=list(door.hosts), allowed_origins=list(door.allowed_origins))
    inner: App = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=2 * MOST_BYTES,  # what is larger than we allow is refused before
        transport_security=security,
        host=door.host,
    )
    everybody = caller or Caller()

    async def outer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await inner(scope, receive, send)
        elif scope["type"] == "http":
            # White space around a value is none of it (RFC 9110), but reaches us from some parsers, and the SDK would compare it.
            # A host's name is the same in capitals.
            scope = {**scope, "headers": [_plain(name, value.strip(b" \t")) for name, value in scope["headers"]]}
            person = _person(scope, people)
            refused = _refused(scope, door, person, everybody.user, people)
            if (door.token or person) and refused is None and scope["path"] == PATH:
                admit(scope)
            if refused is not None:
                await _say(send, *refused)
            elif scope["path"] == ALIVE:
                await _say(send, 200, "alive")
            elif scope["path"] == READY:
                await _say(send, *await _ready(backend))
            elif person is None:
                await _in_time(inner, {**scope, _CALLER: everybody}, receive, send, door.slowest)
            else:
                asking = asked_by_person(everybody, person)
                answering = UntilGone(receive, send, lambda: person not in people())
                await _in_time(inner, {**scope, _CALLER: asking}, answering.receive, answering.send, door.slowest)

    return outer


def caller_in(ctx: Any) -> Caller:
    """The caller of a request, by the token that was shown at the door."""
    caller = ctx.request.scope[_CALLER]
    assert isinstance(caller, Caller)
    return caller


def asked_by_person(everybody: Caller, person: ServedPerson) -> Caller:
    """The caller for a person's requests: none of the server's own sessions and projects, and bound to their user."""
    return Caller(
        user=person.user or everybody.user, model=everybody.model, preset=everybody.preset,
        author=person.author, scope=person.scope,
    )  # fmt: skip


def _person(scope: Scope, people: People) -> ServedPerson | None:
    """The person whose token a request shows."""
    headers = headers_of(scope, b"authorization")
    token = _shown(headers[0]) if len(headers) == 1 and scope["path"] == PATH else ""
    return shown_by(token, people()) if token else None


def _plain(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    return name, value.lower() if name.lower() == b"host" else value


def _refused(scope: Scope, door: Door, person: ServedPerson | None, user: str, people: People) -> tuple[int, str] | None:
    """The status and reason that refuse a request (another site's page, a foreign host name, no token), or None."""
    if reason := foreign(scope, door):
        return 403, reason
    if scope["path"] in (ALIVE, READY):
        return None if scope["method"] in ("GET", "HEAD") else (405, "GET")
    headers = headers_of(scope, b"authorization")
    if person is None and not _shows(headers, door.token) and (door.token or (headers and people())):
        # Of a token that never was, and of one that was taken away, the same is said.
        return 401, "show the token of this vault: Authorization: Bearer TOKEN"
    if person is not None and user and person.user not in ("", user):
        return 403, "this server answers for another user"
    if scope["path"] != PATH:
        return 404, f"there is {PATH}"
    # Nothing is ever said first to a client of old, for no state is kept between requests.
    return None if scope["method"] == "POST" else (405, "POST")


def _shows(headers: Sequence[str], token: str) -> bool:
    if len(headers) != 1 or not (shown := _shown(headers[0])):
        return False
    return bool(token) and hmac.compare_digest(shown.encode("latin-1"), token.encode())


def _shown(header: str) -> str:
    """The token in a header."""
    kind, _, shown = header.partition(" ")
    return shown.strip() if kind.lower() == "bearer" else ""


def _beyond_scope(caller: Caller, body: bytes) -> str:
    """Why a request needs a scope that its caller lacks; empty where it does not, or where it can be told only by who reads it.

    Whatever this takes a request for, a call is asked once more before it is answered.
    """
    if not caller.scope:
        return ""
    try:
        message = json.loads(body)
    except ValueError:
        return ""
    parameters = message.get("params") if isinstance(message, dict) and message.get("method") == "tools/call" else None
    tool = parameters.get("name") if isinstance(parameters, dict) else None
    return scope_missing(tool) if isinstance(tool, str) and not caller.may(tool) else ""


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
    if missing := _beyond_scope(scope[_CALLER], bytes(body)):
        await _say(send, 403, missing, (b"www-authenticate", _NEEDS_WRITE))
        return
    waiting: list[Message] = [{"type": "http.request", "body": bytes(body), "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    await app(scope, received, send)


async def _say(send: Send, status: int, text: str, *more: tuple[bytes, bytes]) -> None:
    headers = [*_SAID, *more]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="vault"'))
    if status == 405:
        headers.append((b"allow", text.encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{text}\n".encode()})
