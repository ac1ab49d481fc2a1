"""Reads the files on disk: a walk that follows no link, and reads that stay inside the vault."""

from __future__ import annotations

import errno
import os
import stat as kinds
import time
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from msgspec import field

from vault_tool.errors import Busy, Refused
from vault_tool.files.layout import SETTINGS_FILE, VAULT, ignored_folder, name_key
from vault_tool.model.problems import Problem, error, note, warning
from vault_tool.util.folder import Descent, Folder, opened
from vault_tool.util.note_links import is_note
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

# Size in bytes, mtime and ctime in nanoseconds, inode: what changes when a file does.
Stat: TypeAlias = tuple[int, int, int, int]

# The files of one folder that may be the vault's, by name.
Listing: TypeAlias = dict[str, Stat]

# A larger file is named and not read: no note is that long, and a log put among notes must not stop a rebuild.
LARGEST = 10 * 1024 * 1024

_AROUND = ".."
_NOTE_END = ".md"
_ENDS = (_NOTE_END, ".jsonl")
_INODE = 2**63 - 1  # what fits a signed column: some file systems count further
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)
_BY_DESCRIPTOR = os.stat in os.supports_dir_fd and os.listdir in os.supports_fd


_MANY = 2000  # so many files are looked at between two looks at the time
_TICK = 20_000_000  # nanoseconds within which a clock may give two changes of a folder the same time


def fingerprint(info: os.stat_result) -> Stat:
    """The part of a stat that changes when a file is written to, cut, copied or replaced."""
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino & _INODE


class FolderScan(Struct):
    """One folder as it was looked into: its own mtime, ctime and inode, the folders below it, and what was odd in it."""

    stat: tuple[int, int, int]
    below: tuple[str, ...]
    faults: tuple[Problem, ...]


class Trusted(Struct):
    """The folders that need no second look: their own stat is unchanged; with the files known in them.

    A folder's times change when a file in it comes, goes or is replaced, not when one is written in place: so those in
    `always` are looked into whatever their times say.
    """

    looks: Mapping[str, FolderScan]
    known: Mapping[str, Listing]
    always: frozenset[str]


class Scan(Struct, dict=True):
    """The files of a vault as one walk saw them. `partial` says that some folder could not be looked into.

    `folders` maps each folder's path (relative to the root) to its files; folders without any are left out. `looks`
    are all folders, by which a glance can be made later.
    """

    folders: Mapping[str, Listing]
    faults: tuple[Problem, ...] = ()
    partial: bool = False
    started_ns: int = 0
    looks: Mapping[str, FolderScan] = field(default_factory=dict)

    @cached_property
    def files(self) -> dict[str, Stat]:
        """All files by path, in the order of their paths."""
        return dict(sorted((f"{folder}/{name}", stat) for folder, names in self.folders.items() for name, stat in names.items()))

    @property
    def count(self) -> int:
        """The number of files."""
        return sum(map(len, self.folders.values()))


class TooLarge(Refused):
    """A file is longer than what is read into memory for a note."""


def scan(root: Path, trusted: Trusted | None = None, *, around: bool = False, until: float | None = None) -> Scan:
    """Walk `vault/`: no link is followed and nothing is opened but folders; what cannot be indexed is a fault.

    With `around` the folder that the vault's own lies in is walked as well, but for other vaults in it.
    With `trusted` it is a glance: files edited in place in a folder that is trusted are not noticed.
    Raises Busy where it is not done `until` (monotonic).
    """
    started = time.time_ns()
    walk = _FolderWalk(root, started, trusted, until)
    walk.run([_AROUND, VAULT] if around else [VAULT])
    return Scan(walk.folders, tuple(sorted(walk.faults)), walk.partial, started, walk.looks)


class _FolderWalk:
    """One walk under way."""

    def __init__(self, root: Path, started_ns: int = 0, trusted: Trusted | None = None, until: float | None = None) -> None:
        self.root = root
        self.until = until
        self.started_ns = started_ns
        self.trusted = trusted
        self.folders: dict[str, Listing] = {}
        self.looks: dict[str, FolderScan] = {}
        self.faults: list[Problem] = []
        self.partial = False

    def run(self, waiting: list[str]) -> None:
        """Look into every folder that is not ignored, in these and below."""
        while waiting:
            path = waiting.pop()
            try:
                with opened(self.root, path.split("/")) as folder:
                    listing, look = self._seen(folder, path)
            except (OSError, Refused) as fault:
                self._unreadable(path, fault)
                continue
            if listing:
                self.folders[path] = listing
            self.faults.extend(look.faults)
            self.looks[path] = look
            waiting.extend(f"{path}/{name}" for name in look.below)

    def _seen(self, folder: Folder, path: str) -> tuple[Listing, FolderScan]:
        """One folder's files: as they are known where that can be trusted, else as they are."""
        info = os.fstat(folder.descriptor) if folder.descriptor is not None else folder.path.stat()
        stat = (info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
        before = self.trusted.looks.get(path) if self.trusted and path not in self.trusted.always else None
        if self.trusted and before is not None and before.stat == stat:
            return self.trusted.known.get(path, {}), before
        others, self.faults = self.faults, []
        listing, below = self._look(folder, path)
        faults = (*self.faults, *_twins(path, listing))
        self.faults = others
        # A folder that was changed within the clock's tick may change once more without its times telling.
        settled = max(stat[:2]) < self.started_ns - _TICK
        return listing, FolderScan(stat if settled else (0, 0, 0), tuple(below), faults)

    def _look(self, folder: Folder, path: str) -> tuple[Listing, list[str]]:
        listing: Listing = {}
        below: list[str] = []
        base = None if _BY_DESCRIPTOR else str(folder.path)
        names = folder.names()
        around = path.split("/", 1)[0] == _AROUND
        # A vault in the folder around is another one, and this one is walked by itself.
        if around and SETTINGS_FILE in names:
            return {}, []
        for name in names if self.until is None else _in_time(names, self.until):
            # Hidden files, ours and git's among them, and `#name#`, as Emacs calls what it saves by itself.
            if name[0] in ".#":
                continue
            try:
                # By the open folder: faster than `scandir` (28 ms, not 35, for 10,000), and no swapped parent leads out.
                info = os.stat(name if base is None else f"{base}/{name}", dir_fd=folder.descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            mode = info.st_mode
            if kinds.S_ISREG(mode):
                if around and not is_note(name):
                    continue
                if (around or name.endswith(_ENDS) or name.lower().endswith(_ENDS)) and (
                    name.isascii() or self._sayable(path, name)
                ):
                    listing[name] = (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino & _INODE)
            elif kinds.S_ISDIR(mode):
                if not ignored_folder(name):
                    below.append(name)
            else:
                self._odd(path, name, mode)
        return listing, below

    def _odd(self, path: str, name: str, mode: int) -> None:
        """A link, pipe, socket or device: named where it looks like a note or a folder of notes, never opened."""
        if name.lower().endswith(_ENDS) or ("." not in name and kinds.S_ISLNK(mode)):
            what = "a link" if kinds.S_ISLNK(mode) else "no regular file"
            shown = f"{path}/{_shown(name)}"
            self.faults.append(note(shown, 0, "not-a-file", f"it is {what}, so it is not read", "put the file itself there"))

    def _sayable(self, path: str, name: str) -> bool:
        if _is_unicode(name):
            return True
        hint = "give the file a name in UTF-8"
        self.faults.append(warning(f"{path}/{_shown(name)}", 0, "odd-name", "its name is not Unicode, so it is not read", hint))
        return False

    def _unreadable(self, path: str, fault: OSError | Refused) -> None:
        gone = isinstance(fault, FileNotFoundError)
        # A folder that left while we walked is only gone. That all of it is gone is for a person to say.
        if gone and path != VAULT:
            return
        self.partial = self.partial or not gone
        reason = (os.strerror(fault.errno or 0) if isinstance(fault, OSError) else fault.message).lower()
        hint = "make the folder readable; until then nothing below it is forgotten"
        self.faults.append(error(_shown(path), 0, "unreadable-folder", f"the folder cannot be looked into: {reason}", hint))


def _in_time(names: Sequence[str], until: float) -> Iterator[str]:
    """Names one after the other, while there is time. Raises Busy."""
    for start in range(0, len(names), _MANY):
        if time.monotonic() > until:
            raise Busy("the files could not be looked at in time", "try again in a moment")
        yield from names[start : start + _MANY]


def _twins(path: str, listing: Listing) -> Iterator[Problem]:
    """Names that are one on disks which ignore case or Unicode composition: a clone there would lose one of them."""
    joined = "/".join(listing)
    if joined.isascii() and (joined == joined.lower() or len({name.lower() for name in listing}) == len(listing)):
        return
    meeting: dict[str, list[str]] = defaultdict(list)
    for name in sorted(listing):
        meeting[name_key(name)].append(name)
    for first, *others in meeting.values():
        for other in others:
            message = f"its name differs from `{first}` only in case or in how letters are composed"
            yield warning(f"{path}/{other}", 0, "twin-names", message, "rename one: some disks cannot hold both")


class Reader:
    """Reads files of one vault, folder by folder, reaching each through its open folder so that no link can lead out."""

    def __init__(self, root: Path) -> None:
        self._folders = Descent(root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None) -> None:
        self._folders.close()

    def stat(self, path: str) -> Stat:
        """How the file at `path` stands now; raises OSError, and Refused for what is no regular file."""
        folder, name = self._at(path)
        info = os.stat(name, dir_fd=folder.descriptor, follow_symlinks=False)
        if not kinds.S_ISREG(info.st_mode):
            raise Refused(f"{path} is a link, a pipe or a device, not a file", "put the file itself there")
        return fingerprint(info)

    def read(self, path: str, size: int = 0) -> bytes:
        """The bytes of a regular file (`size`: how many are expected); raises OSError, Refused, and TooLarge."""
        folder, name = self._at(path)
        if size > LARGEST:
            raise _too_large(path)
        try:
            descriptor = os.open(name, _OPEN | _BINARY, dir_fd=folder.descriptor)
        except OSError as fault:
            if fault.errno in (errno.ELOOP, errno.ENXIO):
                raise Refused(f"{path} is a link, a pipe or a device, not a file", "put the file itself there") from fault
            raise
        try:
            return _read_all(descriptor, path, size)
        finally:
            os.close(descriptor)

    def _at(self, path: str) -> tuple[Folder, str]:
        parent, _, name = path.rpartition("/")
        folder = self._folders.at(parent.split("/") if parent else [])
        return folder, name if folder.descriptor is not None else str(folder.path / name)


def read(root: Path, path: str, size: int = 0) -> bytes:
    """The bytes of one file of the vault (`size`: how many are expected); raises OSError, Refused for what is no regular
    file, and TooLarge.
    """
    with Reader(root) as reader:
        return reader.read(path, size)


def present(root: Path, paths: Iterable[str]) -> dict[str, Stat]:
    """How those of `paths` that are regular files stand now."""
    stats: dict[str, Stat] = {}
    with Reader(root) as reader:
        for path in sorted(paths):
            try:
                stats[path] = reader.stat(path)
            except (OSError, Refused):
                continue
    return stats


def _read_all(descriptor: int, path: str, size: int) -> bytes:
    # One byte more than the stat promised: a file that grew since is read to its end.
    first = os.read(descriptor, size + 1 if size else 65536)
    if size and len(first) == size:
        return first
    # Opened without blocking, a pipe that nobody writes to reads as an empty file.
    if not first and not kinds.S_ISREG(os.fstat(descriptor).st_mode):
        raise Refused(f"{path} is a pipe or a device, not a file", "put the file itself there")
    parts, length = [first], len(first)
    while parts[-1]:
        # As much again as there is: room for a megabyte takes longer to make than most files take to read.
        parts.append(os.read(descriptor, min(max(length, 4096), 1 << 20)))
        length += len(parts[-1])
        if length > LARGEST:
            raise _too_large(path)
    return b"".join(parts)


def _too_large(path: str) -> TooLarge:
    return TooLarge(f"{path} is longer than {LARGEST // 2**20} MiB, so it is not read", "split it, or move it out of the vault")


def _is_unicode(name: str) -> bool:
    return not any(unicodedata.category(c) == "Cs" for c in name)


def _shown(name: str) -> str:
    return one_line(name.encode("utf-8", "replace").decode("utf-8"), 120)
