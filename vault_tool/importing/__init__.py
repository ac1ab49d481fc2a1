"""Notes of other tools turned into notes of a vault: bytes and values in, bytes and values out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "notes": "10 ms, and only a folder of somebody else's notes needs these",
        },
    )
