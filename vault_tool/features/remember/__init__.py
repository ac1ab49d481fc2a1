"""Remembering: new observations, what is put right, links between memories, and votes on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "correcting": "4 ms, and few requests ask it",
        },
    )
