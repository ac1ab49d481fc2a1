"""An open vault and the one thread in which it is asked, for servers whose requests come many at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, TypeVar

from vault_tool.vault import settings_stamps

if TYPE_CHECKING:
    from vault_tool.util.location import Location
    from vault_tool.vault.context import Context  # with every index: loaded by the first use

T = TypeVar("T")
Opened = TypeVar("Opened", bound="Context")


class OneThread(Generic[Opened]):
    """A vault that is opened by the first use, and the one thread in which all uses come one after the other.

    It is opened again when its settings changed. A use raises VaultGone while the vault is not at its place.
    """

    def __init__(self, opening: Callable[[], Opened]) -> None:
        self._opening = opening
        self._thread = ThreadPoolExecutor(1, "vault")
        self._vault: Opened | None = None
        self._settings: settings_stamps.Stamps = ()
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
        if self._vault is not None and self._settings != settings_stamps.stamps_of(self._vault):
            self._close()
        if self._vault is None:
            self._vault = self._opening()
            self._settings = settings_stamps.stamps_of(self._vault)
            # That of the first: what is opened again is to be the same vault.
            self._vault.location = self._location = self._location or self._vault.location
        self._vault.require_present()
        return self._vault

    def _close(self) -> None:
        if self._vault is not None:
            self._vault.close()
            self._vault = None
