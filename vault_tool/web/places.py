"""The places that every page leads to, and the pages that belong to each; and the look that a browser asked for."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vault_tool.util.structs import Struct
from vault_tool.web.asking import back_to, form_of

THEMES = ("light", "dark")
_COOKIE = "vault-look"
_YEAR = 365 * 86400


class Place(Struct):
    """A page to go to, and the key that leads there after `g`; `icon` is of the side bar, `holds` begin paths that belong."""

    name: str
    to: str
    key: str
    icon: str = ""
    tabs: tuple[Place, ...] = ()
    holds: tuple[str, ...] = ()


PLACES = (
    Place("Home", "/", "h", "home", holds=("/commit/",)),
    Place("Memories", "/memories", "m", "memories", holds=("/memory/", "/page", "/ask")),
    Place(
        "Subjects", "/subjects", "s", "subjects",
        (Place("Subjects", "/subjects", "s"), Place("People", "/people", "p")),
        ("/subject/", "/around/", "/intersection", "/merge", "/person", "/erase"),
    ),
    Place(
        "Review", "/review", "r", "review",
        (Place("Waiting", "/review", "r"), Place("Consolidate", "/consolidate", "c"), Place("Bin", "/review/bin", "b")),
        ("/review/", "/consolidate/"),
    ),
    Place(
        "Sessions", "/sessions", "e", "sessions",
        (Place("Sessions", "/sessions", "e"), Place("Days", "/time", "d")),
        ("/session", "/time/", "/turn/"),
    ),
    Place(
        "Health", "/health", "t", "health",
        (Place("Health", "/health", "t"), Place("Settings", "/settings", ",")),
        ("/health/", "/mend"),
    ),
)  # fmt: skip


def _belongs(place: Place, path: str) -> bool:
    return path == place.to or any(path == tab.to for tab in place.tabs) or path.startswith(tuple(place.holds or ("//",)))


def around(path: str) -> dict[str, Any]:
    """The places as a page shows them: the one it is in is marked, and the pages beside it are its tabs."""
    current = next((place for place in PLACES if _belongs(place, path)), None)
    return {
        "places": [
            {"name": place.name, "to": place.to, "key": place.key, "icon": place.icon, "here": place is current}
            for place in PLACES
        ],
        "tabs": [{"name": tab.name, "to": tab.to, "here": path == tab.to} for tab in current.tabs] if current is not None else [],
        "elsewhere": [tab for place in PLACES for tab in place.tabs if tab.to != place.to],
    }


def theme_of(request: Request) -> str:
    """The look that this browser asked for; empty for that of its system."""
    chosen = request.cookies.get(_COOKIE, "")
    return chosen if chosen in THEMES else ""


async def look(request: Request) -> Response:
    """Keep the look that was asked for, in this browser."""
    form = await form_of(request)
    answer = RedirectResponse(back_to(request, form, "/"), 303)
    if (theme := form.get("theme", "")) in THEMES:
        answer.set_cookie(_COOKIE, theme, max_age=_YEAR, httponly=True, samesite="strict", path="/")
    else:
        answer.delete_cookie(_COOKIE, path="/", httponly=True, samesite="strict")
    return answer


ROUTES = [Route("/look", look, methods=["POST"])]
