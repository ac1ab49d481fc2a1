"""Counts of a list's memories by what could narrow it further, and how much each of some memories weighs: for a person's page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from heapq import nsmallest
from typing import Any

from vault_tool.features.reading.listing import (
    BY_TIME,
    MemoryList,
    filtered,
    kept_rows,
    list_memories,
    part_of,
    part_of_rows,
)
from vault_tool.index.list_rows import count, counters, facet_values
from vault_tool.model.snapshot import Entry
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context
from vault_tool.vault.parameters import require_moment

_MOST = 12


class Facets(Struct):
    """The commonest values of each field with their counts, by the name of the field's filter, of `total` memories."""

    counts: Mapping[str, tuple[tuple[str, int], ...]]
    total: int


class Weight(Struct):
    """How true a memory is held to be, and how present it is: both 0 to 1."""

    truth: float
    retention: float


def list_with_facets(vault: Context, *, sort: str, limit: int, after: str, **filters: Any) -> tuple[MemoryList, Facets]:
    """A part of a list as `list_memories` gives it, with the facets of the whole: in one look at the memories."""
    if sort in BY_TIME and not any(filters.values()) and vault.sees_everyone:
        rows, hidden = kept_rows(vault)
        part = part_of_rows(vault, rows, hidden, sort=sort, limit=limit, after=after)
        return part, _facets(rows.counts(hidden), rows.total(hidden))
    chosen = filtered(vault, **filters)
    if not chosen:
        # What was meant by a name that nothing has is told by the verb.
        return list_memories(vault, sort=sort, limit=limit, after=after, **filters), facets_of(())
    return part_of(vault, chosen, sort=sort, limit=limit, after=after), facets_of(chosen)


def list_counts(vault: Context, since: str) -> tuple[int, Facets]:
    """How many memories the list without filters has, and the facets of those of them that are not older."""
    rows, hidden = kept_rows(vault)
    counts = rows.since(require_moment(since, vault.clock.now()).timestamp(), hidden)
    return rows.total(hidden), _facets(counts, counts["type"].total())


def facets_of(entries: Iterable[Entry]) -> Facets:
    """The facets of these memories."""
    counts = counters()
    for entry in entries:
        count(counts, facet_values(entry))
    return _facets(counts, counts["type"].total())


def _facets(counts: Mapping[str, Counter[str]], total: int) -> Facets:
    """The commonest values of each, those of one count in the order of their names."""
    commonest = {
        name: tuple(nsmallest(_MOST, ((text, number) for text, number in counter.items() if number), key=_commonest))
        for name, counter in counts.items()
    }
    return Facets(commonest, total)


def _commonest(counted: tuple[str, int]) -> tuple[int, str]:
    return -counted[1], counted[0]


def weights(vault: Context, ids: Iterable[str]) -> dict[str, Weight]:
    """The weight of each of some memories, by its id."""
    entries = [entry for identity in ids for entry in vault.index.catalog.cached_by_id(identity)[:1]]
    weighed = vault.standings.weigh(entries, live=True, few=True)
    return {memory.entry.id: Weight(memory.belief.truth, min(1.0, max(0.0, memory.score))) for memory in weighed}


def whole_ids(vault: Context, prefixes: Iterable[str]) -> dict[str, str]:
    """The id of each beginning of one that a single memory has."""
    matching = {prefix: vault.index.catalog.by_prefix(prefix, 2) for prefix in prefixes}
    return {prefix: entries[0].id for prefix, entries in matching.items() if len(entries) == 1}
