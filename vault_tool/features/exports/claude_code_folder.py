"""The memory as Claude Code keeps its own: a file each, with its head, and MEMORY.md that lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vault_tool.features.exports.outgoing import OVER, Leaving, Outgoing
from vault_tool.files.frontmatter import render_head
from vault_tool.generate.escape import inline
from vault_tool.importing import claude_heads
from vault_tool.model.types import MEMORIES
from vault_tool.util.link_rewriting import with_links
from vault_tool.util.text import content_hash, one_line, slug
from vault_tool.vault import link_meaning
from vault_tool.vault.context import Context

FORM = "claude-code"
INDEX = "MEMORY.md"
_ABOUT = 200
# Types that Claude Code's own words stand for; any other is told of a project.
_KINDS: Mapping[str, str] = {"preference": "feedback"}


def claude_code_files(vault: Context, since: str | None, subjects: Sequence[str]) -> tuple[dict[str, bytes], Outgoing]:
    """The files of the folder by their names, and what went into them and did not."""
    out = Outgoing(vault, since, subjects, tuple(MEMORIES))
    current = [memory for memory in out.leaving if not memory.is_over]
    out.left_out[OVER] += len(out.leaving) - len(current)
    stems = _stems(current)
    files = {f"{stems[memory.entry.path]}.md": _file(out, memory, stems) for memory in current}
    out.told_otherwise["told as project"] = sum(_kind(memory) == "project" and memory.entry.type != "fact" for memory in current)
    if not out.is_narrowed:
        out.lost()
        out.left_out["pages"] += len(out.seen.index.catalog.of_kind("page"))
    if files:
        files[INDEX] = _index(current, stems)
    return files, out


def _stems(memories: Sequence[Leaving]) -> dict[str, str]:
    """The name of each memory's file without its ending; of equal ones all but the first by its id are told apart by it."""
    taken = {"memory", "claude", "claude.local"}
    stems: dict[str, str] = {}
    for memory in sorted(memories, key=lambda each: each.entry.id):
        stem = slug(memory.entry.title, "memory")
        if stem.casefold() in taken:
            stem = f"{stem}-{memory.entry.id[:6]}"
        if stem.casefold() in taken:
            stem = f"{stem}-{memory.entry.id}"
        taken.add(stem.casefold())
        stems[memory.entry.path] = stem
    return stems


def _file(out: Outgoing, memory: Leaving, stems: Mapping[str, str]) -> bytes:
    entry = memory.entry

    def linked(link: str, label: str) -> str:
        meant = (other for other in link_meaning.meant(out.seen, entry.path, link) if other.path in stems)
        target = next(meant, None)
        return f"[[{stems[target.path]}]]" if target is not None else f"[[{link}]]"

    body = f"{with_links(memory.text, linked)}\n"
    metadata = {
        "type": _kind(memory), "modified": entry.observed or entry.text("created"), "title": entry.title, "id": entry.id,
        "hash": content_hash(body.encode("utf-8", "replace")),
    }  # fmt: skip
    head = render_head([("name", stems[entry.path]), ("description", _about(memory))]).removesuffix("---\n")
    lines = "".join(f"  {line}\n" for line in render_head([*metadata.items()]).splitlines()[1:-1])
    return f"{head}metadata:\n{lines}---\n{body}".encode("utf-8", "replace")


def _kind(memory: Leaving) -> str:
    metadata = memory.entry.head.get("metadata")
    kind = str(metadata.get("type", "")) if isinstance(metadata, Mapping) else ""
    return kind if kind in claude_heads.TYPES and kind != "reference" else _KINDS.get(memory.entry.type, "project")


def _about(memory: Leaving) -> str:
    entry = memory.entry
    return one_line(entry.text("summary") or entry.preview or entry.title, _ABOUT)


def _index(memories: Sequence[Leaving], stems: Mapping[str, str]) -> bytes:
    """The index: preferences first, then the newest, for its first lines alone are read at a session's start."""

    def order(memory: Leaving) -> tuple[bool, bool]:
        return memory.entry.type != "preference", not memory.entry.pinned

    newest = sorted(memories, key=lambda each: (each.entry.observed or each.entry.text("created"), each.entry.id), reverse=True)
    lines = [_listed(memory, f"{stems[memory.entry.path]}.md") for memory in sorted(newest, key=order)]
    return "\n".join(["# Memory", "", *lines, ""]).encode("utf-8", "replace")


def _listed(memory: Leaving, name: str) -> str:
    return f"- [{inline(memory.entry.title, 120) or memory.entry.id}]({name}) — {inline(_about(memory), _ABOUT)}"
