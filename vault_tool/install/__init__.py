"""Telling agents' clients about the vault: their settings, changed in place with every other byte kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "clients": "20 ms, and only `doctor --client` needs these",
            "delivery": "20 ms, and only `doctor --client` needs these",
        },
    )
