"""A question, answered: what finds memories, weighs them, chains them and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "engine": "15 ms, where meanings are compared",
            "explanation": "few ask it",
            "several": "where other vaults are asked too",
        },
    )
