"""The owner's answers to a server that forwards its clients' calls: one request a connection, while the server waits."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeAlias, TypeVar, cast

from msgspec.structs import replace

from vault_tool.errors import VaultError
from vault_tool.mcp.backends import Call, Cancelled, Progress, failed, resource, versions
from vault_tool.mcp.tools import Caller
from vault_tool.owner.protocol import BEAT, Lines
from vault_tool.owner.server import REQUEST_SECONDS, Stream
from vault_tool.verbs.vault import Vault

T = TypeVar("T")


class Use(Protocol):
    """How the vault is used: `use(act)` is `act(vault)`, one after the other."""

    def __call__(self, use: Callable[[Vault], T], /) -> T:
        """Return the value of `use`, or raise its error."""


Request: TypeAlias = Mapping[str, Any]
Reply: TypeAlias = Callable[[Use, Request, Progress], Mapping[str, Any]]


def streams(use: Use) -> dict[str, Stream]:
    """The requests that are forwarded, by name."""
    replies: dict[str, Reply] = {"call": _call, "read": _read, "versions": _versions, "ready": _ready}
    return {name: partial(_serve, use, reply) for name, reply in replies.items()}


def _serve(use: Use, reply: Reply, line: socket.socket, unread: bytes, request: Request) -> None:
    """Answer one request, its progress first. Raises ProtocolError where the server no longer waits."""
    line.settimeout(REQUEST_SECONDS)
    lines = Lines(line)
    steps: SimpleQueue[Mapping[str, Any]] = SimpleQueue()
    given_up = threading.Event()

    def progress(done: int, of: int) -> None:
        _require_wanted(given_up)
        steps.put({"progress": [done, of]})

    work = partial(_work, partial(_used, use, given_up), reply, request, progress, steps)
    threading.Thread(target=work, name="owner's answer", daemon=True).start()
    try:
        while "progress" in (step := _next(steps, lines)):
            lines.send(step)
        lines.send(step)
    finally:
        given_up.set()


def _next(steps: SimpleQueue[Mapping[str, Any]], lines: Lines) -> Mapping[str, Any]:
    """The next step of a reply, with a sign of life as long as there is none."""
    while True:
        try:
            return steps.get(timeout=BEAT)
        except Empty:
            lines.send()


def _work(use: Use, reply: Reply, request: Request, progress: Progress, steps: SimpleQueue[Mapping[str, Any]]) -> None:
    answer: Mapping[str, Any] = {"crash": "it failed"}
    try:
        answer = reply(use, request, progress)
    except VaultError as fault:
        answer = {"fault": [fault.message, fault.hint]}
    except Cancelled:
        answer = {"crash": "nobody waits for it"}
    except (OSError, ValueError, TypeError, KeyError) as fault:
        answer = {"crash": f"{type(fault).__name__}: {fault}"}
    finally:
        steps.put(answer)


def _used(use: Use, given_up: threading.Event, act: Callable[[Vault], T], /) -> T:
    """Use the vault, unless the caller gave up while the call waited for another."""
    if isinstance(act, Call):
        return cast("T", use(replace(act, require_wanted=partial(_require_wanted, given_up))))

    def acted(vault: Vault) -> T:
        _require_wanted(given_up)
        return act(vault)

    return use(acted)


def _require_wanted(given_up: threading.Event) -> None:
    if given_up.is_set():
        raise Cancelled


def _call(use: Use, request: Request, progress: Progress) -> Mapping[str, Any]:
    call = Call(str(request["tool"]), dict(request["arguments"]), caller_of(request), progress)
    try:
        answer = use(call)
    except VaultError as fault:
        answer = failed(fault, call.tool, call.caller.preset)
    return {"text": answer.text, "done": answer.values is not None}


def _read(use: Use, request: Request, progress: Progress) -> Mapping[str, Any]:
    text, kind = use(partial(resource, caller_of(request), str(request["uri"])))
    return {"text": text, "kind": kind}


def _versions(use: Use, request: Request, progress: Progress) -> Mapping[str, Any]:
    uris = frozenset(map(str, request["uris"]))
    mark, texts = use(partial(versions, caller_of(request), uris, str(request["since"])))
    return {"mark": mark, "texts": texts}


def _ready(use: Use, request: Request, progress: Progress) -> Mapping[str, Any]:
    use(lambda vault: vault.fresh())
    return {"ready": True}


def caller_of(request: Request) -> Caller:
    """The caller that a request names."""
    return Caller(**{name: str(request.get(name) or "") for name in Caller.__struct_fields__})
