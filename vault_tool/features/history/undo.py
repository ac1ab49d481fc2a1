"""`undo`: one operation of the tool taken back by a new commit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import Ambiguous, NotFound, Refused, VaultError
from vault_tool.features.remember.judging import mark_signal
from vault_tool.files import git, layout, reader
from vault_tool.files.bin import DecidedDraft, DraftBin
from vault_tool.files.inbox import About
from vault_tool.files.parse import parse, record
from vault_tool.files.signal_lines import read_signals
from vault_tool.model.records import Edge, Record, Remembered
from vault_tool.model.signals import EpisodeEntry, Signal, SignalKind, withdrawals
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import shell, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, normal_body, normal_name, one_line
from vault_tool.vault import drafts, no_return, resolve
from vault_tool.vault.context import Context
from vault_tool.vault.note_history import note_history
from vault_tool.vault.operation import Operation, Saved, writing
from vault_tool.vault.request import of_the_whole, verb

_Told = TypeVar("_Told", "git.LogEntry", "git.CommitChanges")

# The type of an undo's entry in the day's log: with its hyphen no memory can have it.
UNDO = "vault-undo"

_NEWEST = 200
# What a process keeps: so many commits, each of at most so many files.
_MOST_COMMITS, _MOST_FILES = 500, 2000
# A whole id of a commit, by either of git's hashes.
_WHOLE = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHOWN = 10


# Never reached past: who undoes what they did last must not lose the memory before it. Pages and log entries are.
_SETTING = "config"

# What works on files that are there: one that it committed for the first time was its person's before.
_OF_FILES = frozenset(
    {"pin", "unpin", "hide", "unhide", "tag", "add-alias", "update-link", "update-subject-summary", "adopt", "edit", "doctor"}
)

# Operations that are never taken back, whatever became of their files since.
_FINAL = frozenset({"forget", "purge", "init"})

# What makes notes, and adds to the one that is there where it says the same.
_REPEATING = frozenset({"remember", "add-observations", "write"})


class UntouchedFile(Struct, kw_only=True):
    """A file of the operation that stays as it is, and why."""

    path: str
    reason: str


class Undone(Saved, kw_only=True):
    """An operation taken back: the commit and its subject, the files that are gone again, those that are as before it, the
    memories of which a mark was taken back, and those that wait for review again.
    """

    undone: str
    subject: str
    removed: tuple[str, ...]
    restored: tuple[str, ...]
    unmarked: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    kept: tuple[UntouchedFile, ...]


class _Committed(Struct):
    """Commits that are looked at together: what each changed, the texts before and journals after,
    and which are not on this branch."""

    changes: Mapping[str, git.CommitChanges]
    texts: Mapping[str, bytes]
    away: frozenset[str]


class _Reversal(msgspec.Struct):
    """The plan to take an operation back; filled file by file, and carried out only if no file objects."""

    removed: dict[str, bytes] = field(default_factory=dict)
    rewritten: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    revived: dict[str, bytes] = field(default_factory=dict)
    marks: list[Signal] = field(default_factory=list)
    untouched: list[UntouchedFile] = field(default_factory=list)


@verb
@of_the_whole
def undo(vault: Context, target: str = "") -> Undone:
    """Take back one operation: the newest on HEAD that changed notes, or the one that `target` (a commit or an id) means.

    An id means the operation that created that record. What the operation created is removed, what it edited or removed is
    as before, and a draft that it accepted waits for review again; marks that it gave are taken back by a line that says so,
    for journals are only added to; generated pages stay, and so do subjects that are still in use. Raises Refused where no
    person asks, where a file was changed since, and where something written since refers to what would go.
    """
    vault = resolve.for_act(vault, "undo")
    repo = vault.require_repo()
    with writing(vault, "undo") as op:
        git.require_free(repo, "nothing is undone now")
        commit = _resolve_operation(vault, repo, target.strip())
        known = _committed(repo, [commit], _kept(vault))
        back = _reversal(vault, known, commit)
        done = known.changes[commit]
        ids = _planned(op, back)
        restored = tuple(sorted([*back.rewritten, *back.revived]))
        marks = f", {counted(len(back.marks), 'mark')} taken back" if back.marks else ""
        summary = f"{done.commit[:_SHOWN]}: {counted(len(back.removed), 'file')} removed, {len(restored)} restored{marks}"
        op.log_entry(EpisodeEntry(at=vault.now(), title=f"Undid: {one_line(done.subject, 80)}", type=UNDO, summary=summary))
        waiting = _accepted_drafts(vault, known, done, back) if _is_acceptance(done) else []
        # Before the memory goes: one that is in the vault with the same text is no draft, so a kill between leaves no two.
        for draft in waiting:
            drafts.wait_again(vault, draft.id, draft.name, draft.data, draft.about)
        saved = op.carry_out(one_line(done.subject), ids)
        if back.revived:
            drafts.finish_decided(vault)
    return Undone(
        **saved.fields(),
        undone=done.commit,
        subject=done.subject,
        removed=tuple(sorted(back.removed)),
        restored=restored,
        unmarked=tuple(dict.fromkeys(signal.target for signal in back.marks)),
        waiting=tuple(draft.id for draft in waiting),
        kept=tuple(back.untouched),
    )


def undoable(vault: Context, commits: Sequence[str]) -> dict[str, str]:
    """Why each of some commits cannot be taken back now, by the names given: empty for one that `undo` would take back."""
    repo = vault.require_repo()
    try:
        vault = resolve.for_act(vault, "undo")
        git.require_free(repo, "nothing is undone now")
    except VaultError as fault:
        return dict.fromkeys(commits, fault.marked)
    whole = {name: name if _WHOLE.fullmatch(name) else git.resolve(repo, name) for name in commits}
    known = _committed(repo, [commit for commit in whole.values() if commit], _kept(vault))
    return {name: _refusal(vault, known, commit) if commit else "no commit is called so" for name, commit in whole.items()}


def _refusal(vault: Context, known: _Committed, commit: str) -> str:
    """Why a commit cannot be taken back; empty where it can."""
    try:
        _reversal(vault, known, commit)
    except VaultError as fault:
        return fault.marked
    return ""


def _resolve_operation(vault: Context, repo: git.Repo, target: str) -> str:
    """The commit of the operation that is meant."""
    if not target:
        return _newest(repo)
    created = _creation(vault, target)
    commit = git.resolve(repo, target) if not created or _is_hexadecimal(target) else None
    if created and commit and created != commit:
        raise Ambiguous(f"`{target}` is a record's id and a commit's", "type more of it")
    if not created and commit is None:
        raise NotFound(f"`{one_line(target, 60)}` is neither a record nor a commit", f"{step('log')} lists the commits")
    return created or commit or ""


def _newest(repo: git.Repo) -> str:
    """The newest operation on this branch; Refused where it, or a foreign change of notes that came later, is not undone."""
    entries = _told(repo, git.log(repo, limit=_NEWEST))
    newest = next((entry for entry in entries if entry.op == _SETTING or any(map(_is_note, entry.paths))), None)
    later = entries[: entries.index(newest)] if newest is not None else entries
    if judged := _newest_judgement(repo, [entry.commit for entry in later if entry.op and any(map(_is_journal, entry.paths))]):
        return judged
    if newest is None:
        raise NotFound("there is no operation to undo on this branch", f"{step('log')} lists the commits")
    subject = f"`{one_line(newest.subject, 60)}`"
    if newest.op == _SETTING:
        raise Refused(
            f"the newest operation, {subject}, changed no note", f"name the one that you mean: {step('log')} lists them"
        )
    if not newest.op:
        # Perhaps a hook put another message in place of ours, elsewhere: what lies before it is not what was done last.
        shown = newest.commit[:_SHOWN]
        reason = f"the newest change of notes, {shown} ({subject}), does not say that this tool made it"
        raise Refused(reason, f"{shell(f'git revert {shown}')} takes it back, {step('undo', target=...)} an operation before it")
    return newest.commit


def _newest_judgement(repo: git.Repo, commits: Sequence[str]) -> str:
    """The first of these commits that judged a memory or answered for one; a commit that only carried uses along did not."""
    known = _committed(repo, commits)
    judged = (commit for commit in commits if any(signal.kind is not SignalKind.USE for _, signal in _added(known, commit)))
    return next(judged, "")


def _creation(vault: Context, target: str) -> str:
    """The commit that created the record that `target` names, or "" where it names none."""
    try:
        entry = resolve.find(vault, target)
    except NotFound:
        return ""
    if layout.is_around(entry.path):
        reason = f"{entry.path} is a note of the folder around the vault, which this tool never writes"
        raise Refused(reason, "its editor or its own git takes changes of it back")
    history = note_history(vault, entry)
    if history.created is not None:
        return history.created.commit
    if history.ends:
        raise Refused(
            f"this clone's history ends after {entry.path} was made", f"{shell('git fetch --unshallow')} brings the rest"
        )
    raise Refused(f"{entry.path} is not committed yet, so there is nothing to undo", f"{step('commit')} commits it")


def _kept(vault: Context) -> dict[str, git.CommitChanges]:
    """The changes of commits that a process that stays asked for: they never change."""
    by_commit: dict[str, git.CommitChanges] = vault.whole_index.catalog.derived("commit changes", dict, lambda known, _: known)
    if len(by_commit) > _MOST_COMMITS:
        by_commit.clear()
    return by_commit


def _changes(repo: git.Repo, commits: Sequence[str], by_commit: dict[str, git.CommitChanges]) -> dict[str, git.CommitChanges]:
    """The changes of some commits; git is asked for those alone that are not among these `by_commit`."""
    changes = {
        change.commit: change
        for change in _told(repo, list(git.changes_of(repo, [name for name in commits if name not in by_commit]).values()))
    }
    for name, change in changes.items():
        # Of a commit that is not the tool's it is enough to know that it changed something.
        brief = change if change.op else replace(change, files=change.files[:1])
        if len(brief.files) <= _MOST_FILES:
            by_commit[name] = brief
    return {name: changes.get(name) or by_commit[name] for name in commits if name in changes or name in by_commit}


def _committed(repo: git.Repo, commits: Sequence[str], by_commit: dict[str, git.CommitChanges] | None = None) -> _Committed:
    """All that is to be known of some commits, by three or four processes however many they are."""
    changes = _changes(repo, commits, {} if by_commit is None else by_commit)
    files = (file for change in changes.values() if change.op and change.op not in _FINAL for file in change.files)
    # What an operation left of a note is its file as it is now, or the operation is not undone.
    blobs = {
        blob
        for file in files
        for blob, of in ((file.before, _is_note(file.path) or _is_journal(file.path)), (file.after, _is_journal(file.path)))
        if blob and of
    }
    return _Committed(changes, git.blobs(repo, sorted(blobs)), git.off_branch(repo, commits))


def _told(repo: git.Repo, changes: Sequence[_Told]) -> list[_Told]:
    """The same, where a commit whose message was replaced by a hook is told by what HEAD's own log says of it."""
    known = git.own_operations(repo) if any(not change.op for change in changes) else {}
    return [change if change.op else replace(change, op=known.get(change.commit, "")) for change in changes]


def _added(known: _Committed, commit: str) -> Iterator[tuple[str, Signal]]:
    """The signals that a commit added, each with its journal."""
    for file in known.changes[commit].files:
        if not _is_journal(file.path):
            continue
        before, after = known.texts.get(file.before, b""), known.texts.get(file.after, b"")
        grown = after.startswith(before)
        had = set() if grown else {signal.id for signal in read_signals(file.path, before)[0]}
        signals, _ = read_signals(file.path, after[len(before) :] if grown else after)
        yield from ((file.path, signal) for signal in signals if signal.id not in had)


def _require_operation(known: _Committed, commit: str) -> git.CommitChanges:
    """A commit of the tool's own, on this branch."""
    shown, done = commit[:_SHOWN], known.changes.get(commit)
    if done is None or not done.files or commit in known.away:
        raise Refused(f"{shown} changed no note on this branch", f"{step('log')} lists the commits")
    if done.op == "init":
        raise Refused(f"{shown} made this folder a vault, and is not undone", "delete what you do not want by hand")
    if not done.parent:
        raise Refused(f"{shown} is the first commit: there is nothing before it", f"{step('log')} lists the commits")
    if not done.op:
        raise Refused(
            f"{shown} was not made by this tool ({one_line(done.subject, 60)})", f"{shell(f'git revert {shown}')} takes it back"
        )
    if done.op in ("forget", "purge"):
        raise Refused(f"{shown} forgot a memory, and that is not undone", f"{step('log')} lists the other commits")
    return done


def _reversal(vault: Context, known: _Committed, commit: str) -> _Reversal:
    """Plan to take a commit back; Refused where it cannot be."""
    done = _require_operation(known, commit)
    back = _Reversal()
    for file in done.files:
        path = file.path
        if not _is_note(path):
            back.untouched.append(UntouchedFile(path=path, reason=_reason_untouched(path)))
            continue
        before, after = known.texts.get(file.before), _require_unchanged(vault, path, file.after)
        if before is None and after is not None and _was_there(vault, done, path, after):
            back.untouched.append(UntouchedFile(path=path, reason="a person made it, and it was not committed before"))
        elif before is None and after is not None:
            back.removed[path] = after
        elif before is not None and after is not None:
            back.rewritten[path] = (after, before)
        elif before is not None:
            back.revived[path] = before
    _require_remembered(vault, back)
    _require_no_draft(vault, back)
    _keep_what_is_used(vault, back)
    back.marks = list(_open_marks(vault, known, commit, back))
    if not (back.removed or back.rewritten or back.revived or back.marks):
        reasons = "; ".join(f"{file.path}: {file.reason}" for file in back.untouched[:3])
        raise Refused(f"{commit[:_SHOWN]} has nothing that can be taken back ({reasons})", f"{step('log')} lists the commits")
    return back


def _open_marks(vault: Context, known: _Committed, commit: str, back: _Reversal) -> Iterator[Signal]:
    """The marks of a commit on memories that stay, unless withdrawn; the uses that it carried along are left."""
    added = list(_added(known, commit))
    if any(signal.kind is SignalKind.CONSENT for _, signal in added):
        raise Refused(f"{commit[:_SHOWN]} is an answer about consent, and is not undone", f"{step('consent')} answers anew")
    marks: defaultdict[str, list[tuple[str, Signal]]] = defaultdict(list)
    # An import makes thousands of notes and says nothing of them.
    going = set(_ids(vault, back.removed)) if any(signal.kind is not SignalKind.USE for _, signal in added) else set()
    for path, signal in added:
        if signal.kind is not SignalKind.USE and signal.target not in going:
            marks[signal.target].append((path, signal))
    for target, given_marks in marks.items():
        standing = vault.index.catalog.signals(target) if vault.index.catalog.get(target) else []
        counted_ids = {signal.id for signal in standing} - withdrawals(standing).keys()
        for path, signal in given_marks:
            if signal.id in counted_ids:
                yield signal
            else:
                back.untouched.append(UntouchedFile(path=path, reason="its mark was taken back already"))


def _require_unchanged(vault: Context, path: str, blob: str) -> bytes | None:
    """The bytes of a file that is still the blob that an operation left (none: no file); Refused where it is not."""
    try:
        now: bytes | None = reader.read(vault.root, path)
    except FileNotFoundError:
        now = None
    if (git.blob_id(now, like=blob) if now is not None else "") == blob:
        return now
    state = "is gone or was moved" if now is None else "is there again" if not blob else "was changed"
    raise Refused(
        f"{path} {state} since, so the operation is not undone", f"{step('diff')} and {step('history')} show what happened to it"
    )


def _require_remembered(vault: Context, back: _Reversal) -> None:
    """Refuse what would bring a forgotten memory back, or what cites one."""
    texts = (*back.revived.items(), *((path, new) for path, (_, new) in back.rewritten.items()))
    for path, data in texts if vault.forgotten() else ():
        if buried := no_return.buried_in(vault, record(path, data, vault.settings.types)):
            raise Refused(
                f"{path} would tell of {buried} again, which was forgotten", f"{step('diff', since=...)} shows what it was"
            )


def _require_no_draft(vault: Context, back: _Reversal) -> None:
    """Refuse to bring a memory back of which a draft waits that was edited since."""
    for path, data in back.revived.items():
        noted = record(path, data, vault.settings.types)
        draft = drafts.other_text(vault, noted.id, data) if noted is not None else ""
        if draft:
            raise Refused(
                f"{path} waits for review with another text ({draft})", f"{step('review')} shows it: accept or refuse it"
            )


def _is_acceptance(done: git.CommitChanges) -> bool:
    """Whether a commit is a review, or an undo that did one again: its subject names what it took back."""
    subject = done.subject
    while done.op == "undo" and subject.startswith("undo: "):
        subject = subject.removeprefix("undo: ")
    return done.op in ("review", "undo") and subject.startswith("review: ")


def _accepted_drafts(vault: Context, known: _Committed, done: git.CommitChanges, back: _Reversal) -> list[DecidedDraft]:
    """The drafts of the memories that an acceptance made and that go: as they waited, or by their files where none is kept."""
    types, now, drafts_kept = vault.settings.types, vault.now(), DraftBin(vault.root)
    texts = {path: noted for path, data in back.removed.items() if (noted := record(path, data, types)) is not None}
    # A review of two texts of one note makes files too; an acceptance says that a person looked at the memory.
    reviewed = {signal.target for _, signal in _added(known, done.commit) if signal.kind is SignalKind.REVIEWED}
    waiting = []
    for path, noted in texts.items():
        draft = drafts_kept.accepted(noted.id, now)
        if draft is not None and normal_body(parse(draft.name, draft.data, types).body) == normal_body(noted.body):
            waiting.append(draft)
        elif draft is not None or (isinstance(noted, Remembered) and noted.id in reviewed):
            waiting.append(_draft_of(vault, back, texts, path, noted))
    return waiting


def _draft_of(vault: Context, back: _Reversal, texts: Mapping[str, Record], path: str, noted: Record) -> DecidedDraft:
    """A draft made of a memory's file, with the edges that go with it."""
    edges = (
        back.removed[other].decode("utf-8", "replace")
        for other, edge in texts.items()
        if isinstance(edge, Edge) and noted.id in (edge.from_id, edge.to_id)
    )
    about = About(at=vault.now(), verb="undo", reason="its acceptance was taken back", edges=tuple(edges))
    return DecidedDraft(noted.id, path.rpartition("/")[2], back.removed[path], about, vault.now(), accepted=True)


def _is_tagged(vault: Context, path: str, data: bytes, name: str) -> bool:
    """Whether a note of this text is tagged with the subject of this name, or cannot be read, and so may be."""
    noted = record(path, data, vault.settings.types)
    return not isinstance(noted, Remembered) or name in map(normal_name, noted.subjects)


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
                back.untouched.append(
                    UntouchedFile(
                        path=path,
                        reason=f"{counted(len(users), 'other note')} {'is' if len(users) == 1 else 'are'} tagged with it",
                    )
                )
        elif pointing:
            first = pointing[0]
            cites = f"`{one_line(first.title, 60)}` ({resolve.short(vault, first.id)}) refers to it"
            raise Refused(f"{path} is not removed: {cites}", f"{step('undo', target=resolve.short(vault, first.id))} first")


def _planned(op: Operation, back: _Reversal) -> list[str]:
    """Plan the reversal; returns the ids of the records that it touches."""
    for path, (old, new) in back.rewritten.items():
        op.rewrite(path, old, new)
    for path, data in back.revived.items():
        op.restore(path, data)
    for path in back.removed:
        op.remove(path)
    for mark in back.marks:
        # The withdrawal is shown to those who are shown the mark.
        op.signal(replace(mark_signal(op.vault, mark.target, SignalKind.WITHDRAWN), withdraws=mark.id, user=mark.user))
    texts: Mapping[str, bytes] = back.removed | back.revived | {path: new for path, (_, new) in back.rewritten.items()}
    return list(dict.fromkeys([*_ids(op.vault, texts), *(mark.target for mark in back.marks)]))


def _ids(vault: Context, texts: Mapping[str, bytes]) -> Iterator[str]:
    for path, data in texts.items():
        noted = record(path, data, vault.settings.types)
        if noted is not None:
            yield noted.id


def _was_there(vault: Context, done: git.CommitChanges, path: str, data: bytes) -> bool:
    """Whether an operation committed for the first time what a person had made: what the tool makes says whose it is.

    So do the links that `doctor` makes of the relations in heads.
    """
    if done.op not in _REPEATING and done.op not in _OF_FILES:
        return False
    parsed = parse(path, data, vault.settings.types)
    if done.op in _OF_FILES:
        return done.op != "doctor" or parsed.record_class is not RecordClass.EDGE
    return parsed.record_class is RecordClass.OBSERVATION and not parsed.head.get("origin")


def _is_note(path: str) -> bool:
    return path.startswith(f"{layout.VAULT}/") and layout.file_kind(path) is layout.FileKind.NOTE


def _is_journal(path: str) -> bool:
    return layout.file_kind(path) is layout.FileKind.SIGNALS


def _reason_untouched(path: str) -> str:
    if path in layout.MADE_PAGES:
        return "it is generated"
    kind = layout.file_kind(path)
    return "journals are only added to" if kind in (layout.FileKind.EPISODE, layout.FileKind.SIGNALS) else "it is no note"


def _is_hexadecimal(text: str) -> bool:
    return all(char in "0123456789abcdef" for char in text.lower())
