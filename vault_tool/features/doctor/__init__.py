"""The health of a vault: `doctor`, `status`, and what puts it right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "adopting": "15 ms with what erases, for a folder that another machine made",
            "moved_notes": "10 ms, where a served note is gone",
        },
    )
