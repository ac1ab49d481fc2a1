"""Heads of the memory files that Claude Code keeps (`name`, `description`, `metadata.type`), and the index beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePosixPath

from vault_tool.files.frontmatter import Raw
from vault_tool.importing import dates
from vault_tool.model.ids import canonical
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

# What Claude Code calls its kinds of memories, as types of ours.
TYPES: Mapping[str, str] = {"user": "preference", "feedback": "preference", "project": "fact", "reference": "fact"}

INDEX = "memory.md"

# A line of the index: `- [Title](file.md) — what it says`, or a link in double brackets.
_LISTED = re.compile(r"[ \t]*[-*+] +(?:\[[^\]]*\]\([^()\s]+\.md\)|\[\[[^\]]+\]\])")


class MemoryHead(Struct):
    """The fields of a memory file's head as ours; `kind` is Claude Code's own word for it.

    `id` and `digest` are of a memory that an export of a vault wrote: its id, and the hash of the text as it wrote it.
    """

    kind: str
    type: str
    title: str
    summary: str
    modified: datetime | None
    id: str = ""
    digest: str = ""


def memory_head(values: Mapping[str, Raw]) -> MemoryHead | None:
    """The head of a memory file of Claude Code's; None for any other head."""
    metadata = values.get("metadata")
    inner: Mapping[str, Raw] = metadata if isinstance(metadata, dict) else {}
    name, about = _text(values.get("name")), _text(values.get("description"))
    kind = (_text(inner.get("type")) or _text(values.get("type"))).lower()
    if kind not in TYPES or not (name or about):
        return None
    dates_given = (_text(inner.get(key)) or _text(values.get(key)) for key in ("created", "modified"))
    moment = next((read for text in dates_given if text and (read := dates.read_date(text))), None)
    identity, digest = canonical(_text(inner.get("id"))) or "", _text(inner.get("hash"))
    exported = (identity, digest) if identity and digest else ("", "")
    return MemoryHead(kind, TYPES[kind], _text(inner.get("title")) or name, about, moment, *exported)


def is_index(path: str, values: Mapping[str, Raw], body: str) -> bool:
    """Whether a note is the index of a memory folder: a MEMORY.md of which most lines name other files."""
    if PurePosixPath(path).name.lower() != INDEX or values:
        return False
    lines = [line for line in body.splitlines() if line.strip() and not line.lstrip().startswith(("#", "<!--"))]
    listed = sum(bool(_LISTED.match(line)) for line in lines)
    return listed > 0 and 2 * listed >= len(lines)


def _text(raw: Raw) -> str:
    return one_line(raw, 300) if isinstance(raw, str) else ""
