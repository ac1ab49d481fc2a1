"""Whole-file writes that a crash cannot tear, and what a failed one is called."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from vault_tool.errors import StorageError
from vault_tool.util.folder import Folder, opened
from vault_tool.util.text import one_line

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
