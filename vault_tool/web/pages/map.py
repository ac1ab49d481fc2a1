"""The graph around a memory or a subject, as a picture and as a list; and the addresses that the map had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vault_tool.features.reading.local_graph import MOST, LocalGraph, local_graph
from vault_tool.web.asking import ask
from vault_tool.web.graphs import LARGE, drawn
from vault_tool.web.rendering import memory_path, render, subject_path

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault


def addresses(graph: LocalGraph) -> dict[str, str]:
    """The page of each node of a graph."""
    return {node.id: subject_path(node.title) if node.record_class == "subject" else memory_path(node.id) for node in graph.nodes}


async def around(request: Request) -> Response:
    """The page: the picture, and the same as a list."""
    named = request.path_params["id"]

    def use(vault: Vault) -> dict[str, Any]:
        graph = local_graph(vault, named, limit=MOST)
        return {"graph": graph, "to": addresses(graph), "titles": {node.id: node.title for node in graph.nodes}}

    values = await ask(request, use)
    graph: LocalGraph = values["graph"]
    middle = graph.nodes[0]
    return await render(
        request, "around.html", title=f"Around {middle.title}", middle=middle, picture=drawn(graph, LARGE, values["to"]), **values
    )


async def former(request: Request) -> Response:
    """The address of the map, which is a picture around one subject now."""
    named = request.query_params.get("around", "").strip()
    return RedirectResponse(subject_path(named) if named else "/subjects", 301)


ROUTES = [Route("/around/{id}", around), Route("/map", former)]
