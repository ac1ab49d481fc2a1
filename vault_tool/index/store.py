"""Where a vault's derived files are kept: found intact, put right after a crash, or given up to be built anew."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from vault_tool.config import Config
from vault_tool.errors import Busy, StorageError
from vault_tool.files.layout import CACHE
from vault_tool.files.local_trust import place
from vault_tool.importing import forms
from vault_tool.index.catalog import Catalog
from vault_tool.index.database import identity
from vault_tool.index.schema import TABLES
from vault_tool.index.seals import FORMAT, IndexState, SealedFile, discard, lock, make_way
from vault_tool.util.deferred import tempfile
from vault_tool.util.folder import write_all
from vault_tool.util.location import Location

# Bytes that must fit where indexes are made, and seconds after which a disk that was full is looked at again.
_ROOM = 4 * 2**20
_AGAIN = 60.0

# Where there may be room when the disk that holds the temporary files is the one that is full.
_MEMORY = Path("/dev/shm")


class Replaced(Exception):
    """Another process put a new catalogue in the place of the one that was being used: begin again."""


@lru_cache(maxsize=8)
def _sealed(cache: Path, name: str) -> SealedFile:
    return SealedFile(cache / f"catalog-{FORMAT}-{name}.sqlite3", cache / "catalog.seal")


class Store:
    """The cache folder of one vault and the catalogue in it; a temporary folder where the vault's cannot be written."""

    def __init__(self, root: Path, config: Config, *, around: bool = False, location: Location | None = None) -> None:
        self._own = place(root) / CACHE
        self._location = location or Location(root)
        self._wait = config.lock_wait
        self._until: float | None = None
        self._lacked_room = 0.0
        self._settings = settings_digest(config, root if around else None)
        self._borrowed: tempfile.TemporaryDirectory[str] | None = None
        self._catalog: tuple[tuple[int, int], Catalog] | None = None
        self._held: Catalog | None = None
        self._unsynced = False

    @property
    def cache(self) -> Path:
        """The folder that derived files are kept in."""
        return Path(self._borrowed.name) if self._borrowed is not None else self._own

    @property
    def sealed(self) -> SealedFile:
        """The catalogue's file of the build that is in use, whatever it is found like."""
        return self._build(self._build("").nonce())

    def _build(self, nonce: str) -> SealedFile:
        """The catalogue's file of one build. Its name carries the format, so that another version's is never opened, and the
        build: SQLite finds a journal by name, and whoever still reads an older build would take the present one's for its own.
        """
        return _sealed(self.cache, nonce if nonce.isalnum() else "none")

    @property
    def settings(self) -> str:
        """The digest of the settings that decide what the indexes hold."""
        return self._settings

    def close(self) -> None:
        """Let go of all files, on disk from now on."""
        if self._unsynced and self._catalog is not None:
            with suppress(Busy, StorageError, OSError), self.locked():
                self.sealed.sync()
        self._unsynced = False
        if self._catalog is not None:
            self._catalog[1].close()
        self.drop()
        if self._borrowed is not None:
            self._borrowed.cleanup()
            self._borrowed = None

    @property
    def is_open(self) -> bool:
        """Whether a catalogue is open here."""
        return self._catalog is not None

    def drop(self) -> None:
        """Look for the catalogue anew the next time. Who still asks the one that was open is answered as of then by its file,
        which is there until it is let go of, whatever became of its name.
        """
        self._held = self._catalog = None

    def ready(self) -> Catalog | None:
        """The catalogue, when it is as we or another process left it; None when it must be built."""
        if self._held is not None:
            return self._held
        # All builds have one seal: it says which of them it is of, and how that one was left.
        seal = self._build("").read() or {}
        sealed = self._build(str(seal.get("nonce", "")))
        trusted = sealed if sealed.state(stored=seal) is IndexState.INTACT else self._sealed_file()
        if trusted is None:
            self.drop()
            return None
        return self._opened(trusted)

    @contextmanager
    def consistent_read(self) -> Iterator[None]:
        """Look at the catalogue once for all that is asked until the end: an answer asks some twenty times."""
        if self._held is not None:
            yield
            return
        current = self.ready()
        if current is None:
            yield
            return
        try:
            with current.consistent_read():
                self._held = current
                yield
        finally:
            self._held = None

    @contextmanager
    def writing(self, catalog: Catalog) -> Iterator[None]:
        """Write to the catalogue: other processes wait, and the seal is broken meanwhile. Raises Busy, Replaced."""
        with self.locked():
            sealed = self.sealed
            # While we waited another build may have been put there: we would write into a file that has no name any more.
            if self._opened(sealed) is not catalog:
                raise Replaced
            with sealed.writing(catalog.meta("nonce"), synced=False):
                self._unsynced = True
                yield

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the catalogue's lock: for short work only."""
        with lock(self.cache / "catalog.lock", self.patience(), "the index"):
            yield

    @contextmanager
    def building(self, wait: float | None = None) -> Iterator[None]:
        """Hold the lock under which indexes are built and the full-text index is written."""
        with lock(self.cache / "build.lock", self.patience() if wait is None else wait, "the full-text index"):
            yield

    @contextmanager
    def hurried(self, until: float) -> Iterator[None]:
        """Wait for no other process after `until` (monotonic), and look at no more files, as long as this lasts."""
        before, self._until = self._until, until
        try:
            yield
        finally:
            self._until = before

    @property
    def until(self) -> float | None:
        """Until when (monotonic) whoever asks has time: see `hurried`."""
        return self._until

    def patience(self) -> float:
        """Seconds to wait for another process."""
        return self._wait if self._until is None else max(0.0, min(self._wait, self._until - time.monotonic()))

    def publish(self, folder: Path, nonce: str) -> None:
        """Have a new catalogue answer from now on; the caller holds the lock (`locked`)."""
        sealed = self._build(nonce)
        self.drop()
        folder.replace(sealed.path)
        self._unsynced = True
        # From this moment on: until then the old build's seal vouches for the old build's file.
        sealed.renew_seal(nonce, synced=False)

    def sweep(self, keep: str = "") -> None:
        """Remove what earlier builds left; the caller holds the build lock. `keep` is the build that is in use."""
        make_way(self.cache / "lexical", folder=True)
        for left in self.cache.glob("catalog.*.tmp*"):
            discard(left)
        for left in self.cache.glob("catalog-*.sqlite3*"):
            if keep and keep not in left.name and not _is_of_a_later_version(left.name):
                discard(left)
        if keep:
            for left in (self.cache / "lexical").glob("*"):
                if not left.name.startswith(keep):
                    discard(left)

    def borrow_if_unwritable(self) -> None:
        """Keep derived files in a temporary folder when the vault's own folder cannot be written (a read-only disk)."""
        self._location.require()
        if self._borrowed is not None:
            self._give_back_for_room()
        if self._borrowed is not None:
            return
        try:
            make_way(self._own, folder=True)
            self._own.mkdir(exist_ok=True)
            writable = os.access(self._own, os.W_OK)
        except OSError:
            writable = False
        if not writable:
            self.drop()
            self._borrowed = tempfile.TemporaryDirectory(prefix="vault-", ignore_cleanup_errors=True)

    def borrow_for_room(self) -> bool:
        """Keep derived files in a temporary folder where the vault's disk is full; whether that was done just now."""
        if self._borrowed is not None or _has_room(self._own):
            return False
        place = next(filter(_has_room, _temporary_folders()), None)
        if place is None:
            return False
        self.drop()
        self._lacked_room = time.monotonic()
        self._borrowed = tempfile.TemporaryDirectory(prefix="vault-", dir=place, ignore_cleanup_errors=True)
        return True

    def _give_back_for_room(self) -> None:
        """Go back to the vault's own folder, once in a while, where its disk was full and is no more."""
        if not self._lacked_room or time.monotonic() - self._lacked_room < _AGAIN or self._borrowed is None:
            return
        self._lacked_room = time.monotonic()
        if _has_room(self._own):
            self.drop()
            self._borrowed.cleanup()
            self._borrowed, self._lacked_room = None, 0.0

    def _opened(self, sealed: SealedFile) -> Catalog | None:
        # Not by name: a new catalogue is renamed into the place of the old one, which stays open and readable.
        file_identity = identity(sealed.path)
        if self._catalog is not None and self._catalog[0] == file_identity:
            return self._catalog[1]
        self.drop()
        if file_identity is None:
            return None
        self._location.require()  # another vault's catalogue is none of ours, however long the call has loaded meanwhile
        try:
            catalog = Catalog.open(sealed.path)
        except sqlite3.DatabaseError:
            return None
        if catalog.meta("settings") != self._settings:
            catalog.close()
            return None
        self._catalog = file_identity, catalog
        return catalog

    def _sealed_file(self) -> SealedFile | None:
        """The catalogue's file once no other process is between a write and its seal; what a crash interrupted is examined.
        None where it cannot be trusted.
        """
        # Where nothing can be written there is no lock to take, and nobody to wait for.
        if self.sealed.read() is None or not os.access(self.cache, os.W_OK):
            return None
        with self.locked():
            sealed = self.sealed
            state = sealed.state()
            if state is IndexState.INTERRUPTED and self._is_sound(sealed.path):
                sealed.renew_seal(sealed.nonce())
                return sealed
            return sealed if state is IndexState.INTACT else None

    def _is_sound(self, path: Path) -> bool:
        """Whether SQLite, having rolled back what was half done, finds nothing wrong."""
        self.drop()
        try:
            catalog = Catalog.open(path)
        except sqlite3.DatabaseError:
            return False
        try:
            return catalog.sound() and bool(catalog.meta("nonce"))
        finally:
            catalog.close()


def _temporary_folders() -> Iterator[Path]:
    """Where files may lie for a while; the system's own folder is found by writing there, which may fail too."""
    with suppress(OSError):
        yield Path(tempfile.gettempdir())
    yield _MEMORY


def _has_room(folder: Path) -> bool:
    """Whether so much can be written there: by trying, for quotas and limits are told by nothing else."""
    try:
        with tempfile.TemporaryFile(dir=folder, buffering=0) as file:
            write_all(file.fileno(), bytes(_ROOM))
    except OSError:
        return False
    return True


def settings_digest(config: Config, around: Path | None = None) -> str:
    """A digest of what decides what the indexes hold: types, language, the tables that they are kept in, and where the folder
    around the vault at `around` is served too, what says which files in it are no notes."""
    settings = repr((config.language, sorted(config.types.specs.items()), TABLES))
    if around is not None:
        settings += repr([str(around.parent), *map(_identity_and_time, _ignoring(around.parent))])
    return hashlib.blake2b(settings.encode(), digest_size=8).hexdigest()


def _ignoring(folder: Path) -> tuple[Path, ...]:
    return folder / ".gitignore", folder / ".git" / "info" / "exclude", *(folder / path for path, _ in forms.SETTINGS)


def _identity_and_time(path: Path) -> tuple[int, int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns


def _is_of_a_later_version(name: str) -> bool:
    version = name.removeprefix("catalog-").partition(".")[0].partition("-")[0]
    return version.isdecimal() and int(version) > FORMAT
