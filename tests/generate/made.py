"""Entries for the tests of generated pages."""

from __future__ import annotations

from vault_tool.model.snapshot import Entry
from vault_tool.model.types import Registry


def entry(number: int, kind: str = "decision", title: str = "", preview: str = "", path: str = "", **head: object) -> Entry:
    identity = f"{number:08x}-0000-4000-8000-000000000000"
    values = {"id": identity, "type": kind, "created": "2026-11-20T10:00:00+00:00", **head}
    record_class = Registry().spec(kind).record_class
    where = path or f"vault/observations/2026/11/note-{number}.md"
    return Entry(where, identity, record_class, kind, title or f"Note {number}", values, preview)
