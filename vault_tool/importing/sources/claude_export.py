"""Claude's export: memories by paragraph, projects as subjects with their documents as pages, conversations on request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from vault_tool.files.export_files import ExportFile, ExportFiles
from vault_tool.importing.sources.chat_pages import Said, chat_page
from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    ForeignPage,
    ForeignSubject,
    Item,
    LeftOut,
    Wanted,
    items_of,
    key_of,
    kind_of,
    left,
    line_of,
    mapping,
    moment_of,
    names_of,
    safe_key,
    text_of,
    values,
)
from vault_tool.importing.sources.shapes import first_values
from vault_tool.util.json_stream import Piece

_CHATS = re.compile(r"conversations(-\d+)?\.json", re.IGNORECASE)
_MEMORIES = re.compile(r"(^|/)memories(-\d+)?\.json$|(^|/)memories/[^/]+\.json$", re.IGNORECASE)
_PROJECTS = re.compile(r"(^|/)projects(-\d+)?\.json$|(^|/)projects/[^/]+\.json$", re.IGNORECASE)
_HEADING = re.compile(r"\s*(?:#{1,6}\s+(.+?)\s*#*|\*\*([^*]+?)\*\*:?)\s*")
_BULLET = re.compile(r"\s*[-*+•]\s+")
_DAY = re.compile(r"(20\d\d-\d\d-\d\d)")


def fits(files: ExportFiles) -> bool:
    """Whether it is Claude's: by its memories, or by conversations that hold `chat_messages`."""
    for file in files.ending(".json"):
        for key, value in first_values(file):
            record = mapping(value)
            if "chat_messages" in record or "conversations_memory" in record or "project_memories" in record:
                return True
            if key in ("conversations_memory", "project_memories", "chat_messages"):
                return True
            if _PROJECTS.search(file.path) and "docs" in record and "prompt_template" in record:
                return True
    return False


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The memories of an export, its projects, and its conversations where they are wished for."""
    day = _DAY.search(files.source.name)
    names: dict[str, str] = {}
    for file in files.files:
        if _PROJECTS.search(file.path):
            yield from _projects(file, names)
    for file in files.files:
        if _MEMORIES.search(file.path):
            yield from _memories(file, names, moment_of(day[1]) if day else file.written_at)
    for file in files.ending(".json"):
        if _MEMORIES.search(file.path) or _PROJECTS.search(file.path):
            continue
        if _CHATS.fullmatch(file.name) or any("chat_messages" in mapping(value) for _, value in first_values(file)):
            yield from _chats(file, wishes)


def _projects(file: ExportFile, names: dict[str, str]) -> Iterator[Item]:
    for record in _records(file, "docs", "projects"):
        if isinstance(record, LeftOut):
            yield record
            continue
        name, own = line_of(record.get("name"), 80), line_of(record.get("uuid"))
        if not name:
            yield left(file, 0, "a project without a name")
            continue
        names[own] = name
        yield ForeignSubject(name=name, role="project", summary=line_of(record.get("description"), 300))
        folder, created = f"projects/{safe_key(own or name)}", moment_of(record.get("created_at"))
        if text := text_of(record.get("prompt_template")):
            yield ForeignPage(
                path=f"{folder}/instructions.md", text=text, title=f"Instructions of {name}", created=created, source_id=own
            )
        for doc in map(mapping, items_of(record.get("docs"))):
            title = line_of(doc.get("filename") or doc.get("file_name") or doc.get("name")) or "document"
            key = safe_key(line_of(doc.get("uuid")) or title)
            if text := text_of(doc.get("content")):
                written = moment_of(doc.get("created_at")) or created
                yield ForeignPage(path=f"{folder}/{key}.md", text=text, title=title, created=written, source_id=key)


def _records(file: ExportFile, *members: str) -> Iterator[Mapping[str, Any] | LeftOut]:
    """The records of a file that is a list of them, one alone, or an object with a list of them."""
    alone: dict[str, Any] = {}
    for piece in values(file):
        if isinstance(piece, LeftOut):
            yield piece
        elif piece.key and not (piece.key in members[1:] and isinstance(piece.value, dict)):
            if piece.key in members[:1]:
                alone.setdefault(piece.key, []).append(piece.value)
            else:
                alone[piece.key] = piece.value
        elif isinstance(piece.value, dict):
            yield piece.value
        else:
            yield left(file, piece.number, "it is no object")
    if alone:
        yield alone


def _memories(file: ExportFile, names: Mapping[str, str], day: str) -> Iterator[Item]:
    for record in _records(file, "memory_files", "memories"):
        if isinstance(record, LeftOut):
            yield record
            continue
        yield from _paragraphs(text_of(record.get("conversations_memory")), "", day)
        for own, text in mapping(record.get("project_memories")).items():
            yield from _paragraphs(text_of(text), names.get(own, ""), day, own)
        for part in map(mapping, items_of(record.get("memory_files"))):
            name = line_of(part.get("path") or part.get("name"))
            if text := text_of(part.get("content") or part.get("text")):
                path = f"memory_files/{safe_key(name or key_of(text))}.md"
                yield ForeignPage(path=path, text=text, title=name or "Memory file", created=day)


def _paragraphs(text: str, project: str, day: str, own: str = "") -> Iterator[ForeignMemory]:
    heading = ""
    for part in _parts(text):
        if match := _HEADING.fullmatch(part):
            heading = line_of(match[1] or match[2], 80)
            continue
        match = _HEADING.match(part)
        if match and "\n" in part and match.end() and part[: match.end()].endswith("\n"):
            heading, part = line_of(match[1] or match[2], 80), part[match.end() :]
        tags = names_of([heading.replace(" ", "-").lower()])
        yield ForeignMemory(
            key=f"memories/{key_of(own, part)}", text=part, type=kind_of(part, heading), tags=tags,
            subjects=(project,) if project else (), observed=day, source_id=own,
        )  # fmt: skip


def _parts(text: str) -> Iterator[str]:
    """The paragraphs of a text; each point of a list is one, with the lines that belong to it."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        points: list[str] = []
        for line in paragraph.split("\n"):
            if _BULLET.match(line) and not line.startswith(("  ", "\t")):
                points.append(_BULLET.sub("", line, count=1))
            elif _HEADING.fullmatch(line) or not points or _HEADING.fullmatch(points[-1]):
                points.append(line)
            else:
                points[-1] += f"\n{line}"
        yield from (point.strip() for point in points if point.strip())


def _chats(file: ExportFile, wishes: Wanted) -> Iterator[Item]:
    for piece in values(file):
        if isinstance(piece, LeftOut):
            yield piece
        elif not isinstance(piece.value, dict):
            yield left(file, piece.number, "it is no conversation")
        elif not wishes.chats:
            yield LeftOut(reason="chat")
        else:
            yield _chat(file, piece)


def _chat(file: ExportFile, piece: Piece) -> Item:
    record = mapping(piece.value)
    own = line_of(record.get("uuid"))
    messages = [
        Said(line_of(message.get("sender")), _words(message), moment_of(message.get("created_at")))
        for message in map(mapping, items_of(record.get("chat_messages")))
    ]
    key = safe_key(own) if own else key_of(file.name, *(message.text for message in messages[:2]))
    return chat_page(key, own, line_of(record.get("name")), messages, moment_of(record.get("created_at")))


def _words(message: Mapping[str, Any]) -> str:
    """The text of a message, by its parts or whole, with that of its attachments; tools and thoughts are left out."""
    parts = [text_of(part.get("text")) for part in map(mapping, items_of(message.get("content"))) if part.get("type") == "text"]
    texts = [("\n\n".join(filter(None, parts)) or text_of(message.get("text")))]
    texts += [
        f"Attachment {line_of(attachment.get('file_name'))}:\n\n{text}"
        for attachment in map(mapping, items_of(message.get("attachments")))
        if (text := text_of(attachment.get("extracted_content")))
    ]
    return "\n\n".join(filter(None, texts))
