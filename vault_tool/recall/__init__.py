"""How what is found is weighed against what was asked: fused, matched, chained, scored, selected; values in, values out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "passage": "for long texts",
            "time_words": "words of times, for what is a question",
            "times": "where a question names a time",
        },
    )
