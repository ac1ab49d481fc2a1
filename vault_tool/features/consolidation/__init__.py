"""Consolidation: passes over what is new, packets, drafts, merges and what is open between subjects."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "passes": "for a page that is printed",
        },
    )
