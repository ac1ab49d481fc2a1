"""The comparison of the indexes with the files: what changed is taken in, and what is spoilt or missing is built anew."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vault_tool.config import Config
from vault_tool.errors import Busy, GitError
from vault_tool.files import git, reader, tombstones
from vault_tool.files.layout import FileKind, file_kind, is_around
from vault_tool.files.reader import Scan
from vault_tool.index import authorship, graves
from vault_tool.index.catalog import Catalog, Known
from vault_tool.index.refresh import ahead, attribution, build, diff, former_titles, ingest, reading, served_notes
from vault_tool.index.refresh.diff import Changes, HeadMove, Progress, Tally, compare, trusted_stat
from vault_tool.index.store import Replaced, Store
from vault_tool.index.text_search import TextSearch
from vault_tool.index.trusted_authors import TrustedAuthors
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import Clock
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from typing import TypeAlias

    from vault_tool.index.graves import Graves
    from vault_tool.index.refresh.reading import Seen
    from vault_tool.model.snapshot import Entry

    Follower: TypeAlias = Callable[[Sequence[tuple[str, Entry | None, Entry | None]]], None]

_ATTEMPTS = 5
_SMALL = 2000
_NOTHING = Tally()


def _digest(forgotten: Graves | None) -> str:
    return forgotten.digest() if forgotten else ""


def _with_graves(
    catalog: Catalog, facts: Mapping[str, str] | None, forgotten: Graves | None, *, walked: bool
) -> Mapping[str, str] | None:
    """The facts with that of the tombstones, where a walk found it changed."""
    if walked and (digest := _digest(forgotten)) != catalog.meta("forgotten"):
        return {**(facts or {}), "forgotten": digest}
    # By the walk's own look a tombstone was ours of which the history says now who brought it.
    return {name: fact for name, fact in facts.items() if name != "forgotten"} if facts else facts


def _read_by_a_walk(paths: Collection[str]) -> set[str]:
    """Those of the paths that a walk reads: git compares more, as forms for new notes."""
    return {path for path in paths if file_kind(path) not in (None, FileKind.OTHER)}


class Refresh(Struct):
    """The result of a comparison with the files. Counts are of notes; a moved note is one that was modified.

    `held_back` says why vanished notes were not forgotten; `behind` counts files that left while we looked, which the
    next comparison settles; `rebuilt` says that the indexes were built anew.
    """

    added: int = 0
    modified: int = 0
    removed: int = 0
    unchanged: int = 0
    count: int = 0
    problems: int = 0
    stale: tuple[str, ...] = ()
    held_back: str = ""
    seconds: float = 0.0
    behind: int = 0
    rebuilt: bool = False


def report(catalog: Catalog, notes: Tally = _NOTHING) -> Refresh:
    """How a catalogue stands after so many notes were taken in."""
    counts = catalog.counts()
    unchanged = counts.notes - notes.added - notes.modified
    return Refresh(notes.added, notes.modified, notes.removed, unchanged, counts.notes, counts.problems, catalog.stale_paths())


class Refresher:
    """Compares one vault's indexes with its files. `owners` says, when it matters, whose commits are the owner's."""

    def __init__(
        self,
        root: Path,
        config: Config,
        repo: git.Repo | None,
        clock: Clock,
        owners: Callable[[], TrustedAuthors] | None,
        store: Store,
        search: TextSearch,
        around: bool,
        followers: Callable[[], Sequence[Follower]] = tuple,
    ) -> None:
        self._root = root
        self._config = config
        self._repo = repo
        self._clock = clock
        self._owners = owners or self._who_commits
        self._store = store
        self._search = search
        self._around = around
        self._followers = followers
        self._looks: Mapping[str, reader.FolderScan] = {}
        self._clocked = diff.Clocked()

    def refresh(self, *, full: bool, confirm: bool, refresh_names: bool, progress: Progress | None) -> Refresh:
        """Compare all files; see `Index.refresh`."""
        for _ in range(_ATTEMPTS):
            # The other's build is of the files as it saw them; the answer must be of the files after the question.
            with suppress(Replaced):
                return self._compared(full, confirm, refresh_names, progress)
        raise Busy("other processes keep building the index", "try again in a moment")

    def wrote(self, paths: Sequence[str]) -> Refresh | None:
        """Take in just these files; see `Index.wrote`. None where there is no catalogue to take them into."""
        catalog = self._store.ready()
        if catalog is None:
            return None
        # Taken before the stats are: what changed within a tick of this moment is read once more (`trusted_stat`).
        started = time.time_ns()
        paths = [path for path in paths if file_kind(path) not in (None, FileKind.OTHER)]
        head = catalog.meta("head")
        stats = reader.present(self._root, paths)
        known = catalog.files(paths)
        gone = tuple(path for path in sorted(set(paths)) if path not in stats and path in known)
        with suppress(Replaced):
            return self._update(catalog, Scan({}, started_ns=started), Changes(stats, gone), known, HeadMove(head, head))
        return None

    def mend(self) -> None:
        """Build the indexes anew, because one of them turned out to be spoilt."""
        self._store.drop()
        self._store.borrow_if_unwritable()
        with suppress(Replaced):
            self._rebuild(self._scanned(), None)

    def _compared(self, full: bool, confirm: bool, refresh_names: bool, progress: Progress | None) -> Refresh:
        self._store.borrow_if_unwritable()
        catalog = self._store.ready()
        scan = self._scanned(self._trusted(catalog) if refresh_names and catalog and not full else None)
        # After a walk that failed in part no folder's times are trusted: the next look goes everywhere.
        self._looks = {} if scan.partial else scan.looks
        if catalog is None:
            return self._rebuild(scan, progress)
        changes = compare(catalog.known(), scan)
        head = diff.head_move(self._repo, catalog)
        # With more than half of the files in doubt, filling new tables in bulk beats changing the old ones row by row.
        if not full and len(changes.suspects) <= max(_SMALL, scan.count // 2):
            known = catalog.files([*changes.suspects, *changes.gone]) if changes else {}
            return self._walked(catalog, scan, changes, known, head, confirm)
        known = catalog.files(scan.files)
        if scan.partial or (not confirm and diff.removal_doubt(catalog, changes.gone, (), self._repo, head)):
            # Building anew would forget what is out of sight: read everything into the indexes that there are.
            every = {path: was for path, was in known.items() if path not in scan.files} if full else known
            return self._walked(catalog, scan, Changes(scan.files, changes.gone), every, head, confirm)
        return self._rebuild(scan, progress, {**known, **catalog.files(changes.gone)})

    def _scanned(self, trusted: reader.Trusted | None = None) -> Scan:
        return reader.scan(self._root, trusted, around=self._around, until=self._store.until)

    def _trusted(self, catalog: Catalog) -> reader.Trusted | None:
        """The stamps that spare a glance most of its looks; None before the first comparison of this process."""
        if not self._looks:
            return None
        subjects = catalog.rows("SELECT path FROM entries WHERE class = ?", (RecordClass.SUBJECT.value,))
        return reader.Trusted(self._looks, catalog.known(), frozenset(row[0].rpartition("/")[0] for row in subjects))

    def _walked(
        self, catalog: Catalog, scan: Scan, changes: Changes, known: Mapping[str, Known], head: HeadMove, confirm: bool
    ) -> Refresh:
        digests = {"faults": diff.digest_of_faults(scan.faults), "forgotten": _digest(self._graves(catalog))}
        facts = {name: digest for name, digest in digests.items() if catalog.meta(name) != digest}
        # The usual case: no lock is taken and nothing is written.
        if not (changes or facts or head.facts or diff.Clocked.read(catalog.meta("clock")).says_another(self._clock.now())):
            return report(catalog)
        return self._update(catalog, scan, changes, known, head, facts, walked=True, confirm=confirm)

    def _update(
        self,
        catalog: Catalog,
        scan: Scan,
        changes: Changes,
        known: Mapping[str, Known],
        head: HeadMove,
        facts: Mapping[str, str] | None = None,
        *,
        walked: bool = False,
        confirm: bool = False,
    ) -> Refresh:
        """Apply a difference. After a walk vanished files are looked for once more, and losses in bulk are held back."""
        history, head, doubt = self._history(catalog, head)
        # Written after the walk passed by, and indexed by another process meanwhile: not gone at all.
        back = reader.present(self._root, changes.gone) if walked and changes.gone and not scan.partial else {}
        suspects, gone = {**changes.suspects, **back}, tuple(path for path in changes.gone if path not in back)
        forgotten = self._graves(catalog, history)
        facts = _with_graves(catalog, facts, forgotten, walked=walked)
        changed = authorship.changed_since(self._repo, catalog, head.now) if doubt and self._repo is not None else frozenset()
        again = {*history.touched(catalog), *changed, *self._to_follow(catalog, head, facts or {}, forgotten)}
        now, clocked = self._clock.now(), diff.Clocked.read(catalog.meta("clock"))
        if another_time := walked and clocked.says_another(now):
            otherwise, latest = ahead.to_read_again(catalog, now)
            again |= otherwise
            clocked = diff.Clocked(latest)
        elif head.moved and clocked.first:  # a commit may say when a note was written of which another said it, or none
            again |= ahead.placed(catalog)
        self._clocked = clocked
        if walked or gone:
            again |= diff.to_judge_again(catalog, suspects, gone)
        again = _read_by_a_walk(again)
        stats_again = reader.present(self._root, again - suspects.keys())
        suspects |= {path: stat for path, stat in stats_again.items() if path not in gone}
        read = diff.read(self._root, self._config, suspects, known, again)
        if doubt and self._repo is not None:
            history = self._doubted(self._repo, catalog, head.now, read.seen, changed)
        seen = self._served(catalog, history, read.seen, head.now, forgotten, moved=head.moved)
        reason = self._removal_doubt(catalog, scan, gone, seen, head, confirm=confirm) if walked and gone else ""
        gone = () if reason else gone
        seen = diff.with_moved_copies(self._root, catalog, seen, gone)
        # While losses are held back, HEAD stays where it was known: git may still explain them.
        all_facts = {**(facts or {}), **({} if reason else head.facts), **history.facts}
        if seen or another_time:
            all_facts["clock"] = self._clocked.fact()
        stats, times = diff.to_remember(catalog, read.touched, scan.started_ns)
        if not (seen or gone or stats or times or all_facts):
            return replace(report(catalog), held_back=reason, behind=read.vanished)
        before = catalog.files([*(file.path for file in seen), *gone])
        with self._store.writing(catalog):
            seen, gone = self._as_they_are_now(catalog, history, seen, gone, head.now)
            seen = self._under_their_ids(catalog, seen, gone) if self._around else seen
            stats |= {file.path: trusted_stat(file.stat, scan.started_ns) for file in seen}
            # Counted since the build: by it the export knows how far it is behind.
            all_facts["changes"] = str(int(catalog.meta("changes") or 0) + len(seen) + len(gone) + len(times))
            difference = ingest.IndexDifference(seen, stats, times, gone, scan.faults if facts else None, all_facts, history)
            followers = self._followers()
            taken_in = ingest.changes_of(catalog, difference) if followers else []
            ingest.apply(catalog, difference)
        for follow in followers if taken_in else ():
            follow(taken_in)
        return replace(report(catalog, diff.tally(seen, gone, before)), held_back=reason, behind=read.vanished)

    def _to_follow(self, catalog: Catalog, head: HeadMove, facts: Mapping[str, str], forgotten: Graves | None) -> set[str]:
        """The notes to read again though their files did not change: HEAD moved, or other memories are forgotten than before."""
        # What is served as HEAD had it must follow HEAD.
        paths = set(diff.unreadable(catalog)) if head.moved else set()
        return paths.union(diff.resurrected(catalog, forgotten.named if forgotten else ())) if "forgotten" in facts else paths

    def _graves(self, catalog: Catalog | None, history: authorship.HistoryDelta | None = None) -> Graves | None:
        """The tombstones that there are, by whose they are."""
        if not tombstones.files(self._root):
            return None
        return graves.graves(self._root, catalog, (history or authorship.HistoryDelta()).grave_news())

    def _history(self, catalog: Catalog, head: HeadMove) -> tuple[authorship.HistoryDelta, HeadMove, bool]:
        """The history since the last look; True if git cannot say, and HEAD counts as not looked at."""
        if self._repo is None or not head.facts:
            return authorship.HistoryDelta(), head, False
        try:
            return authorship.since(self._repo, catalog, head.now, self._owners), head, False
        except GitError:
            return authorship.HistoryDelta(), replace(head, facts={**head.facts, "head_signature": ""}), True

    def _doubted(
        self, repo: git.Repo, catalog: Catalog, head: str, seen: Sequence[Seen], changed: Collection[str]
    ) -> authorship.HistoryDelta:
        """The history where git cannot say who brought what: texts that are new are doubted."""
        was = catalog.files([file.path for file in seen])
        new = [file.path for file in seen if file.path in changed or file.path not in was or was[file.path].hash != file.hash]
        return authorship.doubted(repo, catalog, head, new, self._clock.now())

    def _who_commits(self) -> TrustedAuthors:
        return TrustedAuthors(frozenset(filter(None, [git.own_address(self._repo)] if self._repo is not None else [])))

    def _served(
        self,
        catalog: Catalog,
        history: authorship.HistoryDelta,
        seen: Sequence[Seen],
        head: str,
        forgotten: Graves | None,
        *,
        moved: bool = False,
    ) -> tuple[Seen, ...]:
        """The files as they are served: a broken note as HEAD has it, a forgotten one not at all, others' texts as theirs,
        and a title that an earlier text made as the present one makes it.
        """
        shown = reading.with_head(seen, self._repo, head, self._config.types)
        paths = [file.path for file in seen]
        attributed = attribution.attribution(self._repo, catalog, history, paths, self._clock.now(), head, self._root)
        served = tuple(reading.without(attributed.of(shown), forgotten))
        self._clocked = self._clocked.beside(attributed.clocked)
        if not any(file.entry is not None and "title" in file.entry.head for file in served):
            return served
        return former_titles.followed(self._repo, catalog, head, served, self._config.types, moved=moved)

    def _removal_doubt(
        self, catalog: Catalog, scan: Scan, gone: Collection[str], seen: tuple[Seen, ...], head: HeadMove, *, confirm: bool
    ) -> str:
        """Why files that a walk did not meet are not forgotten; empty where they are."""
        if scan.partial:
            return "some folders could not be looked into, so nothing was forgotten"
        return "" if confirm else diff.removal_doubt(catalog, gone, seen, self._repo, head)

    def _as_they_are_now(
        self, catalog: Catalog, history: authorship.HistoryDelta, seen: tuple[Seen, ...], gone: tuple[str, ...], head: str
    ) -> tuple[tuple[Seen, ...], tuple[str, ...]]:
        """Files that changed during the reading, read once more: the caller holds the catalogue's lock."""
        late = diff.overtaken(self._root, catalog, seen, gone)
        if not (late.again or late.left):
            return seen, gone
        read = diff.read(self._root, self._config, late.again, {}, ())
        instead = self._served(catalog, history, read.seen, head, self._graves(catalog, history))
        unchanged = [file for file in seen if file.path not in late.again and file.path not in late.left]
        return (*unchanged, *instead), tuple(path for path in gone if path not in late.again)

    def _under_their_ids(self, catalog: Catalog, seen: tuple[Seen, ...], gone: Collection[str]) -> tuple[Seen, ...]:
        """The files read, where a note of the folder around that has another name now keeps its id."""
        notes = served_notes.ServedNotes(self._root)
        notes.follow(catalog.files([*(file.path for file in seen), *gone]), seen, gone)
        seen = notes.named(seen)
        notes.learn(catalog, seen)
        notes.save()
        return seen

    def _rebuild(self, scan: Scan, progress: Progress | None, before: Mapping[str, Known] | None = None) -> Refresh:
        """Build everything anew beside what there is, and put it in its place.

        `before` is what was known, when that is not the reason to build. Raises Replaced when another process built
        it while we waited.
        """
        head = diff.head_now(self._repo)
        signature = diff.head_signature(self._repo) if self._repo is not None else ""
        history = authorship.HistoryDelta()
        if self._repo is not None:
            try:
                history = authorship.whole(self._repo, head, self._owners())
            except GitError:
                history, signature = authorship.doubted(self._repo, None, head, scan.files, self._clock.now()), ""
        facts = {"settings": self._store.settings, "head": head, "head_signature": signature}
        facts["forgotten"] = _digest(self._graves(None, history))
        facts |= history.facts
        if self._around:
            self._follow_served(scan)
        with self._store.building():
            # Asked again under the lock: of several that found the index missing one builds, and the others use its work.
            ready = self._store.ready() if before is None else None
            if ready is not None and self._search.usable(ready):
                raise Replaced
            # Under this lock nobody else is building: what is half built is a killed process's, and may be as large as the index.
            self._store.sweep()
            now, cache = self._clock.now(), self._store.cache
            served = served_notes.ServedNotes(self._root) if self._around else None
            built = build.Build(self._root, cache, scan, self._config, self._repo, facts, history, now, progress, served).made()
            # Before the catalogue that names it: who sees the new catalogue must find its full-text index sealed.
            self._search.sealed(built.nonce).renew_seal(built.nonce)
            with self._store.locked():
                # What others took in while it was built must not be missing from it: they looked, and will not look again.
                self._catch_up(built.catalog, head)
                self._store.publish(built.catalog, built.nonce)
            self._store.sweep(built.nonce)
        catalog = self._store.ready()
        if catalog is None:
            raise Replaced
        if served is not None:
            served.learn_all(catalog)
            recalled = served.recall(catalog)
            served.save()
            if recalled:
                # Of an index that was built before it was known whose the ids are.
                return self._rebuild(scan, progress, before or {})
        notes = Tally(catalog.counts().notes) if before is None else diff.compared(before, catalog.all_files())
        return replace(report(catalog, notes), behind=built.vanished, rebuilt=True)

    def _follow_served(self, scan: Scan) -> None:
        """Look where notes of the folder around went, before an index is built that knows nothing of what was."""
        notes = served_notes.ServedNotes(self._root)
        catalog = self._store.ready()
        if catalog is not None and not scan.partial:
            changes = compare(catalog.known(), scan)
            paths = [*changes.suspects, *changes.gone]
            known = catalog.files(paths)
            suspects = {path: stat for path, stat in changes.suspects.items() if is_around(path)}
            notes.follow(known, diff.read(self._root, self._config, suspects, known, ()).seen, changes.gone)
        notes.settle(scan.files)
        notes.save()

    def _catch_up(self, built: Path, head: str) -> None:
        """Take the changes made during a build into the new catalogue, not used yet. Raises Replaced if it is gone by now."""
        try:
            catalog = Catalog.open(built)
        except sqlite3.DatabaseError as fault:
            raise Replaced from fault
        try:
            scan = self._scanned()
            changes = compare(catalog.known(), scan)
            known = catalog.files([*changes.suspects, *changes.gone])
            titles = former_titles.given_in(catalog) if self._repo is not None and head else {}
            retitled = former_titles.made_before(self._repo, head, titles, self._config.types, whole=True)
            suspects = {**reader.present(self._root, retitled), **changes.suspects}
            read = diff.read(self._root, self._config, suspects, known, retitled)
            seen = self._served(catalog, authorship.HistoryDelta(), read.seen, head, self._graves(catalog))
            seen = tuple(former_titles.renamed(file) if file.path in retitled else file for file in seen)
            seen = self._under_their_ids(catalog, seen, changes.gone) if self._around else seen
            lost = scan.partial or diff.removal_doubt(catalog, changes.gone, seen, self._repo, HeadMove(head, head))
            gone = () if lost else changes.gone
            seen = diff.with_moved_copies(self._root, catalog, seen, gone, catalog.copied_ids())
            stats, times = diff.to_remember(catalog, read.touched, scan.started_ns)
            if seen or gone or stats or times:
                stats |= {file.path: trusted_stat(file.stat, scan.started_ns) for file in seen}
                ingest.apply(catalog, ingest.IndexDifference(seen, stats, times, gone))
        finally:
            catalog.close()
