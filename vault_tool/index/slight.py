"""Entries one after the other, for what looks at all memories of a vault and keeps few of them."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from vault_tool.index.catalog import Catalog
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass

MEMORIES = (RecordClass.OBSERVATION, RecordClass.UNDERSTANDING)

_CLASSES = {member.value: member for member in RecordClass}
# The `+` has SQLite read the rows as they lie: by the index of classes each would be looked up for itself.
_ROWS = "SELECT path, id, class, type, title, head, body_hash, stale FROM entries WHERE +class IN ({}) ORDER BY n DESC"


def slight(catalog: Catalog, *classes: RecordClass) -> Iterator[Entry]:
    """The records of these classes (the memories by default), what was taken in last first.

    Without preview, links, and what is known of their files: `Catalog.by_paths` has them whole.
    """
    wanted = ", ".join(f"'{one.value}'" for one in classes or MEMORIES)
    for path, identity, kind, type_, title, head, body_hash, stale in catalog.each(_ROWS.format(wanted)):
        yield Entry(path, identity, _CLASSES[kind], type_, title, orjson.loads(head), "", body_hash, stale=bool(stale))
