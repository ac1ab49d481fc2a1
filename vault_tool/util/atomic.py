"""Whole-file writes that a crash cannot tear, folders of such files, and what a failed one is called."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from vault_tool.errors import StorageError
from vault_tool.util.folder import Folder, opened
from vault_tool.util.text import one_line

PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700
_STEM_BYTES = 100
_TEMPORARY = re.compile(r"\.(?P<stem>.*)\.vt-[0-9a-f]{8}(?:-(?P<old>[0-9a-f]{8})-(?P<new>[0-9a-f]{8}))?\.tmp", re.DOTALL)
_HINTS = {
    errno.ENOSPC: "free some space and try again",
    errno.EDQUOT: "free some space and try again",
    errno.EROFS: "make the disk writable and try again",
    errno.EACCES: "check the permissions",
    errno.EPERM: "check the permissions",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
}


def write(path: Path, data: bytes, *, durable: bool = True, mode: int | None = None) -> None:
    """Replace the file at `path`, or make it: at any moment its old text or its new, never a part.

    `durable` waits for the disk; derived files need not. `mode` is the permission bits, by default those of the
    old file. A link at `path` is replaced, not followed. Raises StorageError; the old text is then still there.
    """
    with storage(path.name, len(data)), opened(path.parent) as folder:
        write_in(folder, path.name, data, durable=durable, mode=mode)


def write_in(folder: Folder, name: str, data: bytes, *, durable: bool = True, mode: int | None = None) -> None:
    """The same in an open folder."""
    temporary = temporary_name(name)
    with ExitStack() as failed:
        # An interrupt leaves no temporary file either.
        failed.callback(folder.discard, temporary)
        folder.write_new(temporary, data, mode=folder.mode(name) if mode is None else mode, durable=durable)
        folder.rename(temporary, name)
        failed.pop_all()
    if durable:
        folder.sync()


def write_temporary(folder: Folder, name: str, data: bytes, *, durable: bool = True, mode: int | None = None) -> str:
    """Write `data` whole beside `name`, under a hidden temporary name, which is returned."""
    temporary = temporary_name(name)
    folder.write_new(temporary, data, mode=folder.mode(name) if mode is None else mode, durable=durable)
    return temporary


def temporary_name(name: str, old: str = "", new: str = "") -> str:
    """A fresh hidden name beside `name`; `old` and `new` are content hashes of the texts that may stand under it."""
    stem = name.encode("utf-8", "surrogateescape")[:_STEM_BYTES].decode("utf-8", "ignore")
    hashes = f"-{old[:8]}-{new[:8]}" if old and new else ""
    return f".{stem}.vt-{os.urandom(4).hex()}{hashes}.tmp"


def temporary_hashes(name: str) -> tuple[str, ...] | None:
    """The content hashes (8 digits) that a temporary name of ours carries, perhaps none; None for any other name."""
    match = _TEMPORARY.fullmatch(name)
    if match is None:
        return None
    return (match["old"], match["new"]) if match["old"] else ()


@contextmanager
def storage(path: str, need: int | None = None, doing: str = "write") -> Iterator[None]:
    """Turn what the operating system refuses into one line that names `path`; `need` is the bytes that were wanted."""
    try:
        yield
    except OSError as fault:
        raise storage_error(path, fault, need, doing) from fault


def storage_error(path: str, fault: OSError, need: int | None = None, doing: str = "write") -> StorageError:
    """The StorageError of a fault: path, reason in words, and on a full disk how much was needed."""
    reason = os.strerror(fault.errno) if fault.errno else str(fault)
    room = f" ({need:,} bytes needed)" if need is not None and fault.errno in (errno.ENOSPC, errno.EDQUOT) else ""
    hint = _HINTS.get(fault.errno or 0, "nothing was changed; try again")
    return StorageError(f"cannot {doing} {one_line(path)}: {reason[:1].lower()}{reason[1:]}{room}", hint)


class PrivateFolder:
    """A folder of files for this user alone, at `path` below what `base` gives each time; `below` are folders in it.

    It is made when something is first kept. A folder or file that is not there holds nothing. Raises StorageError where
    the disk does not do it.
    """

    def __init__(self, base: Callable[[], Path], path: str) -> None:
        self._base = base
        self._path = path

    @contextmanager
    def writing(self, *below: str) -> Iterator[Folder]:
        """The folder, to change it: made where it is not there yet."""
        parts = self._parts(below)
        with storage("/".join(parts)), opened(self._base(), parts, create=True, mode=_PRIVATE_FOLDER) as folder:
            yield folder

    def names(self, *below: str) -> list[str]:
        """The names of the files in it."""
        parts = self._parts(below)
        with (
            storage("/".join(parts), doing="read"),
            suppress(FileNotFoundError),
            opened(self._base(), parts) as folder,
        ):
            return folder.names()
        return []

    def sizes(self, *below: str) -> dict[str, int]:
        """How many bytes each file in it has."""
        parts = self._parts(below)
        with (
            storage("/".join(parts), doing="read"),
            suppress(FileNotFoundError),
            opened(self._base(), parts) as folder,
        ):
            return {name: folder.size(name) or 0 for name in folder.names()}
        return {}

    def read(self, name: str, *below: str) -> bytes | None:
        """The bytes of a file; None where it is not there."""
        parts = self._parts(below)
        where = "/".join((*parts, name))
        with storage(where, doing="read"), suppress(FileNotFoundError), opened(self._base(), parts) as folder:
            return folder.read(name)
        return None

    def read_end(self, name: str, start: int, *below: str) -> tuple[bytes, int]:
        """The bytes of a file from `start` on, and which file it is; nothing of no file where it is not there."""
        parts = self._parts(below)
        where = "/".join((*parts, name))
        with storage(where, doing="read"), suppress(FileNotFoundError), opened(self._base(), parts) as folder:
            return folder.read_end(name, start)
        return b"", 0

    def write(self, name: str, data: bytes, *below: str, durable: bool = True) -> None:
        """Put a file there, whole, in place of one of that name; `durable`: on the disk when this returns."""
        with self.writing(*below) as folder:
            write_in(folder, name, data, durable=durable, mode=PRIVATE_FILE)

    def _parts(self, below: tuple[str, ...]) -> tuple[str, ...]:
        return (*self._path.split("/"), *below)
