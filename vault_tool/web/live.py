"""Changes of the vault, sent to every open page: by server-sent events, from the system's own notices of files."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from vault_tool.errors import VaultError
from vault_tool.watch.observer import CannotHear, FileObserver, unheard
from vault_tool.watch.pending_paths import PendingPaths

if TYPE_CHECKING:
    from vault_tool.vault.one_thread import OneThread
    from vault_tool.verbs.vault import Vault

# Seconds without another change, and at most, before pages are sent the change: an editor saves in several steps.
QUIET, LONGEST = 0.1, 0.4

# Seconds between comparisons where the system does not notify of changes.
EVERY = 2.0

# Seconds after which a line is sent although nothing changed: a connection that is gone is noticed by that.
BEAT = 15.0

MOST_LISTENERS = 60

_log = logging.getLogger(__name__)


class Live:
    """Whoever has a page open, and the task that compares the vault while there is anybody. `run` asks the vault."""

    def __init__(self, root: Path, run: OneThread[Vault]) -> None:
        self._root = root
        self._run = run
        self._listeners: set[asyncio.Queue[str]] = set()
        self._task: asyncio.Task[None] | None = None
        self._asked = asyncio.Event()
        self._ended = False

    def look(self) -> None:
        """Compare now: this server itself just changed something."""
        self._asked.set()

    async def events(self) -> AsyncIterator[bytes]:
        """The vault's number now, and again after each change, until the listener goes or the server ends."""
        heard: asyncio.Queue[str] = asyncio.Queue(1)
        self._listeners.add(heard)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._watch())
        try:
            yield b"retry: 1000\n\n"
            yield _event(await self._seq(""))
            while not self._ended:
                try:
                    seq = await asyncio.wait_for(heard.get(), BEAT)
                except TimeoutError:
                    yield b": here\n\n"
                    continue
                yield _event(seq)
        finally:
            self._listeners.discard(heard)

    @property
    def full(self) -> bool:
        """Whether no more pages are told of changes."""
        return len(self._listeners) >= MOST_LISTENERS

    def end(self) -> None:
        """Let every listener go: the server ends."""
        self._ended = True
        for listener in self._listeners:
            with suppress(asyncio.QueueFull):
                listener.put_nowait("")

    async def _watch(self) -> None:
        """Compare after each notice, as long as a page listens."""
        while self._listeners and not self._ended:
            inbox = PendingPaths()
            # A folder that is served is not heard of: what a person edits there is looked for.
            hearing, deaf = FileObserver(self._root, inbox), await self._is_deaf()
            try:
                await asyncio.to_thread(hearing.start)
            except CannotHear as fault:
                _log.info("changes are looked for every %s s: %s", EVERY, fault)
                deaf = True
            try:
                sent = ""
                while self._listeners and not self._ended:
                    # First as well: what changed between a listener's own look and this one is news to it.
                    if (now := await self._seq(sent)) != sent:
                        sent = now
                        self._send(now)
                    await self._next(inbox, deaf=deaf)
            finally:
                await asyncio.to_thread(hearing.stop)

    def _send(self, seq: str) -> None:
        for listener in self._listeners:
            if listener.full():
                listener.get_nowait()  # it will hear of both at once
            listener.put_nowait(seq)

    async def _next(self, inbox: PendingPaths, *, deaf: bool) -> None:
        """Wait for a change to have settled, for `look`, or for `EVERY` seconds where the system is silent."""
        waited = 0.0
        while self._listeners and not self._ended and not self._asked.is_set():
            due = inbox.due(QUIET, LONGEST)
            if due <= 0 or (deaf and waited >= EVERY):
                break
            pause = min(due, QUIET)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._asked.wait(), pause)
            waited += pause
        self._asked.clear()
        inbox.take()

    async def _is_deaf(self) -> bool:
        """Whether not all changes are heard of; so too of a vault that cannot be asked now, which `_seq` tells of."""
        try:
            return bool(await self._run(unheard))
        except (VaultError, OSError):
            return True

    async def _seq(self, otherwise: str) -> str:
        """A number that changes with every change of the vault, once the files on disk are taken in."""

        def use(vault: Vault) -> str:
            vault.fresh()
            return vault.whole_index.catalog.seq()

        try:
            return await self._run(use)
        except (VaultError, OSError) as fault:
            _log.warning("changes could not be looked for: %s", fault)
            return otherwise


def _event(seq: str) -> bytes:
    return f"event: seq\ndata: {seq}\n\n".encode() if seq else b": ended\n\n"


async def live(request: Request) -> Response:
    """The stream of changes that a page listens to."""
    live_pages: Live = request.app.state.live
    if live_pages.full:
        return Response(status_code=204)  # the browser does not ask again
    return StreamingResponse(live_pages.events(), media_type="text/event-stream")


ROUTES = [Route("/live", live)]
