"""Writing of the accepted turns that wait, before anything else is appended."""

from __future__ import annotations

from vault_tool.features.turns import turn_writer
from vault_tool.features.turns.turns import Turns
from vault_tool.vault.context import Context


def write_waiting(vault: Context) -> None:
    """Write a batch of it, where something waits. Call it under the write lock."""
    if Turns(vault.root).count():
        turn_writer.apply_turns(vault)
