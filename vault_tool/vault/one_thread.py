"""An open vault and the one thread in which it is asked, for servers whose requests come many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from vault_tool.files.layout import CONFIG_FILE, SETTINGS_FILE
from vault_tool.files.local_trust import place
from vault_tool.util.user_folder import global_place

if TYPE_CHECKING:
    from vault_tool.util.location import Location
    from vault_tool.vault.context import Context  # with every index: loaded by the first use

T = TypeVar("T")
Opened = TypeVar("Opened", bound="Context")

# A value that changes with the settings of a vault and of this machine, and with a repository around it.
Stamps = tuple[tuple[int, ...], ...]


class OneThread(Generic[Opened]):
    """A vault that is opened by the first use, and the one thread in which all uses come one after the other.

    It is opened again when its settings changed. A use raises VaultGone while the vault is not at its place.
    """

    def __init__(self, opening: Callable[[], Opened]) -> None:
        self._opening = opening
        self._thread = ThreadPoolExecutor(1, "vault")
        self._vault: Opened | None = None
        self._settings: Stamps = ()
        self._location: Location | None = None

    def __call__(self, use: Callable[[Opened], T], /) -> Awaitable[T]:
        """`use(vault)`, done in that thread, with what it raises.

        A use that has not begun when its caller is cancelled never does.
        """
        return asyncio.wrap_future(self._thread.submit(lambda: use(self._opened())))

    async def close(self) -> None:
        """Wait for the use under way, and close the vault."""
        await asyncio.wrap_future(self._thread.submit(self._close))
        self._thread.shutdown(cancel_futures=True)

    def _opened(self) -> Opened:
        if self._location is not None:
            self._location.require()
        if self._vault is not None and self._settings != stamps_of(self._vault):
            self._close()
        if self._vault is None:
            self._vault = self._opening()
            self._settings = stamps_of(self._vault)
            # That of the first: what is opened again is to be the same vault.
            self._vault.location = self._location = self._location or self._vault.location
        self._vault.require_present()
        return self._vault

    def _close(self) -> None:
        if self._vault is not None:
            self._vault.close()
            self._vault = None


def stamps_of(vault: Context) -> Stamps:
    """The state of the files that an open vault read beside its notes: where it changes, the vault is opened anew."""
    root, own = vault.root, place(vault.root)
    shared = Path(global_place(vault.environ)) / SETTINGS_FILE
    files = (vault.settings_path, own / CONFIG_FILE, root / ".git", root.parent / ".git", shared)
    return (*map(_stamp, files), (hash(own),))


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    # A folder's own times move with whatever happens in it.
    return (status.st_ino,) if path.name == ".git" else (status.st_size, status.st_mtime_ns, status.st_ino)
