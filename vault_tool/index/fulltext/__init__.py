"""The full-text index by itself: what it reads of notes and questions, how it stores it, and what it finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "inverted_index": "10 ms, and many commands search for no words",
        },
    )
