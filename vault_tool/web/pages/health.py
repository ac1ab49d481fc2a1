"""Health: what is wrong, where the vault is, what it holds, who embeds and who answers for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.web.asking import ask, cached
from vault_tool.web.pages.today import editor_link, problems_of
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_MOST = 300


async def health(request: Request) -> Response:
    """The page."""
    report = await ask(request, lambda vault: _found(request, vault))
    return await render(request, "health.html", title="Health", editor=editor_link, **report)


def _found(request: Request, vault: Vault) -> dict[str, Any]:
    problems = problems_of(request, vault)
    stats = cached(request, "stats", lambda vault: vault.get_stats())(vault)
    return {
        "status": vault.status(), "stats": stats, "problems": problems[:_MOST], "problem_count": len(problems),
        "root": vault.root,
    }  # fmt: skip


ROUTES = [Route("/health", health)]
