"""A foreign note as a note of a vault: the same bytes with the lines that make it a record."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from vault_tool.errors import EditRefused
from vault_tool.files import frontmatter
from vault_tool.files.additions import says, with_fields
from vault_tool.files.frontmatter import Change, Head, HeadFault, Raw, Remove, Set, Value, lists
from vault_tool.files.frontmatter.lists import Form
from vault_tool.files.frontmatter.loose import read_loosely
from vault_tool.files.page_titles import title_of
from vault_tool.files.parse import parse
from vault_tool.importing import bundles, claude_heads, dates, tags
from vault_tool.importing.toml_head import json_head, toml_head
from vault_tool.model.ids import canonical
from vault_tool.model.problems import Problem, Severity, note, warning
from vault_tool.model.types import RecordClass, Registry, is_type_name
from vault_tool.util.clock import parse_time, stamp
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash, one_line

FROM = "imported_from"
SOURCE_HASH = "source_hash"
COPY_HASH = "copy_hash"

_ID_LINE = re.compile(rb"""^[ ]*["']?id["']?[ \t]*:""", re.MULTILINE)
_MARKERS = b"<<<<<<< "
_COPY_LINE = re.compile(rb'^[ ]*copy_hash: "?([0-9a-f]{32})"?\r?\n', re.MULTILINE)


class ImportOptions(Struct, kw_only=True):
    """The options of an import that apply to every note."""

    type: str = "general"
    subjects: tuple[str, ...] = ()
    project: str = ""
    folder_tags: bool = True
    source_id: str = ""


class Made(Struct, kw_only=True):
    """The outcome for one note: `data` is None where nothing can be kept, `identity` empty where it stays a page."""

    data: bytes | None = None
    identity: str = ""
    skipped: str = ""
    problems: tuple[Problem, ...] = ()


def own_id(data: bytes) -> str:
    """The UUID that a note's own head gives it, or nothing."""
    if not _ID_LINE.search(data[:65536]):
        return ""
    head, _, _ = frontmatter.read(data)
    raw = head.values.get("id") if head is not None else None
    return (canonical(raw) or "") if isinstance(raw, str) else exported_as(data)[0]


def exported_as(data: bytes) -> tuple[str, bool]:
    """The id of the memory that an export of a vault wrote a note for, and whether its text is as it wrote it; else nothing."""
    if not _ID_LINE.search(data[:65536]):
        return "", False
    head, _, _ = frontmatter.read(data)
    values: Mapping[str, Raw] = head.values if head is not None else {}
    memory = claude_heads.memory_head(values) or bundles.exported(values)
    if memory is None or not memory.id:
        return "", False
    return memory.id, content_hash(data[frontmatter.split(data).body_start :]) == memory.digest


def record_from_note(
    path: str, data: bytes, asked: ImportOptions, registry: Registry, *, identity: str, label: str = "", fallback: str = ""
) -> Made:
    """A note with the lines that make it a record called `identity`.

    `path` is where it lay in its own folder, `label` what `imported_from` says (empty: it stays where it is, and no
    hashes are kept), `fallback` the moment it is dated with where neither head nor name says one. What cannot be a
    record is a page of the same bytes, or nothing at all, with the reason among the problems.
    """
    head, body, faults = frontmatter.read(data)
    values = head.values if head is not None else {}
    refused = _unusable(path, data, body, values, faults, registry)
    if refused is not None:
        return refused
    inner, prose = described(values, body)
    fields = _fields(path, values, inner, prose, asked, registry, identity, fallback)
    if label:
        fields += [(FROM, label), (SOURCE_HASH, content_hash(data))]
    note_tags = _tags(path, inner, prose, asked)
    retag = tags.change(values, note_tags)
    changes: list[Change] = [Remove(COPY_HASH)] if COPY_HASH in values else []
    if isinstance(retag, Set) and "tags" not in values:
        fields.append((retag.key, retag.value))
    elif retag is not None:
        changes.append(retag)
    if asked.subjects and "subjects" in values:
        changes.append(frontmatter.AddItems("subjects", asked.subjects))
    elif asked.subjects:
        fields.append(("subjects", list(asked.subjects)))
    return _written(path, data, head, fields, changes, identity, sealed=bool(label))


def loosely(data: bytes) -> bytes:
    """A note whose head cannot be read or changed with one of the same fields that can, as far as its lines say them."""
    head, body, _ = frontmatter.read(data)
    text = body.encode("utf-8")
    values: Mapping[str, Value] = head.values if head is not None and head.usable else read_loosely(data)
    fields = [(key, value) for key, value in values.items() if value]
    try:
        return frontmatter.add_head(text, fields) if fields else text
    except EditRefused:
        return text


def untouched(data: bytes) -> bool:
    """Whether a copy still is as the import made it: its bytes without the line `copy_hash` have that hash."""
    parts = frontmatter.split(data)
    line = _COPY_LINE.search(data, parts.start, parts.end)
    return line is not None and content_hash(data[: line.start()] + data[line.end() :]) == line[1].decode()


def with_copy_hash(data: bytes) -> bytes:
    """The copy with the hash of itself as its head's last line, by which a later import tells whether anybody changed it."""
    parts = frontmatter.split(data)
    first = next(
        line for line in data[parts.start : parts.end].split(b"\n") if line.strip() and not line.lstrip().startswith(b"#")
    )
    indent = first[: len(first) - len(first.lstrip(b" "))]
    line = indent + f'{COPY_HASH}: "{content_hash(data)}"{parts.newline}'.encode()
    return data[: parts.end] + line + data[parts.end :]


def described(values: dict[str, Raw], body: str) -> tuple[dict[str, Raw], str]:
    """The fields that say something of a note and its prose: a head in TOML or JSON, which stays in the body, is read too."""
    inner, prose = toml_head(body)
    if not inner:
        inner, prose = json_head(prose)
    return {**inner, **values}, prose


def _unusable(
    path: str, data: bytes, body: str, values: dict[str, Raw], faults: Sequence[HeadFault], registry: Registry
) -> Made | None:
    if not data.strip():
        return Made(skipped="empty", problems=(note(path, 0, "empty", "it holds nothing"),))
    broken = [Problem(path, f.line, f.code, Severity.ERROR, f.message, f.hint) for f in faults if f.fatal]
    if not broken and _MARKERS in data:
        broken = [problem for problem in parse(path, data, registry).problems if problem.code == "conflict-markers"]
    if broken and broken[0].code == "not-text":
        return Made(skipped="not-text", problems=(broken[0],))
    if not broken and claude_heads.is_index(path, values, body):
        return Made(skipped="index", problems=(note(path, 0, "index", "it lists the memories beside it, and is none itself"),))
    if broken:
        served = "its words alone are served" if broken[0].code != "conflict-markers" else "it is in no answer"
        problem = replace(broken[0], message=f"kept unchanged, and {served} until it is mended: {broken[0].message}")
        return Made(data=data, problems=(problem,))
    if not body.strip() and not any(map(says, values.values())):
        problem = note(path, 0, "no-text", "it has a head and no text, so it stays a page", "write something below the head")
        return Made(data=data, problems=(problem,))
    return None


def _fields(
    path: str, values: dict[str, Raw], inner: dict[str, Raw], prose: str, asked: ImportOptions, registry: Registry, identity: str,
    fallback: str,
) -> list[tuple[str, Value]]:  # fmt: skip
    """The lines that are added; what stood under one of their names and is not ours is kept by `with_fields`."""
    memory = claude_heads.memory_head(values)
    kind = memory.type if memory else _type(values.get("type"), asked.type, registry)
    fields: list[tuple[str, Value]] = [("id", identity), ("type", kind)]
    title = values.get("title")
    if not (isinstance(title, str) and says(title) and one_line(title)):
        fields.append(("title", (memory.title if memory else "") or title_of(path, inner, prose)))
    if memory and memory.summary and not says(values.get("summary")):
        fields.append(("summary", memory.summary))
    old = values.get("created")
    if not (isinstance(old, str) and parse_time(old)):
        moment = (memory.modified if memory else None) or dates.created(inner, path.rpartition("/")[2])
        fields.append(("created", stamp(moment) if moment else fallback))
    fields.append(("origin", "import"))
    if asked.source_id and "source_id" not in values:
        fields.append(("source_id", asked.source_id))
    if "aliases" in inner and "aliases" not in values and (aliases := lists.texts(inner["aliases"], Form.NAMES)):
        fields.append(("aliases", aliases))
    if asked.project and not says(values.get("project")):
        fields.append(("project", asked.project))
    return fields


def _type(raw: Raw, otherwise: str, registry: Registry) -> str:
    """The note's own type where the vault knows it as one of observations, else the one that was asked for."""
    if isinstance(raw, str) and is_type_name(raw):
        spec = registry.spec(raw)
        if spec.known and spec.record_class is RecordClass.OBSERVATION:
            return str(raw)
    return otherwise


def _tags(path: str, inner: dict[str, Raw], prose: str, asked: ImportOptions) -> list[str]:
    return [*tags.in_head(inner), *tags.in_prose(prose), *(tags.of_folders(path) if asked.folder_tags else ())]


def _written(
    path: str,
    data: bytes,
    head: Head | None,
    fields: Sequence[tuple[str, Value]],
    changes: Sequence[Change],
    identity: str,
    *,
    sealed: bool,
) -> Made:
    problems: tuple[Problem, ...] = ()
    try:
        try:
            result = with_fields(data, fields, changes, head)
        except EditRefused as fault:
            if not changes:
                raise
            result = with_fields(data, fields, (), head)
            problems = (warning(path, 0, "tags-kept", f"its lists were left as they are: {fault.message}"),)
        return Made(data=with_copy_hash(result) if sealed else result, identity=identity, problems=problems)
    except EditRefused as fault:
        problem = warning(path, 0, "read-only-head", f"kept as a page, unchanged: {fault.message}", fault.hint)
        return Made(data=data, problems=(problem,))
