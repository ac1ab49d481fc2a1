"""The answers of `vt serve` by way of the owner, one connection a call; by the serving process itself where there is no owner."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from typing import Any

from msgspec import to_builtins

from vault_tool.errors import VaultError, VaultGone
from vault_tool.mcp.backends import Answer, Backend, Cancelled, Progress, failed
from vault_tool.mcp.tools import Caller, named
from vault_tool.owner.client import fitting
from vault_tool.owner.protocol import Lines, ProtocolError
from vault_tool.owner.relay import LOST
from vault_tool.owner.spawning import reached
from vault_tool.owner.starting import allowed, is_forbidden
from vault_tool.util.location import Location

# Seconds without a sign of life after which an owner at work counts as hanging; it gives twenty a second.
SILENCE = 3.0

# Seconds in which an owner says who it is: in a burst it is asked by many at once, and a server has no other to ask.
HELLO = 1.0

# Seconds before another owner is started where the last one did not come up.
PAUSE = 30.0

_ATTEMPTS = 3
# Calls that wait for the owner at the same time; it answers one after the other.
_AT_ONCE = 32


class LostCall(Exception):
    """The process that answered a call ended, and the call may or may not have been done; a second try could do it twice."""


class RelayBackend:
    """Answers by the owner of a vault, started where there is none; by `alone` where none may be.

    A call raises VaultGone, or is answered so, while the vault is not at its place.
    """

    def __init__(self, location: Location, caller: Caller, alone: Backend) -> None:
        self._location = location
        self._owners = Owners(location.root)
        self._caller = to_builtins(caller)
        self._alone = alone
        self._threads = ThreadPoolExecutor(_AT_ONCE, "owner's answers")

    def asked_by(self, caller: Caller) -> RelayBackend:
        """See `Backend.asked_by`."""
        other = copy(self)
        other._caller, other._alone = to_builtins(caller), self._alone.asked_by(caller)
        return other

    def may(self, tool: str) -> bool:
        """See `Backend.may`."""
        return self._alone.may(tool)

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def call(self, tool: str, arguments: Mapping[str, Any], progress: Progress) -> Answer:
        """See `Backend.call`; a call that may or may not have been done is an error that says so."""
        if not self._alone.may(tool):
            return await self._alone.call(tool, arguments, progress)
        try:
            reply = await self._asked(call_of(tool, arguments), may_repeat=may_be_called_again(tool), progress=progress)
        except LostCall:
            return Answer(LOST, None)
        except VaultGone as fault:
            return failed(fault)
        if reply is None:
            return await self._alone.call(tool, arguments, progress)
        return answer_of(reply)

    async def read(self, uri: str) -> tuple[str, str]:
        """See `Backend.read`."""
        reply = await self._asked({"do": "read", "uri": uri})
        return await self._alone.read(uri) if reply is None else (reply["text"], reply["kind"])

    async def versions(self, uris: frozenset[str], since: str, /) -> tuple[str, Mapping[str, str]]:
        """See `Backend.versions`."""
        reply = await self._asked({"do": "versions", "uris": sorted(uris), "since": since})
        return await self._alone.versions(uris, since) if reply is None else (reply["mark"], reply["texts"])

    async def ready(self) -> None:
        """See `Backend.ready`."""
        if await self._asked({"do": "ready"}) is None:
            await self._alone.ready()

    async def _asked(
        self, request: Mapping[str, Any], *, may_repeat: bool = True, progress: Progress | None = None
    ) -> Mapping[str, Any] | None:
        """The owner's reply; None if this process has to answer. Raises VaultError and LostCall."""
        self._location.require()
        exchange = Exchange(self._owners.line, {**request, **self._caller}, may_repeat=may_repeat, progress=progress)
        try:
            reply = await asyncio.get_running_loop().run_in_executor(self._threads, exchange.run)
        except asyncio.CancelledError:
            exchange.abandon()
            raise
        if reply is not None and "fault" in reply:
            raise VaultError(*reply["fault"])
        return reply


def call_of(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The request for the answer of a tool."""
    return {"do": "call", "tool": tool, "arguments": arguments}


def answer_of(reply: Mapping[str, Any]) -> Answer:
    """The answer in an owner's reply."""
    text = reply["text"]
    return Answer(text, json.loads(text) if reply["done"] else None)


class Owners:
    """The owner of one vault, whichever process that is now."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._starting = threading.Lock()
        self._not_before = 0.0

    def line(self) -> Lines | None:
        """A connection to it, which is started where there is none; None where this process has to answer."""
        if not allowed() or is_forbidden(self._root):
            return None
        if (lines := fitting(self._root, HELLO)) is not None:
            return lines
        with self._starting:
            if time.monotonic() < self._not_before:
                return None
            lines = reached(self._root, lambda _: True)
            self._not_before = time.monotonic() + PAUSE if lines is None else 0.0
            return lines


class Exchange:
    """One request to the owner and its answer, on a thread that may wait for it; begun anew as long as nothing is done twice.

    `connect` makes a connection to the owner; None where there is none to be had.
    """

    def __init__(
        self,
        connect: Callable[[], Lines | None],
        request: Mapping[str, Any],
        *,
        may_repeat: bool = True,
        progress: Progress | None = None,
    ) -> None:
        self._connect = connect
        self._request = request
        self._may_repeat = may_repeat
        self._progress = progress
        self._line: socket.socket | None = None
        self._abandoned = False
        self._begun = False

    def abandon(self) -> None:
        """Wait no longer: the owner hears of it by the end of the connection."""
        self._abandoned = True
        if (line := self._line) is not None:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)

    def run(self) -> Mapping[str, Any] | None:
        """The answer; None where there is no owner to give it. Raises LostCall, RuntimeError where the owner failed, and
        Cancelled once it is abandoned.
        """
        for _ in range(_ATTEMPTS):
            lines = self._connect()
            if lines is None:
                return None
            self._line, self._begun = lines.socket, False
            try:
                return self._answer(lines)
            except ProtocolError as fault:
                if self._begins(lines) and not self._may_repeat:
                    raise LostCall from fault
            finally:
                lines.socket.close()
        return None

    def _answer(self, lines: Lines) -> Mapping[str, Any]:
        """The reply of one owner. Raises ProtocolError if it ends, hangs or declines."""
        self._require_wanted()
        lines.socket.settimeout(SILENCE)
        lines.send(self._request)
        if "stream" not in lines.receive():
            raise ProtocolError("it was declined")
        self._begun = True
        while "progress" in (reply := lines.receive()):
            if self._progress is not None:
                self._progress(*reply["progress"])
        if "crash" in reply:
            raise RuntimeError(reply["crash"])
        return reply

    def _begins(self, lines: Lines) -> bool:
        """Whether an owner that did not answer began, or may still begin; raises Cancelled once the caller has left."""
        self._require_wanted()
        # It begins only once it has sent that it does, and from here on it can send no more.
        with suppress(OSError):
            lines.socket.shutdown(socket.SHUT_RDWR)
        with suppress(ProtocolError):
            self._begun = self._begun or "stream" in lines.receive()
        return self._begun

    def _require_wanted(self) -> None:
        if self._abandoned:
            raise Cancelled


def may_be_called_again(tool: str) -> bool:
    """Whether a tool that is called twice has done nothing twice."""
    notes = named("full")[tool]["annotations"]
    return bool(notes.get("readOnlyHint") or notes.get("idempotentHint"))
