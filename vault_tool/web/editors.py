"""The editor that a browser asked for, and the address by which it opens a file of the vault at a line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vault_tool.web.asking import back_to, form_of

# Addresses by the name of the editor; `none` shows no such link.
EDITORS: Mapping[str, str] = MappingProxyType(
    {
        "vscode": "vscode://file{path}:{line}",
        "cursor": "cursor://file{path}:{line}",
        "zed": "zed://file{path}:{line}",
        "obsidian": "obsidian://open?path={whole}",
        "none": "",
    }
)
_COOKIE = "vault-editor"
_YEAR = 365 * 86400


def editor_name(request: Request) -> str:
    """The editor that this browser asked for, by default VS Code."""
    chosen = request.cookies.get(_COOKIE, "")
    return chosen if chosen in EDITORS else "vscode"


def editor_of(request: Request) -> Callable[[Any, str, int], str]:
    """The address of a file (root, path, line) in the editor that was asked for; empty for none."""
    form = EDITORS[editor_name(request)]

    def address(root: Any, path: str, line: int) -> str:
        whole = f"{root}/{path}"
        return form.format(path=quote(whole), whole=quote(whole, safe=""), line=max(1, line)) if path else ""

    return address


async def choose(request: Request) -> Response:
    """Keep the editor that was asked for, in this browser."""
    form = await form_of(request)
    answer = RedirectResponse(back_to(request, form, "/health"), 303)
    if (name := form.get("editor", "")) in EDITORS:
        answer.set_cookie(_COOKIE, name, max_age=_YEAR, httponly=True, samesite="strict", path="/")
    return answer


ROUTES = [Route("/editor", choose, methods=["POST"])]
