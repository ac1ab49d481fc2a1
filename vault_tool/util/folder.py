"""A folder held open: files are reached by its descriptor, so a parent swapped for a link cannot lead elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from vault_tool.errors import Refused
from vault_tool.util import renames

_BY_DESCRIPTOR = os.open in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_CLOEXEC: int = getattr(os, "O_CLOEXEC", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)
_NONBLOCK: int = getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | _CLOEXEC | getattr(os, "O_DIRECTORY", 0)
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _CLOEXEC | _BINARY
_LINK_FAULTS = frozenset({errno.ELOOP, errno.ENOTDIR})

NEW_FILE = 0o644
NEW_FOLDER = 0o777


class Folder:
    """An open folder; every name is one component in it. Faults of the system come out as OSError."""

    def __init__(self, descriptor: int | None, path: Path) -> None:
        self.descriptor = descriptor
        self.path = path

    def read(self, name: str) -> bytes | None:
        """The bytes of a regular file, or None where there is none; a link, pipe, socket or device is refused unopened."""
        try:
            return self.read_end(name, 0)[0]
        except FileNotFoundError:
            return None

    def read_end(self, name: str, start: int) -> tuple[bytes, int]:
        """The bytes of a regular file from `start` on, and which file it is; FileNotFoundError where there is none."""
        try:
            descriptor = os.open(self._at(name), os.O_RDONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY, dir_fd=self.descriptor)
        except OSError as fault:
            if fault.errno in (errno.ELOOP, errno.ENXIO):
                raise self._not_a_file(name) from fault
            raise
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise self._not_a_file(name)
            if start:
                file.seek(start)
            return file.read(), status.st_ino

    def mode(self, name: str) -> int | None:
        """The permission bits of a file, or None where there is none."""
        try:
            return stat.S_IMODE(os.stat(self._at(name), dir_fd=self.descriptor, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return None

    def changed_at(self, name: str) -> float | None:
        """When a file was last written or renamed, in seconds since the epoch, or None where there is none."""
        try:
            return os.stat(self._at(name), dir_fd=self.descriptor, follow_symlinks=False).st_ctime
        except FileNotFoundError:
            return None

    def size(self, name: str) -> int | None:
        """How many bytes a file has, or None where there is none."""
        try:
            return os.stat(self._at(name), dir_fd=self.descriptor, follow_symlinks=False).st_size
        except FileNotFoundError:
            return None

    def exists(self, name: str) -> bool:
        """Whether the name is taken, be it by a broken link."""
        return self.mode(name) is not None

    def names(self) -> list[str]:
        """All names in the folder, in no order."""
        return os.listdir(self.path if self.descriptor is None else self.descriptor)

    def write_new(self, name: str, data: bytes, *, mode: int | None = None, durable: bool = True) -> None:
        """Make a file whole and on the disk (`durable`), with exactly `mode`; one that cannot be finished is removed."""
        descriptor = os.open(self._at(name), _NEW, NEW_FILE if mode is None else mode, dir_fd=self.descriptor)
        whole = False
        try:
            # The umask may have taken bits off the mode that an old file had.
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            write_all(descriptor, data)
            if durable:
                os.fsync(descriptor)
            whole = True
        finally:
            os.close(descriptor)
            if not whole:
                self.discard(name)

    def append(self, name: str, data: bytes, *, durable: bool = True, mode: int = NEW_FILE) -> None:
        """Add bytes to the end of a file, made if need be; on a fault the file is cut back to what it was."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY
        new = not self.exists(name)
        descriptor = os.open(self._at(name), flags, mode, dir_fd=self.descriptor)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise self._not_a_file(name)
            try:
                write_all(descriptor, data)
                if durable:
                    os.fsync(descriptor)
                if new and durable:
                    self.sync()
            except OSError:
                with suppress(OSError):
                    os.ftruncate(descriptor, status.st_size)
                if new:
                    self.discard(name)
                raise
        finally:
            os.close(descriptor)

    def put(self, name: str, data: bytes, *, mode: int = NEW_FILE) -> None:
        """Write a file in place, made if need be, and wait for nothing: a crash may leave a part of it."""
        flags = os.O_WRONLY | os.O_CREAT | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY
        descriptor = os.open(self._at(name), flags, mode, dir_fd=self.descriptor)
        try:
            write_all(descriptor, data)
            os.ftruncate(descriptor, len(data))
        finally:
            os.close(descriptor)

    def overwrite(self, name: str, pieces: Mapping[int, bytes]) -> None:
        """Put bytes over those at the offsets of a regular file, on the disk; a crash may leave a part of them."""
        descriptor = os.open(self._at(name), os.O_WRONLY | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY, dir_fd=self.descriptor)
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise self._not_a_file(name)
            for offset, data in pieces.items():
                os.lseek(descriptor, offset, os.SEEK_SET)
                write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def rename(self, old: str, new: str) -> None:
        """Put a file under another name, in place of what had it."""
        os.replace(self._at(old), self._at(new), src_dir_fd=self.descriptor, dst_dir_fd=self.descriptor)

    def rename_to_free(self, old: str, new: str) -> None:
        """Put a file under a name that is free, else FileExistsError."""
        renames.rename_to_free(self.descriptor, self._at(old), self._at(new))

    def exchange(self, first: str, other: str) -> bool:
        """Swap two names in one step; False where the system cannot."""
        return renames.exchange(self.descriptor, first, other)

    def remove(self, name: str) -> None:
        """Take a name off the folder."""
        os.unlink(self._at(name), dir_fd=self.descriptor)

    def discard(self, name: str) -> None:
        """Take a name off the folder if that is possible; for what is left over after a fault."""
        with suppress(OSError):
            self.remove(name)

    def sync_file(self, name: str) -> None:
        """Wait until the bytes of a regular file are on the disk."""
        descriptor = os.open(self._at(name), os.O_RDWR | _NOFOLLOW | _NONBLOCK | _CLOEXEC | _BINARY, dir_fd=self.descriptor)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def sync(self) -> None:
        """Wait until the folder's names are on the disk (where folders can be synced at all)."""
        if self.descriptor is not None:
            os.fsync(self.descriptor)

    def _at(self, name: str) -> str:
        return name if self.descriptor is not None else str(self.path / name)

    def _not_a_file(self, name: str) -> Refused:
        return Refused(f"{self.path.name}/{name} is a link, a pipe or a device, not a file", "move it out of the vault")


@contextmanager
def opened(root: Path, parts: Sequence[str] = (), *, create: bool = False, mode: int = NEW_FOLDER) -> Iterator[Folder]:
    """The folder `root/parts...`, walked one component at a time without following a link below `root`.

    Refused where a component is a link or a file; FileNotFoundError where one is missing, unless `create`
    makes it (its parent synced, so that a crash cannot take the folder and leave the note acknowledged).
    """
    with closing(Descent(root, create=create, mode=mode)) as descent:
        yield descent.at(parts)


class Descent:
    """Folders below a root, one after another, each reached as `opened` reaches one.

    Those on the way stay open until another way is taken, so that a neighbour is one step away.
    """

    def __init__(self, root: Path, *, create: bool = False, mode: int = NEW_FOLDER) -> None:
        self._root = root
        self._create = create
        self._mode = mode
        self._way: list[tuple[str, int]] = []
        self._here: tuple[Sequence[str], Folder] | None = None

    def at(self, parts: Sequence[str]) -> Folder:
        """The folder `root/parts...`; raises what `opened` raises."""
        if self._here is not None and self._here[0] == parts:
            return self._here[1]
        self._here = None
        if _BY_DESCRIPTOR:
            folder = Folder(self._walked(parts), self._root.joinpath(*parts))
        else:
            folder = _opened_by_path(self._root, parts, self._create)
        self._here = parts, folder
        return folder

    def close(self) -> None:
        """Let go of all folders."""
        self._here = None
        self._back_to(0)

    def _walked(self, parts: Sequence[str]) -> int:
        shared = 0
        for part, (name, _) in zip(parts, self._way[1:], strict=False):
            if part != name:
                break
            shared += 1
        self._back_to(1 + shared)
        try:
            return self._onward(parts[shared:])
        except FileNotFoundError:
            # A folder on the way may have been taken away and put there anew, as git does on a switch of branches.
            if not shared:
                raise
            self._back_to(0)
            return self._onward(parts)

    def _onward(self, parts: Sequence[str]) -> int:
        if not self._way:
            self._way.append(("", os.open(self._root, _FOLDER)))
        for part in parts:
            self._way.append((part, _step(self._way[-1][1], part, self._create, self._mode)))
        return self._way[-1][1]

    def _back_to(self, steps: int) -> None:
        while len(self._way) > steps:
            # Out of the list first: an interrupt after the closing must not have it closed once more.
            os.close(self._way.pop()[1])


def _step(descriptor: int, part: str, create: bool, mode: int) -> int:
    try:
        return os.open(part, _FOLDER | _NOFOLLOW, dir_fd=descriptor)
    except FileNotFoundError:
        if not create:
            raise
    except OSError as fault:
        if fault.errno in _LINK_FAULTS:
            raise Refused(f"{part} is a link or a file where a folder was expected", "nothing was written") from fault
        raise
    with suppress(FileExistsError):
        os.mkdir(part, mode, dir_fd=descriptor)
    os.fsync(descriptor)
    return _step(descriptor, part, False, mode)


def _opened_by_path(root: Path, parts: Sequence[str], create: bool) -> Folder:
    """The same where the system has no calls by descriptor (Windows): checked, but with a window for a swapped parent."""
    if parts[:1] == [".."]:
        root, parts = root.parent, parts[1:]
    path = root.joinpath(*parts)
    if create and root.is_dir():
        path.mkdir(parents=True, exist_ok=True)
    if not path.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if not path.resolve().is_relative_to(root.resolve()):
        raise Refused(f"{'/'.join(parts)} leads out of {root.name}", "nothing was written")
    return Folder(None, path)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte: the system may take fewer than it was given."""
    rest = memoryview(data)
    while rest:
        written = os.write(descriptor, rest)
        if written == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rest = rest[written:]
