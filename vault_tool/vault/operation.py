"""One logical operation: planned under the lock, then written, logged and indexed as one, and committed (`pending`)."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import EditRefused, Refused, StaleEdit, StorageError, UsageError
from vault_tool.files import frontmatter, journals, layout, writer
from vault_tool.files.episode_text import LONGEST_LINE as EPISODE_LINE
from vault_tool.files.episode_text import entry_text
from vault_tool.files.local import LocalFolder, PendingOperation, PlannedWrite
from vault_tool.files.parse import parse
from vault_tool.files.placing import place
from vault_tool.files.render import render
from vault_tool.files.signal_lines import LONGEST_LINE as SIGNAL_LINE
from vault_tool.files.signal_lines import signal_line
from vault_tool.model.problems import Severity
from vault_tool.model.records import Record, Remembered, Subject
from vault_tool.model.signals import EpisodeEntry, Signal
from vault_tool.util.hints import step
from vault_tool.util.text import content_hash, normal_name, one_line, slug
from vault_tool.vault import core_of_day, drafts, no_return, screening, served_writer, together
from vault_tool.vault.context import NOT_COMPARED, Context, Freshness, Progress
from vault_tool.vault.pending import UNKNOWN, Saved, caught_up, commit, held, index_written, write_intent
from vault_tool.vault.request import Envelope

if TYPE_CHECKING:
    from vault_tool.vault.together import Together

__all__ = ["Operation", "Saved", "put", "writing", "writing_together"]

_ADVICE = {"conflict-markers": "put them between ``` lines, as code"}

# From so many new files on their folders are synced once for all of them.
_FEW = 20


class _Plan(msgspec.Struct):
    """The plan of an operation; mutable because verbs build it step by step under the lock."""

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


class SavedAnswer(Saved, Envelope, kw_only=True):
    """The answer of a verb that writes, and has looked at the files: the outcome of its writes, in the envelope."""

    freshness: Freshness = NOT_COMPARED


class Operation:
    """A verb's writes: `create`, `edit` and the rest only plan; `carry_out` does it all, in order, once."""

    def __init__(self, vault: Context, verb: str) -> None:
        self.vault = vault
        self.verb = verb
        self._plan = _Plan()

    def create(self, record: Record) -> str:
        """Plan a new record and return its path, relative to the root; UsageError for a text that no note can hold."""
        return self.create_as_written(record, self.rendered(record))

    def rendered(self, record: Record) -> bytes:
        """The file's text of a new record; UsageError for a text that no note can hold."""
        _require_text(record)
        data = render(record, self._as_written(record))
        problems = parse(record.label, data, self.vault.settings.types).problems
        if wrong := [problem for problem in problems if problem.severity is Severity.ERROR]:
            raise UsageError(f"it cannot be kept as a note: {wrong[0].message}", _ADVICE.get(wrong[0].code, "change the text"))
        return data

    def create_as_written(self, record: Record, data: bytes) -> str:
        """Plan a new record whose file holds exactly `data`, as its person wrote it."""
        no_return.refuse(self.vault, record)
        path = self.place(record)
        self._plan.created[path] = data
        folder, _, name = path.rpartition("/")
        self._plan.names[folder].add(layout.name_key(name))
        if isinstance(record, Subject):
            self._plan.files[normal_name(record.name)] = PurePosixPath(path).stem
            self._plan.minted[normal_name(record.name)] = record.name
        return path

    def place(self, record: Record) -> str:
        """Where a new record would go: a free path in a folder that has room."""
        return place(record, {}, self._taken, self._files)

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
        if self.vault.who.author:
            served_writer.require_change(self.vault, path, changes)
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
        if self.vault.who.author:
            served_writer.require_own(self.vault, path)
        self._plan.rewritten[path] = (old, new)

    def include(self, path: str, before: bytes, after: bytes) -> None:
        """Take a change into the commit that a person made in the file already."""
        self._plan.included.append(writer.Written(path, before, after))

    def remove(self, path: str) -> None:
        """Plan a file's removal."""
        layout.inside(self.vault.root, path)
        if self.vault.who.author:
            served_writer.require_own(self.vault, path)
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
        logged = replace(entry, session=entry.session or self.vault.who.session)
        if max(map(len, entry_text(logged, "", "").encode("utf-8", "replace").split(b"\n"))) > EPISODE_LINE:
            raise UsageError("the log's entry is too long", f"keep it to a sentence, and {step('remember')} the rest")
        self._plan.episodes.append(logged)

    def signal(self, signal: Signal) -> None:
        """Plan a judgement; UsageError for one that no line of a journal may hold, Refused for one on what was forgotten."""
        if len(signal_line(signal).encode()) > SIGNAL_LINE:
            raise UsageError("what is said of the memory is too long", "give a sentence, and references as evidence")
        if no_return.citable(self.vault, signal.evidence) != tuple(signal.evidence):
            raise Refused("its evidence is a memory that was forgotten", "leave that reference out")
        self._plan.signals.append(signal)

    def carry_out(self, title: str, ids: Sequence[str] = (), *, repeatable: bool = False) -> Saved:
        """Write everything planned, index it and commit it as one; raises StorageError or StaleEdit with nothing undone.

        What was written before a failure or a kill stays, and the next operation writes and commits the rest of it; of
        one that is `repeatable`, which the same call takes up where it was stopped, it commits only what is there.
        """
        plan = self._plan
        # Names of folders are read in while places are looked for; that alone is nothing to write.
        if plan == _Plan(names=plan.names):
            return Saved()
        self.screen()
        vault, today = self.vault, self.vault.now()[:10]
        # What the owner's agents looked at is in no commit by another author.
        shared = vault.local.roll_up(today) if vault.settings.share_use and not vault.who.author else []
        signals = [*plan.signals, *shared]
        writes = list(self._planned_writes())
        left = ((), (), ()) if repeatable else (writes, plan.episodes, signals)
        pending = write_intent(vault, self.verb, title, ids, self._announced(writes, signals), *left)
        written: list[writer.Written] = []
        whole = False
        try:
            written.extend(self._write(signals))
            whole = True
        finally:
            # After a fault, or an interrupt, before anything was written: its caller is told that nothing was done, and then
            # nothing is done later either.
            if not whole and not any(w.changed for w in written):
                vault.local.done(pending.id)
            index_written(vault, written)
        # Last: rolled up again after a kill, the same uses make the same ids, of which readers keep one.
        if shared:
            vault.local.drop_uses(today)
        if not plan.replaced and vault.together is None and not vault.who.author and core_of_day.is_due(vault):
            pending = self._put_core(pending, written)
        conflicts = tuple(w.conflict for w in written if w.conflict)
        return commit(self.vault, pending, written, conflicts, plan.edited)

    def _put_core(self, pending: PendingOperation, written: list[writer.Written]) -> PendingOperation:
        """Write CORE.md anew with this operation; what it announced, with the page where that was made."""
        text = core_of_day.text_of_day(self.vault)
        if text is None:
            return pending
        data = text.encode("utf-8")
        pending = replace(pending, files=(*pending.files, (layout.CORE_FILE, content_hash(data))))
        self.vault.local.begin(pending)
        with suppress(StorageError, StaleEdit):
            written.append(put(self.vault, layout.CORE_FILE, data))
        return pending

    def screen(self) -> None:
        """Refuse what looks like a secret before anything of it is written, announced or logged."""
        if self.vault.allow_secrets:
            return
        plan = self._plan
        texts = [*screening.asker(self.vault.who), screening.file_names(plan.created)]
        texts += [screening.new_note(data) for data in plan.created.values()]
        texts += [screening.new_text(path, new) for path, (_, new) in plan.rewritten.items()]
        texts += [screening.new_text(w.path, w.after or b"") for w in plan.included]
        texts += [text for path, changes in plan.edited.items() for text in screening.edits(self.vault, path, changes)]
        texts += [screening.log_entry(entry) for entry in plan.episodes]
        screening.refuse_secrets(self.vault, [*texts, *map(screening.judgement, plan.signals)])

    def _planned_writes(self) -> Iterator[PlannedWrite]:
        """The files that will be written, in the order of `_write`, each from what it holds now."""
        plan = self._plan
        for path, data in plan.created.items():
            yield PlannedWrite(path, None, data)
        for path, changes in plan.edited.items():
            data = writer.read(self.vault.root, path)
            yield PlannedWrite(path, content_hash(data), _spliced(path, changes, data))
        for path, (old, new) in plan.rewritten.items():
            yield PlannedWrite(path, content_hash(old), new)
        for path, data in plan.replaced.items():
            exists = (self.vault.root / path).exists()
            yield PlannedWrite(path, content_hash(writer.read(self.vault.root, path)) if exists else None, data)
        for path in plan.removed:
            yield PlannedWrite(path, content_hash(writer.read(self.vault.root, path)), None)

    def _announced(self, writes: Sequence[PlannedWrite], signals: Sequence[Signal]) -> dict[str, str | None]:
        """The paths that will be written, each with the hash that it will have."""
        afters = {write.path: write.after for write in writes} | {write.path: write.after for write in self._plan.included}
        hashes = {path: None if after is None else content_hash(after) for path, after in afters.items()}
        return hashes | dict.fromkeys(self._journals(signals), UNKNOWN)

    def _journals(self, signals: Sequence[Signal]) -> set[str]:
        """The journals that will be appended to, unless they turn out not to be as this machine left them."""
        days = {entry.at[:10] for entry in self._plan.episodes}
        months = {signal.at[:7] for signal in signals}
        return journals.paths_of(self.vault.root, self._local, days, months)

    @property
    def _local(self) -> LocalFolder:
        """This machine's own state, with the journals of whom it is written by."""
        return self.vault.local.of_author(self.vault.who.author)

    def _write(self, signals: Sequence[Signal]) -> Iterator[writer.Written]:
        """The writes in the order in which a kill between two of them hurts least: what is pointed at comes first."""
        vault, plan = self.vault, self._plan
        many = writer.Many() if len(plan.created) > _FEW else None
        for path, data in plan.created.items():
            yield writer.create(vault.root, path, data, many)
        if many is not None:
            many.sync(vault.root)
        for path, changes in plan.edited.items():
            yield writer.edit(vault.root, path, partial(_spliced, path, changes))
        for path, (old, new) in plan.rewritten.items():
            yield writer.replace(vault.root, path, old, new)
        yield from plan.included
        for path, data in plan.replaced.items():
            yield put(vault, path, data)
        for path in plan.removed:
            yield writer.remove(vault.root, path, writer.read(vault.root, path))
        # After the notes: a note that no log names is only unlogged, an entry that names no note misleads.
        for entry in plan.episodes:
            yield journals.append_episode(vault.root, self._local, entry)
        if signals:
            yield from journals.append_signals(vault.root, self._local, signals)

    def _taken(self, path: str) -> bool:
        """Whether a path is in use, case aside: two names that differ in case only are one file on many disks."""
        folder, _, name = path.rpartition("/")
        if folder not in self._plan.names:
            try:
                self._plan.names[folder] = {layout.name_key(other) for other in os.listdir(self.vault.root / folder)}
            except (FileNotFoundError, NotADirectoryError):
                self._plan.names[folder] = set()
        return path in self._plan.created or layout.name_key(name) in self._plan.names[folder]

    def _files(self, folder: str) -> int:
        """How many files a folder has, those that are planned among them."""
        names = self._plan.names.get(folder)
        return len(self.vault.whole_index.catalog.known().get(folder, ()) if names is None else names)

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
            subject = self.vault.index.catalog.subject_named(normal)
            stem = PurePosixPath(subject[0].path).stem if subject else slug(name, "subject")
        return f"[[{stem}|{name}]]"


@contextmanager
def writing(vault: Context, verb: str, *, at_a_glance: bool = False, progress: Progress | None = None) -> Iterator[Operation]:
    """Hold the vault's write lock, with indexes fresh and earlier uncommitted operations committed if that works now.

    `at_a_glance` is enough for what is only appended: there is no whole comparison with the files then.
    """
    with caught_up(vault, verb, at_a_glance=at_a_glance, progress=progress) as waiting:
        if vault.who.author:
            served_writer.require_history(vault, waiting)
        if (vault.local.place / layout.LOCAL / "inbox").is_dir():
            drafts.finish_decided(vault, few=True)
        looked = vault.looks.told
        yield Operation(vault, verb)
        # The answer tells of what was found under the lock, whatever the write itself looked at after it.
        vault.looks.told = looked


@contextmanager
def writing_together(vault: Context, verb: str) -> Iterator[Together[Saved]]:
    """Hold the vault's write lock for several operations whose commits are made at once, by the `publish` of what this yields.

    An operation takes part whose vault has it as `together`.
    """
    with held(vault, verb):
        yield together.Together(vault.repo, vault.settings.lock_wait)


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
