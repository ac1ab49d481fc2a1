"""Notes by meaning: the vectors of their texts, kept once a text, searched exactly or by Chroma."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "backfill": "5 ms, where notes are embedded",
            "calibration": "1 ms, where something was embedded",
            "chroma": "10 ms, for those who chose Chroma",
            "chroma_client": "10 ms, for those who chose Chroma",
            "chroma_http": "20 ms, for a server alone",
            "exact_search": "5 ms, where there are vectors",
            "maintenance": "numpy, and few vaults that forget have vectors",
            "passages": "4 ms, where there are vectors",
            "service": "only what compares meanings needs it",
            "status": "2 ms, where there are vectors",
            "vector_set": "15 ms, where there are vectors",
        },
    )
