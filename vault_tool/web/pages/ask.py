"""Ask: a question to the memory, and how each answer came about: its match, why it was found, the factors of its score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vault_tool.errors import VaultError
from vault_tool.web.asking import ask
from vault_tool.web.rendering import render

if TYPE_CHECKING:
    from vault_tool.verbs.vault import Vault

_LIMIT, _MOST = 10, 50

# The factors that add up to a result's rank; the others multiply it, and are told as they are.
_SUMMANDS = ("words", "meaning", "neighbours", "named", "called", "links", "session")

_MULTIPLIERS = ("truth gate", "utility", "prior", "covered", "link")

_CHAINED = {"solution": "solved by", "caution": "what failed", "problem": "the problem", "update": "changed by"}


@dataclass(frozen=True, slots=True)
class ResultLink:
    """A result that belongs to another: what it is to it, and both."""

    what: str
    to: Any


@dataclass(frozen=True, slots=True)
class Chain:
    """A problem with what solved it and what failed, or a change with what it overtook."""

    root: Any
    links: tuple[ResultLink, ...]


async def answer(request: Request) -> Response:
    """The page: the box alone, or with the answer to what is in the address."""
    query = request.query_params
    question, filters = query.get("q", "").strip(), _filters(query)
    values: dict[str, Any] = {"q": question, "query": query, "found": None, "fault": None, "chains": (), "limit": _limit(query)}
    if question:
        try:
            answer = await ask(request, lambda vault: _recalled(vault, question, filters, query.get("why_not", "").strip()))
        except VaultError as fault:
            values["fault"] = fault  # a filter half typed is no reason to take the page away
        else:
            values |= {"found": answer, "chains": tuple(_chains(getattr(answer, "results", ())))}
    return await render(
        request, "ask.html", title=question or "Ask", summands=_summands, multipliers=_multipliers, chained=_CHAINED, **values
    )


def _recalled(vault: Vault, question: str, filters: Mapping[str, Any], why_not: str) -> Any:
    """The answer, without counting it as used: a person looks at how it is made."""
    return vault.recall(question, explain=True, count=False, why_not=why_not, **filters)


def _limit(query: Mapping[str, str]) -> int:
    limit = query.get("limit", "")
    return min(_MOST, max(1, int(limit))) if limit.isascii() and limit.isdigit() and len(limit) < 5 else _LIMIT


def _filters(query: Mapping[str, str]) -> dict[str, Any]:
    """The filters that the address names."""
    lists = {"kinds": "kind", "subject_names": "subject", "tags": "tag", "not_tags": "not_tag"}
    filters: dict[str, Any] = {
        name: [value.strip() for value in query.get(field, "").split(",") if value.strip()] for name, field in lists.items()
    }
    for name in ("project", "mood", "since", "until", "session", "user"):
        if value := query.get(name, "").strip():
            filters[name] = value
    profile = query.get("profile", "")
    return {
        **filters, "limit": _limit(query), "doubtful": bool(query.get("doubtful")), **({"profile": profile} if profile else {}),
    }  # fmt: skip


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


ROUTES = [Route("/ask", answer), Route("/memories", answer)]
