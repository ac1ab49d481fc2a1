"""The check that an opened vault is still at its place: it may have been moved, deleted, unmounted or replaced by another.

This module uses the standard library alone, because the relay of a client's lines imports it too.
"""

from __future__ import annotations

import os
import re

from vault_tool.errors import VaultGone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

# The same paths as in `files.layout`, which would take longer to load than this whole module.
_SETTINGS = "vault.toml"
_RECORD = os.path.join("vault", "workspace.md")
_TOKEN = os.path.join("_local", "writer")

_HEAD = 4096
_ID = re.compile(rb"^id:[ \t]*[\"']?([0-9A-Fa-f-]{36})", re.MULTILINE)
_HINT = "nothing was written; put it back, or start again and say where it is now"


class Location:
    """The vault at `root` as it was when a process opened it, recognised by its id and by its folder.

    `identity` is the id of the vault if another process opened it; that vault may be gone by now.
    """

    def __init__(self, root: str | Path, identity: str = "") -> None:
        self.root = os.fspath(root)
        self.identity = identity or identity_at(self.root)
        self._token = _start(os.path.join(self.root, _TOKEN)).strip()
        self._was_vault = os.path.isfile(os.path.join(self.root, _SETTINGS))
        self._seen: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()) if identity else self._look()

    def require(self) -> None:
        """Raise VaultGone if another folder, another vault or nothing is at the place now. It mostly costs two stats."""
        now = self._look()
        if now == self._seen and now[1]:
            return
        if fault := self._fault(now[0]):
            raise VaultGone(f"the vault that was opened at {self.root} is not there any more: {fault}", _HINT)
        self._seen = now
        self.identity = self.identity or identity_at(self.root)

    def is_there(self) -> bool:
        """Whether the vault is still at its place."""
        try:
            self.require()
        except VaultGone:
            return False
        return True

    def require_identity(self, identity: str) -> None:
        """Raise VaultGone if the caller opened the vault `identity` here and another vault stands here now."""
        if identity and self.identity and identity != self.identity:
            raise VaultGone(f"the vault that was opened at {self.root} is not there any more: another vault is", _HINT)

    def _fault(self, place: tuple[int, ...]) -> str:
        """The reason, in words, why the folder at the root is not the vault; empty if it is the vault."""
        if not place:
            return "there is no such folder"
        identity = identity_at(self.root)
        if identity and self.identity:
            return "" if identity == self.identity else "another vault is"
        if place == self._seen[0]:
            # The same folder, with a workspace record that came or went. A folder opened before its founding had no settings.
            settings = not self._was_vault or os.path.isfile(os.path.join(self.root, _SETTINGS))
            return "" if settings else f"the folder has no {_SETTINGS}"
        same = self._token and _start(os.path.join(self.root, _TOKEN)).strip() == self._token
        return "" if same else "another folder is"

    def _look(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """A stamp that stays the same until the folder itself changes, or the record that holds the vault's id."""
        try:
            root = os.stat(self.root)
        except OSError:
            return (), ()
        place = root.st_dev, root.st_ino
        try:
            record = os.stat(os.path.join(self.root, _RECORD))
        except OSError:
            return place, ()
        return place, (record.st_ino, record.st_mtime_ns, record.st_size)


def identity_at(root: str | Path) -> str:
    """The id in the workspace record of the vault at `root`; empty if the record is not at its usual place."""
    identity = _ID.search(_start(os.path.join(root, _RECORD)))
    return identity[1].decode("ascii").lower() if identity is not None else ""


def _start(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""
