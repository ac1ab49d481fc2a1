"""Beliefs about memories: truth, utility and decay, folded from signals; values in, values out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "posterior": "1 ms, where the whole belief is asked for",
        },
    )
