"""The head of a note: found, read as text, edited without touching any other byte, and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_tool.files.frontmatter.head_reader import read, read_body, read_head
from vault_tool.files.frontmatter.split import Parts, split
from vault_tool.files.frontmatter.values import Head, HeadFault, Plain, Quoted, Raw, Value
from vault_tool.util.deferred import deferred_names

if TYPE_CHECKING:
    from vault_tool.files.frontmatter.changes import AddItems, Change, Remove, RemoveItems, Set
    from vault_tool.files.frontmatter.head_editor import add_fields, add_head, edit
    from vault_tool.files.frontmatter.head_writer import render_head

# What writes heads, which most commands that only read do without: 3 ms of each.
_LATER = {
    **dict.fromkeys(("AddItems", "Change", "Remove", "RemoveItems", "Set"), "changes"),
    **dict.fromkeys(("add_fields", "add_head", "edit"), "head_editor"),
    "render_head": "head_writer",
}

__all__ = [
    "AddItems", "Change", "Head", "HeadFault", "Parts", "Plain", "Quoted", "Raw", "Remove", "RemoveItems", "Set", "Value",
    "add_fields", "add_head", "edit", "read", "read_body", "read_head", "render_head", "split",
]  # fmt: skip

__getattr__ = deferred_names(__name__, _LATER, {"loose": "few heads cannot be read"})
