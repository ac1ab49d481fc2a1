"""This machine's own stores of the use of memories: uses not yet shared, begun operations, memories shown."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.files.layout import LOCAL
from vault_tool.files.sessions import Sessions
from vault_tool.vault.store_interface import Cleaned, Store, Traces


class LocalState(Store):
    """The logs of use, and the titles of operations that are not committed yet."""

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Drop the memories' uses and what names them."""
        return [] if traces.user else [Cleaned(LOCAL, self.vault.local.forget(traces.ids, traces.mentioned_in))]

    def holds(self, identity: str) -> bool:
        """Whether it was used."""
        return bool(self.vault.uses.of([identity]))


class ShownMemories(Store):
    """The memories that each session was shown."""

    def erase(self, traces: Traces) -> Iterable[Cleaned]:
        """Take the memories out of what was shown."""
        if not traces.ids:
            return []
        return [Cleaned(f"{LOCAL}/sessions", Sessions(self.vault.root, self.vault.settings.lock_wait).forget(traces.ids))]
