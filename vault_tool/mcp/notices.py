"""The subscriptions of clients to resources, in either era of the protocol, and the look at whether a resource changed."""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Awaitable, Mapping
from typing import Any, Protocol

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

from vault_tool.errors import VaultError
from vault_tool.mcp.wording import ForClient
from vault_tool.util.hints import worded

# Seconds between two looks at whether another process changed something, while a client listens.
EVERY = 2.0

# Resources that may be subscribed to at once.
MOST = 100

_log = logging.getLogger(__name__)


class VaultWatch(Protocol):
    """`await look(uris, since)`: a mark that moves with every change of the vault and, where it is not `since`, the texts."""

    def __call__(self, uris: frozenset[str], since: str, /) -> Awaitable[tuple[str, Mapping[str, str]]]:
        """The mark, and each resource's text."""


class Notices:
    """The subscriptions of a connection: `run` looks, from time to time and after each call, and tells of what changed."""

    def __init__(self, look: VaultWatch, every: float = EVERY, preset: str = "") -> None:
        self._look = look
        self._wording = ForClient(preset)
        self._every = every
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus, max_subscriptions=MOST)
        self._listened: Counter[str] = Counter()
        self._subscribed: dict[str, ServerSession] = {}
        self._digests: dict[str, bytes] = {}
        self._mark = ""
        self._asked = anyio.Event()

    def look(self) -> None:
        """Look now: something was just called that may have changed the vault."""
        self._asked.set()

    async def listen(
        self, ctx: ServerRequestContext[Any, Any], params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Tell a client of today, on the stream that answers its request, for as long as that is open."""
        uris = frozenset(params.notifications.resource_subscriptions or ())
        await self._begin(uris)
        self._listened.update(uris)
        try:
            return await self._handler(ctx, params)
        finally:
            self._listened.subtract(uris)

    async def subscribe(self, ctx: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Tell a client of old, by messages of its connection."""
        await self._begin(frozenset((params.uri,)))
        self._subscribed[params.uri] = ctx.session
        return types.EmptyResult()

    async def unsubscribe(self, ctx: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """Tell it no more."""
        self._subscribed.pop(params.uri, None)
        return types.EmptyResult()

    async def run(self) -> None:
        """Look for changes until cancelled; without a subscription, do nothing."""
        while True:
            with anyio.move_on_after(self._every if self._wanted else None):
                await self._asked.wait()
            self._asked = anyio.Event()
            if self._wanted:
                try:
                    await self._tell(await self._changed())
                except (VaultError, OSError) as fault:
                    _log.warning("changes could not be looked for: %s", fault)

    @property
    def _wanted(self) -> frozenset[str]:
        return frozenset((*self._subscribed, *(uri for uri, count in self._listened.items() if count > 0)))

    async def _begin(self, uris: frozenset[str]) -> None:
        """Note what resources say now, so that a change from then on is one."""
        if len(self._wanted | uris) > MOST:
            raise MCPError(types.INVALID_PARAMS, f"at most {MOST} resources can be subscribed to at once")
        if not (new := uris - self._wanted):
            return  # also for a client that only opens the stream: no vault is opened for that
        try:
            _, texts = await self._look(new, "")
        except VaultError as fault:
            raise MCPError(types.INVALID_PARAMS, worded(fault.marked, self._wording)) from fault
        self._digests.update({uri: _digest(text) for uri, text in texts.items()})
        self._asked.set()

    async def _changed(self) -> list[str]:
        self._mark, texts = await self._look(self._wanted, self._mark)
        changed = [uri for uri, text in texts.items() if self._digests.get(uri) != _digest(text)]
        self._digests.update({uri: _digest(text) for uri, text in texts.items()})
        return changed

    async def _tell(self, uris: list[str]) -> None:
        for uri in uris:
            await self._bus.publish(ResourceUpdated(uri))
            if uri in self._subscribed:
                await self._subscribed[uri].send_resource_updated(uri)


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
