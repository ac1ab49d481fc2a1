"""The parts of a vault as frozen values; imports nothing but util and errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "consent": "2 ms, where consent was asked",
            "parameter_table": "where a command takes an option of its verb's",
            "served_person": "hashes: 4 ms, and few vaults are served to others",
        },
    )
