"""The head of a note: found, read as text, edited without touching any other byte, and written."""

from __future__ import annotations

from vault_tool.files.frontmatter.changes import AddItems, Change, Remove, RemoveItems, Set
from vault_tool.files.frontmatter.edit import add_fields, add_head, edit
from vault_tool.files.frontmatter.head_reader import read, read_body, read_head
from vault_tool.files.frontmatter.head_writer import render_head
from vault_tool.files.frontmatter.split import Parts, split
from vault_tool.files.frontmatter.values import Head, HeadFault, Plain, Quoted, Raw, Value

__all__ = [
    "AddItems", "Change", "Head", "HeadFault", "Parts", "Plain", "Quoted", "Raw", "Remove", "RemoveItems", "Set", "Value",
    "add_fields", "add_head", "edit", "read", "read_body", "read_head", "render_head", "split",
]  # fmt: skip
