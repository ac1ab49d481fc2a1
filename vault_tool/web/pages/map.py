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
    from vault_tool.features.consolidation.mapping import Map, MapNode
    from vault_tool.verbs.vault import Vault

_SUBJECTS = 150
_MEMORIES, _MOST_MEMORIES = 250, 1850
# So many places are remembered: of the maps that were drawn last.
_KEPT = 5000


async def network(request: Request) -> Response:
    """The page: a list that reads by itself, and the picture that its script draws of the same."""
    network_map = await ask(request, lambda vault: _asked(vault, request))
    names = {node.id: node for node in network_map.nodes}
    shares = sorted((edge for edge in network_map.edges if edge.type == "shares"), key=lambda edge: -edge.weight)
    query = request.query_params
    return await render(
        request, "map.html", title=f"Map {network_map.around}".strip(), found=network_map, names=names, shares=shares[:200],
        memories=[node for node in network_map.nodes if node.record_class != "subject"][:200], hops=query.get("hops", "2"),
        wanted=_count(query.get("memories", "")),
        data=url("/map.json", around=network_map.around, hops=query.get("hops", ""), memories=_count(query.get("memories", ""))),
    )  # fmt: skip


async def data(request: Request) -> Response:
    """The same as values, with a place for each node."""

    def use(vault: Vault) -> tuple[Map, dict[str, tuple[float, float]]]:
        network_map = _asked(vault, request)
        before = _places(vault)
        near = {identity: at for identity, at in before.items() if identity in {node.id for node in network_map.nodes}}
        weights = {"shares": 0.6, "about": 0.5}
        edges = [(edge.source, edge.target, weights.get(edge.type, 1.0)) for edge in network_map.edges]
        places = placed([node.id for node in network_map.nodes], edges, near)
        if places != near:
            newest = {**{identity: at for identity, at in before.items() if identity not in places}, **places}
            vault.local.keep_places(dict(list(newest.items())[-_KEPT:]))
        return network_map, places

    network_map, places = await ask(request, use)
    nodes = [_drawn(node, places[node.id]) for node in network_map.nodes]
    edges = [
        {"source": edge.source, "target": edge.target, "type": edge.type, "weight": edge.weight, "said": shown(edge.said)}
        for edge in network_map.edges
    ]
    return JSONResponse({"around": network_map.around, "nodes": nodes, "edges": edges})


def _asked(vault: Vault, request: Request) -> Map:
    query = request.query_params
    hops = 1 if query.get("hops") == "1" else 2
    return vault.open_map(query.get("around", ""), hops=hops, limit=_SUBJECTS, memories=_count(query.get("memories", "")))


def _count(text: str) -> int:
    """How many memories are asked for: none, a number, or `1` for the usual."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0
    return min(_MOST_MEMORIES, _MEMORIES if number == 1 else number)


def _drawn(node: MapNode, at: tuple[float, float]) -> dict[str, Any]:
    to = subject_path(node.name) if node.record_class == "subject" else memory_path(node.id)
    return {
        "id": node.id, "name": shown(node.name), "class": node.record_class, "type": node.type, "created": node.created,
        "until": node.until, "truth": node.truth, "size": node.size, "to": to, "x": at[0], "y": at[1],
    }  # fmt: skip


def _places(vault: Vault) -> dict[str, tuple[float, float]]:
    places = vault.local.places()
    return {
        identity: (at[0], at[1])
        for identity, at in places.items()
        if isinstance(at, list) and [type(n) for n in at] == [float, float]
    }


ROUTES = [Route("/map", network), Route("/map.json", data)]
