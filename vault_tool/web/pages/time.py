"""Time: days with what was logged, written and judged; a calendar of them; sessions with what they wrote, saw and voted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import UsageError
from vault_tool.util.structs import Struct
from vault_tool.web.asking import ask, cached
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.features.history.activity import Activity
    from vault_tool.verbs.vault import Vault

# Of the calendar: 53 weeks.
_DAYS = 371

_CELL = 12
_SHADES = 4


class Cell(Struct):
    """A day of the calendar: where it is drawn, how strong (0..4), and what its link says."""

    day: str
    x: int
    y: int
    shade: int
    label: str


async def sessions(request: Request) -> Response:
    """The latest sessions, each with what it wrote, was shown and judged."""
    return await render(request, "sessions.html", title="Sessions", found=await ask(request, cached(request, "year", _year)))


async def time(request: Request) -> Response:
    """The calendar and the latest days."""
    year, today = await ask(request, lambda vault: (cached(request, "year", _year)(vault), vault.now()[:10]))
    cells = tuple(_calendar(year.days, date.fromisoformat(today)))
    return await render(request, "time.html", title="Days", found=year, cells=cells, wide=53 * _CELL, high=7 * _CELL)


def _year(vault: Vault) -> Activity:
    return vault.activity(days=_DAYS)


async def of_day(request: Request) -> Response:
    """One day in full."""
    day = request.path_params["day"]
    activity = await ask(request, lambda vault: vault.activity(day))
    try:
        at = date.fromisoformat(day)
    except ValueError as fault:
        raise UsageError(f"`{day[:40]}` is no day", "write it as 2026-11-20") from fault
    before, after = ((at + timedelta(days=step)).isoformat() for step in (-1, 1))
    return await render(request, "day.html", title=day, found=activity, before=before, after=after)


async def session(request: Request) -> Response:
    """The memories that one session wrote, was shown and voted on."""
    name = request.query_params.get("name", "")
    context = await ask(request, lambda vault: vault.as_(session=name).get_session_context())
    return await render(request, "session.html", title=f"Session {name}", found=context)


def _calendar(days: Sequence[Any], today: date) -> Iterator[Cell]:
    """A cell for each day of the last year: weeks from left to right, Monday on top."""
    counts = {day.day: day.written + day.logged + day.judged for day in days}
    most = max(counts.values(), default=0)
    monday = today - timedelta(days=today.weekday(), weeks=52)
    for number in range((today - monday).days + 1):
        day = (monday + timedelta(days=number)).isoformat()
        count = counts.get(day, 0)
        shade = min(_SHADES, 1 + (_SHADES * count - 1) // max(1, most)) if count else 0
        yield Cell(day, number // 7 * _CELL, number % 7 * _CELL, shade, f"{day}: {count} entries" if count else f"{day}: nothing")


ROUTES = [Route("/time", time), Route("/sessions", sessions), Route("/time/{day}", of_day), Route("/session", session)]
