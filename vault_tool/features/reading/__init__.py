"""One memory looked at, and lists of memories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "memory_timeline": "4 ms, where it is asked for",
        },
    )
