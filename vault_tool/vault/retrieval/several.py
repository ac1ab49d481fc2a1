"""Answers of several vaults made one: on one scale by match, equal bodies folded, each with the names of its vaults."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec.structs import replace

from vault_tool.errors import UsageError
from vault_tool.recall import select
from vault_tool.recall.wishes import INSTRUCTION, MOST_INSTRUCTIONS
from vault_tool.util.structs import Struct
from vault_tool.util.vault_names import HERE
from vault_tool.vault import beside, shortened
from vault_tool.vault.answers import NO_ANSWER
from vault_tool.vault.context import Context
from vault_tool.vault.lean import lean_tokens
from vault_tool.vault.retrieval.query import Query, RecallAnswer
from vault_tool.vault.statuses import statuses

Gather: TypeAlias = Callable[..., RecallAnswer]

# What waits here for a person may be accepted there.
_PAST = NO_ANSWER - {"waiting"}


class Part(Struct):
    """The results of one vault, best first, with what their bodies are told by, by path; `degraded` is what it did without."""

    results: tuple[Any, ...]
    bodies: Mapping[str, str]
    degraded: tuple[str, ...] = ()


def gathered(vault: Context, asked: Query, gather: Gather) -> RecallAnswer:
    """The answer of this vault and of those that are named, each by `gather`; raises what that raises of this one."""
    # A problem is one of this vault, and so is a memory whose fate is asked for.
    theirs = replace(asked, vaults=(), include_global=False, problem=None, why_not=None)

    def ask(place: Context) -> Part:
        place.fresh()
        answer = gather(place, theirs)
        return part_of(place, answer.results, answer.degraded)

    asking = asked_beside(vault, asked, ask)
    own = gather(vault, replace(asked, vaults=(), include_global=False))
    parts, missing = told(vault, asking, own.degraded)
    results = merged({HERE: part_of(vault, own.results), **parts})
    if asked.profile == "ambient":
        results = list(_few_instructions(results))
    fitting = select.within_budget(
        results[: asked.limit], asked.budget, lean_tokens, lambda long, most: shortened.within(long, most, asked.query)
    )
    return replace(
        own, results=tuple(fitting), degraded=(*own.degraded, *missing), warnings=() if fitting else own.warnings
    )  # fmt: skip


def asked_beside(vault: Context, asked: Query, ask: Callable[[Context], Part]) -> beside.Asking[Part]:
    """The question to the vaults that are named; raises UsageError for any other name."""

    def known(place: Context) -> Part:
        try:
            return ask(place)
        except UsageError:
            # A type or subject that it does not know: nothing there is like that.
            return Part((), {})

    return beside.Asking(vault, beside.chosen(vault, asked.vaults, include_global=asked.include_global), known)


def told(vault: Context, asking: beside.Asking[Part], known: Sequence[str]) -> tuple[Mapping[str, Part], tuple[str, ...]]:
    """The parts by their vaults' names, and what was done without beside what is `known` of this vault."""
    answers = asking.told()
    passed_over = _passed_over(
        vault, frozenset(result.id for part in answers.answers.values() for result in part.results if result.id)
    )
    degraded = (
        f"the vault {name}: {reason}" for name, part in answers.answers.items() for reason in part.degraded if reason not in known
    )
    parts = {
        name: replace(part, results=tuple(result for result in part.results if result.id not in passed_over))
        for name, part in answers.answers.items()
    }
    return parts, (*answers.missing, *degraded)


def _passed_over(vault: Context, identities: frozenset[str]) -> frozenset[str]:
    """Those of these ids that this vault keeps to itself, or knows to be no answer any more, which a clone may not know yet."""
    withheld = beside.kept_to_itself(vault, identities)
    entries = [entry for identity in identities - withheld for entry in vault.index.catalog.get(identity)]
    by_path = statuses(vault, entries) if entries else {}
    return withheld | {entry.id for entry in entries if entry.path in by_path and by_path[entry.path].status in _PAST}


def part_of(place: Context, results: Sequence[Any], degraded: Sequence[str] = ()) -> Part:
    """The results of a vault as a part of the answer of several."""
    entries = place.index.catalog.cached_by_paths([result.path for result in results])
    fault = (place.settings_fault,) if place.settings_fault else ()
    return Part(tuple(results), {path: entry.body_hash for path, entry in entries.items()}, (*degraded, *fault))


def merged(parts: Mapping[str, Part]) -> list[Any]:
    """The results of all, best first by match; `scope` and `vaults` say where each is from, an equal body is told once.

    Within one vault what overtook a memory stays before it, and what came along with another after that.
    """
    placed = [
        ((bool(result.weak), -share, -result.score, number, place), name, result)
        for number, (name, part) in enumerate(parts.items())
        for place, (result, share) in enumerate(zip(part.results, _shares(part.results), strict=True))
    ]
    by_match = [(name, result) for _, name, result in sorted(placed, key=lambda each: each[0])]
    return _folded(_in_order(by_match), parts)


def _shares(results: Sequence[Any]) -> Iterator[float]:
    """The match of each; of what words alone found, its part of the best score stands for it."""
    best = max((result.score for result in results), default=0.0) or 1.0
    most = max((result.match for result in results if result.match is not None), default=0.5)
    return (most * result.score / best if result.match is None else result.match for result in results)


def _in_order(results: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The same, each after those of its vault that it must not stand before."""
    by_id = {(name, result.id): (name, result) for name, result in results if result.id}
    ordered: dict[tuple[str, str], tuple[str, Any]] = {}

    def put(name: str, result: Any, above: frozenset[str]) -> None:
        key = (name, result.id or result.path)
        if key in ordered:
            return
        for identity in (getattr(result, "of", None), *_overtook(result)):
            first = by_id.get((name, identity)) if identity and identity not in above else None
            if first is not None and result.id not in _overtook(first[1]):
                put(*first, above | {result.id})
        ordered.setdefault(key, (name, result))

    for name, result in results:
        put(name, result, frozenset())
    return list(ordered.values())


def _overtook(result: Any) -> tuple[str, ...]:
    """The ids of what made a result untrue."""
    return () if result.answers else result.status_by


def _folded(results: Sequence[tuple[str, Any]], parts: Mapping[str, Part]) -> list[Any]:
    """The results with their vaults' names, those of equal bodies as one."""
    folded: dict[object, Any] = {}
    for name, result in results:
        body = parts[name].bodies.get(result.path, "")
        key = (body, result.type, result.answers) if body else (name, result.id, result.path)
        if (first := folded.get(key)) is None or name in first.vaults:
            folded[key if first is None else (name, result.id, result.path)] = replace(result, scope=name, vaults=(name,))
            continue
        alike = (
            {"like_it": tuple(dict.fromkeys((*first.like_it, result.id, *result.like_it)))} if hasattr(first, "like_it") else {}
        )
        if alike:
            alike["like_it"] = tuple(identity for identity in alike["like_it"] if identity != first.id)
        # Whichever of them stands: who asks is told of their own vault before others.
        folded[key] = replace(first, vaults=(name, *first.vaults) if name == HERE else (*first.vaults, name), **alike)
    return list(folded.values())


def _few_instructions(results: Sequence[Any]) -> Iterator[Any]:
    """The same, with no more standing instructions than one vault would show unasked."""
    count = 0
    for result in results:
        count += result.type == INSTRUCTION
        if result.type != INSTRUCTION or count <= MOST_INSTRUCTIONS:
            yield result
