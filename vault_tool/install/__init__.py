"""Telling agents' clients about the vault: their settings, changed in place with every other byte kept."""
