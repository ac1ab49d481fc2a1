"""One logical operation: planned under the lock, then written, logged, indexed and committed as one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import PurePosixPath

from vault_tool.errors import Busy, EditRefused, StorageError, UsageError, VaultError
from vault_tool.files import frontmatter, git, journals, layout, writer
from vault_tool.files.layout import FileKind
from vault_tool.files.local import PendingOperation
from vault_tool.files.parse import parse
from vault_tool.files.render import render
from vault_tool.files.turns import Turns
from vault_tool.model.ids import new_id
from vault_tool.model.problems import Severity
from vault_tool.model.records import Record, Remembered, Subject
from vault_tool.model.signals import EpisodeEntry, Signal
from vault_tool.util.text import content_hash, normal_name, one_line, slug
from vault_tool.verbs import beats, screening
from vault_tool.verbs.context import Context, Freshness

_ADVICE = {"conflict-markers": "put them between ``` lines, as code"}

_FEW = 20
"""From so many new files on their folders are synced once for all of them."""

_UNKNOWN = ""
"""Stands for the hash of an edit that is announced but not made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What became of an operation's writes.

    `committed` false with a `reason` means: saved, but not in git's history yet. `attention` says that a person is
    needed for that (exit code 4); without git at all nobody is. `conflicts` are copies kept of texts that could not
    be put where they belong.
    """

    committed: bool = False
    commit: str | None = None
    reason: str = ""
    attention: bool = False
    conflicts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Plan:
    """What an operation is about to do; mutable because verbs build it step by step under the lock."""

    created: dict[str, bytes] = field(default_factory=dict)
    edited: dict[str, list[frontmatter.Change]] = field(default_factory=dict)
    replaced: dict[str, bytes] = field(default_factory=dict)
    rewritten: dict[str, tuple[bytes, bytes]] = field(default_factory=dict)
    included: list[writer.Written] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    episodes: list[EpisodeEntry] = field(default_factory=list)
    signals: list[Signal] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=dict)
    minted: dict[str, str] = field(default_factory=dict)


class Operation:
    """A verb's writes: `create`, `edit` and the rest only plan; `carry_out` does it all, in order, once."""

    def __init__(self, vault: Context, verb: str, freshness: Freshness) -> None:
        self.vault = vault
        self.verb = verb
        self.freshness = freshness
        self._plan = _Plan()

    def create(self, record: Record) -> str:
        """Plan a new record and return its path, relative to the root; UsageError for a text that no note can hold."""
        return self.create_as_written(record, self.rendered(record))

    def rendered(self, record: Record) -> bytes:
        """What a new record's file would hold; UsageError for a text that no note can hold."""
        _require_text(record)
        data = render(record, self._as_written(record))
        problems = parse(record.label, data, self.vault.settings.types).problems
        if wrong := [problem for problem in problems if problem.severity is Severity.ERROR]:
            raise UsageError(f"it cannot be kept as a note: {wrong[0].message}", _ADVICE.get(wrong[0].code, "change the text"))
        return data

    def create_as_written(self, record: Record, data: bytes) -> str:
        """Plan a new record whose file holds exactly `data`, as its person wrote it."""
        path = layout.place(record, {}, self._taken)
        self._plan.created[path] = data
        folder, _, name = path.rpartition("/")
        self._plan.names[folder].add(layout.name_key(name))
        if isinstance(record, Subject):
            self._plan.files[normal_name(record.name)] = PurePosixPath(path).stem
            self._plan.minted[normal_name(record.name)] = record.name
        return path

    def minted(self, normal: str) -> str | None:
        """The name of a subject that this operation makes, by its normalised name; None where it makes none such."""
        return self._plan.minted.get(normal)

    def restore(self, path: str, data: bytes) -> None:
        """Plan a file that is gone as it once was, at the path that it had."""
        self._plan.created[path] = data

    def put(self, path: str, data: bytes) -> str:
        """Plan a new file of exactly `data` at `path`, or beside it under a number where that name is taken; returns where."""
        stem, dot, end = path.rpartition(".")
        number = 1
        while self._taken(path):
            number += 1
            path = f"{stem}-{number}{dot}{end}"
        folder, _, name = path.rpartition("/")
        self._plan.created[path] = data
        self._plan.names[folder].add(layout.name_key(name))
        return path

    def page(self, path: str, text: str) -> None:
        """Plan a generated file's new content, whatever it held before."""
        self._plan.replaced[path] = text.encode("utf-8")

    def edit(self, path: str, *changes: frontmatter.Change) -> None:
        """Plan changes to single fields of an existing head; EditRefused, with nothing planned, where that cannot be."""
        planned = [*self._plan.edited.get(path, ()), *changes]
        data = writer.read(self.vault.root, path)
        parsed = parse(path, data, self.vault.settings.types)
        if not parsed.readable:
            first = parsed.problems[0]
            raise EditRefused(f"{path}:{first.line}: {first.message}", first.hint)
        # A refusal must come before the first byte of the operation is written, not between two of its files.
        _spliced(path, planned, data)
        self._plan.edited[path] = planned

    def rewrite(self, path: str, old: bytes, new: bytes) -> None:
        """Plan an existing file's whole new text; refused at the time if it is not `old` any more."""
        self._plan.rewritten[path] = (old, new)

    def include(self, path: str, before: bytes, after: bytes) -> None:
        """Take a change into the commit that a person made in the file already."""
        self._plan.included.append(writer.Written(path, before, after))

    def remove(self, path: str) -> None:
        """Plan a file's removal."""
        self._plan.removed.append(path)

    def log(self, record: Record, path: str, summary: str = "") -> None:
        """Plan the day's log entry of a record."""
        tags = getattr(record, "tags", ())
        text = one_line(summary or record.body, 200)
        # A batch of turns is written for sessions that are not its writer's.
        session = getattr(record, "session", "")
        self.log_entry(
            EpisodeEntry(
                at=self.vault.now(), title=record.label, type=record.type, tags=tags, path=path, session=session, summary=text
            )
        )

    def log_entry(self, entry: EpisodeEntry) -> None:
        """Plan an entry of the day's log; where it names no session it tells of the writer's."""
        self._plan.episodes.append(replace(entry, session=entry.session or self.vault.who.session))

    def signal(self, signal: Signal) -> None:
        """Plan a judgement."""
        self._plan.signals.append(signal)

    def carry_out(self, title: str, ids: Sequence[str] = ()) -> Saved:
        """Write everything planned, index it and commit it as one; raises StorageError or StaleEdit with nothing undone.

        What was written before a failure stays, is indexed, and waits as pending for the next operation's commit.
        """
        plan = self._plan
        if plan == _Plan(names=plan.names):
            return Saved()
        if not self.vault.allow_secrets:
            self._screen()
        pending = self._announce(title, ids)
        written: list[writer.Written] = []
        try:
            written.extend(self._write())
        finally:
            changed = [w.path for w in written if w.changed and layout.file_kind(w.path) not in (None, FileKind.OTHER)]
            if changed:
                # What is written is written: what the indexes cannot take in now, the next comparison does.
                with suppress(Busy, StorageError):
                    self.vault.index.wrote(changed)
                self.vault.standings.settle(changed=True)
        conflicts = tuple(w.conflict for w in written if w.conflict)
        return _commit(self.vault, pending, written, conflicts, plan.edited)

    def _screen(self) -> None:
        """Refuse what looks like a secret before anything of it is written, announced or logged."""
        plan = self._plan
        texts = [screening.new_note(data) for data in plan.created.values()]
        texts += [screening.new_text(path, new) for path, (_, new) in plan.rewritten.items()]
        texts += [screening.new_text(w.path, w.after or b"") for w in plan.included]
        texts += [text for path, changes in plan.edited.items() for text in screening.edits(self.vault, path, changes)]
        texts += [screening.log_entry(entry) for entry in plan.episodes]
        screening.refuse_secrets(self.vault, [*texts, *map(screening.judgement, plan.signals)])

    def _announce(self, title: str, ids: Sequence[str]) -> PendingOperation:
        """Say what will be written before the first byte is: a kill then leaves nothing uncommitted for good."""
        plan = self._plan
        news = plan.created | plan.replaced | {path: new for path, (_, new) in plan.rewritten.items()}
        hashes: dict[str, str | None] = {path: content_hash(data) for path, data in news.items()}
        hashes |= dict.fromkeys(plan.edited, _UNKNOWN) | dict.fromkeys(plan.removed, None)
        hashes |= dict.fromkeys(self._journals(), _UNKNOWN)
        vault = self.vault
        # To the microsecond: what waits is committed in the order in which it was written.
        at = vault.clock.now().isoformat()
        pending = PendingOperation(_next_id(vault), self.verb, title, vault.who.session, tuple(ids), tuple(hashes.items()), at)
        vault.local.begin(pending)
        return pending

    def _journals(self) -> set[str]:
        """The journals that will be appended to, unless they turn out not to be as this machine left them."""
        token = self.vault.local.token()
        days = {layout.episode_path(entry.at[:10], token) for entry in self._plan.episodes}
        return days | {layout.signals_path(signal.at[:7], token) for signal in self._plan.signals}

    def _write(self) -> Iterator[writer.Written]:
        """The writes in the order in which a kill between two of them hurts least: what is pointed at comes first."""
        vault, plan = self.vault, self._plan
        many = writer.Many() if len(plan.created) > _FEW else None
        for path, data in plan.created.items():
            yield writer.create(vault.root, path, data, many)
        if many is not None:
            many.settle(vault.root)
        for path, changes in plan.edited.items():
            yield writer.edit(vault.root, path, partial(_spliced, path, changes))
        for path, (old, new) in plan.rewritten.items():
            yield writer.replace(vault.root, path, old, new)
        yield from plan.included
        for path, data in plan.replaced.items():
            yield put(vault, path, data)
        for path in plan.removed:
            yield writer.remove(vault.root, path, writer.read(vault.root, path))
        for entry in plan.episodes:
            yield journals.append_episode(vault.root, vault.local, entry)
        today = vault.now()[:10]
        shared = vault.local.roll_up(today) if vault.settings.share_use else []
        if plan.signals or shared:
            yield from journals.append_signals(vault.root, vault.local, [*plan.signals, *shared])
        if shared:
            vault.local.drop_uses(today)

    def _taken(self, path: str) -> bool:
        """Whether a path is in use, case aside: two names that differ in case only are one file on many disks."""
        folder, _, name = path.rpartition("/")
        if folder not in self._plan.names:
            here = self.vault.root / folder
            self._plan.names[folder] = {layout.name_key(other) for other in os.listdir(here)} if here.is_dir() else set()
        return path in self._plan.created or layout.name_key(name) in self._plan.names[folder]

    def _as_written(self, record: Record) -> list[str] | None:
        """How the subjects of a record stand in its head: names, or links to the subjects' files."""
        return self.as_written(record.subjects) if isinstance(record, Remembered) else None

    def as_written(self, names: Sequence[str]) -> list[str]:
        """Subjects as the vault's settings want them in a list: their names, or links to their files."""
        return [self._wikilink(name) for name in names] if self.vault.settings.links == "wikilink" else list(names)

    def _wikilink(self, name: str) -> str:
        normal = normal_name(name)
        stem = self._plan.files.get(normal)
        if stem is None:
            found = self.vault.index.catalog.subject_named(normal)
            stem = PurePosixPath(found[0].path).stem if found else slug(name, "subject")
        return f"[[{stem}|{name}]]"


@contextmanager
def writing(vault: Context, verb: str, *, appends: bool = False) -> Iterator[Operation]:
    """Hold the vault's write lock, with indexes fresh and earlier uncommitted operations committed if that works now.

    An operation that only `appends` needs no whole comparison with the files: a glance does. It writes what turns
    accepted first, where nobody else has.
    """
    with writer.lock(vault.root, vault.settings.lock_wait, verb):
        freshness = vault.glance() if appends else vault.fresh()
        heal(vault)
        if appends:
            # Whatever is wrong with a turn's memories is no reason to refuse this one; they go on waiting.
            with suppress(VaultError):
                settle_turns(vault, freshness)
        yield Operation(vault, verb, freshness)


def settle_turns(vault: Context, freshness: Freshness) -> tuple[beats.Batch, Saved]:
    """Write a batch of what turns accepted, as one operation, and take it off the queue. Call it under the write lock."""
    op = Operation(vault, "turn", freshness)
    batch = beats.planned(op)
    saved = op.carry_out(batch.title, batch.written) if batch.written else Saved()
    if batch.turns:
        Turns(vault.root).strike_off(batch.turns)
    return batch, saved


def heal(vault: Context) -> tuple[str, ...]:
    """Commit what earlier operations wrote and could not commit; returns the paths that still wait.

    A file that was changed since is its person's to commit now and is let go. Call it under the write lock.
    """
    waiting: list[str] = []
    # In the order in which they were begun: of two changes to one file the later commit must be the later change.
    for pending in vault.local.pending():
        changes = [change for path, known in pending.files if (change := _as_announced(vault, path, known))]
        # What stops one commit (a rebase, a lock, no identity) stops the next: ask git once.
        outcome = git.Commit(False, None, "waits") if waiting else _published(vault, pending, changes)
        if outcome.reason and vault.repo:
            waiting.extend(change.path for change in changes)
        else:
            vault.local.done(pending.id)
    return tuple(waiting)


def _as_announced(vault: Context, path: str, known: str | None) -> git.Change | None:
    """The change as the operation made it, or None where it was not made or somebody changed the file since."""
    file = vault.root / path
    if not file.is_file():
        return git.Change(path, None) if known is None else None
    if known is None:
        return None
    data = file.read_bytes()
    if known == _UNKNOWN:
        # Perhaps it was never made, and a person is in the middle of saving the note, or of a merge.
        return git.Change(path, data) if parse(path, data, vault.settings.types).readable else None
    return git.Change(path, data) if known == content_hash(data) else None


def _commit(
    vault: Context,
    pending: PendingOperation,
    written: Sequence[writer.Written],
    conflicts: tuple[str, ...],
    edited: Mapping[str, Sequence[frontmatter.Change]],
) -> Saved:
    changes = [git.Change(w.path, _our_part(vault, w, edited.get(w.path, ()))) for w in written if w.before != w.after]
    outcome = _published(vault, pending, changes)
    if not outcome.reason or vault.repo is None:
        vault.local.done(pending.id)
    else:
        # Announced again, with what the files hold now: so `heal` commits ours, and not what a person makes of it meanwhile.
        known = {w.path: content_hash(w.after) if w.after is not None else None for w in written}
        vault.local.begin(replace(pending, files=tuple(known.items())))
    attention = bool(outcome.reason and vault.repo) or bool(conflicts)
    return Saved(
        committed=outcome.committed, commit=outcome.commit, reason=outcome.reason, attention=attention, conflicts=conflicts
    )


def _our_part(vault: Context, written: writer.Written, changes: Sequence[frontmatter.Change]) -> bytes | None:
    """What the commit of an edited file holds: our change alone, on what the last commit had; hand edits are their person's.

    A file that was never committed, or where our change does not fit the committed text, is committed as it is.
    """
    if not changes or vault.repo is None:
        return written.after
    committed = git.show(vault.repo, "HEAD", written.path)
    if committed is None or committed == written.before:
        return written.after
    try:
        return frontmatter.edit(committed, changes)
    except EditRefused:
        return written.after


def _published(vault: Context, pending: PendingOperation, changes: Sequence[git.Change]) -> git.Commit:
    if not changes:
        return git.Commit(False, None)
    if vault.repo is None:
        return git.Commit(False, None, vault.git_absence())
    message = git.message(f"{pending.verb}: {pending.title}", pending.verb, pending.session or None, pending.ids)
    return git.commit(vault.repo, changes, message, lock_wait=vault.settings.lock_wait)


def _next_id(vault: Context) -> str:
    """An operation's id: numbered, because several of one second are healed in the order in which they were begun."""
    numbers = (int(one.id[:6]) for one in vault.local.pending() if one.id[:6].isdecimal())
    return f"{1 + max(numbers, default=0):06}-{new_id()}"


def _require_text(record: Record) -> None:
    """Half a surrogate pair, as a damaged command line may hold, is no text that a file could keep."""
    try:
        json.dumps([record.head(), record.body], ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as fault:
        raise UsageError("the text is not Unicode: it holds half a character", "pass it as UTF-8") from fault


def _spliced(path: str, changes: Sequence[frontmatter.Change], data: bytes) -> bytes:
    try:
        return frontmatter.edit(data, changes)
    except EditRefused as fault:
        raise EditRefused(f"{path}: {fault.message}", fault.hint) from fault


def put(vault: Context, path: str, data: bytes) -> writer.Written:
    """Create or replace a file that the tool generates; a person's edit of it meanwhile is kept as a conflict copy."""
    if not (vault.root / path).exists():
        return writer.create(vault.root, path, data)
    return writer.replace(vault.root, path, writer.read(vault.root, path), data)
