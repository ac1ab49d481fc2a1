"""Subjects: a list by coverage, staleness or activity; and one with what is understood of it, its evidence, its neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.util.text import beginning, normal_name
from vault_tool.web.asking import act, ask, cached, done_with, form_of
from vault_tool.web.pages.today import editor_link
from vault_tool.web.plots import bars
from vault_tool.web.rendering import render, subject_path, url

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_PAGE = 50
_OBSERVATIONS = 40
_NEIGHBOURS = 14
_PAIRS = 20

_LINE = Markup(
    '<a href="{}"><line class="{}" x1="{:.0f}" y1="{:.0f}" x2="{:.0f}" y2="{:.0f}" stroke-width="{:.1f}"/>'
    "<title>{}: {} memories{}</title></a>"
)
_LABEL = Markup(
    '<a href="{}"><circle cx="{:.0f}" cy="{:.0f}" r="6"/><text x="{:.0f}" y="{:.0f}" text-anchor="middle">{}</text></a>'
)
_MIDDLE = Markup(
    '<circle class="middle" cx="{}" cy="{}" r="9"/><text class="strong" x="{}" y="{}" text-anchor="middle">{}</text>'
)

_ORDERS: Mapping[str, tuple[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "name": ("by name", lambda card: normal_name(card.name)),
        "activity": ("by their last observation", lambda card: _backwards(card.last_observation_at or "")),
        "size": ("by what is known", lambda card: -card.observation_count),
        "coverage": (
            "what is not understood first",
            lambda card: (card.single_subject_understanding is not None, -card.observation_count),
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A neighbour in the picture: where it stands, how thick its line is, and whether the relation is understood."""

    name: str
    x: float
    y: float
    wide: float
    size: int
    understood: str


async def subjects(request: Request) -> Response:
    """The list, sorted and narrowed by what the address says, a page of it."""
    query = request.query_params
    order = query.get("order", "") if query.get("order", "") in _ORDERS else "name"
    like, start = normal_name(query.get("like", "")), _number(query.get("from", ""))

    def use(vault: Vault) -> tuple[list[Any], Any, Mapping[str, int]]:
        everything = cached(request, "subjects", lambda vault: vault.get_subjects())(vault).results
        cards = [card for card in everything if not like or like in normal_name(f"{card.name} {' '.join(card.aliases)}")]
        report = cached(request, "whole report", lambda vault: vault.get_consolidation_report(limit=None))(vault)
        stale = {understanding.id: understanding.new_observation_count for understanding in report.stale_understandings}
        return (
            sorted(cards, key=_ORDERS[order][1]),
            cached(request, "similar", lambda vault: vault.find_similar_subjects(limit=_PAIRS))(vault),
            stale,
        )

    cards, similar, stale = await ask(request, use)
    if order == "coverage":
        cards.sort(key=lambda card: (*_ORDERS[order][1](card)[:1], -_staleness(card, stale), -card.observation_count))
    return await render(
        request, "subjects.html", title="Subjects", found=cards[start : start + _PAGE], total=len(cards), similar=similar,
        order=order, orders=[(name, label) for name, (label, _) in _ORDERS.items()], like=query.get("like", ""),
        stale={card.id: _staleness(card, stale) for card in cards[start : start + _PAGE]},
        before=url("/subjects", order=order, like=query.get("like", ""), **{"from": max(0, start - _PAGE)}) if start else "",
        after=url("/subjects", order=order, like=query.get("like", ""), **{"from": start + _PAGE})
        if start + _PAGE < len(cards)
        else "",
    )  # fmt: skip


async def subject(request: Request) -> Response:
    """One subject."""
    named = request.path_params["name"]

    def use(vault: Vault) -> dict[str, Any]:
        (card,) = vault.get_subjects([named]).results
        around = vault.open_around(card.name, limit=_NEIGHBOURS)
        newest = vault.list_observations(card.name, limit=_OBSERVATIONS)
        similar = vault.find_similar_subjects(card.name, limit=5)
        return {
            "card": card, "around": around, "understandings": vault.get_understandings([card.name]).results,
            "observations": newest, "similar": similar, "picture": _picture(card.name, around.neighbors),
            "times": bars("Observations by month", newest.months),
        }  # fmt: skip

    values = await ask(request, use)
    return await render(request, "subject.html", title=values["card"].name, **values)


async def intersection(request: Request) -> Response:
    """The memories that two subjects share."""
    query = request.query_params
    first, other = query.get("a", ""), query.get("b", "")
    intersection = await ask(request, lambda vault: vault.open_intersection(first, other, limit=_OBSERVATIONS))
    title = f"{intersection.subject_a.name} and {intersection.subject_b.name}"
    return await render(request, "intersection.html", title=title, found=intersection)


async def alias(request: Request) -> Response:
    """Give it more names."""
    form = await form_of(request)
    named = request.path_params["name"]
    # One text with commas, which is read as any other typed list.
    done = await act(request, lambda vault: vault.add_alias(named, form.get("aliases", "")))
    return done_with(request, f"{done.name} answers to {', '.join(done.aliases)}", back=subject_path(done.id), result=done)


async def summary(request: Request) -> Response:
    """Give it another line."""
    form = await form_of(request)
    named = request.path_params["name"]
    done = await act(request, lambda vault: vault.update_subject_summary(named, form.get("summary", "")))
    message = f"{done.name}: {done.summary}" if done.changed else "It said so already"
    return done_with(request, message, back=subject_path(done.id), result=done, undo=done.changed)


async def understand(request: Request) -> Response:
    """Write what it comes to, anew or in place of what was understood."""
    form = await form_of(request)
    named = request.path_params["name"]
    content = form.text("content").strip()
    line = form.get("summary", "").strip() or content.split("\n", 1)[0][:120]

    def use(vault: Vault) -> Any:
        (card,) = vault.get_subjects([named]).results
        if card.single_subject_understanding is not None:
            # Whoever writes here has all of them on the page: one text takes the place of each.
            return vault.update_understanding(card.single_subject_understanding.id, content, line, join=True)
        return vault.create_understanding([card.name], content, line)

    done = await act(request, use)
    return done_with(request, "What is understood of it is written", back=subject_path(named), result=done)


async def merging(request: Request) -> Response:
    """A preview of making two subjects one, and which of the two stays."""
    keep, gone = request.query_params.get("keep", ""), request.query_params.get("gone", "")

    def use(vault: Vault) -> dict[str, Any]:
        primary, other = vault.get_subjects([keep]).results[0], vault.get_subjects([gone]).results[0]
        return {
            "kept": primary,
            "gone": other,
            "shown": vault.merge_subjects(primary.id, other.id, dry_run=True),
            "root": vault.root,
        }

    values = await ask(request, use)
    title = f"Merge {values['gone'].name} into {values['kept'].name}?"
    return await render(request, "merge.html", title=title, editor=editor_link, **values)


async def merge(request: Request) -> Response:
    """Make two subjects one."""
    form = await form_of(request)
    keep, gone = form.get("keep", ""), form.get("gone", "")
    done = await act(request, lambda vault: vault.merge_subjects(keep, gone, reason=form.get("reason", "")))
    message = f"{done.duplicate} is {done.primary.name} now: {done.observations_retagged} observations are tagged with it"
    return done_with(request, message, back=subject_path(done.primary.id or done.primary.name), result=done)


def _backwards(text: str) -> tuple[int, ...]:
    """A key by which texts come in the opposite order."""
    return (*(-ord(character) for character in text), 1)


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0


def _staleness(card: Any, stale: Mapping[str, int]) -> int:
    """How many observations came since it was understood."""
    return stale.get(card.single_subject_understanding.id, 0) if card.single_subject_understanding else 0


def _picture(name: str, neighbours: Sequence[Any]) -> Markup:
    """The subject amid those that it shares memories with: lines as thick as what they share, dark where it is understood."""
    if not neighbours:
        return Markup("")
    wide, high = 640, 360
    most = max(neighbour.intersection_size for neighbour in neighbours)
    nodes = []
    for number, neighbour in enumerate(neighbours):
        angle = 2 * math.pi * number / len(neighbours) - math.pi / 2
        x, y = wide / 2 + 0.38 * wide * math.cos(angle), high / 2 + 0.42 * high * math.sin(angle)
        understood = neighbour.intersection_understanding.summary if neighbour.intersection_understanding else ""
        nodes.append(
            Neighbour(
                neighbour.subject.name, x, y, 1 + 5 * neighbour.intersection_size / most, neighbour.intersection_size, understood
            )
        )
    lines = Markup("").join(
        _LINE.format(
            url("/intersection", a=name, b=node.name), "known" if node.understood else "open", wide / 2, high / 2, node.x, node.y,
            node.wide, node.name, node.size, f"; {node.understood}" if node.understood else "",
        )
        for node in nodes
    )  # fmt: skip
    labels = Markup("").join(
        _LABEL.format(subject_path(node.name), node.x, node.y, node.x, node.y + 20, _cut(node.name)) for node in nodes
    )
    middle = _MIDDLE.format(wide // 2, high // 2, wide // 2, high // 2 + 24, _cut(name))
    label = f"{name} and the subjects that it shares memories with; the list below says the same"
    return Markup('<svg class="network" viewBox="0 0 {} {}" role="group" aria-label="{}">{}{}{}</svg>').format(
        wide, high, label, lines, labels, middle
    )


def _cut(name: str) -> str:
    return beginning(name, 22)


ROUTES = [
    Route("/subjects", subjects),
    Route("/intersection", intersection),
    Route("/subject/{name}", subject),
    Route("/subject/{name}/alias", alias, methods=["POST"]),
    Route("/subject/{name}/summary", summary, methods=["POST"]),
    Route("/subject/{name}/understand", understand, methods=["POST"]),
    Route("/merge", merging),
    Route("/merge", merge, methods=["POST"]),
]
