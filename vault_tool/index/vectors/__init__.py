"""Notes by meaning: the vectors of their texts, kept once a text, searched exactly or by Chroma."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "chroma": "10 ms, for those who chose Chroma",
            "chroma_client": "10 ms, for those who chose Chroma",
            "maintenance": "numpy, and few vaults that forget have vectors",
            "service": "only what compares meanings needs it",
        },
    )
