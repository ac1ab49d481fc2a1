"""The indexes of one vault: compared with the files before every answer, brought up to date, built anew when spoilt."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from vault_tool.config import Config
from vault_tool.errors import Busy, GitError, StorageError
from vault_tool.files import git, reader, tombstones
from vault_tool.files.disk_changes import Changes, compare, trusted_stat
from vault_tool.files.layout import INDEX_FILE, FileKind, file_kind
from vault_tool.files.reader import Scan
from vault_tool.index import authorship, updating
from vault_tool.index.authorship import HistoryDelta, Owners
from vault_tool.index.building import Progress, build, faults_digest
from vault_tool.index.catalog import Catalog, Known
from vault_tool.index.export import write_index
from vault_tool.index.lexical import LexicalHit
from vault_tool.index.reading import Seen, with_head, without
from vault_tool.index.seals import IndexState, SealedFile, clear_temporaries, lock, make_way
from vault_tool.index.searching import Search, Spoilt, Wording
from vault_tool.index.store import Replaced, Store
from vault_tool.index.storing import IndexDifference, apply
from vault_tool.index.updating import Tally, Tip
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import Clock, stamp

__all__ = ["Index", "Progress", "Refresh"]

_SMALL = 2000
_EXPORT_SHARE = 0.05
T = TypeVar("T")

_ATTEMPTS = 5
_NOTHING = Tally()


@dataclass(frozen=True, slots=True)
class Refresh:
    """What a comparison with the files found and did. Counts are of notes; a moved note is one that was modified.

    `withheld` says why vanished notes were not forgotten; `behind` counts files that left while we looked, which the
    next comparison settles; `rebuilt` says that the indexes were built anew.
    """

    added: int = 0
    modified: int = 0
    removed: int = 0
    unchanged: int = 0
    count: int = 0
    problems: int = 0
    stale: tuple[str, ...] = ()
    withheld: str = ""
    seconds: float = 0.0
    behind: int = 0
    rebuilt: bool = False


class Index:
    """The derived indexes of one vault. Every answer of `catalog` and `search` is of the last refresh."""

    def __init__(
        self,
        root: Path,
        config: Config,
        repo: git.Repo | None,
        clock: Clock,
        owners: Callable[[], Owners] | None = None,
        *,
        around: bool = False,
    ) -> None:
        self._root = root
        self._around = around
        self._config = config
        self._repo = repo
        self._clock = clock
        self._owners = owners or self._who_commits
        self._store = Store(root, config, around=around)
        self._search = Search(self._store, config)
        self._looks: Mapping[str, reader.FolderScan] = {}
        self._exports_later = False

    @classmethod
    def open(
        cls,
        root: Path,
        config: Config,
        repo: git.Repo | None,
        clock: Clock,
        owners: Callable[[], Owners] | None = None,
        *,
        around: bool = False,
    ) -> Index:
        """The indexes of a vault; nothing is read or written before something is asked.

        `owners` says, when it matters, whose commits are the owner's; else theirs whom git would name as the author here.
        With `around` they hold the notes of the folder that the vault lies in as well.
        """
        return cls(root, config, repo, clock, owners, around=around)

    def close(self) -> None:
        """Let go of all files."""
        self._search.close()
        self._store.close()

    @property
    def catalog(self) -> Catalog:
        """The catalogue of the last refresh, built first when there is none that can be trusted."""
        for _ in range(_ATTEMPTS):
            catalog = self._store.ready()
            if catalog is not None:
                return catalog
            self.refresh()
        raise StorageError("the index is spoilt as soon as it is built", "look whether another program writes to `_cache`")

    def consistent_read(self) -> AbstractContextManager[None]:
        """Answer all that is asked until the end as of one look at the indexes: what an answer is made of belongs together."""
        return self._search.consistent_read()

    def refresh(
        self, *, full: bool = False, confirm: bool = False, refresh_names: bool = False, progress: Progress | None = None
    ) -> Refresh:
        """Compare all files with the indexes and take in what changed; `full` reads every file again.

        A `refresh_names`, once a comparison was made, looks only into folders whose own times changed and into those of subjects:
        it notices what came, went, was moved or replaced, not what was written in place elsewhere. It is for appending.

        When notes vanished in bulk nothing is forgotten unless git explains it or `confirm` says that it is meant.
        Raises Busy when another process holds the indexes for longer than the bounded wait, and StorageError.
        """
        begun = time.perf_counter()
        for _ in range(_ATTEMPTS):
            try:
                return _timed(self._refreshed(full, confirm, refresh_names, progress), begun)
            except Replaced:
                # The other's build is of the files as it saw them; the answer must be of the files after the question.
                continue
        raise Busy("other processes keep building the index", "try again in a moment")

    def wrote(self, paths: Sequence[str]) -> Refresh:
        """Take in just these files, which we wrote or removed ourselves: no walk. Those that are not the vault's are passed over.

        Where HEAD is is not noted: a later comparison may need to know from where it came.
        """
        begun = time.perf_counter()
        catalog = self._store.ready()
        if catalog is None:
            return self.refresh()
        # Taken before the stats are: what changed within a tick of this moment is read once more (`trusted_stat`).
        started = time.time_ns()
        paths = [path for path in paths if file_kind(path) not in (None, FileKind.OTHER)]
        head = catalog.meta("head")
        there = reader.present(self._root, paths)
        known = catalog.files(paths)
        gone = tuple(path for path in sorted(set(paths)) if path not in there and path in known)
        try:
            update = self._update(catalog, Scan({}, started_ns=started), Changes(there, gone), known, updating.Tip(head, head))
        except Replaced:
            return self.refresh()
        return _timed(update, begun)

    def recheck(self, paths: Iterable[str]) -> Refresh:
        """Compare just these files with the indexes: what a lookup by id does before it answers, without a walk."""
        catalog = self.catalog
        named = sorted(set(paths))
        if not named:
            return self._report(catalog)
        there = reader.present(self._root, named)
        return self.wrote([path for path in named if there.get(path) != updating.stat_of(catalog, path)])

    def search(
        self,
        text: str,
        limit: int,
        classes: Collection[str] | None = None,
        types: Collection[str] | None = None,
        *,
        near: bool = False,
        waiting: bool = False,
    ) -> list[LexicalHit]:
        """The best files for a person's text, best first, as of the last refresh; waiting changes are in the answer.

        `classes` and `types` limit the answer (`page` is the class of pages). With `near`, words that stand close
        together as they do in the text count more. With `waiting`, a few changes that wait are answered for from beside
        the index and not written first: for what is asked in the middle of a write. Raises Busy and StorageError.
        """
        return _built(self._lexically(lambda: self._search.search(self.catalog, text, limit, classes, types, near, waiting)))

    def flush(self) -> None:
        """Write the changes that wait for the full-text index now, so that no search has to; what cannot be written waits on."""
        self._lexically(lambda: self._search.caught_up(self.catalog))

    def wording(self, text: str, limit: int, classes: Collection[str], whole: str = "") -> dict[str, Wording]:
        """How the words of the best files of these classes stand to a question, best first; see `search` for what it raises."""
        return _built(self._lexically(lambda: self._search.wording(self.catalog, text, limit, classes, whole)))

    def mentioned(self, sentences: Sequence[Mapping[str, float]], limit: int, classes: Collection[str]) -> dict[str, float]:
        """What files of these classes have in common with the sentences of a conversation, beyond chance; see `search`."""
        return _built(self._lexically(lambda: self._search.mentioned(self.catalog, sentences, limit, classes)))

    def _lexically(self, ask: Callable[[], T]) -> T | None:
        """What the full-text index says, built anew where it is spoilt; None where that does not help."""
        for _ in range(_ATTEMPTS):
            try:
                return ask()
            except Spoilt:
                self._mend_lexical()
        return None

    def export(self) -> None:
        """Write `_index.json` as of the last refresh; nothing is done where it stands so already."""
        catalog = self.catalog
        part = self._exported
        if self._unexported(catalog) == 0:
            return
        with lock(self._store.cache / "export.lock", self._config.lock_wait, INDEX_FILE):
            make_way(part.path)
            clear_temporaries(part.path)
            with part.writing(f"{catalog.meta('nonce')} {catalog.meta('changes')}"):
                write_index(part.path, catalog, stamp(self._clock.now()))

    @contextmanager
    def exporting_once(self) -> Iterator[None]:
        """Many operations in a row: `_index.json`, written whole each time, follows them once and at their end."""
        self._exports_later = True
        try:
            yield
        finally:
            self._exports_later = False
        self._export_if_due(self.catalog)

    def _refreshed(self, full: bool, confirm: bool, refresh_names: bool, progress: Progress | None) -> Refresh:
        self._store.borrow_if_unwritable()
        catalog = self._store.ready()
        scan = self._scanned(self._trusted(catalog) if refresh_names and catalog and not full else None)
        # After a walk that failed in part no folder's times are trusted: the next look goes everywhere.
        self._looks = {} if scan.partial else scan.looks
        if catalog is None:
            return self._rebuild(scan, progress)
        changes = compare(catalog.known(), scan)
        where = updating.tip(self._repo, catalog)
        # With more than half of the files in doubt, filling new tables in bulk beats changing the old ones row by row.
        if not full and len(changes.suspects) <= max(_SMALL, scan.count // 2):
            known = catalog.files([*changes.suspects, *changes.gone]) if changes else {}
            return self._walked(catalog, scan, changes, known, where, confirm)
        known = catalog.files(scan.files)
        if scan.partial or (not confirm and updating.withheld(catalog, changes.gone, (), self._repo, where)):
            # Building anew would forget what is out of sight: read everything into the indexes that there are.
            every = {path: was for path, was in known.items() if path not in scan.files} if full else known
            return self._walked(catalog, scan, Changes(scan.files, changes.gone), every, where, confirm)
        before = {**known, **catalog.files(changes.gone)}
        return self._rebuild(scan, progress, before)

    def _scanned(self, trusted: reader.Trusted | None = None) -> Scan:
        return reader.scan(self._root, trusted, around=self._around)

    def _trusted(self, catalog: Catalog) -> reader.Trusted | None:
        """What a glance need not look at; None before the first comparison of this process."""
        if not self._looks:
            return None
        subjects = catalog.rows("SELECT path FROM entries WHERE class = ?", (RecordClass.SUBJECT.value,))
        return reader.Trusted(self._looks, catalog.known(), frozenset(row[0].rpartition("/")[0] for row in subjects))

    def _walked(
        self, catalog: Catalog, scan: Scan, changes: Changes, known: Mapping[str, Known], where: Tip, confirm: bool
    ) -> Refresh:
        digests = {"faults": faults_digest(scan.faults), "forgotten": updating.tombstone_digest(tombstones.forgotten(self._root))}
        news = {name: digest for name, digest in digests.items() if catalog.meta(name) != digest}
        # The usual case: no lock is taken and nothing is written, but for an export that is due.
        if not (changes or news or where.facts):
            self._export_if_due(catalog)
            return self._report(catalog)
        return self._update(catalog, scan, changes, known, where, news, walked=True, confirm=confirm)

    def _update(
        self,
        catalog: Catalog,
        scan: Scan,
        changes: Changes,
        known: Mapping[str, Known],
        where: Tip,
        news: Mapping[str, str] | None = None,
        *,
        walked: bool = False,
        confirm: bool = False,
    ) -> Refresh:
        """Apply a difference. After a walk vanished files are looked for once more, and losses in bulk are withheld."""
        suspects, gone = dict(changes.suspects), changes.gone
        history, where, doubt = self._history(catalog, where)
        if walked and gone:
            # Written after the walk passed by, and indexed by another process meanwhile: not gone at all.
            back = reader.present(self._root, gone) if not scan.partial else {}
            suspects |= back
            gone = tuple(path for path in gone if path not in back)
        # What is served as HEAD had it must follow HEAD, though the files themselves did not change.
        again = updating.unreadable(catalog) if where.moved else ()
        changed = authorship.changed_since(self._repo, catalog, where.now) if doubt and self._repo is not None else frozenset()
        again = (*again, *history.touched(catalog), *changed)
        forgotten = tombstones.forgotten(self._root)
        if news and "forgotten" in news:
            again = (*again, *updating.raised(catalog, forgotten))
        suspects |= {
            path: stat for path, stat in reader.present(self._root, set(again) - suspects.keys()).items() if path not in gone
        }
        found = updating.read(self._root, self._config, suspects, known, again)
        if doubt and self._repo is not None:
            was = catalog.files([one.path for one in found.seen])
            new = [one.path for one in found.seen if one.path in changed or one.path not in was or was[one.path].hash != one.hash]
            history = authorship.doubted(self._repo, catalog, where.now, new, self._clock.now())
        seen = self._served(catalog, history, found.seen, where.now, forgotten)
        reason = ""
        if walked and gone:
            if scan.partial:
                gone, reason = (), "some folders could not be looked into, so nothing was forgotten"
            elif not confirm:
                reason = updating.withheld(catalog, gone, seen, self._repo, where)
                gone = () if reason else gone
        # While losses are withheld, HEAD stays where it was known: git may still explain them.
        facts = {**(news or {}), **({} if reason else where.facts), **history.facts}
        stats, times = updating.to_remember(catalog, found.touched, scan.started_ns)
        if not (seen or gone or stats or times or facts):
            return replace(self._report(catalog), withheld=reason, behind=found.vanished)
        before = catalog.files([*(one.path for one in seen), *gone])
        with self._store.writing(catalog):
            seen, gone = self._as_they_are_now(catalog, history, seen, gone, where.now)
            stats |= {one.path: trusted_stat(one.stat, scan.started_ns) for one in seen}
            # Counted since the build: by it the export knows how far it is behind.
            facts["changes"] = str(int(catalog.meta("changes") or 0) + len(seen) + len(gone) + len(times))
            apply(catalog, IndexDifference(seen, stats, times, gone, scan.faults if news else None, facts, history))
        self._export_if_due(catalog)
        report = self._report(catalog, updating.tally(seen, gone, before))
        return replace(report, withheld=reason, behind=found.vanished)

    def _history(self, catalog: Catalog, where: Tip) -> tuple[HistoryDelta, Tip, bool]:
        """What the history brought since it was looked at last; True where git cannot say, and HEAD counts as not looked at."""
        if self._repo is None or not where.facts:
            return HistoryDelta(), where, False
        try:
            return authorship.since(self._repo, catalog, where.now, self._owners), where, False
        except GitError:
            return HistoryDelta(), replace(where, facts={**where.facts, "head_signature": ""}), True

    def _who_commits(self) -> Owners:
        return Owners(frozenset(filter(None, [git.own_address(self._repo)] if self._repo is not None else [])))

    def _served(
        self, catalog: Catalog, history: HistoryDelta, seen: Sequence[Seen], head: str, forgotten: Collection[str]
    ) -> tuple[Seen, ...]:
        """What was read, as it is served: a broken note as HEAD has it, a forgotten one not at all, others' texts as theirs."""
        shown = without(with_head(seen, self._repo, head, self._config.types), forgotten)
        paths = [one.path for one in seen]
        return tuple(authorship.beliefs(self._repo, catalog, history, paths, self._clock.now(), head).of(shown))

    def _as_they_are_now(
        self, catalog: Catalog, history: HistoryDelta, seen: tuple[Seen, ...], gone: tuple[str, ...], head: str
    ) -> tuple[tuple[Seen, ...], tuple[str, ...]]:
        """What was seen and missed, where files went on changing read once more: the caller holds the catalogue's lock."""
        late = updating.overtaken(self._root, catalog, seen, gone)
        if not (late.again or late.left):
            return seen, gone
        found = updating.read(self._root, self._config, late.again, {}, ())
        instead = self._served(catalog, history, found.seen, head, tombstones.forgotten(self._root))
        kept = [one for one in seen if one.path not in late.again and one.path not in late.left]
        return (*kept, *instead), tuple(path for path in gone if path not in late.again)

    def _rebuild(self, scan: Scan, progress: Progress | None, before: Mapping[str, Known] | None = None) -> Refresh:
        """Build everything anew beside what there is, and put it in its place.

        `before` is what was known, when that is not the reason to build. Raises Replaced when another process built
        it while we waited.
        """
        head = updating.head_now(self._repo)
        signature = updating.head_signature(self._repo) if self._repo is not None else ""
        graves = updating.tombstone_digest(tombstones.forgotten(self._root))
        history = HistoryDelta()
        if self._repo is not None:
            try:
                history = authorship.whole(self._repo, head, self._owners())
            except GitError:
                history, signature = authorship.doubted(self._repo, None, head, scan.files, self._clock.now()), ""
        facts = {"settings": self._store.settings, "head": head, "head_signature": signature, "forgotten": graves}
        facts |= history.facts
        with self._store.building():
            # Asked again under the lock: of several that found the index missing one builds, and the others use its work.
            ready = self._store.ready() if before is None else None
            if ready is not None and self._search.usable(ready):
                raise Replaced
            # Under this lock nobody else is building: what is half built is a killed process's, and may be as large as the index.
            self._store.sweep()
            built = build(
                self._root, self._store.cache, scan, self._config, self._repo, facts, history, self._clock.now(), progress
            )
            # Before the catalogue that names it: who sees the new catalogue must find its full-text index sealed.
            self._search.part(built.nonce).renew_seal(built.nonce)
            with self._store.locked():
                # What others took in while it was built must not be missing from it: they looked, and will not look again.
                self._catch_up(built.catalog, head)
                self._store.publish(built.catalog, built.nonce)
            self._store.sweep(built.nonce)
        catalog = self.catalog
        self._export_if_due(catalog)
        notes = Tally(catalog.counts().notes) if before is None else updating.compared(before, catalog.all_files())
        return replace(self._report(catalog, notes), behind=built.vanished, rebuilt=True)

    def _catch_up(self, made: Path, head: str) -> None:
        """Take into a catalogue that nobody uses yet what changed while it was built. Raises Replaced where it is gone by now."""
        try:
            catalog = Catalog.open(made)
        except sqlite3.DatabaseError as fault:
            raise Replaced from fault
        try:
            scan = self._scanned()
            changes = compare(catalog.known(), scan)
            known = catalog.files([*changes.suspects, *changes.gone])
            found = updating.read(self._root, self._config, changes.suspects, known, ())
            seen = self._served(catalog, HistoryDelta(), found.seen, head, tombstones.forgotten(self._root))
            lost = scan.partial or updating.withheld(catalog, changes.gone, seen, self._repo, updating.Tip(head, head))
            gone = () if lost else changes.gone
            stats, times = updating.to_remember(catalog, found.touched, scan.started_ns)
            if seen or gone or stats or times:
                stats |= {one.path: trusted_stat(one.stat, scan.started_ns) for one in seen}
                apply(catalog, IndexDifference(seen, stats, times, gone))
        finally:
            catalog.close()

    def _mend_lexical(self) -> None:
        self._store.drop()
        self._store.borrow_if_unwritable()
        with suppress(Replaced):
            self._rebuild(self._scanned(), None)

    @property
    def _exported(self) -> SealedFile:
        return SealedFile(self._root / INDEX_FILE, self._store.cache / "index.seal")

    def _export_if_due(self, catalog: Catalog) -> None:
        """Write `_index.json` when it is not as we left it, and otherwise when enough has changed to be worth its size."""
        if self._exports_later:
            return
        changed = self._unexported(catalog)
        size = catalog.counts().entries
        if changed is not None and (not changed or (size > _SMALL and changed <= _EXPORT_SHARE * size)):
            return
        # Nothing reads it here, so an answer must not fail for it (a read-only folder, a full disk, another's lock).
        with suppress(Busy, StorageError):
            self.export()

    def _unexported(self, catalog: Catalog) -> int | None:
        """How many changes `_index.json` is behind; None where it is not as we left it, or of another build."""
        part = self._exported
        build_then, _, changes_then = part.nonce().partition(" ")
        if build_then != catalog.meta("nonce") or part.state() is not IndexState.INTACT:
            return None
        return int(catalog.meta("changes") or 0) - int(changes_then or 0)

    def _report(self, catalog: Catalog, notes: Tally = _NOTHING) -> Refresh:
        counts = catalog.counts()
        unchanged = counts.notes - notes.added - notes.modified
        return Refresh(
            notes.added, notes.modified, notes.removed, unchanged, counts.notes, counts.problems, catalog.stale_paths()
        )


def _built(answer: T | None) -> T:
    """What the full-text index answered; StorageError where it could not even be built anew."""
    if answer is None:
        raise StorageError("the full-text index cannot be built", "look at the free space and the permissions of `_cache`")
    return answer


def _timed(refresh: Refresh, begun: float) -> Refresh:
    return replace(refresh, seconds=time.perf_counter() - begun)
