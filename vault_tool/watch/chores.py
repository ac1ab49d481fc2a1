"""What waits for a quiet moment: the full-text index, the JSON exports of large vaults, CORE.md once an hour."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from vault_tool.errors import VaultError
from vault_tool.files import git
from vault_tool.files.layout import CORE_FILE
from vault_tool.verbs import pages
from vault_tool.verbs.context import Context
from vault_tool.verbs.standing import SMALL

EXPORT_QUIET = 10.0
"""Seconds without a change before the exports of a large vault are written."""

EXPORT_SHARE = 20
"""An export that took a second is not written again for so many."""

CORE_QUIET = 2.0
CORE_EVERY = 3600.0
"""Seconds that CORE.md is left alone for, counted from its last change by whomever."""


class Chores:
    """What one watcher does beside looking at files. `say` hears what a person should know."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._exported = ""
        self._export_after = 0.0
        self._core_tried = float("-inf")

    def index_text(self, vault: Context) -> None:
        """Write the waiting changes to the full-text index in one batch, so that no search has to."""
        if vault.index.catalog.rows("SELECT 1 FROM lexical_pending LIMIT 1"):
            vault.index.search("", 1)  # a search begins by writing what waits

    def when_quiet(self, vault: Context, quiet: float) -> None:
        """Whatever is due after so many seconds without a change."""
        if quiet >= EXPORT_QUIET and time.monotonic() >= self._export_after:
            self._export(vault)
        if quiet >= CORE_QUIET and self._core_is_due(vault):
            self._core(vault)

    def _export(self, vault: Context) -> None:
        """Below a few thousand notes each change is exported at once, without us."""
        catalog = vault.index.catalog
        now = f"{catalog.meta('nonce')} {catalog.meta('changes')}"
        if now == self._exported:
            return
        self._exported = now
        if catalog.counts().entries <= SMALL:
            return
        # It takes seconds for a hundred thousand notes, and an edit must not wait for it. It may die with the process.
        self._export_after = float("inf")
        threading.Thread(target=self._export_beside, args=(vault.reopened(),), daemon=True).start()

    def _export_beside(self, vault: Context) -> None:
        begun = time.monotonic()
        try:
            with vault:
                vault.index.export()
                vault.standings.keep(vault.standings.present())
        except VaultError as fault:
            self._say(f"the exports were not written: {fault.message}")
        finally:
            ended = time.monotonic()
            self._export_after = ended + EXPORT_SHARE * (ended - begun)

    def _core_is_due(self, vault: Context) -> bool:
        now = vault.clock.now().timestamp()
        if now - self._core_tried < CORE_EVERY:
            return False
        try:
            changed = (vault.root / CORE_FILE).stat().st_mtime
        except OSError:
            changed = float("-inf")
        return now - changed >= CORE_EVERY

    def _core(self, vault: Context) -> None:
        if vault.repo is not None and git.obstacle(vault.repo):
            return
        self._core_tried = vault.clock.now().timestamp()
        try:
            page = pages.core(vault)
        except VaultError as fault:
            self._say(f"{CORE_FILE} was not made: {fault.message}")
            return
        if page.changed:
            why = f", not committed: {page.reason}" if page.reason else ""
            self._say(f"{CORE_FILE} made anew{why}")
