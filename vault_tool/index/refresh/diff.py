"""The comparison of the files with the state last read: by their stats first, by content if a stat cannot decide.

The result are files to take in anew, files to forget, and files to leave for a person.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import field

from vault_tool.config import Config
from vault_tool.errors import GitError, NotFound, Refused
from vault_tool.files import conflict_copies, git
from vault_tool.files.layout import CONFIG_FILE, FileKind, file_kind, is_around, may_be_copy
from vault_tool.files.local_trust import place
from vault_tool.files.reader import Listing, Reader, Scan, Stat, present
from vault_tool.index.catalog import CONFLICT, FORGOTTEN, NOTES, UNREADABLE, Catalog, Known
from vault_tool.index.refresh import reading
from vault_tool.model.problems import Problem
from vault_tool.util.clock import stamp
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from vault_tool.index.refresh.reading import Seen

# A function called with the number of files done and the total; a few times a second at most.
Progress = Callable[[int, int], None]

# Stands for the stat of a file whose content must be compared again, whatever its stat says.
DOUBT: Stat = (-1, -1, -1, -1)

# A time ahead of the clock by at most this counts as it is written.
NEAR = timedelta(days=1)

_TICK = 20_000_000
_SECOND = 1_000_000_000

_FEW = 5
_FEW_NAMES = 50


class Clocked(Struct):
    """The fact `clock` of a catalogue: the clock when its notes were taken in, and the time when they must be read again."""

    last: str = ""
    """The latest time that counts as it is written, or the latest moment at which notes were taken in."""
    first: str = ""
    """The first moment at which a further time will count as it is written; empty if all times count so already."""
    day: str = ""
    """The day whose beginning replaced times ahead of the clock, if it replaced any."""

    @classmethod
    def read(cls, fact: str) -> Clocked:
        """Read the text that `fact` made."""
        return cls(*fact.split(" "))

    def says_another(self, now: datetime) -> bool:
        """Whether times count differently by the present clock: it was put back, or it reached `first` or another day."""
        present = stamp(now)
        return self.last > stamp(now + NEAR) or "" < self.first <= present or self.day not in ("", present[:10])

    def beside(self, other: Clocked) -> Clocked:
        """The fact for these notes and others together."""
        firsts = [first for first in (self.first, other.first) if first]
        return Clocked(max(self.last, other.last), min(firsts, default=""), max(self.day, other.day))

    def fact(self) -> str:
        """The text that a catalogue keeps."""
        return f"{self.last} {self.first} {self.day}"


class Changes(Struct):
    """The result of a comparison by stats. `suspects` are new or have another stat: only their content shows a change.

    `gone` are files that are not there now.
    """

    suspects: Mapping[str, Stat]
    gone: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.suspects) or bool(self.gone)


def compare(known: Mapping[str, Listing], scan: Scan) -> Changes:
    """Compare the last known listings with a walk; both in order of paths."""
    suspects: dict[str, Stat] = {}
    gone: list[str] = []
    for folder, now in scan.folders.items():
        before = known.get(folder)
        # For a folder that was not read, the scan returns the known listing itself.
        if before is now or before == now:
            continue
        before = before or {}
        suspects.update((f"{folder}/{name}", stat) for name, stat in now.items() if before.get(name) != stat)
        gone.extend(f"{folder}/{name}" for name in before if name not in now)
    for folder, before in known.items():
        if folder not in scan.folders:
            gone.extend(f"{folder}/{name}" for name in before)
    return Changes(dict(sorted(suspects.items())), tuple(sorted(gone)))


def trusted_stat(stat: Stat, started_ns: int) -> Stat:
    """The stat to remember of a file read after `started_ns`, or DOUBT when a later edit could leave its stat equal.

    A file changed within the clock's tick of our reading may change once more without its times telling (git calls
    this racy); file systems that keep whole seconds need two of them.
    """
    _, mtime, ctime, _ = stat
    grain = 2 * _SECOND if mtime % _SECOND == 0 and ctime % _SECOND == 0 else _TICK
    return DOUBT if max(mtime, ctime) >= started_ns - grain else stat


def is_bulk_loss(gone: int, notes: int) -> bool:
    """Whether so many notes are gone that a person has to confirm it, because an unmounted disk looks the same.

    That is more than a fifth and more than fifty of them, or all of five or more.
    """
    return (gone > 50 and gone * 5 > notes) or (gone >= notes >= 5)


class HeadMove(Struct):
    """The commit of HEAD at the catalogue's last update, and the one now; `facts` are to be stored in the catalogue."""

    before: str = ""
    now: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def moved(self) -> bool:
        """Whether HEAD is at another commit than before."""
        return self.before != self.now


class Findings(Struct):
    """The files that were read because they might have changed.

    `touched` are files whose content is unchanged, with their new stats; `vanished` counts files that went during the read.
    """

    seen: tuple[Seen, ...] = ()
    touched: Mapping[str, Stat] = field(default_factory=dict)
    vanished: int = 0


class OvertakenRead(Struct):
    """Files that changed after they were read: those to read `again`, and the paths of those that are gone (`left`)."""

    again: Mapping[str, Stat]
    left: frozenset[str]


class Tally(Struct):
    """The numbers of notes that were added, modified (or moved) and removed."""

    added: int = 0
    modified: int = 0
    removed: int = 0


def head_move(repo: git.Repo | None, catalog: Catalog) -> HeadMove:
    """The move of HEAD since the last update; git is asked only if its own files changed since it was asked last."""
    before = catalog.meta("head")
    if repo is None:
        return HeadMove(before, before)
    # This runs before every answer: two stats cost microseconds, while git costs a process.
    signature = head_signature(repo)
    if signature and signature == catalog.meta("head_signature"):
        return HeadMove(before, before)
    now = head_now(repo)
    facts = {"head": now, "head_signature": signature}
    return HeadMove(before, now, facts if signature or now != before else {})


def head_now(repo: git.Repo | None) -> str:
    """The commit of HEAD; empty if there is none, or if git fails."""
    try:
        return (git.head(repo).commit or "") if repo is not None else ""
    except GitError:
        return ""


def head_signature(repo: git.Repo) -> str:
    """A value that changes whenever HEAD moves: the stats of HEAD, its log, an open merge, and this machine's settings.

    Empty if git keeps no log of HEAD.
    """
    try:
        # A commit rewrites the branch's ref and leaves HEAD as it is; the log of HEAD is written either way.
        stats = [(repo.git_dir / name).stat() for name in ("HEAD", "logs/HEAD")]
    except OSError:
        return ""
    # An open merge has brought files before HEAD moves, and this machine's settings name the owner's addresses.
    for path in (repo.git_dir / "MERGE_HEAD", place(repo.root) / CONFIG_FILE):
        with suppress(OSError):
            stats.append(path.stat())
    return " ".join(f"{stat.st_size}.{stat.st_mtime_ns}.{stat.st_ino}" for stat in stats)


def read(
    root: Path, config: Config, suspects: Mapping[str, Stat], known: Mapping[str, Known], again: Collection[str]
) -> Findings:
    """Read the suspects; those in `again` count as changed even if their content is unchanged."""
    seen: list[Seen] = []
    touched: dict[str, Stat] = {}
    vanished = 0
    left_out = reading.ignored_around(root, suspects)
    with Reader(root) as reader:
        for path, stat in suspects.items():
            if path in left_out:
                seen.append(reading.passed_over(path, stat))
                continue
            try:
                file = reading.see(reader, path, stat, config.types, None if path in again else known.get(path))
            except reading.Vanished:
                vanished += 1
                continue
            if file is None:
                touched[path] = stat
            else:
                seen.append(file)
    return Findings(tuple(seen), touched, vanished)


def to_judge_again(catalog: Catalog, changed: Collection[str], gone: Collection[str]) -> set[str]:
    """Files to judge again whether they are conflict copies, because a note that may be their original changed, came or went."""
    moved = {*changed, *gone}
    copies = {path: [original for original, _ in conflict_copies.originals(path)] for path in catalog.of_kind(CONFLICT)}
    notes = catalog.by_paths([original for originals in copies.values() for original in originals])
    # A copy without an original beside it is a copy of a note elsewhere with its id, and that note may be gone.
    to_judge = {
        path for path, originals in copies.items() if not moved.isdisjoint(originals) or notes.keys().isdisjoint(originals)
    }
    by_folder: dict[str, list[str]] = defaultdict(list)
    for path in changed:
        if file_kind(path) is FileKind.NOTE:
            folder, _, name = path.rpartition("/")
            by_folder[folder].append(name[:-3])
    for folder, stems in by_folder.items():
        # A file beside a new or edited note may have been taken for a note so far, because there was no original with its id.
        # For a few names a test of beginnings is cheaper; for many, every name of the folder is looked at.
        beside = tuple(stems) if len(stems) <= _FEW_NAMES else ""
        names = [name for name in catalog.known().get(folder, ()) if name.startswith(beside) and may_be_copy(name)]
        paths = (f"{folder}/{name}" for name in names if name.endswith(".md"))
        # Also a file that is read anyway: if its content is unchanged, only this list has it judged again.
        to_judge.update(path for path in paths if any(original in moved for original, _ in conflict_copies.originals(path)))
    return to_judge


def with_moved_copies(
    root: Path, catalog: Catalog, seen: Sequence[Seen], gone: Collection[str], ids: Iterable[str] = ()
) -> tuple[Seen, ...]:
    """The files seen, with files marked as copies if their name says so and a note elsewhere has the same id.

    New files, files with such a name, and `ids` are checked. Without that, a note that was renamed after a sync tool put a copy
    beside it would share its id with the copy, and neither would be served or written.
    """
    by_path = {file.path: file for file in seen}
    known = catalog.files(list(by_path))
    places: dict[str, set[str]] = defaultdict(set)
    asked = dict.fromkeys(ids)
    for file in seen:
        if file.entry is not None:
            places[file.entry.id].add(file.path)
            if file.path not in known or conflict_copies.says_so(file.path):
                asked[file.entry.id] = None
    copies: dict[str, Seen] = {}
    for identity in asked:
        elsewhere = {entry.path for entry in catalog.get(identity) if entry.path not in by_path and entry.path not in gone}
        paths = places[identity] | elsewhere
        if len(paths) < 2 or not (others := {path for path in paths if not conflict_copies.says_so(path)}):
            continue
        for path in paths - others:
            read_now = by_path.get(path)
            stat = read_now.stat if read_now else present(root, [path]).get(path)
            content = read_now or catalog.files([path]).get(path)
            if stat is not None and content is not None:
                copies[path] = reading.copy_of(path, stat, content.size, content.hash, min(others))
    return tuple({**by_path, **copies}.values()) if copies else tuple(seen)


def overtaken(root: Path, catalog: Catalog, seen: Iterable[Seen], gone: Iterable[str]) -> OvertakenRead:
    """The files, of those seen and those gone, that changed after they were read. Call it while no other process writes.

    Another process may have taken in a newer state of a file while this one read an older state.
    """
    by_path = {file.path: file for file in seen}
    grown = catalog.files([path for path, file in by_path.items() if file.grown_from])
    stats = present(root, [*by_path, *gone])
    again = {}
    for path, stat in stats.items():
        file_seen = by_path.get(path)
        if (
            file_seen is None
            or file_seen.stat != stat
            or (file_seen.grown_from and (path not in grown or grown[path].hash != file_seen.grown_from))
        ):
            again[path] = stat
    return OvertakenRead(again, frozenset(by_path.keys() - stats.keys()))


def to_remember(catalog: Catalog, touched: Mapping[str, Stat], started_ns: int) -> tuple[dict[str, Stat], dict[str, Stat]]:
    """For files with unchanged content: the stats to remember, and the new times of their entries."""
    stats: dict[str, Stat] = {}
    times: dict[str, Stat] = {}
    entries = catalog.by_paths(touched)
    for path, stat in touched.items():
        trusted = trusted_stat(stat, started_ns)
        if trusted != stat_of(catalog, path):
            stats[path] = trusted
        if path in entries and entries[path].mtime_ns != stat[1]:
            times[path] = stat
    return stats, times


def stat_of(catalog: Catalog, path: str) -> Stat | None:
    """The known stat of a file."""
    folder, _, name = path.rpartition("/")
    return catalog.known().get(folder, {}).get(name)


def removal_doubt(catalog: Catalog, gone: Collection[str], seen: Iterable[Seen], repo: git.Repo | None, where: HeadMove) -> str:
    """The reason why vanished files must not be forgotten before a person confirms it; empty if they may be.

    Notes that were moved do not count as vanished, and neither do notes that a move of HEAD removed.
    """
    # So few files are never a loss in bulk, and most comparisons end here without a query.
    if len(gone) < _FEW:
        return ""
    # Notes of the folder around lose nothing by being forgotten: they come back with their files.
    gone = [path for path in gone if not is_around(path)]
    known = catalog.files(gone)
    entries = catalog.by_paths(gone)
    hashes, ids = set(), set()
    for file in seen:
        hashes.add(file.hash)
        if file.entry is not None:
            ids.add(file.entry.id)
    notes = {path for path, was in known.items() if was.kind in NOTES and was.hash not in hashes}
    lost = {path for path in notes if not (path in entries and entries[path].id in ids)}
    total = catalog.counts().notes
    if not is_bulk_loss(len(lost), total) or not is_bulk_loss(len(unexplained(lost, repo, where)), total):
        return ""
    return (
        f"{len(lost):,} of {total:,} notes are gone and nothing was forgotten; if that is meant: {step('reindex', confirm=True)}"
    )


def unexplained(lost: Collection[str], repo: git.Repo | None, where: HeadMove) -> set[str]:
    """The files whose absence no move of HEAD explains: no recent commit of HEAD has them, or the present commit has them.

    Recent commits are the last known one and those in the log of HEAD, because several moves may have passed unnoticed.
    """
    left = set(lost)
    if repo is None or not where.now:
        return left
    for commit in dict.fromkeys([where.before, *git.recent_heads(repo)]):
        if not left:
            break
        if commit and commit != where.now:
            left -= _deleted(repo, commit, where.now)
    return left


def _deleted(repo: git.Repo, old: str, new: str) -> set[str]:
    try:
        return {path for path, change in git.changed_between(repo, old, new).items() if change == "D"}
    except (GitError, NotFound, Refused):
        # A commit that git no longer has (pruned, or beyond a shallow clone) explains nothing.
        return set()


def tally(seen: Iterable[Seen], gone: Collection[str], before: Mapping[str, Known]) -> Tally:
    """Count the notes; a note that vanished at one path and appeared at another with the same content counts as modified."""
    notes = [file for file in seen if file.kind in NOTES]
    new = [note for note in notes if note.path not in before]
    lost = [before[path] for path in gone if path in before and before[path].kind in NOTES]
    appeared = {note.hash for note in new if note.hash}
    moved = sum(was.hash in appeared for was in lost)
    # Two removed copies of one text may match a single new file; this keeps the counts from falling below zero.
    moved = min(moved, len(new))
    return Tally(len(new) - moved, len(notes) - len(new) + moved, len(lost) - moved)


def unreadable(catalog: Catalog) -> tuple[str, ...]:
    """The notes that could not be used when they were last read."""
    return catalog.of_kind(UNREADABLE)


def digest_of_faults(faults: Sequence[Problem]) -> str:
    """A digest of the faults that a walk found; empty if there are none."""
    return hashlib.blake2b(repr(tuple(faults)).encode("utf-8", "replace"), digest_size=8).hexdigest() if faults else ""


def resurrected(catalog: Catalog, forgotten: Collection[str]) -> tuple[str, ...]:
    """The notes to read again because the set of forgotten ids changed: indexed ones, and ones left out as forgotten."""
    known = [entry.path for identity in forgotten for entry in catalog.get(identity)]
    known += [entry.path for identity in forgotten for _, entry in catalog.pointing_at(identity, ("from_id", "to_id"))]
    judged = [row[0] for row in catalog.rows_in("SELECT DISTINCT path FROM signals WHERE target IN ({})", forgotten)]
    paths = [row[0] for row in catalog.rows("SELECT DISTINCT path FROM problems WHERE code = 'forgotten-words'")]
    return *known, *judged, *paths, *catalog.of_kind(FORGOTTEN)


def compared(before: Mapping[str, Known], now: Mapping[str, Known]) -> Tally:
    """Count the notes that differ between two states of all files."""
    old = {path: was.hash for path, was in before.items() if was.kind in NOTES}
    new = {path: file.hash for path, file in now.items() if file.kind in NOTES}
    modified = sum(path in old and old[path] != hash_now for path, hash_now in new.items())
    return Tally(len(new.keys() - old.keys()), modified, len(old.keys() - new.keys()))
