"""The beginning, course and end of an agent's session: what it reads, what it may judge and keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "ending": "where a session ended",
            "session_context": "where a session's context was cut short",
        },
    )
