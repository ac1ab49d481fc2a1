"""Erasing: `forget`, and `purge` of history; each store is asked to take its words out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "erasing": "where something is erased",
            "forgotten_words": "what erases, for `doctor`",
            "waiting_tombstones": "where somebody else forgot something",
        },
    )
