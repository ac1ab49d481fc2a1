"""From a record to a file's text: the inverse of `files.parse`."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.files.frontmatter.head_writer import render_head
from vault_tool.model.records import Record


def render(record: Record, subjects: Sequence[str] | None = None) -> bytes:
    """The bytes of a new file for `record`: its head in the order of its class, then its body, then one final newline.

    `subjects` replaces how the subjects are written (as wikilinks, where `links` asks for them).
    """
    head = record.head()
    if subjects is not None and head.get("subjects"):
        head["subjects"] = list(subjects)
    return (render_head(list(head.items())) + body_text(record.body)).encode("utf-8")


def body_text(body: str) -> str:
    """A body as it stands in a file: no blank lines around it, one newline at its end, nothing at all when empty."""
    trimmed = body.replace("\r\n", "\n").strip("\n")
    return f"{trimmed}\n" if trimmed.strip() else ""
