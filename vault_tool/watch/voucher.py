"""Proof that no file of a vault changed since it was compared with the indexes: for a process that answers many questions."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

from vault_tool.errors import Refused
from vault_tool.files.layout import VAULT
from vault_tool.index.refresh.diff import head_signature
from vault_tool.util.atomic import temporary_name
from vault_tool.util.folder import opened
from vault_tool.watch.observer import CannotHear, FileObserver, unheard
from vault_tool.watch.pending_paths import Cookie, PendingPaths

if TYPE_CHECKING:
    from vault_tool.vault.context import Context, Freshness

# After so many seconds everything is compared, whatever was heard.
_LONGEST = 120.0

# Of so many comparisons it is known what was heard before each.
_REMEMBERED = 100

# Most seconds that a file of ours takes to be heard of.
_PATIENCE = 0.5


class Voucher:
    """Compares a vault with its indexes only where something was heard since the last comparison, or hearing is in doubt.

    It is asked on one thread. Where the system does not notify of changes, everything is compared each time, as without it.
    """

    def __init__(self) -> None:
        self.comparisons = 0
        # By comparison the files that were heard of before it; None where more than these may have changed.
        self._heard: deque[frozenset[str] | None] = deque(maxlen=_REMEMBERED)
        self._inbox = PendingPaths()
        self._observer: FileObserver | None = None
        self._is_deaf = False
        self._compared_at = float("-inf")
        self._head: str | None = None

    def fresh(self, vault: Context) -> Freshness:
        """How fresh the indexes are, after a comparison where one is needed."""
        news = self._news(vault)
        if news is not None and not news and self._head == _head(vault):
            vault.is_current = lambda: True
            try:
                return vault.fresh()
            finally:
                vault.is_current = None
        self._listen(vault)
        self.comparisons += 1
        # Whatever is heard of from here on asks for the next comparison.
        batch = self._inbox.take()
        self._heard.append(None if news is None or batch.doubt else news | batch.touched.keys())
        self._head = _head(vault)
        freshness = vault.fresh()
        is_whole = not (freshness.held_back or freshness.behind)
        self._compared_at = time.monotonic() if is_whole else float("-inf")
        return freshness

    def heard_since(self, comparison: int) -> frozenset[str] | None:
        """The files that were heard of between a comparison and the last one; None where others may have changed."""
        count = self.comparisons - comparison
        if not 0 <= count <= len(self._heard):
            return None
        heard = list(self._heard)[len(self._heard) - count :]
        return None if None in heard else frozenset().union(*(paths for paths in heard if paths is not None))

    def close(self) -> None:
        """Stop listening."""
        hearing, self._observer = self._observer, None
        if hearing is not None:
            hearing.stop()

    def _news(self, vault: Context) -> frozenset[str] | None:
        """The files that changed since the last comparison: all that came before a file of ours was heard. None where others
        may have changed.
        """
        hearing = self._observer
        if hearing is None or time.monotonic() - self._compared_at > _LONGEST or self._head is None:
            return None
        if not (hearing.alive and hearing.same_tree and self._is_proven(vault)):
            return None
        batch = self._inbox.take()
        return None if batch.doubt else frozenset(batch.touched)

    def _is_proven(self, vault: Context) -> bool:
        """Whether a file that we make and take away is heard of, and with it all that changed before it."""
        cookie = Cookie(temporary_name("cookie"))
        self._inbox.expect(cookie)
        try:
            with opened(vault.root, (VAULT,)) as folder:
                folder.write_new(cookie.name, b"", mode=0o600, durable=False)
                folder.discard(cookie.name)
            return cookie.heard.wait(_PATIENCE)
        except (OSError, Refused):
            return False
        finally:
            self._inbox.expect_no_more(cookie)

    def _listen(self, vault: Context) -> None:
        """Begin to listen, or again where the folder is another one; not where notices do not tell of all changes."""
        if self._observer is not None and self._observer.alive and self._observer.same_tree:
            return
        self.close()
        if self._is_deaf or unheard(vault):
            return
        hearing = FileObserver(vault.root, self._inbox)
        try:
            hearing.start()
        except CannotHear:
            self._is_deaf = True
            return
        if hearing.deaf_folders():
            hearing.stop()
            self._is_deaf = True
            return
        self._observer = hearing


def _head(vault: Context) -> str | None:
    """A value that changes whenever the commit does that is checked out; None where git keeps nothing that tells it."""
    return "" if vault.repo is None else head_signature(vault.repo) or None
