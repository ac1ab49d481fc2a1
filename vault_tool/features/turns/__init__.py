"""Turns of a conversation: what they recall, and what becomes of what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "turn_writer": "2 ms, where turns wait",
        },
    )
