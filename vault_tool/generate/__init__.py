"""The pages and texts that the vault writes for people and prompts; values in, text out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "escape": "where something is forgotten",
        },
    )
