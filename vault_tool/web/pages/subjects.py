"""Subjects: a list by coverage, staleness or activity; and one with what is understood of it, its evidence, its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.features.reading.local_graph import local_graph
from vault_tool.util.text import normal_name
from vault_tool.web.asking import act, ask, cached, done_with, form_of
from vault_tool.web.editors import editor_of
from vault_tool.web.graphs import SMALL, drawn
from vault_tool.web.pages.map import addresses
from vault_tool.web.rendering import render, subject_path, url

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_PAGE = 50
_OBSERVATIONS = 40
_NEIGHBOURS = 14
_PAIRS = 20
_AROUND = 30

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
        understandings = vault.get_understandings([card.name]).results
        similar = vault.find_similar_subjects(card.name, limit=5)
        return {
            "card": card, "around": around, "understandings": understandings,
            "observations": newest, "similar": similar, "picture": _picture(vault, card.id),
            "card_text": understandings[0].content if understandings and card.single_subject_understanding else "",
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
    return await render(request, "merge.html", title=title, editor=editor_of(request), **values)


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


def _picture(vault: Vault, identity: str | None) -> Markup:
    """A subject amid its memories and those that it shares memories with; nothing where it has no note of its own."""
    if not identity:
        return Markup("")
    graph = local_graph(vault, identity, limit=_AROUND)
    return drawn(graph, SMALL, addresses(graph))


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
