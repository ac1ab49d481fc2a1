"""The lean form of an answer that has none of its own: its fields without what is empty, ids as short as they may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vault_tool.model.ids import canonical
from vault_tool.vault.context import Context
from vault_tool.vault.lean import NOTICE, filled
from vault_tool.vault.resolve import short

# What an agent should know of how the indexes stand to the files.
_WORTH_SAYING = ("stale", "withheld", "unreadable", "behind", "settings")


def lean_values(made: Any, vault: Context | None, omit: Iterable[str] = ()) -> Any:
    """A result's plain values in the lean form, without the fields that are to be left out; `vault` knows the ids."""
    if isinstance(made, dict):
        for name in omit:
            made.pop(name, None)
        if "freshness" in made:
            made["freshness"] = {name: made["freshness"][name] for name in _WORTH_SAYING if made["freshness"].get(name)}
        if "notice" in made:
            made["notice"] = NOTICE
    return _without_empty(made, vault)


def _without_empty(value: Any, vault: Context | None) -> Any:
    if isinstance(value, dict):
        kept = ((name, _without_empty(one, vault)) for name, one in value.items())
        return {name: one for name, one in filled(dict(kept)).items() if one != {}}
    if isinstance(value, list):
        return [_without_empty(one, vault) for one in value]
    if vault is not None and isinstance(value, str) and canonical(value) == value and vault.index.catalog.get(value):
        return short(vault, value)
    return value
