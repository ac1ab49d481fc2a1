"""Memories: the list of all with its filters, ranked where there is a question; one of them beside it; many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from vault_tool.errors import NotFound, UsageError, VaultError
from vault_tool.features.editing.deleting import delete_memories
from vault_tool.features.editing.hiding import hide_from_page
from vault_tool.features.reading.facets import list_with_facets, weights
from vault_tool.features.reading.listing import SORTS, STATUSES, selected
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault import beside
from vault_tool.vault.retrieval.query import Query
from vault_tool.web.asking import Form, act, ask, back_to, cached, done_with, form_of
from vault_tool.web.filters import NAMES, Selection
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_PAGE, _ANSWERS, _MOST = 50, 10, 50


# The factors that add up to a result's rank; the others multiply it, and are told as they are.
_SUMMANDS = ("words", "meaning", "neighbours", "named", "called", "links", "session")
_MULTIPLIERS = ("truth gate", "utility", "prior", "covered", "link")
_CHAINED = {"solution": "solved by", "caution": "what failed", "problem": "the problem", "update": "changed by"}

SORT_WORDS: Mapping[str, str] = MappingProxyType(
    {"created": "newest", "observed": "when it was so", "decay": "most present", "utility": "most useful"}
)


class ResultLink(Struct):
    """A result that belongs to another: what it is to it, and both."""

    what: str
    to: Any


class Chain(Struct):
    """A problem with what solved it and what failed, or a change with what it overtook."""

    root: Any
    links: tuple[ResultLink, ...]


async def memories(request: Request) -> Response:
    """The list that the address asks for, with the memory that is open beside it."""
    query = request.query_params
    selection = Selection.of(query)
    values: dict[str, Any] = {
        "selection": selection,
        "query": query,
        "fault": None,
        "opened": None,
        "answer": None,
        "listed": None,
        "results": (),
        "after": "",
    }
    values |= {"others": (), "subject": None, "facets": {}, "chains": (), "weights": {}, "limit": _limit(query)}
    try:
        # A filter half typed is no reason to take the page away.
        values |= await ask(request, _other_vaults)
        values |= await ask(request, lambda vault: _found(request, vault, selection))
    except VaultError as fault:
        values["fault"] = fault
    return await render(
        request, "memories.html", title=selection.question or "Memories", summands=_summands, multipliers=_multipliers,
        chained=_CHAINED, sorts=SORT_WORDS, statuses=STATUSES, names=NAMES, **values,
    )  # fmt: skip


async def panel(request: Request) -> Response:
    """A memory as it stands beside a list, for whatever opens it there."""
    identity = request.path_params["memory"]
    opened = await ask(request, lambda vault: _opened(vault, identity, ()))
    if opened is None:
        raise NotFound(f"no memory has the id {identity[:36]}", "look at the list")
    return await render(
        request, "panel.html", title=opened["memory"].title, opened=opened, summands=_summands, multipliers=_multipliers
    )


async def ask_page(request: Request) -> Response:
    """The older address of a question."""
    return RedirectResponse(f"/memories?{request.url.query}" if request.url.query else "/memories", 303)


async def many(request: Request) -> Response:
    """Do one thing to all that are ticked."""
    form = await form_of(request)
    ids, what = form.all("id"), form.get("do", "")
    back = back_to(request, form, "/memories")
    if what not in _MANY:
        raise UsageError("nothing that can be done to many was pressed", f"press one of {', '.join(_MANY)}")
    if not ids:
        raise UsageError("no memory is ticked", "tick those that are meant")
    if what == "delete" and len(ids) > 1 and not form.get("sure"):
        titles = await ask(request, lambda vault: [(identity, vault.show(identity).title) for identity in ids])
        return await render(request, "delete_many.html", title=f"Delete {len(ids)}", chosen=titles, back=back)
    done = await act(request, lambda vault: _MANY[what](vault, ids, form))
    commits = tuple(commit for result in done if (commit := getattr(result, "commit", None)))
    message = f"{counted(len(ids), 'memory', 'memories')} {_DONE[what]}"
    return done_with(request, message, back=back, result=done[-1], commits=commits)


def _tag(vault: Vault, ids: Sequence[str], form: Form) -> list[Any]:
    tags = form.listed("tags")
    if not tags:
        raise UsageError("no tag is written", "write it beside the button")
    return [vault.tag(identity, add=tags) for identity in ids]


def _subject(vault: Vault, ids: Sequence[str], form: Form) -> list[Any]:
    """The subject that the ticked ones are of, made one with another."""
    keep = form.get("subject", "").strip()
    names = list(dict.fromkeys(name for identity in ids for name in vault.show(identity).subjects))
    gone = [name for name in names if name.casefold() != keep.casefold()]
    if not keep or not gone:
        raise UsageError("no subject to merge into is written", "write its name beside the button")
    if len(gone) > 1:
        raise UsageError(f"they are of several subjects: {', '.join(gone)}", "tick memories of one, or merge each on its page")
    return [vault.merge_subjects(keep, gone[0])]


_MANY: Mapping[str, Any] = MappingProxyType(
    {
        "tag": _tag,
        "pin": lambda vault, ids, form: [vault.pin(identity) for identity in ids],
        "hide": lambda vault, ids, form: [hide_from_page(vault, ids)],
        "flag": lambda vault, ids, form: [vault.mark_questionable(identity, form.get("reason", "")) for identity in ids],
        "keep": lambda vault, ids, form: [vault.review(accept=list(ids))],
        "merge": _subject,
        "delete": lambda vault, ids, form: [delete_memories(vault, ids)],
    }
)
_DONE = {
    "tag": "tagged", "pin": "pinned", "flag": "marked as questionable", "keep": "kept: reviewed by you",
    "hide": "hidden from what a session gets: found as before",
    "merge": "of one subject now", "delete": "deleted: history keeps what was in them",
}  # fmt: skip


def _found(request: Request, vault: Vault, selection: Selection) -> dict[str, Any]:
    query = request.query_params
    answer = _answer(vault, selection, query) if selection.question else None
    if answer is not None and answer.mode == "question":
        results = _narrowed(vault, answer.results, selection, _limit(query))
        values = {"answer": answer, "results": results, "chains": tuple(_chains(results))}
        values["opened"] = _opened(vault, query.get("open", ""), results)
        if selection.fields.get("with"):
            values["facets"] = {"with": _by_vault(results)}
            values["results"] = [result for result in results if query.get("in", "") in ("", *result.vaults)]
        values["weights"] = weights(vault, (result.id for result in results))
        return values
    if answer is not None:
        selection = Selection("", {**selection.fields, "subject": (answer.subject.name,)}, selection.sort)
    parameters = selection.parameters(ranked=False)
    sort = selection.sort if selection.sort in SORTS else "created"
    after = query.get("after", "")
    listed, counted_by = cached(
        request,
        f"list {selection.address(after=after)}",
        lambda vault: list_with_facets(vault, **parameters, sort=sort, limit=_PAGE, after=after),
    )(vault)
    return {
        "subject": answer, "listed": listed, "results": listed.results, "facets": counted_by.counts, "selection": selection,
        "opened": _opened(vault, query.get("open", ""), ()), "weights": weights(vault, (row.id for row in listed.results)),
        "after": selection.address(after=listed.next) if listed.next else "",
    }  # fmt: skip


def _other_vaults(vault: Vault) -> dict[str, Any]:
    """The names of the other vaults that a question may be put to as well; none where none is named."""
    return {"others": tuple(beside.others(vault)) if vault.machine.vaults else ()}


def _answer(vault: Vault, selection: Selection, query: Mapping[str, str]) -> Any:
    """The answer, without counting it as used: a person looks at how it is made."""
    more: dict[str, Any] = {"profile": query["profile"]} if query.get("profile") else {}
    # What is narrowed afterwards is cut to its limit afterwards.
    limit = _MOST if selection.of_lists() else _limit(query)
    return vault.recall(
        selection.question, explain=True, count=False, why_not=query.get("why_not", "").strip(), limit=limit,
        doubtful=bool(query.get("doubtful")), **selection.parameters(ranked=True), **more,
    )  # fmt: skip


def _narrowed(vault: Vault, results: Sequence[Any], selection: Selection, limit: int) -> Sequence[Any]:
    """The results that the list has too by the filters that only lists know."""
    filters = selection.of_lists()
    if not filters:
        return results
    # Of another vault no list is made here.
    ids = {entry.id for entry in selected(vault, Query(query=""), **filters)}
    return [result for result in results if result.id in ids][:limit]


def _by_vault(results: Sequence[Any]) -> list[tuple[str, int]]:
    """How many results each of several vaults has, the most first."""
    return Counter(name for result in results for name in result.vaults).most_common()


def _opened(vault: Vault, identity: str, results: Sequence[Any]) -> dict[str, Any] | None:
    """The memory beside the list: itself, and its result where a question found it."""
    if not identity:
        return None
    try:
        shown = vault.show(identity, belief=True)
    except NotFound:
        return None
    return {"memory": shown, "result": next((result for result in results if result.id == shown.id), None)}


def _limit(query: Mapping[str, str]) -> int:
    limit = query.get("limit", "")
    return min(_MOST, max(1, int(limit))) if limit.isascii() and limit.isdigit() and len(limit) < 5 else _ANSWERS


def _summands(factors: Mapping[str, float] | None) -> list[tuple[str, float]]:
    """The terms that add up to a rank, without zeros."""
    summands = [(name, round((factors or {}).get(name, 0.0), 2)) for name in _SUMMANDS]
    return [(name, value) for name, value in summands if value > 0]


def _multipliers(factors: Mapping[str, float] | None) -> list[tuple[str, float]]:
    """The factors that multiply a rank, without ones."""
    multipliers = [(name, round((factors or {}).get(name, 1.0), 2)) for name in _MULTIPLIERS]
    return [(name, value) for name, value in multipliers if value != 1]


def _chains(results: Sequence[Any]) -> Iterator[Chain]:
    """Results that belong together, as trees: problems first, then changes."""
    by_id = {result.id: result for result in results}
    for result in results:
        if result.type == "problem":
            about = [
                other for other in results if result.id in (other.problem, other.of) and other.role in ("solution", "caution")
            ]
            if about:
                yield Chain(result, tuple(ResultLink(_CHAINED[other.role], other) for other in about))
    for result in results:
        older = [other for other in results if _overtook(result, other)]
        if older:
            yield Chain(result, tuple(ResultLink("overtook", by_id[other.id]) for other in older))


def _overtook(newer: Any, other: Any) -> bool:
    return (other.status == "overtaken" and newer.id in other.status_by) or (newer.role == "update" and newer.of == other.id)


ROUTES = [
    Route("/memories", memories),
    Route("/memories/many", many, methods=["POST"]),
    Route("/ask", ask_page),
    Route("/panel/{memory}", panel),
]
