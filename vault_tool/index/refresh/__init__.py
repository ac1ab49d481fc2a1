"""Bringing the indexes up to date with the files: what a file says, what differs, and how it gets into the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.util.deferred import late_modules

if not TYPE_CHECKING:
    __getattr__ = late_modules(
        __name__,
        {
            "ahead": "where a time may be ahead of the clock",
            "attribution": "where something was forgotten",
            "build": "10 ms, with the full-text library",
            "former_titles": "where a note has a title of its own",
            "ingest": "where a note has a title of its own",
            "reading": "3 ms, where a file changed",
            "served_notes": "where a note has a title of its own",
        },
    )
