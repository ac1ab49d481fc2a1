"""A folder that an export writes outside of the vault, with a list of its files: one that is not as listed is another's."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from vault_tool.errors import Refused, UsageError
from vault_tool.util.atomic import storage, write_in
from vault_tool.util.folder import opened
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

LISTING = ".vault-export.json"
_FORMAT = "vault_tool-export"
_PRIVATE = 0o600
_PRIVATE_FOLDER = 0o700
_SHOWN = 3


class Written(Struct):
    """The outcome: how many files were written, how many are as they were, how many of an earlier export were taken away, and
    how many of these stayed because another hand changed them.
    """

    written: int
    unchanged: int
    removed: int
    edited: int


class WrittenFolder:
    """The folder at a path, and the list of what an export of the same form and vault wrote into it."""

    def __init__(self, path: Path, form: str, vault_id: str) -> None:
        """Refused for a link, UsageError for what is no folder. Nothing is made yet."""
        if path.is_symlink():
            raise Refused(f"{path} is a link", "name the folder that it leads to")
        if path.exists() and not path.is_dir():
            raise UsageError(f"{path} is no folder", "name a folder, or one that is not there yet")
        self._path = path
        self._is_of = {"format": _FORMAT, "form": form, "vault": vault_id}
        self._listed: dict[str, list[str]] = {}
        self._of_another = False
        listing = self._read(LISTING)
        if listing is not None:
            self._listed, self._of_another = _listed(listing, self._is_of)

    def write(self, files: Mapping[str, bytes], *, force: bool) -> Written:
        """Make the folder hold these files, and take away those of an earlier export that are as it wrote them.

        Refused without `force`, before a byte is written, where one stands at a place of these that no export wrote, or that was
        changed since. A link is never written through. Killed at any point, the next export goes on.
        """
        before = {path: self._read(path) for path in {*files, *self._listed}}
        foreign = [path for path in files if before[path] not in (None, files[path]) and not self._is_ours(path, before[path])]
        if (foreign or self._of_another) and not force:
            raise Refused(self._fault(sorted(foreign)), f"{option('force', True)} writes over it, or name another folder")
        changed = {path: data for path, data in files.items() if before[path] != data}
        gone = [path for path in self._listed if path not in files and before[path] is not None]
        stale = [path for path in gone if self._is_ours(path, before[path])]
        hashes = {path: [_hash(data)] for path, data in files.items()}
        with storage(str(self._path)):
            self._path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
            if changed or stale:
                self._list({path: [*self._listed.get(path, ()), *hashes.get(path, ())] for path in {*hashes, *self._listed}})
            for path, data in changed.items():
                self._put(path, data)
            for path in stale:
                self._remove(path)
            if hashes != self._listed:
                self._list(hashes)
        return Written(len(changed), len(files) - len(changed), len(stale), len(gone) - len(stale))

    def _is_ours(self, path: str, data: bytes | None) -> bool:
        return data is not None and not self._of_another and _hash(data) in self._listed.get(path, ())

    def _fault(self, foreign: Collection[str]) -> str:
        if not foreign:
            return f"{self._path} holds another export"
        names = ", ".join(one_line(path, 80) for path in list(foreign)[:_SHOWN])
        more = f" and {len(foreign) - _SHOWN} more" if len(foreign) > _SHOWN else ""
        return f"{self._path} has files that no export wrote, or that were changed since: {names}{more}"

    def _read(self, path: str) -> bytes | None:
        """The bytes of a file of the folder; None where there is none. Refused for a link or a folder in its place."""
        *folders, name = path.split("/")
        with storage(path, doing="read"), suppress(FileNotFoundError), opened(self._path, folders) as folder:
            place = Path(self._path, path)
            if place.is_symlink() or place.is_dir():
                raise Refused(f"{place} is a link or a folder", "nothing was written: take it away, or name another folder")
            return folder.read(name)
        return None

    def _put(self, path: str, data: bytes) -> None:
        *folders, name = path.split("/")
        with opened(self._path, folders, create=True, mode=_PRIVATE_FOLDER) as folder:
            write_in(folder, name, data, mode=_PRIVATE)

    def _remove(self, path: str) -> None:
        *folders, name = path.split("/")
        with opened(self._path, folders) as folder:
            folder.discard(name)
        with suppress(OSError):
            for depth in range(len(folders), 0, -1):
                Path(self._path, *folders[:depth]).rmdir()

    def _list(self, hashes: Mapping[str, list[str]]) -> None:
        text = json.dumps({**self._is_of, "files": dict(sorted(hashes.items()))}, indent=0, ensure_ascii=False)
        self._put(LISTING, f"{text}\n".encode("utf-8", "surrogatepass"))


def _listed(data: bytes, is_of: Mapping[str, str]) -> tuple[dict[str, list[str]], bool]:
    """The files of a list with their hashes, and whether it is another export's or cannot be read."""
    try:
        listing: Any = json.loads(data)
        paths = listing["files"]
        of_another = any(listing.get(name) != value for name, value in is_of.items())
        hashes = {str(path): [str(each) for each in several] for path, several in paths.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}, True
    if any(not _is_within(path) for path in hashes):
        return {}, True
    return hashes, of_another


def _is_within(path: str) -> bool:
    parts = path.split("/")
    return path.isprintable() and "\\" not in path and all(part not in ("", ".", "..") for part in parts) and path != LISTING


def _hash(data: bytes) -> str:
    return sha256(data).hexdigest()
