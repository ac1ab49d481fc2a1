"""One conversation with an agent's client on a connection, which can go on in another process between two of its calls."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import field

from vault_tool.cli import forwarded
from vault_tool.mcp import server
from vault_tool.owner.protocol import BEAT, LONGEST_LINE
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from vault_tool.mcp.server import Asked

T = TypeVar("T")

# What leaves nothing behind but what is said again where the conversation goes on; after anything else it stays.
_MOVABLE = frozenset({"initialize", "notifications/initialized", "ping", "tools/list", "tools/call", "server/discover"})
_OPENING = ("initialize", "notifications/initialized")

_PIECE = 2**16
# Of an answer, so many bytes tell that it is one.
_BEGINNING = 120


class Standing(Struct):
    """Where a conversation stands between two calls: the lines that opened it, and what was read and is not answered."""

    opening: tuple[bytes, ...] = ()
    unread: bytes = b""


class Conversation(msgspec.Struct):
    """A client that is served until either end closes the connection, or until it goes on elsewhere.

    `used(use, identity)` is how the vault is used; `moves` says whether it is to go on elsewhere, asked before each call.
    """

    line: socket.socket
    request: Mapping[str, Any]
    standing: Standing
    used: Callable[[Callable[[Any], Any], str], Any]
    moves: Callable[[], bool]
    _opening: list[bytes] = field(default_factory=list)
    _is_movable: bool = True
    _is_replaying: bool = False
    _leaving: asyncio.Event = field(default_factory=asyncio.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _left: Standing | None = None
    _asked: Asked = field(default_factory=lambda: server.Asked())

    async def serve(self) -> Standing | None:
        """Serve it until it ends, or moves: then from where it is to go on."""
        self._loop = asyncio.get_running_loop()
        self.line.setblocking(False)
        identity = str(self.request.get("identity") or "")

        async def run(use: Callable[[Any], T], /) -> T:
            value: T = await asyncio.to_thread(self.used, use, identity)
            return value

        preset = str(self.request.get("preset") or "lean")
        caller = forwarded.caller_of(self.request)
        await server.serve(self._lines(), self._write, run, preset=preset, caller=caller, asked=self._asked)
        return self._left

    def leave(self) -> None:
        """Have it go on elsewhere as soon as no call is open; from any thread."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it has ended
                self._loop.call_soon_threadsafe(self._leaving.set)

    async def _lines(self) -> AsyncIterator[bytes]:
        """The client's lines, one after the other, after those that opened the conversation elsewhere."""
        self._is_replaying = True
        for line in self.standing.opening:
            self._note(line)
            yield line
            # As a client does: what comes before the conversation is open is refused.
            await self._asked.answered()
        self._is_replaying = False
        unread = self.standing.unread
        while len(unread) <= LONGEST_LINE:
            line, newline, rest = unread.partition(b"\n")
            if not newline:
                piece = await self._received()
                if piece is None:
                    self._left = Standing(tuple(self._opening), unread)
                    return
                if not piece:
                    break
                unread += piece
                continue
            if self._may_move() and self.moves():
                self._left = Standing(tuple(self._opening), unread)
                return
            unread = rest
            self._note(line + newline)
            yield line + newline
        # The client says no more; what it asked is answered first, and what was no request is refused.
        await self._asked.answered()
        await asyncio.sleep(BEAT)

    def _may_move(self) -> bool:
        return self._is_movable and self._asked.none_open

    async def _received(self) -> bytes | None:
        """More of what the client says; nothing at its end, None where the conversation is to go on elsewhere now."""
        assert self._loop is not None
        receiving = asyncio.ensure_future(self._loop.sock_recv(self.line, _PIECE))
        try:
            while True:
                leaving = asyncio.ensure_future(self._leaving.wait())
                await asyncio.wait((receiving, leaving), return_when=asyncio.FIRST_COMPLETED)
                leaving.cancel()
                if receiving.done():
                    return receiving.result()
                self._leaving.clear()
                if self._may_move():
                    return None
        except OSError:
            return b""
        finally:
            receiving.cancel()

    def _note(self, line: bytes) -> None:
        """Keep what another process would have to hear."""
        try:
            method = json.loads(line).get("method")
        except (ValueError, RecursionError, AttributeError):
            self._is_movable = False
            return
        if method in _OPENING:
            self._opening.append(line)
        self._is_movable = self._is_movable and method in _MOVABLE

    async def _write(self, data: bytes) -> None:
        """Say a line to the client, unless it answers what opened the conversation elsewhere."""
        assert self._loop is not None
        if self._is_replaying and b'"method":' not in data[:_BEGINNING]:
            return
        with suppress(OSError):  # a client that is gone
            await self._loop.sock_sendall(self.line, data)
