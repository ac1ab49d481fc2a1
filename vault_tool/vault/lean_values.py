"""The lean form of an answer that has none of its own: its fields without what is empty, ids as short as they may be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from vault_tool.generate.starter import UNTOUCHED
from vault_tool.model.ids import canonical
from vault_tool.vault.context import Context
from vault_tool.vault.lean import NOTICE, without_empty
from vault_tool.vault.resolve import short

# What an agent needs of a text that every new vault has.
_OF_AN_UNTOUCHED_TEXT = ("id", "title", "content")
# What an agent should know of how the indexes stand to the files.
_WORTH_SAYING = ("stale", "held_back", "unreadable", "behind", "settings")


def lean_values(result: Any, vault: Context | None, omit: Iterable[str] = ()) -> Any:
    """A result's plain values in the lean form, without the fields that are to be left out; `vault` knows the ids."""
    if isinstance(result, dict):
        for name in omit:
            result.pop(name, None)
        if "freshness" in result:
            result["freshness"] = {name: result["freshness"][name] for name in _WORTH_SAYING if result["freshness"].get(name)}
        if "notice" in result:
            result["notice"] = NOTICE
    return _without_empty(result, vault)


def _without_empty(value: Any, vault: Context | None) -> Any:
    if isinstance(value, dict):
        if str(value.get("content", "")).endswith(UNTOUCHED):
            value = {name: member for name, member in value.items() if name in _OF_AN_UNTOUCHED_TEXT}
        members = ((name, _without_empty(member, vault)) for name, member in value.items())
        return {name: member for name, member in without_empty(dict(members)).items() if member != {}}
    if isinstance(value, list):
        return [_without_empty(item, vault) for item in value]
    if vault is not None and isinstance(value, str) and canonical(value) == value and vault.index.catalog.get(value):
        return short(vault, value)
    return value
