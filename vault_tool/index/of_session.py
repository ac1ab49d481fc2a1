"""What one session wrote, found by the provenance in records and signals."""

from __future__ import annotations

import orjson

from vault_tool.files.signal_lines import merge
from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import ENTRY, SESSION, entry_of, signal_of
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import Entry


def written_in(catalog: Catalog, session: str) -> tuple[Entry, ...]:
    """The records whose head names `session`, oldest first, without reading the others."""
    if not _is_text(session):
        return ()
    # The second term is the index's own: without it SQLite cannot know that the index will do.
    query = f"SELECT {ENTRY} FROM entries WHERE {SESSION} = ? AND {SESSION} <> ''"
    found = map(entry_of, catalog.rows(query, (session,)))
    return tuple(sorted(found, key=lambda entry: (entry.by_created[0], entry.path)))


def signals_in(catalog: Catalog, session: str) -> list[Signal]:
    """The signals that `session` gave, in their order, each once; the others are passed over without being unpacked."""
    if not _is_text(session):
        return []
    needle = orjson.dumps({"session": session})[1:-1]
    rows = catalog.rows("SELECT data FROM signals WHERE instr(data, ?) > 0 ORDER BY at, id, path", (needle,))
    return merge([signal for row in rows if (signal := signal_of(row[0])).session == session])


def _is_text(session: str) -> bool:
    """Whether any file could hold it: half a character could not be written."""
    try:
        session.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
