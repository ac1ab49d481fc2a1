"""From a file's bytes to a typed head, a body and problems with their lines; the inverse of `files.render`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from vault_tool.files import conflict_markers, frontmatter, page_titles, two_versions
from vault_tool.files.frontmatter import Plain, Raw, lists
from vault_tool.files.frontmatter.lists import Form
from vault_tool.model.fields import BODY_REQUIRED, SCHEMA, FieldKind
from vault_tool.model.ids import canonical
from vault_tool.model.made_titles import title_now
from vault_tool.model.own_properties import own_properties
from vault_tool.model.problems import Problem, Severity, error, note, warning
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass, Registry, is_type_name
from vault_tool.util import note_links
from vault_tool.util.clock import stamped, until
from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, content_hash, first_sentence, one_line, prose_lines, unwrap_link

if TYPE_CHECKING:
    from vault_tool.model.records import Head, Record

PREVIEW_LENGTH = 200

_TWO_VERSIONS = b"<!-- two versions"

_NULLS = lists.NULLS
_TRUE = frozenset({"true", "yes", "on"})
_FALSE = frozenset({"false", "no", "off"})
_NUMBER = deferred_pattern(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_CANONICAL = deferred_pattern(r"-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?", re.ASCII)
_WHOLE = deferred_pattern(r"\d{1,15}", re.ASCII)


class Parsed(Struct):
    """A file's text as parsed.

    `record_class` is None for a page (no head of ours). `readable` is false when the text cannot be used as it
    stands: bytes that are not text, a broken head, conflict markers; then only `problems` says anything.
    """

    record_class: RecordClass | None
    head: Head
    body: str
    title: str
    problems: tuple[Problem, ...] = ()
    readable: bool = True
    links: tuple[str, ...] = ()
    """The links in its properties."""


def parse(path: str, data: bytes, registry: Registry) -> Parsed:
    """Read one markdown file; whatever is wrong with it is in `problems`, and nothing is raised."""
    # Asked of each note of a rebuild, where a generator costs more than the look that spares it; likewise below.
    if b"<<<<<<< " in data and (markers := tuple(_conflict_markers(path, data))):
        return Parsed(None, {}, "", "", markers, readable=False)
    head, body, faults = frontmatter.read(data)
    problems = [Problem(path, f.line, f.code, _severity(f), f.message, f.hint) for f in faults]
    if any(fault.fatal for fault in faults):
        return Parsed(None, {}, body, "", tuple(problems), readable=False)
    values = head.values if head is not None else {}
    if b"unsettled" in data or _TWO_VERSIONS in data:
        problems.extend(_unsettled(path, data, head))
    spec_name, identity = _text(values.get("type")), canonical(_text(values.get("id")) or "")
    if head is None or identity is None or not spec_name or not is_type_name(spec_name):
        title = page_titles.title_of(path, values, body)
        problems.extend(_nearly(path, values, identity, spec_name))
        return Parsed(None, _untyped(values), body, title, tuple(problems))
    record_class = registry.spec(spec_name).record_class
    typed = _typed(path, record_class, head, problems)
    typed["id"] = identity
    if not (all(map(typed.get, _REQUIRED[record_class])) and (body.strip() or not _needs_text(record_class, typed))):
        problems.extend(_missing(path, record_class, typed, body))
    linked: tuple[str, ...] = ()
    if b"[[" in data:
        ours = _IMPORTED if values.get("origin") == "import" and record_class in BODY_REQUIRED else _RELATIONS[record_class]
        linked = tuple(note_links.links_in_properties(values, ours))
    title = _title(path, record_class, typed, body)
    return Parsed(record_class, typed, body, title, tuple(problems), links=linked)


def record(path: str, data: bytes, registry: Registry) -> Record | None:
    """The record in a file's bytes, or None for a page or what cannot be read."""
    from vault_tool.model.records import from_head  # 5 ms: only what goes on to change a record needs its class

    parsed = parse(path, data, registry)
    return from_head(parsed.record_class, parsed.head, parsed.body) if parsed.record_class else None


def entry(path: str, data: bytes, parsed: Parsed, mtime_ns: int, *, stale: bool = False) -> Entry:
    """The index's row of a parsed record; `parsed.record_class` must not be None."""
    assert parsed.record_class is not None
    return Entry(
        path=path,
        id=str(parsed.head["id"]),
        record_class=parsed.record_class,
        type=str(parsed.head["type"]),
        title=parsed.title,
        head=parsed.head,
        preview=one_line(_shown_first(parsed), PREVIEW_LENGTH),
        body_hash=body_hash(parsed.body),
        links=tuple(dict.fromkeys((*note_links.links_in(parsed.body), *parsed.links))),
        size=len(data),
        mtime_ns=mtime_ns,
        hash=content_hash(data),
        stale=stale,
    )


def _shown_first(parsed: Parsed) -> str:
    """The beginning of the text; for a note without text, its properties."""
    if parsed.body and not parsed.body.isspace():
        return parsed.body[: 4 * PREVIEW_LENGTH]
    return own_properties(parsed.record_class, parsed.head)[: 4 * PREVIEW_LENGTH]


def _severity(fault: frontmatter.HeadFault) -> Severity:
    return Severity.ERROR if fault.fatal else Severity.WARNING


def _unsettled(path: str, data: bytes, head: frontmatter.Head | None) -> Iterator[Problem]:
    """The problems of a note in which a merge left a choice to a person: it is read, searched and shown with both texts."""
    hint = f"{step('review')} settles it: this text, that, or both"
    fields = head.values.get("unsettled") if head is not None else None
    if head is not None and fields:
        names = {str(name).partition(":")[0] for name in (fields if isinstance(fields, list) else [fields])}
        shown = ", ".join(f"`{one_line(name, 40)}`" for name in sorted(names))
        yield note(
            path, head.lines.get("unsettled", 1), "unsettled", f"two machines wrote {shown}, and both texts are kept", hint
        )
    start = frontmatter.split(data).body_start
    above = data.count(b"\n", 0, start)
    for place in two_versions.places(data[start:].decode("utf-8", "replace").split("\n")):
        yield note(path, above + place.first + 1, "unsettled", "two machines wrote this place, and both texts are kept", hint)


def _conflict_markers(path: str, data: bytes) -> Iterator[Problem]:
    """Git's markers at the beginning of a line: anywhere in a head, outside fenced code in a body."""
    if b"<<<<<<< " not in data or b">>>>>>> " not in data:
        return
    parts = frontmatter.split(data)
    before = data[: parts.body_start].decode("utf-8", "replace")
    body = data[parts.body_start :].decode("utf-8", "replace")
    offset = before.count("\n")
    lines = [*enumerate(before.split("\n")[:-1], 1), *((offset + n, line) for n, line in prose_lines(body))]
    opened = [number for number, line in lines if line.startswith("<<<<<<< ")]
    closed = [number for number, line in lines if line.startswith(">>>>>>> ")]
    if opened and closed and opened[0] < closed[-1]:
        for number in opened:
            hint = conflict_markers.what_to_do()
            yield error(path, number, "conflict-markers", "the note holds both sides of a merge conflict", hint)


def _typed(path: str, record_class: RecordClass, head: frontmatter.Head, problems: list[Problem]) -> Head:
    """Type each field by the class's schema; what does not fit is a problem and left out, the file keeps it."""
    readers = _BY_CLASS[record_class]
    typed: Head = {}
    beside: dict[str, list[str]] = {}
    for key, raw in head.values.items():
        reader = readers.get(key)
        if reader is None:
            name = lists.SPELLINGS.get(key.lower())
            if name is None or not _listed(record_class, name, raw, beside):
                typed[key] = _guess(raw)
            continue
        if raw is None or (raw.__class__ is Plain and raw in _NULLS):
            continue
        value = reader(raw)
        if value is _WRONG:
            meant = SCHEMA[record_class][key].kind.value
            hint = "mend the value in the file"
            line = head.lines.get(key, 1)
            problems.append(warning(path, line, "wrong-kind", f"`{key}` must be {meant}, not {_shown(raw)}", hint))
        else:
            typed[key] = value
    for name, spelled in beside.items():
        typed[name] = list(dict.fromkeys([*typed.get(name, ()), *spelled]))
    return typed


def _listed(record_class: RecordClass, name: str, raw: Raw, beside: dict[str, list[str]]) -> bool:
    """Take in a list that goes by another spelling, or the aliases that any note may have; false for what is no such list."""
    if name not in _BY_CLASS[record_class] and (name != "aliases" or record_class not in BODY_REQUIRED):
        return False
    texts = lists.texts(raw, lists.form_of(name))
    if texts is not None:
        beside.setdefault(name, []).extend(texts)
    return texts is not None


def _nearly(path: str, values: Mapping[str, Raw], identity: str | None, spec_name: str | None) -> Iterator[Problem]:
    """The reason why a page that has an `id` or a `type` is not a record."""
    stated = _text(values.get("id")) or ""
    if stated and identity is None:
        message = f"its `id` ({one_line(stated, 40)}) is no UUID, so it is a page: searched as text, but not a memory"
        yield note(path, 1, "page", message, f"{step('adopt')} gives it an id and keeps this one as `source_id`")
    elif identity is not None:
        message = "it has an `id` and no `type` that can be one, so it is a page: searched as text, but not a memory"
        yield note(path, 1, "page", message, f"add a line `type: fact`, or {step('adopt')} does")


def _needs_text(record_class: RecordClass, head: Head) -> bool:
    """Whether a record says nothing without a text: people's own notes are often their properties alone."""
    return record_class in BODY_REQUIRED and head.get("origin") != "import"


def _missing(path: str, record_class: RecordClass, head: Head, body: str) -> Iterator[Problem]:
    for name in _REQUIRED[record_class]:
        if not head.get(name):
            hint = f"add a line `{name}: ...` to the head"
            yield error(path, 1, "missing-field", f"a record of type {head['type']} needs `{name}`", hint)
    if not body.strip() and _needs_text(record_class, head):
        yield error(path, 1, "empty-body", f"a record of type {head['type']} needs a body", "write what it says below the head")


def _title(path: str, record_class: RecordClass, head: Head, body: str) -> str:
    """Never empty: the title or name, an edge's two ends, the first sentence, the file's name."""
    if record_class is RecordClass.EDGE:
        ends = (head.get("from_title") or head.get("from_id", "?")), (head.get("to_title") or head.get("to_id", "?"))
        return one_line(f"{ends[0]} {head['type']} {ends[1]}")
    if record_class in BODY_REQUIRED:
        called = title_now(record_class, head.get("title", ""), head.get("summary", ""), body)
    else:
        named = head.get("name") if record_class in (RecordClass.SUBJECT, RecordClass.WORKSPACE) else head.get("title")
        called = one_line(str(named or "")) or first_sentence(body)
    return called or PurePosixPath(path).stem


_WRONG: Any = object()


def _text(raw: Raw) -> str | None:
    return str(raw) if isinstance(raw, str) and not (isinstance(raw, Plain) and raw in _NULLS) else None


def _read_text(raw: Raw) -> Any:
    return str(raw) if isinstance(raw, str) else _WRONG


def _read_list(form: Form | None) -> Callable[[Raw], Any]:
    def read(raw: Raw) -> Any:
        texts = lists.texts(raw, form)
        return _WRONG if texts is None else texts

    return read


_READ_TEXTS = _read_list(Form.TEXTS)


def _read_unit(raw: Raw) -> Any:
    if not isinstance(raw, str) or not _NUMBER.fullmatch(raw):
        return _WRONG
    number = float(raw)
    return number if 0.0 <= number <= 1.0 else _WRONG


def _read_count(raw: Raw) -> Any:
    return int(raw) if isinstance(raw, str) and _WHOLE.fullmatch(raw) else _WRONG


def _read_flag(raw: Raw) -> Any:
    word = raw.lower() if isinstance(raw, str) else ""
    return True if word in _TRUE else False if word in _FALSE else _WRONG


def _read_time(raw: Raw) -> Any:
    named = stamped(raw) if isinstance(raw, str) else None
    return str(named) if named else _WRONG


def _read_end(raw: Raw) -> Any:
    named = until(raw) if isinstance(raw, str) else None
    return str(named) if named else _WRONG


def _read_id(raw: Raw) -> Any:
    return _reference(raw) or _WRONG


def _read_ids(raw: Raw) -> Any:
    items = _READ_TEXTS(raw)
    if items is _WRONG:
        return _WRONG
    ids = [_reference(item) for item in items]
    return _WRONG if None in ids else ids


def _reference(raw: Raw) -> str | None:
    """An id by itself or in a link, which may have a label."""
    if not isinstance(raw, str):
        return None
    if (identity := canonical(unwrap_link(raw))) or "[[" not in raw:
        return identity
    return canonical((note_links.targets(next(note_links.links_in(raw), "")) or ("",))[-1])


_READERS: Mapping[FieldKind, Callable[[Raw], Any]] = {
    FieldKind.TEXT: _read_text,
    FieldKind.TEXTS: _READ_TEXTS,
    FieldKind.SUBJECTS: _read_list(Form.NAMES),
    FieldKind.UNIT: _read_unit,
    FieldKind.COUNT: _read_count,
    FieldKind.FLAG: _read_flag,
    FieldKind.TIME: _read_time,
    FieldKind.END: _read_end,
    FieldKind.ID: _read_id,
    FieldKind.IDS: _read_ids,
}

# Looked up once a field of every note: hashing an enum member for each would be a tenth of a rebuild.
_BY_CLASS: Mapping[RecordClass, Mapping[str, Callable[[Raw], Any]]] = {
    record_class: {
        name: _read_list(lists.form_of(name)) if field.kind is FieldKind.TEXTS else _READERS[field.kind]
        for name, field in fields.items()
    }
    for record_class, fields in SCHEMA.items()
}
# The fields in which a link is no weak one: in any note what it is, goes by, came from and is about, ...
_IMPORTED = frozenset(
    {"id", "alias", "aliases", "subject", "subjects", "imported_from", "source_id", "put_by_others", "unsettled"}
)
# ... and in a record of ours those that have other records, and names.
_NAMING = frozenset({FieldKind.ID, FieldKind.IDS, FieldKind.SUBJECTS})
_NAMES = frozenset({"name", "also", "from_title", "to_title"})
_RELATIONS: Mapping[RecordClass, frozenset[str]] = {
    record_class: _IMPORTED | _NAMES | {field.name for field in fields.values() if field.kind in _NAMING}
    for record_class, fields in SCHEMA.items()
}

_REQUIRED: Mapping[RecordClass, tuple[str, ...]] = {
    record_class: tuple(name for name, field in fields.items() if field.required) for record_class, fields in SCHEMA.items()
}


def _untyped(values: Mapping[str, Raw]) -> Head:
    return {key: _guess(raw) for key, raw in values.items()}


def _guess(raw: Raw) -> Any:
    """The value of a field that has no schema: text, unless it is plain and true, false, null or a canonical number."""
    if isinstance(raw, Plain):
        if raw in ("true", "false"):
            return raw == "true"
        if raw == "null":
            return None
        if _CANONICAL.fullmatch(raw) and raw != "-0" and len(raw) <= 17:
            return float(raw) if "." in raw else int(raw)
        return str(raw)
    if isinstance(raw, list):
        return [_guess(item) for item in raw]
    if isinstance(raw, dict):
        return {key: _guess(value) for key, value in raw.items()}
    return raw if raw is None else str(raw)


def _shown(raw: Raw) -> str:
    if isinstance(raw, dict):
        return "a map"
    if isinstance(raw, list):
        return "a list"
    return f"`{one_line(str(raw), 40)}`"
