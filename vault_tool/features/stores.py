"""The table of all stores, in the order in which data are erased from them, and the stores of one vault."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING

from vault_tool.vault import registered

if TYPE_CHECKING:
    from vault_tool.vault.context import Context
    from vault_tool.vault.store_interface import Store

# The modules of stores are loaded by the first use of a store: a command that reads a note needs none of them.
_STORES: dict[str, tuple[str, str]] = {
    "memories": ("vault_tool.vault.memory_stores", "Memories"),
    "episodes": ("vault_tool.vault.memory_stores", "Episodes"),
    "signals": ("vault_tool.vault.memory_stores", "Signals"),
    "ledgers": ("vault_tool.vault.memory_stores", "Ledgers"),
    "turns": ("vault_tool.features.turns.turn_store", "TurnStore"),
    "uses": ("vault_tool.vault.local_stores", "LocalState"),
    "sessions": ("vault_tool.vault.local_stores", "ShownMemories"),
    "turn_log": ("vault_tool.features.turns.turn_store", "TurnLogStore"),
    "inbox": ("vault_tool.features.review.draft_stores", "WaitingDrafts"),
    "bin": ("vault_tool.features.review.draft_stores", "DecidedDrafts"),
    "drafts": ("vault_tool.features.review.draft_stores", "KeptDrafts"),
    "state": ("vault_tool.vault.derived_stores", "UseCounts"),
    "catalogue": ("vault_tool.vault.derived_stores", "Indexes"),
    "past": ("vault_tool.vault.derived_stores", "PastStates"),
    "vectors": ("vault_tool.vault.derived_stores", "StoredVectors"),
    "exports": ("vault_tool.vault.derived_stores", "Exports"),
    "pages": ("vault_tool.vault.derived_stores", "Pages"),
}


def register(name: str, make: Callable[[Context], Store]) -> Callable[[], None]:
    """Add a store, made anew for each vault; returns a function that removes it."""
    return registered.add_store(name, make)


def of(vault: Context) -> Iterator[Store]:
    """All stores of a vault."""
    for module, name in _STORES.values():
        store: Store = getattr(import_module(module), name)(vault)
        yield store
    yield from (make(vault) for make in registered.added_stores())
