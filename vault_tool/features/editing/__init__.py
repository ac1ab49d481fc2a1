"""A note changed by hand or by a program, and notes of others taken in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "editing": "10 ms, where doctor mends a note",
        },
    )
