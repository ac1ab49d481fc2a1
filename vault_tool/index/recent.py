"""What was written lately and what no understanding has taken up, asked of the catalogue without reading the whole of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vault_tool.index.catalog import Catalog
from vault_tool.index.graph import supersession
from vault_tool.index.schema import CREATED, ENTRY, GENERATION, SESSION, USER, entry_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass

PROJECT = "json_extract(CAST(head AS TEXT), '$.project')"

_MANY = 900


def ids_since(catalog: Catalog, record_class: RecordClass, generation: int, created: str) -> list[str]:
    """The ids of one class's records of `generation` or later; of those that name none, what is not older than `created`.

    What says neither could be of any time, and is among them. Records without an id in common with others cost O(log n).
    """
    found: dict[str, None] = {}
    for where, values in (
        (f"{GENERATION} >= ?", (generation,)),
        (f"{GENERATION} IS NULL AND {CREATED} >= ?", (created,)),
        (f"{GENERATION} IS NULL AND {CREATED} IS NULL", ()),
    ):
        query = f"SELECT id FROM entries WHERE class = ? AND {where}"
        found.update((row[0], None) for row in catalog.rows(query, (record_class.value, *values)))
    return list(found)


def written_of(catalog: Catalog, user: str, session: str, project: str, most: int, after: int = 0) -> list[Entry]:
    """The observations of one user in one project, newest first; without a user those of one session.

    At most `most` of them (all for -1). The cost is that of what the user (or the session) ever wrote; nobody else's
    records are read.
    """
    # `<> ''` is the condition of the partial index, which SQLite takes for no less; the plus keeps it from the one by class.
    whose, value = (USER, user) if user else (SESSION, session)
    query = (
        f"SELECT {ENTRY} FROM entries WHERE {whose} = ? AND {whose} <> '' AND +class = ?"
        f" AND coalesce({PROJECT}, '') = ? ORDER BY {CREATED} DESC, id DESC LIMIT ? OFFSET ?"
    )
    return list(map(entry_of, catalog.rows(query, (value, RecordClass.OBSERVATION.value, project, most, after))))


def ageless(catalog: Catalog, record_class: RecordClass) -> bool:
    """Whether any record of the class says neither its generation nor when it was created."""
    query = f"SELECT 1 FROM entries WHERE class = ? AND {GENERATION} IS NULL AND {CREATED} IS NULL LIMIT 1"
    return bool(catalog.rows(query, (record_class.value,)))


def entries_of(catalog: Catalog, identities: Iterable[str]) -> list[Entry]:
    """The entries of many ids, in the order of their paths within each thousand."""
    return [entry for some in batches_of(catalog, identities) for entry in some]


def batches_of(catalog: Catalog, identities: Iterable[str]) -> Iterator[list[Entry]]:
    """The same, by the thousand: a hundred thousand entries take 300 MB."""
    return (_entries(catalog, some) for some in _batches(list(dict.fromkeys(identities))))


def unlinked_count(catalog: Catalog) -> int:
    """How many observations are direct evidence for nothing: no `related_to`, in no active understanding's `sources`."""
    total = catalog.rows("SELECT count(*) FROM entries WHERE class = ?", (RecordClass.OBSERVATION.value,))[0][0]
    linked = 0
    for some in _batches(list(linked_ids(catalog))):
        marks = ",".join("?" * len(some))
        query = f"SELECT count(*) FROM entries WHERE id IN ({marks}) AND +class = ?"
        linked += catalog.rows(query, (*some, RecordClass.OBSERVATION.value))[0][0]
    return int(total - linked)


def unlinked(catalog: Catalog, limit: int) -> list[Entry]:
    """The newest of the observations that are direct evidence for nothing, at most `limit`."""
    linked = linked_ids(catalog)
    query = f"SELECT id FROM entries WHERE class = ? ORDER BY {CREATED} DESC, id DESC"
    found = [row[0] for row in catalog.rows(query, (RecordClass.OBSERVATION.value,)) if row[0] not in linked][:limit]
    order = {identity: place for place, identity in enumerate(found)}
    return sorted(entries_of(catalog, found), key=lambda entry: (order[entry.id], entry.path))


def linked_ids(catalog: Catalog) -> set[str]:
    """The ids of what is direct evidence for an understanding, by its own word or by an active understanding's."""
    replaced = supersession(catalog)
    cited = {target for newer, target in catalog.pairs("sources") if newer not in replaced}
    return cited | {identity for identity, _ in catalog.pairs("related_to")}


def ages(catalog: Catalog, record_class: RecordClass) -> Iterator[tuple[int, str, int | None, str]]:
    """Of each record of a class its number in the catalogue, its id, its generation and when it was created ("" unsaid);
    to be read to the end at once.
    """
    query = f"SELECT n, id, {GENERATION}, {CREATED} FROM entries WHERE class = ?"
    rows = catalog.each(query, (record_class.value,))
    return ((n, id_, gen if isinstance(gen, int) else None, created or "") for n, id_, gen, created in rows)


def questioned(catalog: Catalog) -> list[str]:
    """The ids of what somebody ever called questionable; whether that still stands, belief says."""
    query = "SELECT DISTINCT target FROM signals WHERE CAST(data AS TEXT) LIKE '%\"questionable\"%' ORDER BY target"
    return [row[0] for row in catalog.rows(query)]


def _entries(catalog: Catalog, some: Sequence[str]) -> list[Entry]:
    query = f"SELECT {ENTRY} FROM entries WHERE id IN ({','.join('?' * len(some))}) ORDER BY path"
    return [entry_of(row) for row in catalog.rows(query, some)]


def _batches(items: Sequence[str]) -> Iterator[Sequence[str]]:
    return (items[start : start + _MANY] for start in range(0, len(items), _MANY))
