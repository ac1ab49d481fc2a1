"""The viewer's part in deciding which records are told, beside the records themselves."""

from __future__ import annotations

from collections.abc import Callable, Collection

from vault_tool.index.relations import supersession
from vault_tool.index.visibility import Request
from vault_tool.model.snapshot import Entry
from vault_tool.vault.context import Context


def request_of(
    vault: Context,
    *,
    kinds: Collection[str] = (),
    shown: Collection[str] = (),
    reviewed: Callable[[Entry], bool] | None = None,
) -> Request:
    """The request of this vault's viewer, now; `kinds` are the types asked for, `shown` the ids that the session has seen."""
    withheld = frozenset[str]() if vault.sees_withheld else vault.whole_index.catalog.withheld()
    known = reviewed or vault.standings.reviewed
    return Request(vault.viewer, withheld, vault.clock.now(), supersession(vault.index.catalog), kinds, shown, reviewed=known)
