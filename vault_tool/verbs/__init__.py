"""What a vault can be asked and told: one public function a verb, with one frozen result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import deferred, late_modules
from vault_tool.vault import registered

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "correcting": "4 ms each, and few requests ask them",
            "editing": "10 ms, where doctor mends a note",
            "moved_notes": "10 ms, where a served note is gone",
            "understandings": "4 ms each, and few requests ask them",
        },
    )

# Loaded where a killed process left something of it, which few vaults ever have.
_purging = deferred("vault_tool.verbs.purging")

registered.finish_by("forgetting", lambda vault: _purging.finish(vault))
