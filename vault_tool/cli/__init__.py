"""The command line: what people and shell-using agents type; every command is one call into verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "answering": "40 ms with watchdog",
            "capturing": "20 ms, where sessions are read",
            "twins": "for help alone",
            "wording": "for who is told what to do next",
        },
    )
