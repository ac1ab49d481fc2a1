"""A page for people: the vault in a browser, for its owner. Every page asks verbs, and everything that it does is a verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "app": "80 ms with uvicorn and Starlette, and only servers need these",
            "door": "80 ms with uvicorn and Starlette, and only servers need these",
        },
    )
