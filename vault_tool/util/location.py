"""Whether the vault that a process opened is still at its place: it may be moved, deleted or unmounted, or another lie there.

Standard library alone: what passes a client's lines on asks it, too.
"""

from __future__ import annotations

import os
import re

from vault_tool.errors import VaultGone

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

# As `files.layout` has them, which takes longer to load than all this.
_SETTINGS = "vault.toml"
_RECORD = os.path.join("vault", "workspace.md")
_TOKEN = os.path.join("_local", "writer")

_HEAD = 4096
_ID = re.compile(rb"^id:[ \t]*[\"']?([0-9A-Fa-f-]{36})", re.MULTILINE)
_HINT = "nothing was written; put it back, or start again and say where it is now"


class Location:
    """The vault at `root` as it was when a process opened it, told again by its id and by its folder.

    `identity` is the id of the vault that is meant, where somebody else opened it, and it may be gone by now.
    """

    def __init__(self, root: str | Path, identity: str = "") -> None:
        self.root = os.fspath(root)
        self.identity = identity or identity_at(self.root)
        self._token = _start(os.path.join(self.root, _TOKEN)).strip()
        self._was_vault = os.path.isfile(os.path.join(self.root, _SETTINGS))
        self._seen: tuple[tuple[int, ...], tuple[int, ...]] = ((), ()) if identity else self._look()

    def require(self) -> None:
        """Raise VaultGone where another folder, another vault or nothing is there now: two looks at the disk, mostly."""
        now = self._look()
        if now == self._seen and now[1]:
            return
        if fault := self._fault(now[0]):
            raise VaultGone(f"the vault that was opened at {self.root} is not there any more: {fault}", _HINT)
        self._seen = now
        self.identity = self.identity or identity_at(self.root)

    def is_there(self) -> bool:
        """The same as an answer."""
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
        """Why what is at the root now is not the vault, in words; empty where it is."""
        if not place:
            return "there is no such folder"
        identity = identity_at(self.root)
        if identity and self.identity:
            return "" if identity == self.identity else "another vault is"
        if place == self._seen[0]:
            # The same folder, whose workspace record came or went; a folder that was to become a vault had no settings.
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
    """The id in the workspace record of the vault at `root`; empty where it has none in its usual place."""
    identity = _ID.search(_start(os.path.join(root, _RECORD)))
    return identity[1].decode("ascii").lower() if identity is not None else ""


def _start(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""
