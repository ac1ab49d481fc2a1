"""Entries one after the other, for what looks at all memories of a vault and keeps few of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from vault_tool.index.catalog import Catalog
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass

# The `+` has SQLite read the rows as they lie: by the index of classes each would be looked up for itself.
_ROWS = "SELECT path, id, class, type, title, head, body_hash, stale FROM entries WHERE +class IN ({}) ORDER BY n DESC"


def slight(catalog: Catalog) -> Iterator[Entry]:
    """The memories, what was taken in last first.

    Without preview, links, and what is known of their files: `Catalog.by_paths` has them whole.
    """
    for path, identity, kind, type_, title, head, body_hash, stale in catalog.each(_ROWS.format(_quoted(MEMORIES))):
        yield Entry(path, identity, RecordClass(kind), type_, title, orjson.loads(head), "", body_hash, stale=bool(stale))


def _quoted(classes: Sequence[RecordClass]) -> str:
    return ", ".join(f"'{one.value}'" for one in classes)


def head_fields(catalog: Catalog, *names: str) -> Iterator[tuple[str, list[Any]]]:
    """The id of each memory with these fields of its head (None for one that it does not have), in no order.

    Names are those of fields of the format. Most of a head is not read: it takes half as long as its entry.
    """
    # Several paths give one list; a single one would give its value bare.
    paths = ", ".join(f"'$.{name}'" for name in ("id", *names))
    rows = f"SELECT id, json_extract(CAST(head AS TEXT), {paths}) FROM entries WHERE +class IN ({_quoted(MEMORIES)})"
    for identity, values in catalog.each(rows):
        yield identity, orjson.loads(values)[1:]
