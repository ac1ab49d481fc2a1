"""Claude Code's folder: the memories of each project, the rules of CLAUDE.md as pages, and sessions on request."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from vault_tool.errors import Refused
from vault_tool.files import frontmatter
from vault_tool.files.export_files import ExportFile, ExportFiles
from vault_tool.files.reader import LARGEST
from vault_tool.importing import claude_heads
from vault_tool.importing.sources.chat_pages import Said, chat_page
from vault_tool.importing.sources.foreign_items import (
    ForeignMemory,
    ForeignNote,
    ForeignPage,
    ForeignSubject,
    Item,
    LeftOut,
    Remark,
    Wanted,
    key_of,
    line_of,
    mapping,
    moment_of,
    safe_key,
    text_of,
    values,
)
from vault_tool.util.json_stream import Piece
from vault_tool.util.note_links import is_note
from vault_tool.util.text import one_line, prose_lines, slug, without_code

MEMORY = "memory"
_RULES = frozenset({"claude.md", "claude.local.md"})
_IMPORTED = re.compile(r"(?:^|(?<=\s))@([~.\w/-][^\s`,;:)]*)")
_DEPTH = 5
_MOST_RULES = 1000
# So much of so many sessions of a project is looked through for the folder that it is of.
_BEGINNING = 2**18
_SESSIONS = 8
_NOT_A_LETTER = re.compile(r"[^A-Za-z0-9]")
_FRAME = re.compile(r"<([a-z][a-z0-9]{0,20}[-_][\w-]{0,40})>.*?(?:</\1>|\Z)", re.DOTALL)


def fits(files: ExportFiles) -> bool:
    """Whether it is a folder of Claude Code's: by its memories, its sessions, or its rules."""
    project = _project_of_all(files)
    return any(_is_memory(files, file, project) or _is_session(file) for file in files.files)


def _is_memory(files: ExportFiles, file: ExportFile, project: str) -> bool:
    """Whether a note in a folder of memories is one by its head, or is their index."""
    if _memory_of(files, file, project) is None:
        return False
    try:
        head, body, _ = frontmatter.read(file.read(LARGEST))
    except Refused:
        return False
    fields = head.values if head is not None else {}
    return claude_heads.memory_head(fields) is not None or claude_heads.is_index(file.path, fields, body)


def items(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    """The items of a folder of Claude Code's: `~/.claude`, its `projects`, one of these, or its `memory`."""
    sessions: dict[str, list[ExportFile]] = {}
    for file in files.files:
        if file.name.endswith(".jsonl"):
            sessions.setdefault(posixpath.dirname(file.path), []).append(file)
    projects: dict[str, str] = {}
    of_all = _project_of_all(files)
    for file in files.files:
        place = _memory_of(files, file, of_all)
        if place is None:
            continue
        folder, inner = place
        above = posixpath.dirname(file.path[: -len(inner) - 1]) if len(file.path) > len(inner) else ""
        if folder not in projects:
            where = _folder_of(folder, sessions.get(above, ()))
            projects[folder] = wishes.project_of(where) if where else ""
            if projects[folder]:
                yield ForeignSubject(name=projects[folder], role="project")
            else:
                yield Remark(
                    text=f"no session says which folder {one_line(folder, 80)} is: its memories get no subject of a project"
                )
        yield from _memory(file, f"{folder}/{MEMORY}/{inner}", projects[folder])
    yield from _rules(files)
    yield from _rules_of_repositories(sessions, wishes)
    yield from _chats(files, wishes)


def _project_of_all(files: ExportFiles) -> str:
    """The project of a folder that holds memories itself, by its name or by the index in it; empty for any other folder."""
    if not files.source.is_dir():
        return ""
    if files.source.name == MEMORY:
        return files.source.parent.name
    return files.source.name if any(file.path.lower() == claude_heads.INDEX for file in files.files) else ""


def _memory_of(files: ExportFiles, file: ExportFile, of_all: str) -> tuple[str, str] | None:
    """The folder of the project that a memory file is of, and its path in the folder of memories; None for any other file.

    `of_all` is the project of the whole folder, where it is one of memories.
    """
    if not is_note(file.name):
        return None
    parts = file.path.split("/")
    if MEMORY in parts[:-1]:
        at = parts.index(MEMORY)
        if at == 0:
            return files.source.name, "/".join(parts[1:])
        if parts[0] == "projects" or at == 1:
            return parts[at - 1], "/".join(parts[at + 1 :])
        return None
    is_rule = files.source.name != MEMORY and file.name.casefold() in _RULES
    return (of_all, file.path) if of_all and not is_rule else None


def _memory(file: ExportFile, key: str, project: str) -> Iterator[Item]:
    try:
        data = file.read(LARGEST)
    except Refused as fault:
        yield LeftOut(reason="unreadable", place=file.path, message=fault.message, hint=fault.hint)
        return
    head, body, _ = frontmatter.read(data)
    fields: Mapping[str, Any] = head.values if head is not None else {}
    if claude_heads.is_index(file.path, fields, body):
        yield LeftOut(reason="index")
        return
    memory, stem = claude_heads.memory_head(fields), posixpath.splitext(posixpath.basename(key))[0]
    subjects = (project,) if project else ()
    if memory is None or memory.kind != "reference":
        yield ForeignNote(key=key, path=key, data=data, source_id=stem, subjects=subjects, written_at=file.written_at)
        return
    yield ForeignPage(path=key, text="", data=data)
    yield ForeignMemory(
        key=f"{key}#reference", text=f"{memory.summary or memory.title}: [[{stem}]]", type=memory.type, title=memory.title,
        source_id=stem, tags=("reference",), subjects=subjects, created=file.written_at,
    )  # fmt: skip


def _folder_of(folder: str, sessions: Sequence[ExportFile]) -> str:
    """The folder that a project is of, by `cwd` in its sessions: the one that its own name is made of, else the first."""
    first = ""
    for session in sorted(sessions, key=lambda file: file.written_at, reverse=True)[:_SESSIONS]:
        for cwd in _folders_in(session):
            if _NOT_A_LETTER.sub("-", cwd) == folder:
                return cwd
            first = first or cwd
    return first


def _folders_in(session: ExportFile) -> Iterator[str]:
    try:
        beginning = session.begin(_BEGINNING)
    except Refused:
        return
    from_lines = (match.group(1) for match in re.finditer(rb'"cwd"\s*:\s*"((?:[^"\\]|\\.)*)"', beginning))
    for raw in dict.fromkeys(from_lines):
        cwd = text_of(raw.decode("utf-8", "replace").replace("\\\\", "\\").replace("\\/", "/"))
        if cwd.startswith("/") or cwd[1:3] == ":\\":
            yield cwd.replace("\\", "/")


def _rules(files: ExportFiles) -> Iterator[Item]:
    """CLAUDE.md and its kin as pages, with the notes that they import, where these lie in the export."""
    by_path = {file.path: file for file in files.files}
    yield from _with_imports([file for file in files.files if _is_rule(file)], by_path.get, "rules")


def _rules_of_repositories(sessions: Mapping[str, Sequence[ExportFile]], wishes: Wanted) -> Iterator[Item]:
    """The same of each repository that a session was in, where it lies on this machine."""
    names: dict[str, str] = {}
    for folder, files in sorted(sessions.items()):
        where = _folder_of(posixpath.basename(folder), files)
        repository = wishes.rules_of(where) if where else None
        if repository is None or str(repository.top) in names or not (rules := repository.rules()):
            continue
        name = slug(repository.top.name, "repository")
        if name in names.values():
            name = f"{name}-{key_of(str(repository.top))[:6]}"
        names[str(repository.top)] = name
        yield from _with_imports(rules, repository.find, f"rules/repositories/{name}")
    if names:
        shown = ", ".join(one_line(top, 100) for top in sorted(names)[:3])
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield Remark(text=f"rules were read where sessions were: {shown}{more}")


def _with_imports(rules: Sequence[ExportFile], find: Callable[[str], ExportFile | None], below: str) -> Iterator[Item]:
    """Some rules as pages below a folder, with the notes that they import, as far as these are to be had."""
    taken: set[str] = set()
    waiting = [(file, 0) for file in reversed(rules)]
    while waiting and len(taken) < _MOST_RULES:
        file, depth = waiting.pop()
        if file.path in taken:
            continue
        taken.add(file.path)
        try:
            data = file.read(LARGEST)
        except Refused as fault:
            yield LeftOut(reason="unreadable", place=file.path, message=fault.message, hint=fault.hint)
            continue
        yield ForeignPage(path=f"{below}/{file.path.lstrip('.')}", text="", data=data)
        if depth < _DEPTH:
            for name in _imports(data):
                path = posixpath.normpath(posixpath.join(posixpath.dirname(file.path), name))
                if is_note(path) and (imported := find(path)) is not None:
                    waiting.append((imported, depth + 1))


def _is_rule(file: ExportFile) -> bool:
    parts = file.path.split("/")
    in_rules = is_note(file.name) and (parts[0] == "rules" or ".claude/rules/" in f"/{file.path}")
    return file.name.lower() in _RULES or in_rules


def _imports(data: bytes) -> Iterator[str]:
    for _, line in prose_lines(data.decode("utf-8", "replace")):
        for match in _IMPORTED.finditer(without_code(line)):
            if not match[1].startswith(("~", "/")):
                yield match[1]


def _is_session(file: ExportFile) -> bool:
    if not file.name.endswith(".jsonl"):
        return False
    try:
        return b'"isSidechain"' in file.begin(_BEGINNING)
    except Refused:
        return False


def _chats(files: ExportFiles, wishes: Wanted) -> Iterator[Item]:
    for file in files.files:
        if not file.name.endswith(".jsonl"):
            continue
        if file.name.startswith("agent-"):
            yield LeftOut(reason="sidechain")
        elif not wishes.chats:
            yield LeftOut(reason="chat")
        else:
            yield from _session(file)


def _session(file: ExportFile) -> Iterator[Item]:
    lines_said: list[tuple[str, str, Said]] = []
    parents: dict[str, str] = {}
    title, sidechain = "", False
    for piece in values(file):
        if not isinstance(piece, Piece):
            yield piece
            continue
        line = mapping(piece.value)
        title = line_of(line.get("summary")) or title if line.get("type") == "summary" else title
        sidechain = sidechain or bool(line.get("isSidechain"))
        own, parent = line_of(line.get("uuid")), line_of(line.get("parentUuid")) or line_of(line.get("logicalParentUuid"))
        if own and not line.get("isSidechain"):
            parents[own] = parent
        if text := _text_of_line(line):
            lines_said.append((own, parent, Said(str(line["type"]), text, moment_of(line.get("timestamp")))))
    key = safe_key(file.name.removesuffix(".jsonl"))
    messages = [message for own, _, message in _active(lines_said, parents)]
    yield (
        LeftOut(reason="sidechain")
        if sidechain and not messages
        else chat_page(key, key, title or (messages[0].text.partition("\n")[0][:80] if messages else ""), messages)
    )


def _active(lines_said: list[tuple[str, str, Said]], parents: Mapping[str, str]) -> list[tuple[str, str, Said]]:
    """The messages of the branch that the last one is on; what stands before its root was said in it too."""
    branch: set[str] = set()
    at = lines_said[-1][0] if lines_said else ""
    while at and at not in branch:
        branch.add(at)
        at = parents.get(at, "")
    first = next((number for number, (own, _, _) in enumerate(lines_said) if own in branch), 0)
    return [*lines_said[:first], *(line for line in lines_said[first:] if not line[0] or line[0] in branch)]


def _text_of_line(line: Mapping[str, Any]) -> str:
    """The words of a person or model in a line of a session; empty for tools, thoughts, sidechains and the client's own."""
    if line.get("type") not in ("user", "assistant") or any(
        line.get(flag) for flag in ("isSidechain", "isMeta", "isCompactSummary")
    ):
        return ""
    content = mapping(line.get("message")).get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content if isinstance(content, list) else []
    texts = (text_of(block.get("text")) for block in blocks if isinstance(block, dict) and block.get("type") == "text")
    return "\n\n".join(text for part in texts if (text := _FRAME.sub("", part).strip()))
