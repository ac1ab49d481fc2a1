"""Map: subjects and what they share, from one outwards; memories and their links on request; and what was known when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from vault_tool.web.asking import ask
from vault_tool.web.layout import placed
from vault_tool.web.rendering import memory_path, render, shown, subject_path, url

if TYPE_CHECKING:
    from vault_tool.verbs.consolidation.mapping import Map, MapNode
    from vault_tool.verbs.vault import Vault

_SUBJECTS = 150
_MEMORIES, _MOST_MEMORIES = 250, 1850
# So many places are remembered: of the maps that were drawn last.
_KEPT = 5000


async def network(request: Request) -> Response:
    """The page: a list that reads by itself, and the picture that its script draws of the same."""
    found = await ask(request, lambda vault: _asked(vault, request))
    names = {one.id: one for one in found.nodes}
    shares = sorted((one for one in found.edges if one.type == "shares"), key=lambda one: -one.weight)
    query = request.query_params
    return await render(
        request, "map.html", title=f"Map {found.around}".strip(), found=found, names=names, shares=shares[:200],
        memories=[one for one in found.nodes if one.record_class != "subject"][:200], hops=query.get("hops", "2"),
        wanted=_count(query.get("memories", "")),
        data=url("/map.json", around=found.around, hops=query.get("hops", ""), memories=_count(query.get("memories", ""))),
    )  # fmt: skip


async def data(request: Request) -> Response:
    """The same as values, with a place for each node."""

    def use(vault: Vault) -> tuple[Map, dict[str, tuple[float, float]]]:
        found = _asked(vault, request)
        before = _places(vault)
        near = {one: at for one, at in before.items() if one in {node.id for node in found.nodes}}
        weights = {"shares": 0.6, "about": 0.5}
        edges = [(one.source, one.target, weights.get(one.type, 1.0)) for one in found.edges]
        places = placed([one.id for one in found.nodes], edges, near)
        if places != near:
            newest = {**{one: at for one, at in before.items() if one not in places}, **places}
            vault.local.keep_places(dict(list(newest.items())[-_KEPT:]))
        return found, places

    found, places = await ask(request, use)
    nodes = [_drawn(one, places[one.id]) for one in found.nodes]
    edges = [
        {"source": one.source, "target": one.target, "type": one.type, "weight": one.weight, "said": shown(one.said)}
        for one in found.edges
    ]
    return JSONResponse({"around": found.around, "nodes": nodes, "edges": edges})


def _asked(vault: Vault, request: Request) -> Map:
    query = request.query_params
    hops = 1 if query.get("hops") == "1" else 2
    return vault.open_map(query.get("around", ""), hops=hops, limit=_SUBJECTS, memories=_count(query.get("memories", "")))


def _count(text: str) -> int:
    """How many memories are asked for: none, a number, or `1` for the usual."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    return min(_MOST_MEMORIES, _MEMORIES if number == 1 else number)


def _drawn(one: MapNode, at: tuple[float, float]) -> dict[str, Any]:
    to = subject_path(one.name) if one.record_class == "subject" else memory_path(one.id)
    return {
        "id": one.id, "name": shown(one.name), "class": one.record_class, "type": one.type, "created": one.created,
        "until": one.until, "truth": one.truth, "size": one.size, "to": to, "x": at[0], "y": at[1],
    }  # fmt: skip


def _places(vault: Vault) -> dict[str, tuple[float, float]]:
    found = vault.local.places()
    return {one: (at[0], at[1]) for one, at in found.items() if isinstance(at, list) and [type(n) for n in at] == [float, float]}


ROUTES = [Route("/map", network), Route("/map.json", data)]
