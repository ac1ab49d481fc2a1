"""Everything derived from the files: built anew at any time, compared with them before every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "authorship": "9 ms, where the history or what others brought is read",
            "evidence_text": "where others changed notes",
            "grave_history": "where the history has tombstones",
            "graves": "where the history is read",
            "timeline": "2 ms, where a session wrote much or nothing",
            "uses": "1 ms, where much was used",
        },
    )
