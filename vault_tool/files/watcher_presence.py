"""The watcher of a vault on this machine: one lock, and a record beside it that others may read."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from vault_tool.files.layout import LOCAL, OWNER_FILE
from vault_tool.util.atomic import storage, write_in
from vault_tool.util.deferred import filelock
from vault_tool.util.folder import Folder, opened
from vault_tool.util.json_text import read_own
from vault_tool.util.structs import Struct

LOCK_FILE = "owner.lock"
WATCH_FILE = "watch.json"

_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600


class Owner(Struct):
    """The process that holds a vault's owner lock; `nonce` tells one of its lives from another with the same pid.

    `protocol` is that of the socket on which it answers, 0 where it listens on none; `background` says that nobody
    started it by hand, `warm` what it keeps ready.
    """

    pid: int
    host: str
    nonce: str
    started: str
    version: str = ""
    protocol: int = 0
    background: bool = False
    warm: tuple[str, ...] = ()

    @property
    def alive(self) -> bool:
        """Whether its process is there; one of another machine cannot be looked for and counts as alive."""
        if self.host != platform.node():
            return True
        if os.name == "nt":  # signal 0 would end it there
            return True
        try:
            os.kill(self.pid, 0)
        except (ProcessLookupError, OverflowError):
            return False
        except PermissionError:
            pass
        return True


class Watch(Struct):
    """A watcher's record: `mode` is `events` or `polling`, `degraded` the reason why it is not as good as it could be."""

    pid: int
    host: str
    started: str
    mode: str
    reconciled: str = ""
    degraded: str = ""


def owner(root: Path) -> Owner | None:
    """The holder of the owner lock; None while the lock is free."""
    record = _read_record(root, OWNER_FILE)
    try:
        holder_of_lock = Owner(
            pid=int(record["pid"]),
            **{name: str(record[name]) for name in ("host", "nonce", "started")},
            version=str(record.get("version", "")),
            protocol=int(record.get("protocol", 0)),
            background=record.get("background") is True,
            warm=tuple(map(str, record.get("warm", ()))),
        )
    except (KeyError, TypeError, ValueError):
        return None
    return holder_of_lock if holder_of_lock.alive and _is_locked(root) else None


def memory(holder: Owner) -> int | None:
    """The bytes of memory that an owner on this machine holds; None where the system does not say."""
    try:
        fields = Path(f"/proc/{holder.pid}/statm").read_text(encoding="ascii") if holder.host == platform.node() else ""
        return int(fields.split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def watch(root: Path) -> Watch | None:
    """The record of the vault's watcher; None where none is alive."""
    record = _read_record(root, WATCH_FILE)
    if not record:
        return None
    try:
        texts = {name: str(record[name]) for name in ("host", "started", "mode", "reconciled", "degraded")}
        watcher = Watch(pid=int(record["pid"]), **texts)
    except (KeyError, TypeError, ValueError):
        return None
    holder = owner(root)
    return watcher if holder is not None and (holder.pid, holder.host) == (watcher.pid, watcher.host) else None


def say(root: Path, record: Owner | Watch) -> None:
    """Write a record of this process down for others; raises StorageError."""
    name = OWNER_FILE if isinstance(record, Owner) else WATCH_FILE
    with _local(root) as folder:
        data = json.dumps(to_builtins(record)).encode()
        write_in(folder, name, data, durable=False, mode=_PRIVATE_FILE)


def unsay(root: Path, name: str) -> None:
    """Take a record away, if it is there and that is possible."""
    with suppress(OSError):
        (root / LOCAL / name).unlink()


@contextmanager
def _local(root: Path) -> Iterator[Folder]:
    with storage(LOCAL), opened(root, (LOCAL,), create=True, mode=_PRIVATE_FOLDER) as folder:
        yield folder


def _read_record(root: Path, name: str) -> dict[str, Any]:
    try:
        record = read_own((root / LOCAL / name).read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _is_locked(root: Path) -> bool:
    """Whether a process holds the lock, by trying it for a moment; only asked where a record says that one does."""
    guard = filelock.FileLock(root / LOCAL / LOCK_FILE, is_singleton=False)
    try:
        guard.acquire(timeout=0)
    except filelock.Timeout:
        return True
    except (OSError, NotImplementedError):
        return False
    guard.release()
    return False
