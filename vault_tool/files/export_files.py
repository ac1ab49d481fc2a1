"""The files of an export of another tool: one file, a folder, or zips, read in place and within bounds.

Nothing is unpacked to disk but a zip that lies in a zip, which goes to a nameless file. What a zip claims of itself is
checked before it is believed: members, depth, how much it grows, links, and names that lead out of it.
"""

from __future__ import annotations

import io
import os
import shutil
import stat as kinds
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Self

from vault_tool.errors import NotFound, Refused
from vault_tool.model.problems import Problem, warning
from vault_tool.util.clock import stamp
from vault_tool.util.structs import Struct
from vault_tool.util.text import is_unicode, one_line

MOST_MEMBERS = 50_000
MOST_FILES = 200_000
MOST_DEPTH = 20
MOST_NESTED = 2
RATIO = 200
# A member that is smaller may be as regular as it likes.
SMALL = 2**20
MOST_BYTES = 32 * 2**30
# The list of a zip's members is read whole before any of them can be counted.
LONGEST_LIST = MOST_MEMBERS * 300

_TAIL = 65_557
_END, _END64 = b"PK\x05\x06", b"PK\x06\x06"
_ASIDE = frozenset({"__MACOSX", ".git", "node_modules", ".Trash"})
_DATE = (1980, 1, 1)


class Torn(Refused):
    """A file of an export that cannot be read to its end."""


class ExportFile(Struct):
    """One file: its path in the export (through zips too), its size when unpacked, when it was last written (or empty)."""

    path: str
    size: int
    written_at: str
    opened: Callable[[], BinaryIO]

    @property
    def name(self) -> str:
        """The last part of its path."""
        return PurePosixPath(self.path).name

    def begin(self, length: int) -> bytes:
        """Its first bytes; Torn where it cannot be read."""
        with self.opened() as stream:
            return stream.read(length)

    def read(self, most: int) -> bytes:
        """All of it; Refused where it is longer than `most` bytes."""
        with self.opened() as stream:
            data = stream.read(most + 1)
        if len(data) > most:
            raise Refused(f"it is longer than {most // 2**20} MiB", "split it")
        return data


class ExportFiles:
    """All files of an export, by their paths; a context manager that lets go of them."""

    def __init__(self, source: Path) -> None:
        """NotFound where there is nothing; Refused for a zip that is not to be trusted."""
        self.source = source
        self.passed_over: list[Problem] = []
        self._left = MOST_BYTES
        # What is open is let go of where the search fails, and else where the export is left.
        with ExitStack() as self._stack:
            self.files = tuple(sorted(self._found(source), key=lambda file: file.path))
            self._stack = self._stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def ending(self, *ends: str) -> list[ExportFile]:
        """The files whose names end so, whatever their case and wherever they lie."""
        return [file for file in self.files if file.name.lower().endswith(ends)]

    def _found(self, source: Path) -> Iterator[ExportFile]:
        if source.is_dir():
            for path, name in self._walk(source):
                yield from self._one(path, name)
        elif source.is_file():
            yield from self._one(source, source.name)
        else:
            raise NotFound(f"there is no file or folder {one_line(str(source), 200)}", "name the export as you downloaded it")

    def _one(self, path: Path, name: str) -> Iterator[ExportFile]:
        info = path.stat(follow_symlinks=False) if path != self.source else path.stat()
        written = stamp(datetime.fromtimestamp(info.st_mtime, UTC))
        if _is_zip(path):
            yield from self._members(self._stack.enter_context(_plain(path)), "" if path == self.source else f"{name}/", name, 1)
        else:
            yield ExportFile(name, info.st_size, written, lambda: _plain(path))

    def _walk(self, folder: Path) -> Iterator[tuple[Path, str]]:
        """The regular files of a folder; links, pipes and what a person cannot read are named."""
        waiting, count = [(folder, "")], 0
        while waiting:
            here, below = waiting.pop()
            try:
                entries = sorted(os.scandir(here), key=lambda entry: entry.name)
            except OSError as fault:
                reason = os.strerror(fault.errno or 0).lower()
                self.passed_over.append(warning(below or ".", 0, "unreadable", f"the folder cannot be looked into: {reason}"))
                continue
            for entry in entries:
                path = f"{below}{entry.name}"
                shown = one_line(path.encode("utf-8", "replace").decode(), 200)
                if not is_unicode(path):
                    self.passed_over.append(warning(shown, 0, "odd-name", "its name is not Unicode", "give it a name in UTF-8"))
                elif entry.is_symlink():
                    self.passed_over.append(warning(shown, 0, "link", "it is a link, which is never followed"))
                elif entry.is_dir(follow_symlinks=False):
                    if entry.name not in _ASIDE and path.count("/") < MOST_DEPTH:
                        waiting.append((Path(entry.path), f"{path}/"))
                elif entry.is_file(follow_symlinks=False):
                    count += 1
                    if count > MOST_FILES:
                        raise Refused(f"{one_line(str(folder), 200)} holds over {MOST_FILES:,} files", "name the export alone")
                    yield Path(entry.path), path
                else:
                    self.passed_over.append(warning(shown, 0, "not-a-file", "it is a pipe, a socket or a device"))

    def _members(self, file: BinaryIO, before: str, name: str, nested: int) -> Iterator[ExportFile]:
        shown = one_line(name, 100)
        _require_short_list(file, shown)
        try:
            archive = self._stack.enter_context(zipfile.ZipFile(file))
        except (zipfile.BadZipFile, OSError, ValueError, struct.error, UnicodeDecodeError, NotImplementedError) as fault:
            raise Refused(f"{shown} cannot be read as a zip: {one_line(str(fault), 100)}", "download it again") from fault
        members = archive.infolist()
        if len(members) > MOST_MEMBERS:
            raise Refused(f"{shown} has {len(members):,} members, more than {MOST_MEMBERS:,}", "name a smaller export")
        for member in members:
            _require_tame(shown, member)
            if member.is_dir() or PurePosixPath(member.filename).parts[0] in _ASIDE:
                continue
            path = f"{before}{member.filename}"
            if member.filename.lower().endswith(".zip"):
                yield from self._nested(archive, member, path, nested)
            else:
                yield ExportFile(path, member.file_size, _moment(member), lambda member=member: self._unpacked(archive, member))  # type: ignore[misc]

    def _nested(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: str, nested: int) -> Iterator[ExportFile]:
        if nested >= MOST_NESTED:
            raise Refused(f"{one_line(path, 100)} is a zip in a zip in a zip", "unpack the outer one, and name the folder")
        copy = self._stack.enter_context(tempfile.SpooledTemporaryFile(max_size=8 * 2**20))  # noqa: SIM115  # the stack closes it
        with self._unpacked(archive, member) as stream:
            shutil.copyfileobj(stream, copy, 2**20)
        copy.seek(0)
        yield from self._members(copy, f"{path}/", path, nested + 1)  # type: ignore[arg-type]  # it reads and seeks

    def _unpacked(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> BinaryIO:
        try:
            stream = archive.open(member)
        except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, ValueError) as fault:
            raise Torn(f"{one_line(member.filename, 100)} cannot be unpacked: {one_line(str(fault), 100)}") from fault
        return io.BufferedReader(_Bounded(stream, member.filename, self._spend))

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise Refused(f"it unpacks to more than {MOST_BYTES // 2**30} GiB", "unpack it, and name the files that matter")


class _Bounded(io.RawIOBase):
    """A stream that is unpacked, counted; its faults are Torn, never a library's own."""

    def __init__(self, stream: IO[bytes], name: str, spend: Callable[[int], None]) -> None:
        self._inner = stream
        self._name = name
        self._spend = spend

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._inner.read(len(view))
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as fault:
            raise Torn(f"{one_line(self._name, 100)} is torn: {one_line(str(fault), 100)}", "download it again") from fault
        self._spend(len(data))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._inner.close()
        super().close()


def _plain(path: Path) -> BinaryIO:
    """A regular file, opened without following a link that was put in its place."""
    try:
        # What a person names may be a link: its file is meant.
        number = os.open(os.path.realpath(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError as fault:
        raise Torn(f"{one_line(path.name, 100)} cannot be opened: {os.strerror(fault.errno or 0).lower()}") from fault
    if not kinds.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise Torn(f"{one_line(path.name, 100)} is no regular file")
    return os.fdopen(number, "rb")


def _is_zip(path: Path) -> bool:
    try:
        with _plain(path) as stream:
            return stream.read(4) in (b"PK\x03\x04", _END)
    except Torn:
        return False


def _require_short_list(file: BinaryIO, shown: str) -> None:
    """Refuse a zip whose list of members is too long, by what its end says: the library would read it whole first."""
    file.seek(0, os.SEEK_END)
    size = file.tell()
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    file.seek(0)
    length = count = 0
    if (at := tail.rfind(_END)) >= 0 and len(tail) >= at + 22:
        count, length = struct.unpack("<HI", tail[at + 10 : at + 16])
    if (at := tail.rfind(_END64)) >= 0 and len(tail) >= at + 48:
        count, length = max(count, *struct.unpack("<Q", tail[at + 32 : at + 40])), struct.unpack("<Q", tail[at + 40 : at + 48])[0]
    if length > LONGEST_LIST or (count > MOST_MEMBERS and count != 0xFFFF):
        raise Refused(f"{shown} says that it has more than {MOST_MEMBERS:,} members", "name a smaller export")


def _require_tame(shown: str, member: zipfile.ZipInfo) -> None:
    name = member.filename
    parts = name.replace("\\", "/").split("/")
    shown_name = one_line(name, 100)
    if name.startswith(("/", "\\")) or ".." in parts or name[1:2] == ":" or not is_unicode(name):
        raise Refused(f"{shown} has a member whose name leads out of it: {shown_name}", "take no export from a stranger")
    if len(parts) > MOST_DEPTH + 1:
        raise Refused(f"{shown} has a member that lies deeper than {MOST_DEPTH} folders: {shown_name[:60]}", "unpack it by hand")
    if kinds.S_ISLNK(member.external_attr >> 16):
        raise Refused(f"{shown} has a link: {shown_name}", "take no export from a stranger")
    if member.flag_bits & 1:
        raise Refused(f"{shown} is encrypted", "unpack it with its password, and name the folder")
    if member.file_size > SMALL and member.file_size > RATIO * max(1, member.compress_size):
        times = member.file_size // max(1, member.compress_size)
        raise Refused(
            f"{shown} has a member that unpacks to {times} times its size: {shown_name}", "take no export from a stranger"
        )
    if member.file_size > MOST_BYTES:
        raise Refused(f"{shown} has a member of over {MOST_BYTES // 2**30} GiB: {shown_name}", "unpack it by hand")


def _moment(member: zipfile.ZipInfo) -> str:
    """When a member was last written, as its zip has it; empty for the date that means none."""
    try:
        return "" if member.date_time[:3] <= _DATE else stamp(datetime(*member.date_time, tzinfo=UTC))
    except ValueError:
        return ""
