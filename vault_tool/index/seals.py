"""How derived files are kept honest: locks between processes, and seals that show what was changed by others."""

from __future__ import annotations

import gc
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from vault_tool.errors import Busy, StorageError
from vault_tool.files.layout import CACHE
from vault_tool.files.reader import fingerprint
from vault_tool.util import atomic
from vault_tool.util.deferred import shutil
from vault_tool.util.structs import Struct

_SEAL_BYTES = 512
# So long a lock is waited for before what this process itself left behind is looked for, in seconds.
_SOON = 0.5

MORE_ROOM = "free some space and try again"

# The version of everything below `_cache/`; another one, older or newer, is built anew beside it and never read.
FORMAT = 12


class IndexState(Enum):
    """How a derived file is found."""

    INTACT = "intact"
    INTERRUPTED = "interrupted"
    SPOILT = "spoilt"


class SealedFile(Struct):
    """One derived file or folder and the seal that vouches for it: the stat that it had after our last write.

    A file that was cut, edited, copied, replaced or deleted has another stat, so that one look tells. The seal is
    broken before a write and renewed after it: a process that dies between the two leaves it broken (INTERRUPTED).
    `nonce` says which build the file belongs to.
    """

    path: Path
    seal: Path

    def state(
        self, nonce: str | None = None, now: list[list[Any]] | None = None, stored: dict[str, Any] | None = None
    ) -> IndexState:
        """Whether it can be trusted; with `nonce`, whether it is also of that build.

        `now` is its fingerprint and `stored` its seal, if these were read already.
        """
        seal = self.read() if stored is None else stored
        if seal is None or (nonce is not None and seal.get("nonce") != nonce):
            return IndexState.SPOILT
        # Written in an earlier boot without waiting for the disk: pages may be missing that no stat tells of.
        if seal.get("boot") not in (None, _boot()):
            return IndexState.SPOILT
        if seal.get("open"):
            return IndexState.INTERRUPTED
        return IndexState.INTACT if seal.get("print") == (self.fingerprint() if now is None else now) else IndexState.SPOILT

    def nonce(self) -> str:
        """The build that the seal names, or the empty string."""
        seal = self.read() or {}
        return str(seal.get("nonce", ""))

    def read(self) -> dict[str, Any] | None:
        """The contents of the seal, or None if there is none of this version."""
        try:
            # Asked many times in an answer: a file object takes longer than all the rest.
            descriptor = os.open(self.seal, os.O_RDONLY | getattr(os, "O_BINARY", 0))
            try:
                seal = orjson.loads(os.read(descriptor, os.fstat(descriptor).st_size))
            finally:
                os.close(descriptor)
        except (OSError, ValueError):
            return None
        return seal if isinstance(seal, dict) and seal.get("version") == FORMAT else None

    def fingerprint(self) -> list[list[Any]]:
        """The stats of the file, or of the files of the folder (locks aside); nothing where there is none."""
        try:
            own = self.path.stat()
            if not stat.S_ISDIR(own.st_mode):
                return [["", *fingerprint(own)]]
            # tantivy's lock files come and go with each writer, and say nothing of what it wrote.
            with os.scandir(self.path) as entries:
                return sorted([file.name, *fingerprint(file.stat())] for file in entries if not file.name.endswith(".lock"))
        except OSError:
            return []

    def renew_seal(self, nonce: str, *, synced: bool = True) -> None:
        """Vouch for it as it is now; not `synced`: until the machine stops, for a power cut may tear what is not on disk."""
        self._write_seal(
            {"version": FORMAT, "nonce": nonce, "open": False, "boot": None if synced else _boot(), "print": self.fingerprint()}
        )

    def sync(self) -> None:
        """Wait until the file is on disk, and vouch for it beyond a power cut; the caller holds its lock."""
        seal = self.read()
        if seal is None or seal.get("boot") is None or self.state() is not IndexState.INTACT:
            return
        with self.path.open("rb+") as file:
            os.fsync(file.fileno())
        self.renew_seal(str(seal["nonce"]))

    @contextmanager
    def writing(self, nonce: str, *, synced: bool = True) -> Iterator[None]:
        """Break the seal, write, and renew it; a failed write leaves it broken. `synced` as for `renew_seal`."""
        self._write_seal({"version": FORMAT, "nonce": nonce, "open": True, "boot": None if synced else _boot()})
        # No `finally`: what failed half-way must be found broken.
        yield
        self.renew_seal(nonce, synced=synced)

    def replace(self, data: bytes, nonce: str, *, synced: bool = True) -> None:
        """Write a file whole and vouch for it; the caller holds its lock. Raises StorageError. `synced` as for `renew_seal`."""
        make_way(self.path)
        clear_temporaries(self.path)
        atomic.write(self.path, data, durable=False)
        self.renew_seal(nonce, synced=synced)

    def json(self, nonce: str | None = None) -> Any:
        """The contents of a JSON file; None if it is not as we left it, or of another build than `nonce`."""
        if self.state(nonce) is not IndexState.INTACT:
            return None
        try:
            return orjson.loads(self.path.read_bytes())
        except (OSError, ValueError):
            return None

    def _write_seal(self, seal: dict[str, Any]) -> None:
        """Write the seal in place: renaming over a file waits for the disk on some systems, and a torn seal seals nothing."""
        with atomic.storage(self.seal.name):
            make_way(self.seal)
            descriptor = os.open(self.seal, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)
            try:
                data = orjson.dumps(seal)
                # Of one size always: the end of a longer seal never stands behind a shorter one, however early we are killed.
                os.write(descriptor, data.ljust(_SEAL_BYTES))
                os.ftruncate(descriptor, max(len(data), _SEAL_BYTES))
            finally:
                os.close(descriptor)


@contextmanager
def lock(path: Path, wait: float, what: str) -> Iterator[None]:
    """Hold the lock at `path` against other processes; raises Busy after `wait` seconds.

    SQLite's own file locks are used: they work alike on every system, and the kernel frees them when a process dies.
    """
    with closing(_locked(path, wait, what)):
        yield


def _locked(path: Path, wait: float, what: str) -> sqlite3.Connection:
    try:
        try:
            return _begin(path, min(wait, _SOON))
        except sqlite3.DatabaseError as fault:
            if wait <= _SOON or not is_busy(fault):
                raise
        # An interrupt between two lines of this process may have left the lock with a frame that nothing refers to.
        gc.collect()
        return _begin(path, wait - _SOON)
    except sqlite3.DatabaseError as fault:
        if is_busy(fault):
            hint = "nothing was changed; try again in a moment"
            raise Busy(f"another process has held {what} for {wait:g} s", hint) from fault
    except OSError as fault:
        raise atomic.storage_error(path.name, fault) from fault
    # What is there is no lock of ours (a foreign file, or a folder): it holds nothing that could be lost.
    discard(path)
    try:
        return _begin(path, wait)
    except (sqlite3.DatabaseError, OSError) as fault:
        hint = MORE_ROOM if is_full(fault) else "check that the vault's folder can be written"
        raise StorageError(f"cannot lock {path.name}: {fault}", hint) from fault


def _begin(path: Path, wait: float) -> sqlite3.Connection:
    make_folder(path.parent)
    if not path.exists():
        # `touch` says why a file cannot be made; SQLite only says that it cannot.
        path.touch()
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None)
    with ExitStack() as failed:
        # An interrupt, too, keeps the frame, and with it the lock, until the collector comes by.
        failed.callback(connection.close)
        connection.execute("BEGIN EXCLUSIVE")
        failed.pop_all()
    return connection


def make_folder(folder: Path) -> None:
    """Make a folder for derived files and what is missing above it, but never the vault's own folder. Raises OSError."""
    below = [folder]
    while below[0].name != CACHE and below[0] != below[0].parent:
        below.insert(0, below[0].parent)
    if below[0].name != CACHE:
        folder.mkdir(parents=True, exist_ok=True)
        return
    # One by one, the vault's own folder not among them: it may be moved away at any moment.
    for level in below:
        level.mkdir(exist_ok=True)


def make_way(path: Path, *, folder: bool = False) -> None:
    """Remove a folder that stands where a derived file belongs, or a file where a `folder` does."""
    if (path.is_file() or path.is_symlink()) if folder else path.is_dir():
        discard(path)


def is_busy(fault: sqlite3.Error) -> bool:
    """Whether a fault only says that another process is at it."""
    return isinstance(fault, sqlite3.OperationalError) and "locked" in str(fault)


def is_full(fault: Exception) -> bool:
    """Whether a fault of SQLite's, of the system's or of the full text's library says that the disk is full."""
    return any(words in str(fault) for words in ("disk is full", "No space left", "quota exceeded", "os error 28"))


def discard(path: Path) -> None:
    """Remove a derived file or folder, whatever stands there; what cannot be removed is left."""
    with suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def clear_temporaries(path: Path) -> None:
    """Remove what killed writers of a derived file left beside it; the caller holds the lock under which it is written."""
    for left in path.parent.glob(f".{path.name}.vt-*.tmp"):
        if atomic.temporary_hashes(left.name) is not None:
            discard(left)


@cache
def _boot() -> str:
    """A value that stays the same until the machine starts anew: the kernel's own, else about when it started."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        # Coarse: clocks are set by seconds now and then, and that must not look like another boot.
        return str(round((time.time() - time.monotonic()) / 600))
