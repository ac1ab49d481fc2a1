"""The door for agents' clients: the verbs as tools of the Model Context Protocol, over a byte stream or HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "answering": "every verb, by the first call of a tool",
            "backends": "what only a server needs: with the SDK three quarters of a second",
            "http": "what only a server needs: with the SDK three quarters of a second",
            "listening": "what only a server needs: with the SDK three quarters of a second",
            "resources": "every verb, by the first page that is read",
            "server": "what only a server needs: with the SDK three quarters of a second",
            "wording": "where an answer says what to do next",
        },
    )
