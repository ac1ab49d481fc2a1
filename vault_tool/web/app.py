"""The pages as one ASGI application, and the serving of it on loopback."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import asynccontextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from vault_tool.errors import VaultError
from vault_tool.mcp.listening import App, Door, serve_http
from vault_tool.vault.one_thread import OneThread
from vault_tool.vault.person import Presence
from vault_tool.watch.voucher import Voucher
from vault_tool.web import editors, live, places
from vault_tool.web.asking import AnswerCache, Flashes, status_of
from vault_tool.web.door import Entrance, guarded
from vault_tool.web.rendering import FOLDER, page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from socket import socket

    from vault_tool.verbs.vault import Vault

PORT = 8378
# The modules of `pages/`, each with its `ROUTES`.
PAGES = (
    "today",
    "operations",
    "health",
    "settings",
    "time",
    "people",
    "memories",
    "adding",
    "memory",
    "subjects",
    "review",
    "consolidate",
    "map",
    "palette",
)

_log = logging.getLogger(__name__)


def application(root: Path, opening: Callable[[], Vault], door: Door, entrance: Entrance, secret: str) -> App:
    """The pages of the vault at `root` behind their door; `opening` opens it as its owner, on the one thread that asks it."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            app.state.live.end()
            app.state.voucher.close()
            await app.state.run.close()

    def opened() -> Vault:
        vault = opening()
        vault.presence = Presence.PERSON  # only the holder of the cookie, who came in by the link, can ask
        return vault

    app = Starlette(
        routes=[*_routes(), Mount("/static", StaticFiles(directory=FOLDER / "static"), name="static")],
        exception_handlers={VaultError: _failed, HTTPException: _missing, Exception: _broken},
        lifespan=lifespan,
    )
    app.state.run = OneThread(opened)
    app.state.live = live.Live(root, app.state.run)
    app.state.voucher = Voucher()
    app.state.flashes = Flashes()
    app.state.answers = AnswerCache()
    return guarded(app, door, entrance, secret)


async def serve(app: App, listener: socket) -> None:
    """Serve until this process is told to end."""
    await serve_http(app, listener)


def _routes() -> list[BaseRoute]:
    routes: list[BaseRoute] = [*live.ROUTES, *places.ROUTES, *editors.ROUTES]
    for name in PAGES:
        routes += import_module(f"vault_tool.web.pages.{name}").ROUTES
    return routes


async def _failed(request: Request, fault: Exception) -> Response:
    """A verb's own sentence, with what to do next, as a page."""
    assert isinstance(fault, VaultError)
    return _problem(request, status_of(fault), fault.message, fault.hint)


async def _missing(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    message = "There is no such page." if fault.status_code == 404 else fault.detail
    return _problem(request, fault.status_code, message, "the bar of places has those that there are")


async def _broken(request: Request, fault: Exception) -> Response:
    _log.error("a page failed: %s", request.url.path, exc_info=fault)
    return _problem(
        request, 500, "This page failed, and nothing was changed by it.", "the terminal that it was opened from says why"
    )


def _problem(request: Request, status: int, message: str, hint: str) -> Response:
    values: dict[str, Any] = {"title": "That did not work", "said": message, "hint": hint}
    return HTMLResponse(page(request, "problem.html", **values), status)
