"""Entries in the memory of a process that asks again and again, brought up to date by what the catalogue took in since."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import attrgetter

from msgspec.structs import replace

from vault_tool.index.database import Database
from vault_tool.index.schema import DROPPED, ENTRY, entries_at, entry_of
from vault_tool.index.since import MANY, highest
from vault_tool.model.snapshot import Entry, owners_first
from vault_tool.util.gc_paused import no_collection

# So many entries take about 60 MB, and a third of a second once.
_MOST = 20_000

# Who asked so often for some that were not here yet is one who stays: an answer asks three times at most.
_OFTEN = 6


class EntryCache:
    """Entries by path. Of a small vault all of them, as soon as it is worth it; of a large one those that were asked for."""

    def __init__(self, catalog: Database) -> None:
        self._newest = highest(catalog)
        self._entries: dict[str, Entry] = {}
        self._of_session: dict[str, set[str]] = {}
        self._of_id: dict[str, tuple[str, ...]] = {}
        self._asked = 0
        self._whole = False

    def of(self, catalog: Database, paths: Collection[str]) -> dict[str, Entry]:
        """The entries of several files, in the order of these."""
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
        """The records of several sessions, each in the order of their paths; None where not all entries are in memory."""
        if not self._whole:
            return None
        paths = {name: sorted(self._of_session.get(name, ())) for name in names}
        by_session = {
            name: [self._entries[path] for path in paths_of_session if path in self._entries]
            for name, paths_of_session in paths.items()
        }
        # A record may have moved on to another session since it was noted here.
        return {name: [entry for entry in entries if entry.text("session") == name] for name, entries in by_session.items()}

    def of_id(self, record_id: str) -> tuple[Entry, ...] | None:
        """Every copy of one whole id, as `Catalog.get` has them; None where not all entries are in memory."""
        if not self._whole:
            return None
        entries = [self._entries[path] for path in self._of_id.get(record_id, ()) if path in self._entries]
        # A file may have been given another id since it was noted here.
        current = [entry for entry in entries if entry.id == record_id]
        return owners_first(sorted(current, key=attrgetter("path")))

    def _make_room(self, paths: Collection[str], count: int) -> None:
        """Let go of what is not asked for now, where it would be too many with `count` more."""
        entries = self._entries
        if len(entries) + count > _MOST:
            asked = {path: entries[path] for path in paths if path in entries}
            entries.clear()
            entries.update(asked)

    def followed(self, catalog: Database, seq: str) -> EntryCache:
        """The same with what changed since the catalogue's state `seq`, by whatever process."""
        before, self._newest = self._newest, highest(catalog)
        dropped = int(catalog.meta(DROPPED) or 0) > int(seq or 0)
        # Where nothing is kept there is nothing to follow: the first question of a command must not pay for the next.
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
        """Let go of the entries that are not there any more, and put right the times of those whose files were touched."""
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
    """Whether there are at most so many entries; no more of them are counted."""
    counted = "SELECT count(*) FROM (SELECT 1 FROM entries LIMIT ?)"
    return bool(catalog.rows(counted, (_MOST + 1,))[0][0] <= _MOST)


def _since(catalog: Database, number: int) -> dict[str, Entry]:
    return {row[0]: entry_of(row) for row in catalog.rows(f"SELECT {ENTRY} FROM entries WHERE n > ?", (number,))}
