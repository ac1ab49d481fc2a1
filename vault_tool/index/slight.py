"""Entries one after the other, for what looks at all memories of a vault and keeps few of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from msgspec.structs import replace

from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import USER
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass

# The `+` has SQLite read the rows as they lie: by the index of classes each would be looked up for itself.
_COLUMNS = "path, id, class, type, title, head, body_hash, stale"
_ROWS = f"SELECT {_COLUMNS} FROM entries WHERE +class IN ({{}}) ORDER BY n DESC"


def slight(catalog: Catalog, *classes: RecordClass, at_once: bool = False) -> Iterator[Entry]:
    """The records of these classes (the memories by default), what was taken in last first.

    Without preview, links, and what is known of their files: `Catalog.by_paths` has them whole. While they are taken one by
    one no process can write; read `at_once` their rows take 80 MB of a hundred thousand, and nobody waits.
    """
    ask = catalog.rows if at_once else catalog.each
    for path, identity, kind, type_, title, head, body_hash, stale in ask(_ROWS.format(_quoted(classes or MEMORIES))):
        yield Entry(path, identity, RecordClass(kind), type_, title, orjson.loads(head), "", body_hash, stale=bool(stale))


def observations_of(catalog: Catalog, identities: Iterable[str]) -> Iterator[Entry]:
    """The observations that have one of these ids."""
    query = f"SELECT path FROM entries WHERE +class = '{RecordClass.OBSERVATION.value}' AND id IN ({{}})"
    yield from catalog.by_paths([row[0] for row in catalog.rows_in(query, identities)]).values()


def with_any_field(catalog: Catalog, *names: str, above: int = 0) -> Iterator[tuple[int, Entry]]:
    """The memories whose heads have one of these fields, as `slight` gives them, by their numbers, in no order: all, or those
    whose number is above one.
    """
    # A head is JSON without spaces: what is left out here has none of them, and of the rest the head itself decides.
    beginnings = " OR ".join(f"instr(CAST(head AS TEXT), '\"{name}\":') > 0" for name in names)
    rows = f"SELECT n, {_COLUMNS} FROM entries WHERE n > ? AND +class IN ({_quoted(MEMORIES)}) AND ({beginnings})"
    for number, path, identity, kind, type_, title, head, body_hash, stale in catalog.each(rows, (above,)):
        entry = Entry(path, identity, RecordClass(kind), type_, title, orjson.loads(head), "", body_hash, stale=bool(stale))
        if not entry.head.keys().isdisjoint(names):
            yield number, entry


def narrowed(entry: Entry, fields: Sequence[str]) -> Entry:
    """The same with these fields of its head alone: half of what many of them take in memory."""
    head = entry.head
    return replace(entry, head={name: head[name] for name in fields if name in head}, preview="", body_hash="", links=())


def _quoted(classes: Sequence[RecordClass]) -> str:
    return ", ".join(f"'{record_class.value}'" for record_class in classes)


def head_fields(catalog: Catalog, *names: str) -> Iterator[tuple[str, list[Any]]]:
    """The id of each memory with these fields of its head (None for one that it does not have), in no order.

    Names are those of fields of the format. Most of a head is not read: it takes half as long as its entry.
    """
    # Several paths give one list; a single one would give its value bare.
    paths = ", ".join(f"'$.{name}'" for name in ("id", *names))
    rows = f"SELECT id, json_extract(CAST(head AS TEXT), {paths}) FROM entries WHERE +class IN ({_quoted(MEMORIES)})"
    for identity, values in catalog.each(rows):
        yield identity, orjson.loads(values)[1:]


def memories_by_user(catalog: Catalog) -> Counter[str]:
    """How many memories are about each user; the cost is that of the memories that are about one."""
    # The condition of the partial index; the plus keeps the query from the one by class.
    of_users = f"{USER} <> '' AND json_type(CAST(head AS TEXT), '$.user') = 'text' AND +class IN ({_quoted(MEMORIES)})"
    return Counter(dict(catalog.rows(f"SELECT {USER}, count(*) FROM entries WHERE {of_users} GROUP BY {USER}")))
