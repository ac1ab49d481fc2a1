"""Local graphs as SVG, drawn here: what lies around a memory or a subject, in rings, each node a link to its page."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from markupsafe import Markup

from vault_tool.util.structs import Struct
from vault_tool.util.text import beginning
from vault_tool.web.icons import colour_of, type_words

if TYPE_CHECKING:
    from vault_tool.features.reading.local_graph import GraphEdge, GraphNode, LocalGraph

_SUBJECT_COLOUR = 4
_RADII = (9.0, 6.5, 4.5)
_LETTER, _LINE = 5.9, 13.0
# How an edge is drawn, by its relation; everything else is a plain line.
_KINDS: Mapping[str, str] = {"about": "about", "shares": "shares", "link": "text"}
_WORDS: Mapping[str, str] = {"about": "is about", "shares": "share memories", "text": "link in the text", "named": "link"}


class Size(Struct):
    """How large a picture is, and how many labels it has room for."""

    wide: int
    high: int
    labels: int
    longest: int


SMALL, LARGE = Size(400, 300, 14, 24), Size(940, 560, 60, 44)


class _Box(msgspec.Struct):
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: _Box) -> bool:
        return self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom


def drawn(graph: LocalGraph, size: Size, to: Mapping[str, str]) -> Markup:
    """The picture of a graph with its legend; `to` is the address of each node. Nothing where the middle stands alone."""
    if len(graph.nodes) < 2:
        return Markup("")
    numbers = {node.id: number for number, node in enumerate(graph.nodes)}
    places = _placed(graph, size)
    beside: dict[str, set[int]] = defaultdict(set)
    for edge in graph.edges:
        beside[edge.source].add(numbers[edge.target])
        beside[edge.target].add(numbers[edge.source])
    labelled = _labelled(graph, places, size)
    title = f"{graph.nodes[0].title} and the {len(graph.nodes) - 1} memories and subjects around it"
    parts = [
        Markup('<svg class="graph" viewBox="0 0 {} {}" role="group" aria-label="{}" data-graph>').format(
            size.wide, size.high, title
        )
    ]
    parts.extend(_edge(edge, numbers, places) for edge in graph.edges)
    parts.extend(
        _node(node, numbers[node.id], places[node.id], beside[node.id], to[node.id], node.id in labelled, size)
        for node in reversed(graph.nodes)
    )
    return Markup("").join([*parts, Markup("</svg>"), _legend(graph)])


def _edge(edge: GraphEdge, numbers: Mapping[str, int], places: Mapping[str, tuple[float, float]]) -> Markup:
    (x1, y1), (x2, y2) = places[edge.source], places[edge.target]
    words = f"{edge.weight} shared" if edge.relation == "shares" else type_words(edge.relation)
    caption = f"{words}: {edge.why}" if edge.why else words
    width = min(4.0, 0.8 + 0.6 * math.log2(1 + edge.weight)) if edge.relation == "shares" else 1.2
    return Markup(
        '<line class="e {}" data-a="{}" data-b="{}" x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}" stroke-width="{:.1f}">'
        "<title>{}</title></line>"
    ).format(_KINDS.get(edge.relation, "named"), numbers[edge.source], numbers[edge.target], x1, y1, x2, y2, width, caption)


def _node(node: GraphNode, number: int, at: tuple[float, float], beside: set[int], to: str, labelled: bool, size: Size) -> Markup:
    x, y = at
    radius = _RADII[node.ring]
    classes = ["n", f"k{_colour(node)}", f"r{node.ring}"]
    classes += ["past"] if node.status in ("superseded", "overtaken", "expired") else []
    classes += ["subject"] if node.record_class == "subject" else []
    classes += [] if labelled else ["quiet"]
    text, anchor, across = _label(node, at, size)
    words = type_words(node.type) + ("" if node.status == "current" else f", {node.status}")
    shape = (
        Markup('<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2.5"/>').format(
            x - radius, y - radius, 2 * radius, 2 * radius
        )
        if node.record_class == "subject"
        else Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}"/>').format(x, y, radius)
    )
    return Markup(
        '<a class="{}" href="{}" data-n="{}" data-beside="{}" tabindex="-1"><title>{} ({})</title>'
        '<circle class="touch" cx="{:.1f}" cy="{:.1f}" r="13"/>{}<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text></a>'
    ).format(
        " ".join(classes), to, number, " ".join(map(str, sorted(beside))), node.title, words, x, y, shape,
        x + across, y + 4 if anchor != "middle" else y + radius + _LINE, anchor, text,
    )  # fmt: skip


def _colour(node: GraphNode) -> int:
    return _SUBJECT_COLOUR if node.record_class == "subject" else colour_of(node.type)


def _label(node: GraphNode, at: tuple[float, float], size: Size) -> tuple[str, str, float]:
    """A node's words, to which side of it they stand, and how far."""
    away = _RADII[node.ring] + 4
    if node.ring == 0:
        return beginning(node.title, size.longest + 10), "middle", 0.0
    if at[0] < size.wide / 2 - 1:
        return beginning(node.title, _room(at[0] - away, size)), "end", -away
    return beginning(node.title, _room(size.wide - at[0] - away, size)), "start", away


def _room(wide: float, size: Size) -> int:
    return max(6, min(size.longest, int(wide / _LETTER)))


def _labelled(graph: LocalGraph, places: Mapping[str, tuple[float, float]], size: Size) -> set[str]:
    """The nodes whose labels are always shown: from the middle outwards, each that overlaps none before it."""
    taken = [
        _Box(x - _RADII[node.ring], y - _RADII[node.ring], x + _RADII[node.ring], y + _RADII[node.ring])
        for node in graph.nodes
        for x, y in [places[node.id]]
    ]
    shown: set[str] = set()
    for number, node in enumerate(graph.nodes):
        x, y = places[node.id]
        text, anchor, across = _label(node, (x, y), size)
        wide = len(text) * _LETTER
        left = x + across - (wide if anchor == "end" else wide / 2 if anchor == "middle" else 0)
        top = y - _LINE / 2 if anchor != "middle" else y + _RADII[0] + 1
        box = _Box(left, top, left + wide, top + _LINE)
        fits = left >= 0 and left + wide <= size.wide
        if node.ring == 0 or (fits and len(shown) < size.labels and not any(_others(box, taken, number))):
            shown.add(node.id)
            taken.append(box)
    return shown


def _others(box: _Box, taken: Sequence[_Box], own: int) -> Iterator[bool]:
    return (box.overlaps(other) for number, other in enumerate(taken) if number != own)


def _placed(graph: LocalGraph, size: Size) -> dict[str, tuple[float, float]]:
    """A place for each node: the middle, those linked to it around it, and the rest outside of what they hang on."""
    middle = graph.nodes[0].id
    rings = {ring: [node.id for node in graph.nodes if node.ring == ring] for ring in (1, 2)}
    parents = _parents(graph)
    children: dict[str, list[str]] = defaultdict(list)
    for child in rings[2]:
        children[parents.get(child, rings[1][0] if rings[1] else middle)].append(child)
    # Each in the first ring gets as much of the circle as hangs on it.
    shares = [1.0 + 0.9 * len(children[near]) for near in rings[1]]
    x0, y0 = size.wide / 2, size.high / 2
    across, down = (0.20, 0.24) if rings[2] else (0.30, 0.36)
    places = {middle: (x0, y0)}
    angle = -math.pi / 2 - (math.pi * shares[0] / sum(shares) if shares else 0)
    share_angle = 2 * math.pi / sum(shares) if shares else 0.0
    for near, share in zip(rings[1], shares, strict=True):
        begin, angle = angle, angle + share_angle * share
        centre = (begin + angle) / 2
        places[near] = (x0 + across * size.wide * math.cos(centre), y0 + down * size.high * math.sin(centre))
        hanging = children[near]
        for number, child in enumerate(hanging):
            at = begin + (angle - begin) * (number + 0.5) / len(hanging)
            far = 1.0 if number % 2 or len(hanging) < 7 else 0.82
            places[child] = (x0 + far * 0.35 * size.wide * math.cos(at), y0 + far * 0.46 * size.high * math.sin(at))
    for child in rings[2]:
        places.setdefault(child, (x0, y0))
    return places


def _parents(graph: LocalGraph) -> dict[str, str]:
    """The parent of each node of the second ring: the first of the first ring that it has an edge with."""
    first = {node.id for node in graph.nodes if node.ring == 1}
    second = {node.id for node in graph.nodes if node.ring == 2}
    parents: dict[str, str] = {}
    for edge in graph.edges:
        for child, parent in ((edge.source, edge.target), (edge.target, edge.source)):
            if child in second and parent in first:
                parents.setdefault(child, parent)
    return parents


def _legend(graph: LocalGraph) -> Markup:
    """The colours and the lines that the picture has, in words."""
    kinds = dict.fromkeys(
        (_colour(node), "subject" if node.record_class == "subject" else type_words(node.type), node.record_class == "subject")
        for node in graph.nodes
    )
    lines = dict.fromkeys(_KINDS.get(edge.relation, "named") for edge in graph.edges)
    items = [
        Markup('<li><span class="swatch{} c{}" aria-hidden="true"></span>{}</li>').format(
            "" if subject else " round", colour, words
        )
        for colour, words, subject in list(kinds)[:6]
    ]
    stroke = Markup('<li><span class="stroke {}" aria-hidden="true"></span>{}</li>')
    items += [stroke.format(kind, _WORDS[kind]) for kind in lines]
    return Markup('<ul class="legend">{}</ul>').format(Markup("").join(items))
