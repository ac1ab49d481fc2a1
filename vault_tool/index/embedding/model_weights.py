"""A digest that tells a model's files from others under the same names, taken once for each state of them."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable
from pathlib import Path

_READ: dict[str, str] = {}
"""The digests that this process took, by the state of the files."""

_LOCK = threading.Lock()


def state(files: Iterable[Path]) -> str:
    """Size, times and numbers of the files as the system has them; empty where one is missing.

    The time of the last change to the file itself is among them, which nobody sets: a file of the same size whose time
    of writing was put back is another one too (on Windows there is no such time, and it is not noticed).
    """
    stats = []
    for file in files:
        try:
            now = file.stat()
        except OSError:
            return ""
        stats.append(f"{now.st_size}.{now.st_mtime_ns}.{now.st_ctime_ns}.{now.st_dev}.{now.st_ino}")
    return " ".join(stats)


def mark(files: tuple[Path, ...], before: str = "") -> str:
    """The digest of the files with their state, `DIGEST STATE`; `before` itself where their state is as it says.

    Empty where they are missing, cannot be read, or are being written just now.
    """
    now = state(files)
    digest, _, seen = before.partition(" ")
    if not now or (digest and seen == now):
        return before if now else ""
    with _LOCK:
        if now not in _READ:
            try:
                taken = _digest(files)
            except OSError:
                return ""
            if state(files) != now:
                return ""
            _READ[now] = taken
        return f"{_READ[now]} {now}"


def alike(name: str, other: str) -> bool:
    """Whether two marks are of files with the same content."""
    return name.partition(" ")[0] == other.partition(" ")[0]


def _digest(files: Iterable[Path]) -> str:
    together = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            together.update(hashlib.file_digest(file, "sha256").digest())
    return together.hexdigest()
