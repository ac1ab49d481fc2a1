"""`undo`: one operation of the tool taken back by a new commit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from vault_tool.errors import Ambiguous, GitError, NotFound, Refused
from vault_tool.files import git, layout, reader, tombstones
from vault_tool.files.parse import parse, record
from vault_tool.model.records import Remembered
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.types import RecordClass
from vault_tool.util.text import counted, normal_name, one_line
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.note_history import note_history
from vault_tool.vault.operation import Operation, Saved, writing

# The type of an undo's entry in the day's log: with its hyphen no memory can have it.
UNDO = "vault-undo"

_NEWEST = 200
_SHOWN = 10


# Never reached past: who undoes what they did last must not lose the memory before it. Pages and log entries are.
_SETTING = "config"

# What works on files that are there: one that it committed for the first time was its person's before.
_OF_FILES = frozenset({"pin", "unpin", "tag", "add-alias", "update-link", "update-subject-summary", "adopt", "edit", "doctor"})

# What makes notes, and adds to the one that is there where it says the same.
_REPEATING = frozenset({"remember", "add-observations", "write"})


@dataclass(frozen=True, slots=True, kw_only=True)
class UntouchedFile:
    """A file of the operation that stays as it is, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone(Saved):
    """What was taken back: the commit and its subject, the files that are gone again, and those that are as before it."""

    undone: str
    subject: str
    removed: tuple[str, ...]
    restored: tuple[str, ...]
    kept: tuple[UntouchedFile, ...]


@dataclass(slots=True)
class _Reversal:
    """What would take an operation back; filled file by file, and carried out only if no file objects."""

    removed: dict[str, bytes] = field(default_factory=dict)
    rewritten: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    revived: dict[str, bytes] = field(default_factory=dict)
    kept: list[UntouchedFile] = field(default_factory=list)


def undo(vault: Context, target: str = "") -> Undone:
    """Take back one operation: the newest on HEAD that changed notes, or the one that `target` (a commit or an id) means.

    An id means the operation that created that record. What the operation created is removed, what it edited or removed is
    as before; journals and generated pages stay, and so do subjects that are still in use. Raises Refused for anybody but
    the owner, where a file was changed since, and where something written since refers to what would go.
    """
    if vault.who.origin != "owner":
        raise Refused(f"only a person may undo, and this is written by {vault.who.origin}", "in a terminal, or --origin owner")
    vault = vault.with_withheld()
    repo = vault.require_repo()
    with writing(vault, "undo") as op:
        if obstacle := git.obstacle(repo):
            raise GitError(f"nothing is undone now: {obstacle}", "finish that first")
        done = _resolve_operation(vault, repo, target.strip())
        back = _reversal(vault, repo, done)
        ids = _planned(op, back)
        restored = tuple(sorted([*back.rewritten, *back.revived]))
        summary = f"{done.commit[:_SHOWN]}: {len(back.removed)} files removed, {len(restored)} restored"
        op.log_entry(EpisodeEntry(at=vault.now(), title=f"Undid: {one_line(done.subject, 80)}", type=UNDO, summary=summary))
        saved = op.carry_out(one_line(done.subject), ids)
    return Undone(
        **saved.fields(),
        undone=done.commit,
        subject=done.subject,
        removed=tuple(sorted(back.removed)),
        restored=restored,
        kept=tuple(back.kept),
    )


def _resolve_operation(vault: Context, repo: git.Repo, target: str) -> git.LogEntry:
    """The operation that is meant, as the log has it."""
    if not target:
        return _newest(repo)
    created = _creation(vault, target)
    commit = git.resolve(repo, target) if not created or _is_hexadecimal(target) else None
    if created and commit and created.commit != commit:
        raise Ambiguous(f"`{target}` is a record's id and a commit's", "type more of it")
    named = created.commit if created else commit
    if named is None:
        raise NotFound(f"`{one_line(target, 60)}` is neither a record nor a commit", "`vt log` lists the commits")
    return _logged(repo, named)


def _newest(repo: git.Repo) -> git.LogEntry:
    """The newest operation on this branch; Refused where it, or a foreign change of notes that came later, is not undone."""
    found = _told(repo, git.log(repo, limit=_NEWEST))
    newest = next((one for one in found if one.op == _SETTING or any(map(_is_note, one.paths))), None)
    if newest is None:
        raise NotFound("there is no operation to undo on this branch", "`vt log` lists the commits")
    said = f"`{one_line(newest.subject, 60)}`"
    if newest.op == _SETTING:
        raise Refused(f"the newest operation, {said}, changed no note", "name the one that you mean: `vt log` lists them")
    if not newest.op:
        # Perhaps a hook put another message in place of ours, elsewhere: what lies before it is not what was done last.
        shown = newest.commit[:_SHOWN]
        reason = f"the newest change of notes, {shown} ({said}), does not say that this tool made it"
        raise Refused(reason, f"`git revert {shown}` takes it back, `vt undo ID` an operation before it")
    return newest


def _creation(vault: Context, target: str) -> git.LogEntry | None:
    """The commit that created the record that `target` names, or None when it names none."""
    try:
        entry = resolve.find(vault, target)
    except NotFound:
        return None
    if layout.is_around(entry.path):
        reason = f"{entry.path} is a note of the folder around the vault, which this tool never writes"
        raise Refused(reason, "its editor or its own git takes changes of it back")
    found = note_history(vault, entry)
    if found.created is not None:
        return found.created
    if found.ends:
        raise Refused(f"this clone's history ends after {entry.path} was made", "`git fetch --unshallow` brings the rest")
    raise Refused(f"{entry.path} is not committed yet, so there is nothing to undo", "`vt commit` commits it")


def _logged(repo: git.Repo, commit: str) -> git.LogEntry:
    """A commit of the tool's own, on this branch."""
    shown = commit[:_SHOWN]
    parent = git.resolve(repo, f"{commit}^")
    if parent is None:
        raise Refused(f"{shown} is the first commit: there is nothing before it", "`vt log` lists the commits")
    found = next((one for one in _told(repo, git.log(repo, limit=1, tip=commit)) if one.commit == commit), None)
    if found is None or not found.paths or git.unreachable(repo, commit, ["HEAD"]):
        raise Refused(f"{shown} changed no note on this branch", "`vt log` lists the commits")
    if not found.op:
        raise Refused(f"{shown} was not made by this tool ({one_line(found.subject, 60)})", f"`git revert {shown}` takes it back")
    return found


def _told(repo: git.Repo, found: Sequence[git.LogEntry]) -> list[git.LogEntry]:
    """The same, where a commit whose message was replaced by a hook is told by what HEAD's own log says of it."""
    known = git.own_operations(repo) if any(not one.op for one in found) else {}
    return [one if one.op else replace(one, op=known.get(one.commit, "")) for one in found]


def _reversal(vault: Context, repo: git.Repo, done: git.LogEntry) -> _Reversal:
    if done.op in ("forget", "purge"):
        raise Refused(f"{done.commit[:_SHOWN]} forgot a memory, and that is not undone", "`vt log` lists the other commits")
    if done.op == "init":
        raise Refused(
            f"{done.commit[:_SHOWN]} made this folder a vault, and is not undone", "delete what you do not want by hand"
        )
    parent = f"{done.commit}^"
    codes = git.changed_between(repo, parent, done.commit)
    after = git.show_many(repo, done.commit, [path for path, code in codes.items() if code != "D"])
    before = git.show_many(repo, parent, [path for path, code in codes.items() if code != "A"])
    back = _Reversal()
    for path in codes:
        if not _is_note(path):
            back.kept.append(UntouchedFile(path=path, reason=_reason_untouched(path)))
            continue
        _require_unchanged(vault, path, after.get(path))
        if path not in before and (done.op in _OF_FILES or _was_there(vault, done, path, after[path])):
            back.kept.append(UntouchedFile(path=path, reason="a person made it, and it was not committed before"))
        elif path not in before:
            back.removed[path] = after[path]
        elif path in after:
            back.rewritten[path] = (after[path], before[path])
        else:
            back.revived[path] = before[path]
    _require_remembered(vault, back)
    _keep_what_is_used(vault, back)
    if not (back.removed or back.rewritten or back.revived):
        reasons = "; ".join(f"{one.path}: {one.reason}" for one in back.kept[:3])
        raise Refused(f"{done.commit[:_SHOWN]} has nothing that can be taken back ({reasons})", "`vt log` lists the commits")
    return back


def _require_unchanged(vault: Context, path: str, expected: bytes | None) -> None:
    try:
        now: bytes | None = reader.read(vault.root, path)
    except FileNotFoundError:
        now = None
    if now == expected:
        return
    state = "is gone or was moved" if now is None else "is there again" if expected is None else "was changed"
    raise Refused(f"{path} {state} since, so the operation is not undone", "`vt diff` and `vt history` show what happened to it")


def _require_remembered(vault: Context, back: _Reversal) -> None:
    """Refuse what would bring a forgotten memory back, or what cites one."""
    graves = tombstones.forgotten(vault.root)
    for path, data in (*back.revived.items(), *((path, new) for path, (_, new) in back.rewritten.items())):
        found = record(path, data, vault.settings.types) if graves else None
        gone = (found.id if found.id in graves else tombstones.cited(vault.root, found)) if found is not None else ""
        if gone:
            raise Refused(f"{path} would tell of {gone} again, which was forgotten", "`vt diff --since` shows what it was")


def _is_tagged(vault: Context, path: str, data: bytes, name: str) -> bool:
    """Whether a note of this text is tagged with the subject of this name, or cannot be read, and so may be."""
    found = record(path, data, vault.settings.types)
    return not isinstance(found, Remembered) or name in map(normal_name, found.subjects)


def _keep_what_is_used(vault: Context, back: _Reversal) -> None:
    """Leave subjects that something else is tagged with; refuse to remove what something else refers to."""
    catalog = vault.index.catalog
    going = set(back.removed)
    for path in sorted(going):
        entry = catalog.by_path(path)
        if entry is None:
            continue
        pointing = [other for _, other in catalog.pointing_at(entry.id) if other.path not in going]
        if entry.record_class is RecordClass.SUBJECT:
            name = normal_name(entry.text("name"))
            users = {other.path for other in (*catalog.tagged([name]), *pointing) if other.path not in going}
            # What is put back as it was may not have been tagged with it then.
            users -= {
                path for path in users & back.rewritten.keys() if not _is_tagged(vault, path, back.rewritten[path][1], name)
            }
            if users:
                del back.removed[path]
                back.kept.append(
                    UntouchedFile(
                        path=path,
                        reason=f"{counted(len(users), 'other note')} {'is' if len(users) == 1 else 'are'} tagged with it",
                    )
                )
        elif pointing:
            first = pointing[0]
            cites = f"`{one_line(first.title, 60)}` ({resolve.short(vault, first.id)}) refers to it"
            raise Refused(f"{path} is not removed: {cites}", f"`vt undo {resolve.short(vault, first.id)}` first")


def _planned(op: Operation, back: _Reversal) -> list[str]:
    """Plan the reversal; returns the ids of the records that it touches."""
    for path, (old, new) in back.rewritten.items():
        op.rewrite(path, old, new)
    for path, data in back.revived.items():
        op.restore(path, data)
    for path in back.removed:
        op.remove(path)
    texts: Mapping[str, bytes] = back.removed | back.revived | {path: new for path, (_, new) in back.rewritten.items()}
    return list(dict.fromkeys(_ids(op.vault, texts)))


def _ids(vault: Context, texts: Mapping[str, bytes]) -> Iterator[str]:
    for path, data in texts.items():
        found = record(path, data, vault.settings.types)
        if found is not None:
            yield found.id


def _was_there(vault: Context, done: git.LogEntry, path: str, data: bytes) -> bool:
    """Whether a repeat added to a note that a person had made and not committed: what the tool makes says whose it is."""
    if done.op not in _REPEATING:
        return False
    parsed = parse(path, data, vault.settings.types)
    return parsed.record_class is RecordClass.OBSERVATION and not parsed.head.get("origin")


def _is_note(path: str) -> bool:
    return path.startswith(f"{layout.VAULT}/") and layout.file_kind(path) is layout.FileKind.NOTE


def _reason_untouched(path: str) -> str:
    if path in (layout.CORE_FILE, layout.REFLECTION_FILE):
        return "it is generated"
    kind = layout.file_kind(path)
    return "journals are only added to" if kind in (layout.FileKind.EPISODE, layout.FileKind.SIGNALS) else "it is no note"


def _is_hexadecimal(text: str) -> bool:
    return all(char in "0123456789abcdef" for char in text.lower())
