"""Counts of a list's memories by what could narrow it further, and how much each of some memories weighs: for a person's page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from vault_tool.features.reading.listing import MemoryList, filtered, list_memories, part_of
from vault_tool.model.snapshot import Entry
from vault_tool.util.structs import Struct
from vault_tool.util.text import unwrap_link
from vault_tool.vault.context import Context
from vault_tool.vault.retrieval.filters import Filters
from vault_tool.vault.retrieval.query import Query, narrowed

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
    chosen = filtered(vault, **filters)
    if not chosen:
        # What was meant by a name that nothing has is told by the verb.
        return list_memories(vault, sort=sort, limit=limit, after=after, **filters), facets_of(())
    return part_of(vault, chosen, sort=sort, limit=limit, after=after), facets_of(chosen)


def list_counts(vault: Context, since: str) -> tuple[int, Facets]:
    """How many memories the list without filters has, and the facets of those of them that are not older: in one look."""
    chosen = filtered(vault)
    wants = Filters(vault, Query(query="", **narrowed({"since": since}))).wants
    return len(chosen), facets_of(filter(wants, chosen))


def facets_of(entries: Iterable[Entry]) -> Facets:
    """The facets of these memories."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("type", "subject", "tag", "by", "session", "project")}
    for entry in entries:
        counts["type"][entry.type] += 1
        counts["subject"].update(unwrap_link(name) for name in entry.subjects)
        counts["tag"].update(entry.texts("tags"))
        counts["by"][entry.text("model") or entry.origin] += 1
        for name in ("session", "project"):
            if value := entry.text(name):
                counts[name][value] += 1
    commonest = {name: tuple(counter.most_common(_MOST)) for name, counter in counts.items()}
    return Facets(commonest, counts["type"].total())


def weights(vault: Context, ids: Iterable[str]) -> dict[str, Weight]:
    """The weight of each of some memories, by its id."""
    entries = [entry for identity in ids for entry in vault.index.catalog.cached_by_id(identity)[:1]]
    weighed = vault.standings.weigh(entries, live=True, few=True)
    return {memory.entry.id: Weight(memory.belief.truth, min(1.0, max(0.0, memory.score))) for memory in weighed}


def whole_ids(vault: Context, prefixes: Iterable[str]) -> dict[str, str]:
    """The id of each beginning of one that a single memory has."""
    matching = {prefix: vault.index.catalog.by_prefix(prefix, 2) for prefix in prefixes}
    return {prefix: entries[0].id for prefix, entries in matching.items() if len(entries) == 1}
