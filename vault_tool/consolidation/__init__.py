"""Similarity of memories and subjects, and the parts of a consolidation pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "similar_names": "5 ms, where a name is not found",
        },
    )
