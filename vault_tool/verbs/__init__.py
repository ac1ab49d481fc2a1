"""Every verb of the features as a method, for programs, and files as agents' own tools have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import vault_tool.features  # noqa: F401  (who opens a vault must know how a forgetting is finished)
from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "vault": "every verb",
        },
    )
