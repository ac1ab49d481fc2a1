"""Texts as vectors: one port, the providers behind it, and which of them answers on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "calling": "for what asks a server alone",
            "choose": "20 ms, and only what compares meanings needs these",
            "download": "20 ms, and only embedding needs these",
            "int8": "20 ms, and only embedding needs these",
            "multilingual": "5 ms, where its package is installed",
            "ollama": "20 ms, and only embedding needs these",
            "onnx": "20 ms, and only what compares meanings needs these",
            "openai": "2 ms, for who chose it",
            "packaged": "1 ms, where the model came in a package",
        },
    )
