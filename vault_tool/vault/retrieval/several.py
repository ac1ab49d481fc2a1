"""The merge of several vaults' answers: ordered on one scale by match, equal bodies folded, each with its vaults' names."""

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

# The statuses here that hide another vault's result; a memory that waits for review here may be accepted there.
_PAST = NO_ANSWER - {"waiting"}


class Part(Struct):
    """The results of one vault, best first, with the hashes of their bodies by path; `degraded` lists what it did without."""

    results: tuple[Any, ...]
    bodies: Mapping[str, str]
    degraded: tuple[str, ...] = ()


def gathered(vault: Context, asked: Query, gather: Gather) -> RecallAnswer:
    """The answer of this vault and of the named vaults, each made by `gather`; raises the errors of `gather` for this vault."""
    # `problem` and `why_not` name memories of this vault, so the other vaults are asked without them.
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
    """Put the question to the named vaults; raises UsageError for an unknown name."""

    def known(place: Context) -> Part:
        try:
            return ask(place)
        except UsageError:
            # The question names a type or subject that this vault does not know, so it has no result.
            return Part((), {})

    return beside.Asking(vault, beside.chosen(vault, asked.vaults, include_global=asked.include_global), known)


def told(vault: Context, asking: beside.Asking[Part], known: Sequence[str]) -> tuple[Mapping[str, Part], tuple[str, ...]]:
    """The parts by their vaults' names, and what the other vaults did without, except the reasons `known` of this vault."""
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
    """The ids that this vault withholds, or knows to be outdated: another vault that is a clone may not know that yet."""
    withheld = beside.kept_to_itself(vault, identities)
    entries = [entry for identity in identities - withheld for entry in vault.index.catalog.get(identity)]
    by_path = statuses(vault, entries) if entries else {}
    return withheld | {entry.id for entry in entries if entry.path in by_path and by_path[entry.path].status in _PAST}


def part_of(place: Context, results: Sequence[Any], degraded: Sequence[str] = ()) -> Part:
    """The results of one vault as a part of the merged answer."""
    entries = place.index.catalog.cached_by_paths([result.path for result in results])
    fault = (place.settings_fault,) if place.settings_fault else ()
    return Part(tuple(results), {path: entry.body_hash for path, entry in entries.items()}, (*degraded, *fault))


def merged(parts: Mapping[str, Part]) -> list[Any]:
    """The results of all vaults, best first by match; `scope` and `vaults` name each one's vaults. Equal bodies are one result.

    The order within a vault is kept in two ways: a memory stays behind the one that overtook it, and a companion behind its hit.
    """
    placed = [
        ((bool(result.weak), -share, -result.score, number, place), name, result)
        for number, (name, part) in enumerate(parts.items())
        for place, (result, share) in enumerate(zip(part.results, _shares(part.results), strict=True))
    ]
    by_match = [(name, result) for _, name, result in sorted(placed, key=lambda each: each[0])]
    return _folded(_in_order(by_match), parts)


def _shares(results: Sequence[Any]) -> Iterator[float]:
    """The match of each result; a result without one gets a match in proportion to its score."""
    best = max((result.score for result in results), default=0.0) or 1.0
    most = max((result.match for result in results if result.match is not None), default=0.5)
    return (most * result.score / best if result.match is None else result.match for result in results)


def _in_order(results: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """The results in their order, but each behind those of its vault that it must not stand before."""
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
    """The ids of the memories that overtook a result; none for a result that still answers."""
    return () if result.answers else result.status_by


def _folded(results: Sequence[tuple[str, Any]], parts: Mapping[str, Part]) -> list[Any]:
    """The results with their vaults' names; results with equal bodies become one."""
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
        # This vault's name comes first, whichever vault's result is kept.
        folded[key] = replace(first, vaults=(name, *first.vaults) if name == HERE else (*first.vaults, name), **alike)
    return list(folded.values())


def _few_instructions(results: Sequence[Any]) -> Iterator[Any]:
    """The results, with no more standing instructions than a single vault would show."""
    count = 0
    for result in results:
        count += result.type == INSTRUCTION
        if result.type != INSTRUCTION or count <= MOST_INSTRUCTIONS:
            yield result
