"""Clears the temporary files of killed writers: ours are removed, other programs' files are kept."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from vault_tool.files.conflicts import keep
from vault_tool.files.layout import CORE_FILE, LOCAL, REFLECTION_FILE, TEMPLATES, VAULT, ignored_folder
from vault_tool.util.atomic import storage, temporary_hashes
from vault_tool.util.folder import Folder, opened
from vault_tool.util.text import content_hash

_SHARED_AGE = 3600.0
_PAGES = (f".{CORE_FILE}.", f".{REFLECTION_FILE}.")


def sweep(root: Path, older_than: float = 0.0) -> int:
    """Remove our temporary files that are at least `older_than` seconds old; the caller holds the write lock.

    A swap that was cut short may have left another's text under a temporary name: that becomes a conflict copy.
    Of derived files, which are written without this lock, only those over an hour old go.
    """
    with storage(VAULT, doing="sweep"):
        ours = (VAULT, f"{LOCAL}/pending", f"{LOCAL}/inbox", f"{LOCAL}/bin")
        below = sum(_sweep_folder(root, parts, older_than) for top in ours for parts in _folders(root, top))
        below += _sweep_folder(root, (), older_than, _PAGES)
        shared = max(older_than, _SHARED_AGE)
        return below + sum(_sweep_folder(root, parts, shared) for parts in ((), (TEMPLATES,), *_folders(root, LOCAL)))


def _folders(root: Path, top: str) -> Iterator[tuple[str, ...]]:
    for path, folders, _ in os.walk(root / top):
        folders[:] = [name for name in folders if not ignored_folder(name)]
        yield Path(path).relative_to(root).parts


def _sweep_folder(root: Path, parts: tuple[str, ...], older_than: float, begins: tuple[str, ...] = (".",)) -> int:
    try:
        with opened(root, parts) as folder:
            leftovers = [name for name in folder.names() if name.startswith(begins) and temporary_hashes(name) is not None]
            return sum(_clear(folder, name) for name in leftovers if _age(folder, name) >= older_than)
    except FileNotFoundError:
        return 0


def _clear(folder: Folder, name: str) -> bool:
    hashes = temporary_hashes(name)
    data = folder.read(name)
    if hashes and data and content_hash(data)[:8] not in hashes:
        keep(folder, name.split(".vt-")[0].removeprefix("."), name)
    else:
        folder.discard(name)
    return True


def _age(folder: Folder, name: str) -> float:
    changed = folder.changed_at(name)
    return -1.0 if changed is None else time.time() - changed
