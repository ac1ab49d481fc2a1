"""ChatGPT's export: conversations alone, for what it remembers is not in it; pages of their active branch on request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vault_tool.files.export_files import ExportFile, ExportFiles
from vault_tool.importing.sources.chat_pages import Said, chat_page
from vault_tool.importing.sources.foreign_items import (
    Item,
    LeftOut,
    Remark,
    Wanted,
    items_of,
    key_of,
    left,
    line_of,
    mapping,
    moment_of,
    safe_key,
    text_of,
    values,
)
from vault_tool.importing.sources.shapes import first_values

_CHATS = re.compile(r"conversations(-\d+)?\.json", re.IGNORECASE)
_TEXTS = frozenset({"text", "multimodal_text", "code"})


def fits(files: ExportFiles) -> bool:
    """Whether it is ChatGPT's: by conversations that hold a `mapping` of messages."""
    return any("mapping" in mapping(value) for file in _files(files) for _, value in first_values(file))


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The conversations of an export, where they are wished for."""
    yield Remark(
        text="what ChatGPT remembers is not in its export: ask it for the list, and import its answer as pasted memories"
    )
    for file in _files(files):
        for piece in values(file):
            if isinstance(piece, LeftOut):
                yield piece
            elif not isinstance(piece.value, dict) or "mapping" not in piece.value:
                yield left(file, piece.number, "it is no conversation")
            elif not wishes.chats:
                yield LeftOut(reason="chat")
            else:
                yield _chat(piece.value)


def _files(files: ExportFiles) -> list[ExportFile]:
    named = [file for file in files.files if _CHATS.fullmatch(file.name)]
    return named or files.ending(".json")


def _chat(record: Mapping[str, Any]) -> Item:
    nodes = mapping(record.get("mapping"))
    messages = [spoken for node in _branch(nodes, line_of(record.get("current_node"))) if (spoken := _message(node)) is not None]
    own = line_of(record.get("conversation_id") or record.get("id"))
    key = safe_key(own) if own else key_of(line_of(record.get("title")), *sorted(nodes)[:3])
    return chat_page(key, own, line_of(record.get("title")), messages, moment_of(record.get("create_time")))


def _branch(nodes: Mapping[str, Any], leaf: str) -> list[Mapping[str, Any]]:
    """The nodes from the root to the current one; where that is not said, to the latest that nothing follows."""
    if leaf not in nodes:
        ends = [own for own, node in nodes.items() if not items_of(mapping(node).get("children"))]
        leaf = max(ends, key=lambda own: moment_of(mapping(mapping(nodes[own]).get("message")).get("create_time")), default="")
    branch: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while leaf in nodes and leaf not in seen:
        seen.add(leaf)
        branch.append(mapping(nodes[leaf]))
        parent = mapping(nodes[leaf]).get("parent")
        leaf = parent if isinstance(parent, str) else ""
    return branch[::-1]


def _message(node: Mapping[str, Any]) -> Said | None:
    message = mapping(node.get("message"))
    about, content = mapping(message.get("metadata")), mapping(message.get("content"))
    role = line_of(mapping(message.get("author")).get("role"))
    if role not in ("user", "assistant") or about.get("is_visually_hidden_from_conversation"):
        return None
    if message.get("recipient") not in (None, "all") or content.get("content_type", "text") not in _TEXTS:
        return None
    texts = [_part(part) for part in items_of(content.get("parts"))] or [text_of(content.get("text"))]
    names = [line_of(mapping(each).get("name")) for each in items_of(about.get("attachments"))]
    texts += [f"[attachment: {name}]" for name in names if name]
    text = "\n\n".join(filter(None, texts))
    return Said(role, text, moment_of(message.get("create_time"))) if text else None


def _part(part: Any) -> str:
    """A part of a message: a text, or an object that may hold one."""
    if isinstance(part, str):
        return text_of(part)
    shape = mapping(part)
    kind = line_of(shape.get("content_type"))
    return text_of(shape.get("text")) or ("[image]" if "image" in kind else "")
