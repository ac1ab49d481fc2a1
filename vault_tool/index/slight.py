"""Entries read one after another, for callers that look at all memories of a vault and keep few of them."""

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

# The `+` makes SQLite read the table in order: with the index of classes it would look up every row by itself.
_COLUMNS = "path, id, class, type, title, head, body_hash, stale"
_ROWS = f"SELECT {_COLUMNS} FROM entries WHERE +class IN ({{}}) ORDER BY n DESC"


def slight(catalog: Catalog, *classes: RecordClass, at_once: bool = False) -> Iterator[Entry]:
    """The records of these classes (memories by default), the last taken in first.

    They lack preview, links and the facts about their files; `Catalog.by_paths` gives whole entries. No process can write while
    they are read one by one. Read `at_once`, no process waits, but the rows of a hundred thousand memories take 80 MB.
    """
    ask = catalog.rows if at_once else catalog.each
    for path, identity, kind, type_, title, head, body_hash, stale in ask(_ROWS.format(_quoted(classes or MEMORIES))):
        yield Entry(path, identity, RecordClass(kind), type_, title, orjson.loads(head), "", body_hash, stale=bool(stale))


def observations_of(catalog: Catalog, identities: Iterable[str]) -> Iterator[Entry]:
    """The observations that have one of these ids."""
    query = f"SELECT path FROM entries WHERE +class = '{RecordClass.OBSERVATION.value}' AND id IN ({{}})"
    yield from catalog.by_paths([row[0] for row in catalog.rows_in(query, identities)]).values()


def with_any_field(catalog: Catalog, *names: str, above: int = 0) -> Iterator[tuple[int, Entry]]:
    """The memories with one of these fields in the head, as entries like those of `slight`, with their numbers, in no order.

    Only memories with a number above `above` are given.
    """
    # A head is JSON without spaces, so this test passes all that have the field; the parsed head decides about the rest.
    beginnings = " OR ".join(f"instr(CAST(head AS TEXT), '\"{name}\":') > 0" for name in names)
    rows = f"SELECT n, {_COLUMNS} FROM entries WHERE n > ? AND +class IN ({_quoted(MEMORIES)}) AND ({beginnings})"
    for number, path, identity, kind, type_, title, head, body_hash, stale in catalog.each(rows, (above,)):
        entry = Entry(path, identity, RecordClass(kind), type_, title, orjson.loads(head), "", body_hash, stale=bool(stale))
        if not entry.head.keys().isdisjoint(names):
            yield number, entry


def narrowed(entry: Entry, fields: Sequence[str]) -> Entry:
    """The entry with only these fields of its head, which takes half as much memory."""
    head = entry.head
    return replace(entry, head={name: head[name] for name in fields if name in head}, preview="", body_hash="", links=())


def _quoted(classes: Sequence[RecordClass]) -> str:
    return ", ".join(f"'{record_class.value}'" for record_class in classes)


def head_fields(catalog: Catalog, *names: str) -> Iterator[tuple[str, list[Any]]]:
    """The id of each memory with the values of these fields of its head (None for a missing one), in no order.

    The names are fields of the format. Only these fields are parsed, which takes half as long as making an entry.
    """
    # `json_extract` gives a list for several paths, but a bare value for one: so `id` is always asked for too.
    paths = ", ".join(f"'$.{name}'" for name in ("id", *names))
    rows = f"SELECT id, json_extract(CAST(head AS TEXT), {paths}) FROM entries WHERE +class IN ({_quoted(MEMORIES)})"
    for identity, values in catalog.each(rows):
        yield identity, orjson.loads(values)[1:]


def memories_by_user(catalog: Catalog) -> Counter[str]:
    """The number of memories about each user; only memories about users cost time."""
    # The condition of the partial index; the plus keeps SQLite from using the index of classes.
    of_users = f"{USER} <> '' AND json_type(CAST(head AS TEXT), '$.user') = 'text' AND +class IN ({_quoted(MEMORIES)})"
    return Counter(dict(catalog.rows(f"SELECT {USER}, count(*) FROM entries WHERE {of_users} GROUP BY {USER}")))
