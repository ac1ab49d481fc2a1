"""Hearing of changes from the operating system; the one importer of watchdog."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver
from watchdog.observers.polling import PollingObserver

from vault_tool.files.disks import network_disk
from vault_tool.files.layout import VAULT, FileKind, file_kind, ignored_folder
from vault_tool.watch.pending_paths import OVERFLOW, PendingPaths

if TYPE_CHECKING:
    from vault_tool.vault.context import Context

# Not among them: reads, which our own indexing makes, and a folder's change of time, which every file in it makes.
_HEARD: list[type[FileSystemEvent]] = [
    *(FileCreatedEvent, FileModifiedEvent, FileDeletedEvent, FileMovedEvent, FileClosedEvent, FileAttribEvent),
    *(DirCreatedEvent, DirDeletedEvent, DirMovedEvent),
]
_TELLS_CLOSING = sys.platform == "linux"


_UNHEARD = logging.NullHandler()
"""Takes what its threads still say while they end: without any handler it would be written to standard error."""


class CannotHear(Exception):
    """The system does not notify of changes here; the sentence says why."""


def unheard(vault: Context) -> str:
    """The reason why not all changes of a vault's notes are heard of, whatever the system notifies of; empty where they are."""
    if vault.notes_folder is not None:
        return "the folder around the vault is not listened to"
    disk = network_disk(vault.root)
    return f"changes made on other machines are not notified of on {disk}" if disk else ""


class FileObserver:
    """Every change below `vault/`, put into an inbox, from `start` until `stop`."""

    def __init__(self, root: Path, inbox: PendingPaths) -> None:
        self._root = root
        self._inbox = inbox
        self._observer: BaseObserver | None = None
        self._tree: tuple[int, int] | None = None
        self._alarm = _Alarm(inbox)

    def start(self) -> None:
        """Begin; raises CannotHear where the system has no room for it or no such service."""
        if Observer is PollingObserver:
            raise CannotHear("this system does not notify of changes")
        log = logging.getLogger("watchdog")
        log.addHandler(self._alarm)
        log.addHandler(_UNHEARD)
        log.propagate = False
        # It warns of every folder that it comes to know twice: harmless, and hundreds of lines where a tree is copied in.
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"watchdog\.")
        try:
            self._observer = Observer()
            self._observer.schedule(
                _Listener(self._root, self._inbox), str(self._root / VAULT), recursive=True, event_filter=_HEARD
            )
            self._observer.start()
        except (OSError, RuntimeError) as fault:
            self.stop()
            raise CannotHear(_in_words(fault)) from fault
        self._tree = _identity(self._root / VAULT)

    def stop(self) -> None:
        """End, with all threads."""
        observer, self._observer = self._observer, None
        logging.getLogger("watchdog").removeHandler(self._alarm)
        if observer is None:
            return
        observer.stop()
        if observer.ident is not None:
            observer.join(timeout=2.0)

    @property
    def alive(self) -> bool:
        """Whether all its threads run."""
        observer = self._observer
        return observer is not None and observer.is_alive() and all(emitter.is_alive() for emitter in observer.emitters)

    @property
    def same_tree(self) -> bool:
        """Whether `vault/` is still the folder that is listened to, and not another one put in its place."""
        return self._tree is not None and self._tree == _identity(self._root / VAULT)

    def deaf_folders(self) -> int:
        """How many folders the system has no watch for, where it can be counted: its limit is met without a word."""
        if sys.platform != "linux":
            return 0
        return max(0, sum(1 for _ in _folders(self._root / VAULT)) - _watches())


class _Listener(FileSystemEventHandler):
    """Sorts what is heard: notes and journals to be looked at, folders that ask for a comparison, cookies, and noise."""

    def __init__(self, root: Path, inbox: PendingPaths) -> None:
        self._prefix = f"{root}{os.sep}"
        self._inbox = inbox

    def dispatch(self, event: FileSystemEvent) -> None:
        source, target = os.fsdecode(event.src_path), os.fsdecode(event.dest_path)
        if event.is_directory:
            self._folder(source)
            self._folder(target)
            return
        moved = bool(target) and self._note(target) is not None
        self._file(source, writing=_TELLS_CLOSING and isinstance(event, FileModifiedEvent), moved=moved)
        self._file(target)

    def _folder(self, path: str) -> None:
        relative = path.removeprefix(self._prefix)
        if path and not any(ignored_folder(part) for part in relative.split("/")):
            # What appears in a folder before it is listened to is never heard of.
            self._inbox.doubt("folders changed")

    def _file(self, path: str, *, writing: bool = False, moved: bool = False) -> None:
        if self._inbox.is_cookie(Path(path).name):
            return
        note = self._note(path)
        if note is None:
            return
        if note.isprintable():
            self._inbox.touch(note, writing=writing, moved=moved)
        else:
            self._inbox.doubt("a file has an odd name")

    def _note(self, path: str) -> str | None:
        """The path of a note or journal, relative to the root; None for any other file."""
        if not path.startswith(self._prefix):
            return None
        relative = path[len(self._prefix) :].replace(os.sep, "/")
        return None if file_kind(relative) in (None, FileKind.OTHER) else relative


class _Alarm(logging.Handler):
    """Hears watchdog's warnings: the only sign that it gives of an overflow or of a thread's fault."""

    def __init__(self, inbox: PendingPaths) -> None:
        super().__init__(logging.WARNING)
        self._inbox = inbox

    def emit(self, record: logging.LogRecord) -> None:
        self._inbox.doubt(OVERFLOW)


def _identity(folder: Path) -> tuple[int, int] | None:
    try:
        stat = folder.stat()
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _folders(top: Path) -> Iterator[str]:
    for path, _, _ in os.walk(top):
        if os.access(path, os.R_OK):
            yield path


def _watches() -> int:
    """How many inotify watches this process has, as the kernel counts them; one too many is no harm."""
    count = 0
    for name in os.listdir("/proc/self/fdinfo"):
        try:
            with open(f"/proc/self/fdinfo/{name}", "rb") as file:
                count += file.read().count(b"inotify wd:")
        except OSError:
            continue
    return count


def _in_words(fault: Exception) -> str:
    reason = os.strerror(fault.errno) if isinstance(fault, OSError) and fault.errno else str(fault)
    detail = fault.args[-1] if fault.args else ""
    return f"the system cannot notify of changes: {detail if isinstance(detail, str) and detail else reason.lower()}"
