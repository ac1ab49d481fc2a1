"""The first page: what a session is given, what changed, what waits, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import GitError
from vault_tool.web.asking import ask
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_OPERATIONS = 15


async def today(request: Request) -> Response:
    """The page."""
    return await render(request, "today.html", title="Today", **await ask(request, _found))


def _found(vault: Vault) -> dict[str, Any]:
    try:
        operations = vault.log(_OPERATIONS).results
    except GitError:
        operations = ()  # a vault without history
    return {"status": vault.status(), "operations": operations}


ROUTES = [Route("/", today)]
