"""Notes written by a person's own hand: `new`, `edit` and `adopt`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

from vault_tool.check.ends import CODE, too_early
from vault_tool.errors import NotFound, StaleEdit, UsageError, VaultError
from vault_tool.features.history.history import keep_first
from vault_tool.features.subjects.subjects import require_free
from vault_tool.files import frontmatter, layout, reader, writer
from vault_tool.files.additions import says, with_fields
from vault_tool.files.frontmatter import Set
from vault_tool.files.merging import note_merge
from vault_tool.files.parse import Parsed, parse
from vault_tool.files.title_lines import with_title_of_text
from vault_tool.generate.templates import answered, template
from vault_tool.model.ids import canonical, new_id
from vault_tool.model.problems import Problem, warning
from vault_tool.model.records import Record, Subject, from_head
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.snapshot import Entry, own_id_for, owners_entry
from vault_tool.model.types import RecordClass, is_type_name
from vault_tool.util.hints import option, shell, step
from vault_tool.util.text import content_hash, counted, one_line
from vault_tool.vault import resolve, screening
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.parameters import unknown_type
from vault_tool.vault.person import is_owner
from vault_tool.vault.request import looks, of_the_whole, verb

# Lets a person edit a file and returns when they are done.
Editor = Callable[[Path], None]


class SavedNote(Saved, kw_only=True):
    """A note that a person wrote or edited; `changed` is false when they left it as it was."""

    id: str | None
    type: str
    title: str
    path: str
    changed: bool
    problems: tuple[Problem, ...] = ()


class _SavedNote(TypedDict):
    """The fields that identify a note in a result."""

    id: str
    type: str
    title: str
    path: str


class Adopted(Saved, kw_only=True):
    """Pages that became records, with the ids that they were given."""

    results: tuple[SavedNote, ...]


@verb
@of_the_whole
def new(vault: Context, type: str, editor: Editor, *, title: str = "", subject_names: Sequence[str] = ()) -> SavedNote:
    """Let a person write a note of `type` from its template, check it, and put it in its place as they wrote it.

    A note that cannot be used is kept as a draft, and the error says where and why; an untouched template is no note.
    """
    if not is_type_name(type):
        raise UsageError(f"`{one_line(type, 40)}` cannot be a type", "a type is a word of letters, digits and _")
    identity = new_id()
    drafted = _draft_text(vault, type, identity, title, subject_names)
    draft = f"{layout.LOCAL}/drafts/{type}-{identity[:6]}.md"
    writer.create(vault.root, draft, drafted)
    _edited(vault, draft, editor, drafted)
    text = writer.read(vault.root, draft)
    if text == drafted:
        writer.remove(vault.root, draft, text)
        return SavedNote(id=None, type=type, title="", path="", changed=False)
    parsed, data = _usable(vault, draft, text, drafted)
    with writing(vault, "new") as op:
        record = from_head(_class_of(parsed), parsed.head, parsed.body)
        _require_free_name(vault, record, draft)
        path = op.create_as_written(record, data)
        op.log(record, path, parsed.title)
        saved = op.carry_out(parsed.title, [record.id])
    writer.remove(vault.root, draft, text)
    outcome = saved.fields(*unknown_type(vault.settings.types, record.type))
    return SavedNote(**outcome, id=record.id, type=record.type, title=parsed.title, path=path, changed=True)


@verb
@looks
@of_the_whole
def edit(
    vault: Context,
    memory_id: str,
    editor: Editor | None = None,
    *,
    text: str | None = None,
    was: str = "",
    base: str | None = None,
    both: bool = False,
) -> SavedNote:
    """Have a note edited in its place, then check and commit it; one that a person edits counts as reviewed by them.

    A note that cannot be read afterwards is kept as it was left, named with its problems, and not committed. In place of an
    `editor` goes the whole `text` of the file, with the hash of the text that it was made from (`was`, as `show` gives it by
    `source`): one that cannot be read is refused, and so (StaleEdit) is one for a file that was saved since. With the text that
    it was made from, `base`, both edits are put together where they changed other lines and fields; `both` keeps both texts of
    a place that both changed, for a person to choose. What is replaced is committed first, where no commit has it.
    """
    _require_one_way(editor, text, was)
    vault = resolve.unrestricted(vault)
    entry = resolve.find(vault, memory_id)
    resolve.require_own(vault, entry)
    layout.inside(vault.root, entry.path)
    before = _left(vault, entry.path)
    if editor is not None:
        editor(vault.root / entry.path)
    reviewed = is_owner(vault)
    # Only a person's edit makes what somebody else's commit brought theirs: the commit says by its verb whose it was.
    with writing(vault, "edit" if reviewed or not entry.pulled else "amend") as op:
        now = _left(vault, entry.path)
        remarks: list[str] = []
        if text is None:
            before, after = before, now
        else:
            before, after = now, text.encode("utf-8")
            if content_hash(now) != was:
                after = _together(entry.path, after, now, was, base, both, remarks)
        parsed = parse(entry.path, after, vault.settings.types)
        written: _SavedNote = {"id": entry.id, "type": entry.type, "title": parsed.title or entry.title, "path": entry.path}
        if after == before:
            return SavedNote(**written, changed=False)
        unfit = _unfit(vault, entry, after, parsed)
        left = after
        if not unfit and (followed := _with_its_title(vault, entry, before, after)) != after:
            after, parsed = followed, parse(entry.path, followed, vault.settings.types)
            written["title"] = parsed.title or entry.title
        if text is not None:
            _require_fit(unfit)
            remarks += filter(None, [keep_first(vault, entry.path)])
            writer.replace(vault.root, entry.path, before, after)
        elif unfit:
            reason = f"the note is saved as you left it, and not committed: {unfit[0].message}"
            return SavedNote(**written, changed=True, problems=unfit, reason=reason, attention=True)
        elif after != left:
            writer.replace(vault.root, entry.path, left, after)
        op.include(entry.path, before, after)
        if reviewed:
            op.signal(Signal(id=new_id(), at=vault.now(), target=entry.id, kind=SignalKind.REVIEWED, origin="owner"))
        saved = op.carry_out(parsed.title, [entry.id])
    return SavedNote(**saved.fields(*remarks), **written, changed=True, problems=parsed.problems)


def _together(path: str, ours: bytes, theirs: bytes, was: str, base: str | None, both: bool, remarks: list[str]) -> bytes:
    """Both edits of a file in one text; StaleEdit where a person must choose."""
    known = base.encode("utf-8") if base is not None else None
    merged = note_merge.merge(known, ours, theirs) if known is not None and content_hash(known) == was else None
    if merged is None or (merged.left and not both):
        raise StaleEdit(f"{path} was saved by somebody else since; nothing was written", "take up what it says now")
    remarks.append("what was saved meanwhile is in it too")
    remarks += merged.told
    if merged.left:
        remarks.append(f"{counted(len(merged.left), 'place')} that both changed stands there twice: keep one, or both")
    return merged.data


def _with_its_title(vault: Context, entry: Entry, before: bytes, after: bytes) -> bytes:
    """An edited note without a title that follows its text."""
    renamed = entry.title != one_line(entry.text("title"))
    return with_title_of_text(entry.path, before, after, vault.settings.types, was_made=renamed)


def _unfit(vault: Context, entry: Entry, data: bytes, parsed: Parsed) -> tuple[Problem, ...]:
    """The reason why an edited note must stay out of history."""
    path = entry.path
    if not parsed.readable:
        return parsed.problems
    if parsed.record_class is not None and parsed.head["id"] != entry.id:
        hint = f"put `id: {entry.id}` back, or {step('commit')} takes it as it is"
        return (warning(path, 1, "other-id", "its `id` is another one, so what refers to it leads nowhere", hint),)
    if parsed.record_class is None:
        hint = f"put the lines back, or {step('commit')} takes it as it is"
        return (warning(path, 1, "page", "it lost its `id` or `type`, so it is a page and no memory now", hint),)
    # What was so before the edit is the doctor's to tell.
    known = dict(too_early(entry.head))
    for name, message in too_early(parsed.head):
        if known.get(name) != message:
            return (warning(path, 1, CODE, message, "put a later one there"),)
    return () if vault.allow_secrets else tuple(screening.new_in_file(vault, path, data))


def _require_one_way(editor: Editor | None, text: str | None, was: str) -> None:
    """Refuse an edit by an editor and a text at once, or by neither, and a text whose former one is not named."""
    if (editor is None) == (text is None):
        raise UsageError("an edit needs an editor, or the whole text", "give one of them")
    if text is not None and not was:
        raise UsageError(
            "a whole text needs the hash of the one that it was made from",
            f"{step('show', memory_id=..., source=True)} gives both",
        )


def _require_fit(unfit: Sequence[Problem]) -> None:
    """Refuse a whole text with problems; the first is named."""
    if unfit:
        first = unfit[0]
        raise UsageError(f"{first.path}:{first.line}: {first.message}; nothing was written", first.hint or "mend it")


def _left(vault: Context, path: str) -> bytes:
    """The text of a note as the editor left it."""
    try:
        return reader.read(vault.root, path)
    except FileNotFoundError as fault:
        raise NotFound(
            f"{path} is gone", f"{shell(f'git checkout -- {path}')} brings it back, {step('commit')} commits its removal"
        ) from fault


@verb
@of_the_whole
def adopt(vault: Context, paths: Sequence[str | Path], *, type: str = "general") -> Adopted:
    """Make records of pages by adding the lines their heads lack: an id, a type, and when they were created.

    Nothing else in the files changes. An `id` or `type` that is not ours is kept as `source_id` or `source_type`.
    A record that has the id of another file gets one of its own. A page without text, and any other record, is refused by
    name.
    """
    record_class = vault.settings.types.spec(type).record_class
    if not is_type_name(type) or record_class is not RecordClass.OBSERVATION:
        raise UsageError(
            f"a page becomes an observation, and `{one_line(type, 40)}` is none", f"for example {option('type', 'fact')}"
        )
    if not paths:
        raise UsageError("no page was named", f"{step('doctor')} lists the pages")
    with writing(vault, "adopt") as op:
        results = []
        for path in dict.fromkeys(_page(vault, path) for path in paths):
            data = reader.read(vault.root, path)
            adopted, identity, resolved_type = adopted_text(vault, path, data, type)
            op.rewrite(path, data, adopted)
            title = parse(path, adopted, vault.settings.types).title
            results.append(SavedNote(id=identity, type=resolved_type, title=title, path=path, changed=True))
        names = ", ".join(r.title for r in results[:3]) + (f" and {len(results) - 3} more" if len(results) > 3 else "")
        saved = op.carry_out(names, [r.id for r in results if r.id])
    strange = dict.fromkeys(remark for result in results for remark in unknown_type(vault.settings.types, result.type))
    return Adopted(**saved.fields(*strange), results=tuple(results))


def adopted_text(vault: Context, path: str, data: bytes, type: str) -> tuple[bytes, str, str]:
    """A page's bytes with the lines that make it a record, the id it then has, and its type."""
    parsed = parse(path, data, vault.settings.types)
    if not parsed.readable:
        first = parsed.problems[0]
        raise UsageError(f"{path}:{first.line}: {first.message}", first.hint or "mend the file first")
    if parsed.record_class is not None:
        return _with_own_id(vault, path, data, parsed)
    if not parsed.body.strip():
        raise UsageError(f"{path} has no text", "write something in it first")
    identity = canonical(str(parsed.head.get("id") or ""))
    if identity is None or vault.index.catalog.get(identity):
        identity = new_id()
    theirs = str(parsed.head.get("type") or "")
    resolved_type = theirs if is_type_name(theirs) and vault.settings.types.spec(theirs).known else type
    fields = [("id", identity), ("type", resolved_type)]
    if not says(parsed.head.get("created")):
        fields.append(("created", vault.now()))
    return with_fields(data, fields), identity, resolved_type


def _with_own_id(vault: Context, path: str, data: bytes, parsed: Parsed) -> tuple[bytes, str, str]:
    """A record that has the id of another file, with an id of its own; refused where none has it or this one keeps it."""
    entries = vault.index.catalog.get(str(parsed.head["id"]))
    if all(entry.path == path for entry in entries):
        raise UsageError(f"{path} is a record already ({parsed.head['id']})", "there is nothing to adopt")
    own = owners_entry(entries)
    if own is not None and own.path == path:
        copy = next(entry.path for entry in entries if entry.path != path)
        raise UsageError(f"{path} keeps its id ({parsed.head['id']}), for it is its owner's", own_id_for(copy))
    identity = new_id()
    return frontmatter.edit(data, [Set("id", identity)]), identity, str(parsed.head["type"])


def _edited(vault: Context, draft: str, editor: Editor, drafted: bytes) -> None:
    """Let the editor at a draft; where it fails, what a person wrote is kept and the error says where."""
    try:
        editor(vault.root / draft)
    except VaultError as fault:
        if writer.read(vault.root, draft) == drafted:
            writer.remove(vault.root, draft, drafted)
            raise
        advice = f"the draft is kept in {draft}; move it below {layout.VAULT}/ to make it a note"
        raise UsageError(fault.message, advice) from fault


def _draft_text(vault: Context, type: str, identity: str, title: str, subject_names: Sequence[str]) -> bytes:
    """The vault's own template for a type (else the built-in one) with its first fields filled in."""
    own = vault.root / layout.TEMPLATES / f"{type}.md"
    text = own.read_bytes() if own.is_file() else template(vault.settings.types.spec(type)).encode("utf-8")
    changes: list[frontmatter.Change] = [Set("id", identity), Set("type", type), Set("created", vault.now())]
    named = "name" if vault.settings.types.spec(type).record_class is RecordClass.SUBJECT else "title"
    if title:
        changes.append(Set(named, one_line(title)))
    if subject_names:
        changes.append(Set("subjects", list(subject_names)))
    changes.append(Set("origin", vault.who.origin))
    return frontmatter.edit(text, changes)


def _usable(vault: Context, draft: str, text: bytes, drafted: bytes) -> tuple[Parsed, bytes]:
    """The note in a draft, as its person wrote it but for the template's own prompts; UsageError where it is none."""
    body_start = frontmatter.split(text).body_start
    body = answered(frontmatter.read(text)[1], frontmatter.read(drafted)[1])
    data = text[:body_start] + body.encode("utf-8")
    parsed = parse(draft, data, vault.settings.types)
    errors = [p for p in parsed.problems if p.severity == "error"]
    if parsed.record_class is None and not errors:
        advice = f"put them back and move it below {layout.VAULT}/"
        raise UsageError(f"the note lost its id or type; the draft is kept in {draft}", advice)
    if not errors and (early := next(too_early(parsed.head), None)) is not None:
        raise UsageError(early[1], f"the draft is kept in {draft}; put a later one there and move it below {layout.VAULT}/")
    if errors:
        first = errors[0]
        raise UsageError(f"{draft}:{first.line}: {first.message}", f"the draft is kept there; {first.hint or 'mend it'}")
    return parsed, data


def _require_free_name(vault: Context, record: Record, draft: str) -> None:
    if isinstance(record, Subject):
        try:
            require_free(vault, record)
        except UsageError as fault:
            raise UsageError(fault.message, f"the draft is kept in {draft}; {fault.hint}") from fault


def _class_of(parsed: Parsed) -> RecordClass:
    assert parsed.record_class is not None  # `_usable` made sure
    return parsed.record_class


def _page(vault: Context, path: str | Path) -> str:
    for reading, _ in resolve.readings(vault, path):
        if reading.startswith(f"{layout.VAULT}/") and (vault.root / reading).is_file():
            return reading
    raise NotFound(f"there is no {one_line(str(path), 80)} under {layout.VAULT}/", f"{step('doctor')} lists the pages")
