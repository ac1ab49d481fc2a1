"""A full build: every file read and parsed once, catalogue and full-text index filled beside the old ones."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from vault_tool.config import Config
from vault_tool.errors import StorageError
from vault_tool.files import git, tombstones
from vault_tool.files.layout import AROUND
from vault_tool.files.reader import Listing, Reader, Scan
from vault_tool.index import graves
from vault_tool.index.authorship import HistoryDelta
from vault_tool.index.catalog import UNREADABLE
from vault_tool.index.database import failure
from vault_tool.index.fulltext.index_format import Builder
from vault_tool.index.refresh.attribution import Attribution
from vault_tool.index.refresh.diff import Progress, digest_of_faults, trusted_stat
from vault_tool.index.refresh.ingest import Bulk
from vault_tool.index.refresh.reading import Seen, Vanished, ignored_around, passed_over, see, with_head, without
from vault_tool.index.seals import discard
from vault_tool.util.atomic import storage_error
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from vault_tool.index.refresh.served_notes import ServedNotes

_STEP = 500


class Built(Struct):
    """A finished build: where its catalogue waits to be published, its full-text folder, and what it counted."""

    catalog: Path
    lexical: Path
    nonce: str
    vanished: int


class Build(Struct):
    """The inputs of a full build: the files of `scan`, git's facts about them, and facts to remember (`facts`)."""

    root: Path
    cache: Path
    scan: Scan
    config: Config
    repo: git.Repo | None
    facts: Mapping[str, str]
    history: HistoryDelta
    now: datetime
    progress: Progress | None = None
    served: ServedNotes | None = None

    def made(self) -> Built:
        """Fill new indexes; what was made is removed again when something fails."""
        nonce = os.urandom(16).hex()
        catalog, lexical = self.cache / f"catalog.{nonce}.tmp", self.cache / "lexical" / nonce
        with ExitStack() as undo:
            undo.callback(discard, catalog)
            undo.callback(discard, lexical)
            try:
                vanished = self._fill(catalog, lexical, nonce)
            except sqlite3.Error as fault:
                raise failure(fault) from fault
            except OSError as fault:
                raise storage_error(self.cache.name, fault) from fault
            undo.pop_all()
        return Built(catalog, lexical, nonce, vanished)

    def _fill(self, catalog: Path, lexical: Path, nonce: str) -> int:
        """Fill both; returns how many files left meanwhile."""
        scan = self.scan
        bulk = Bulk(catalog)
        attribution = Attribution(self.repo, self.facts.get("head", ""), self.now, self.history.came, self.root)
        try:
            builder = Builder(lexical, self.config.language)
            listings: dict[str, Listing] = {folder: {} for folder in scan.folders}
            vanished = 0
            with no_collection():
                for file in self._seen(attribution):
                    if file is None:
                        vanished += 1
                        continue
                    folder, _, name = file.path.rpartition("/")
                    listings[folder][name] = trusted_stat(file.stat, scan.started_ns)
                    if self.served is not None and file.path.startswith(AROUND):
                        (file,) = self.served.named([file])
                    bulk.add(file)
                    if file.text is not None:
                        builder.add(file.text)
            own = {"nonce": nonce, "seq": "1", "changes": "0", "faults": digest_of_faults(scan.faults)}
            own["clock"] = attribution.clocked.fact()
            filled = {folder: names for folder, names in listings.items() if names}
            # Both write without holding Python's lock, so that neither waits for the other.
            with _concurrently(builder.finish):
                bulk.finish(filled, scan.faults, {**self.facts, **own}, self.history)
        finally:
            bulk.close()
        return vanished

    def _seen(self, attribution: Attribution) -> Iterator[Seen | None]:
        """Every file in the order of its path, those that need HEAD's text last; None for one that vanished meanwhile."""
        broken: list[Seen] = []
        commit, types, total = self.facts.get("head", ""), self.config.types, self.scan.count
        forgotten = graves.graves(self.root, None, self.history.grave_news()) if tombstones.files(self.root) else None
        left_out = ignored_around(self.root, self.scan.files)
        with Reader(self.root) as reader:
            for number, (path, stat) in enumerate(self.scan.files.items()):
                if self.progress is not None and number % _STEP == 0:
                    self.progress(number, total)
                if path in left_out:
                    yield passed_over(path, stat)
                    continue
                try:
                    file = see(reader, path, stat, types)
                except Vanished:
                    yield None
                    continue
                if file is not None and file.kind == UNREADABLE:
                    broken.append(file)
                elif file is not None:
                    yield from without(attribution.of([file]), forgotten)
        # Together, because git is asked once for all of them.
        yield from without(attribution.of(with_head(broken, self.repo, commit, types)), forgotten)
        if self.progress is not None:
            self.progress(total, total)


@contextmanager
def _concurrently(work: Callable[[], None]) -> Iterator[None]:
    """Do `work` in a thread of its own meanwhile, and raise what it raised."""
    faults: list[StorageError] = []

    def run() -> None:
        try:
            work()
        except StorageError as fault:
            faults.append(fault)

    thread = threading.Thread(target=run, name="full-text")
    thread.start()
    try:
        yield
    finally:
        thread.join()
    if faults:
        raise faults[0]
