"""CORE.md and REFLECTION.md, as they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "pages": "20 ms, at a session's start",
        },
    )
