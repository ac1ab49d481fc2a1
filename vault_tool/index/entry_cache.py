"""A cache of entries for long-lived processes, updated with the rows that the catalogue took in since."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import attrgetter

from msgspec.structs import replace

from vault_tool.index.database import Database
from vault_tool.index.schema import DROPPED, ENTRY, entries_at, entry_of
from vault_tool.index.since import MANY, highest
from vault_tool.model.snapshot import Entry, owners_first
from vault_tool.util.gc_paused import no_collection

# The most entries in a cache: they take about 60 MB, and a third of a second once.
_MOST = 20_000

# After so many requests with missing entries the process counts as long-lived: one answer makes three at most.
_OFTEN = 6


class EntryCache:
    """Entries by path: all entries of a small vault, once that is worth it; the requested ones of a large vault."""

    def __init__(self, catalog: Database) -> None:
        self._newest = highest(catalog)
        self._entries: dict[str, Entry] = {}
        self._of_session: dict[str, set[str]] = {}
        self._of_id: dict[str, tuple[str, ...]] = {}
        self._asked = 0
        self._whole = False

    def of(self, catalog: Database, paths: Collection[str]) -> dict[str, Entry]:
        """The entries of several files, in the order of `paths`."""
        entries = self._entries
        missing = [] if self._whole else [path for path in paths if path not in entries]
        if missing:
            self._asked += 1
            if self._asked >= _OFTEN and _is_small(catalog):
                self._whole = True
                with no_collection():
                    self._take(_since(catalog, 0))
            else:
                self._make_room(paths, len(missing))
                entries.update(entries_at(catalog, missing))
        return {path: entries[path] for path in paths if path in entries}

    def of_sessions(self, names: Collection[str]) -> dict[str, list[Entry]] | None:
        """The records of several sessions, each in the order of their paths; None if the cache does not have all entries."""
        if not self._whole:
            return None
        paths = {name: sorted(self._of_session.get(name, ())) for name in names}
        by_session = {
            name: [self._entries[path] for path in paths_of_session if path in self._entries]
            for name, paths_of_session in paths.items()
        }
        # The session of a record may have changed since it was noted here.
        return {name: [entry for entry in entries if entry.text("session") == name] for name, entries in by_session.items()}

    def of_id(self, record_id: str) -> tuple[Entry, ...] | None:
        """All entries with one whole id, as from `Catalog.get`; None if the cache does not have all entries."""
        if not self._whole:
            return None
        entries = [self._entries[path] for path in self._of_id.get(record_id, ()) if path in self._entries]
        # The id of a file may have changed since it was noted here.
        current = [entry for entry in entries if entry.id == record_id]
        return owners_first(sorted(current, key=attrgetter("path")))

    def _make_room(self, paths: Collection[str], count: int) -> None:
        """Drop all entries except the requested ones, if `count` more would be too many."""
        entries = self._entries
        if len(entries) + count > _MOST:
            asked = {path: entries[path] for path in paths if path in entries}
            entries.clear()
            entries.update(asked)

    def followed(self, catalog: Database, seq: str) -> EntryCache:
        """The cache, updated with the changes of all processes since the catalogue's state `seq`."""
        before, self._newest = self._newest, highest(catalog)
        dropped = int(catalog.meta(DROPPED) or 0) > int(seq or 0)
        # An empty cache is not filled here: the first request of a short command must not pay for later ones.
        anew = not self._entries or len(self._entries) > _MOST or (dropped and not self._whole)
        if anew or self._newest - before > MANY:
            self._entries, self._of_session, self._of_id, self._whole = {}, {}, {}, False
        else:
            if dropped:
                self._drop(dict(catalog.rows("SELECT path, mtime_ns FROM entries")))
            # Each row that is written has a higher number than all before it.
            self._take(_since(catalog, before))
        return self

    def _drop(self, times: Mapping[str, int]) -> None:
        """Drop the entries that are gone, and correct the times of entries whose files were touched."""
        for path, entry in list(self._entries.items()):
            if path not in times:
                del self._entries[path]
            elif entry.mtime_ns != times[path]:
                self._entries[path] = replace(entry, mtime_ns=times[path])

    def _take(self, entries: Mapping[str, Entry]) -> None:
        self._entries.update(entries)
        if self._whole:
            for path, entry in entries.items():
                copies = self._of_id.get(entry.id, ())
                if path not in copies:
                    self._of_id[entry.id] = (*copies, path)
                if session := entry.text("session"):
                    self._of_session.setdefault(session, set()).add(path)


def _is_small(catalog: Database) -> bool:
    """Whether the catalogue has at most `_MOST` entries; it counts no further than that."""
    counted = "SELECT count(*) FROM (SELECT 1 FROM entries LIMIT ?)"
    return bool(catalog.rows(counted, (_MOST + 1,))[0][0] <= _MOST)


def _since(catalog: Database, number: int) -> dict[str, Entry]:
    return {row[0]: entry_of(row) for row in catalog.rows(f"SELECT {ENTRY} FROM entries WHERE n > ?", (number,))}
