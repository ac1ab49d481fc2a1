"""The merge of one note that was changed in two places: its lines, its head, and the whole of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "note_merge": "where two texts are one note",
        },
    )
