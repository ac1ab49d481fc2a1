"""Keeping the indexes up to date while people and programs change the files; a hint, the comparison stays the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "watcher": "40 ms with watchdog",
        },
    )
