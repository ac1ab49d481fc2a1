"""Verbs that answer questions: `recall`, `search`, `search_observations` and `snapshot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "found_chats": "a module, for who asks for conversations too",
        },
    )
