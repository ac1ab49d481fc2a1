"""The editor that a browser asked for, and the address by which it opens a file of the vault at a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vault_tool.errors import UsageError
from vault_tool.util.text import one_line
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
# An address of one's own: of a program, never of the web or of a script, and with the file's place in it.
_OWN = re.compile(
    r"(?!https?:|file:|javascript:|data:|vbscript:|blob:|about:)[a-z][a-z0-9+.-]{1,30}:[\x21-\x7e]*\{(?:path|whole)\}[\x21-\x7e]*"
)
_PART = re.compile(r"\{(?:path|whole|line)\}")
_LONGEST = 300
_COOKIE = "vault-editor"
_YEAR = 365 * 86400


def editor_name(request: Request) -> str:
    """The editor that this browser asked for, by default VS Code."""
    return "own" if own_address(request) else _named(request)


def own_address(request: Request) -> str:
    """The address with `{path}` and `{line}` in it that this browser asked for; empty for that of an editor by its name."""
    chosen = unquote(request.cookies.get(_COOKIE, ""))
    return chosen if _fits(chosen) else ""


def _named(request: Request) -> str:
    chosen = request.cookies.get(_COOKIE, "")
    return chosen if chosen in EDITORS else "vscode"


def _fits(address: str) -> bool:
    """Whether it is an address that opens a file in a program of this machine."""
    return len(address) <= _LONGEST and _OWN.fullmatch(address) is not None


def editor_of(request: Request) -> Callable[[Any, str, int], str]:
    """The address of a file (root, path, line) in the editor that was asked for; empty for none."""
    form = own_address(request) or EDITORS[_named(request)]

    def address(root: Any, path: str, line: int) -> str:
        whole = f"{root}/{path}"
        parts = {"{path}": quote(whole), "{whole}": quote(whole, safe=""), "{line}": str(max(1, line))}
        return _PART.sub(lambda part: parts[part.group()], form) if path else ""

    return address


async def choose(request: Request) -> Response:
    """Keep the editor that was asked for, in this browser."""
    form = await form_of(request)
    answer = RedirectResponse(back_to(request, form, "/health"), 303)
    name, own = form.get("editor", ""), form.get("address", "").strip()
    if name == "own" and not _fits(own):
        hint = "write it as idea://open?file={path}&line={line}: a program's own address, and {path} in it"
        raise UsageError(f"`{one_line(own, 60)}` opens no file in an editor", hint)
    if name in EDITORS or name == "own":
        name = quote(own, safe="") if name == "own" else name
        answer.set_cookie(_COOKIE, name, max_age=_YEAR, httponly=True, samesite="strict", path="/")
    return answer


ROUTES = [Route("/editor", choose, methods=["POST"])]
