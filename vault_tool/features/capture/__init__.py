"""Reading of the session files that clients keep on this machine, where a person allowed it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "capturing": "20 ms, where sessions are read",
            "pointing": "where a person lets sessions be read",
            "session_drafts": "20 ms, where a model proposes memories",
        },
    )
