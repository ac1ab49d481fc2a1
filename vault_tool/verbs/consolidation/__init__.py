"""Passes over what is new, and the subjects that they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "passes": "for a page that is printed",
        },
    )
