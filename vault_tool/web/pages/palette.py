"""The memories and subjects that the palette leads to, by words; its pages and actions are part of every page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vault_tool.errors import VaultError
from vault_tool.generate.escape import readable
from vault_tool.util.text import normal_name
from vault_tool.web.asking import ask, cached
from vault_tool.web.rendering import memory_path, subject_path

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_MEMORIES, _SUBJECTS = 7, 4


async def found(request: Request) -> Response:
    """The subjects and memories that the words lead to, the likeliest first."""
    words = request.query_params.get("q", "").strip()
    return JSONResponse(await ask(request, lambda vault: _found(request, vault, words)) if words else [])


def _found(request: Request, vault: Vault, words: str) -> list[dict[str, Any]]:
    typed = normal_name(words)
    names = cached(request, "names of subjects", lambda vault: [card.name for card in vault.get_subjects().results])(vault)
    near = sorted((normal_name(name).find(typed), len(name), name) for name in names if typed in normal_name(name))
    subjects = [{"what": "subject", "title": readable(name), "to": subject_path(name)} for *_, name in near[:_SUBJECTS]]
    try:
        # The last word is still being typed.
        results = vault.search(f"{words}*" if words[-1].isalnum() else words, limit=_MEMORIES).results
    except VaultError:
        return subjects  # words that are half typed are no question yet
    memories = [
        {"what": result.type, "title": readable(result.title), "to": memory_path(result.id), "past": not result.answers}
        for result in results
        if result.id
    ]
    return [*subjects, *memories]


ROUTES = [Route("/palette", found)]
