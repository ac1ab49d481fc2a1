"""The path of an operation to its commit: announced before its first byte, committed once written, or by a later operation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TypedDict

from msgspec.structs import replace

from vault_tool.errors import Busy, EditRefused, NotFound, Refused, StaleEdit, StorageError
from vault_tool.files import frontmatter, git, journals, layout, writer
from vault_tool.files.layout import FileKind
from vault_tool.files.local import PendingOperation, PlannedWrite
from vault_tool.files.parse import parse
from vault_tool.model.ids import new_id
from vault_tool.model.signals import EpisodeEntry, Signal
from vault_tool.util.structs import Struct
from vault_tool.util.text import content_hash, one_line
from vault_tool.vault.context import Context, Progress

# Stands for the hash of a journal that will be appended to.
UNKNOWN = ""

# The journals, to which each operation appends: an announced hash of them is soon outdated.
_JOURNALS = (FileKind.EPISODE, FileKind.SIGNALS)

# An announcement contains the texts to be written if they have at most so many bytes.
CARRIED = 16 * 2**20


class SavedFields(TypedDict):
    """The outcome of an operation's writes as keyword arguments for a verb's result; see `Saved`."""

    committed: bool
    commit: str | None
    reason: str
    attention: bool
    conflicts: tuple[str, ...]
    warnings: tuple[str, ...]


class Saved(Struct, kw_only=True):
    """The outcome of an operation's writes.

    `committed` false with a `reason` means: saved, but not in git's history yet. `attention` says that a person has to
    act (exit code 4); it is false in a vault without git. `conflicts` are the paths of copies of texts that could not be
    written to their own files.
    """

    committed: bool = False
    commit: str | None = None
    reason: str = ""
    attention: bool = False
    conflicts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def fields(self, *warnings: str) -> SavedFields:
        """These fields as keyword arguments for a result, with more `warnings` after the present ones."""
        return SavedFields(
            committed=self.committed,
            commit=self.commit,
            reason=self.reason,
            attention=self.attention,
            conflicts=self.conflicts,
            warnings=(*self.warnings, *warnings),
        )


def write_intent(
    vault: Context,
    verb: str,
    title: str,
    ids: Sequence[str],
    files: Mapping[str, str | None],
    writes: Sequence[PlannedWrite],
    episodes: Sequence[EpisodeEntry],
    signals: Sequence[Signal],
) -> PendingOperation:
    """Announce an operation before its first byte is written: after a kill, the next operation writes and commits the rest.

    `files` are paths with the hash that each will have; None for a removal, `UNKNOWN` if the hash is not known beforehand.
    """
    # To the microsecond, because waiting operations are committed in the order in which they were written.
    at = vault.clock.now().isoformat()
    pending = PendingOperation(
        _next_id(vault), verb, title, vault.who.session, tuple(ids), tuple(files.items()), at,
        # After a kill in the middle of a larger operation, a repeated call goes on from the part that was written.
        tuple(writes) if sum(len(write.after or b"") for write in writes) <= CARRIED else (), tuple(episodes), tuple(signals),
        vault.who.author,
    )  # fmt: skip
    vault.local.begin(pending)
    return pending


@contextmanager
def held(vault: Context, verb: str) -> Iterator[None]:
    """Hold the vault's write lock; processes that wait for it are told that this verb holds it."""
    with writer.lock(vault.root, vault.settings.lock_wait, verb):
        yield


@contextmanager
def caught_up(
    vault: Context, verb: str, *, at_a_glance: bool = False, progress: Progress | None = None
) -> Iterator[tuple[str, ...]]:
    """Hold the write lock with fresh indexes and interrupted operations finished; yields the paths that wait for a commit.

    `at_a_glance` looks only at the names of files instead of comparing all of them; that is enough for an append.
    """
    with held(vault, verb):
        if at_a_glance:
            _look_at_names(vault)
        else:
            vault.fresh(progress)
        yield finish_interrupted(vault)


def _look_at_names(vault: Context) -> None:
    """Look at the names of files before an append; of several operations under one lock, only the first looks."""
    if vault.together is None:
        vault.refresh_names()
    elif vault.index not in vault.together.looked_at:
        vault.refresh_names()
        vault.together.looked_at.add(vault.index)


def finish_interrupted(vault: Context) -> tuple[str, ...]:
    """Finish announced operations of earlier processes, and commit their files; returns the paths that still wait.

    A file that was changed since is left for the person who changed it to commit. Call it under the write lock.
    """
    if vault.together is not None:
        if vault.together.is_healed:
            return ()
        vault.together.is_healed = True
    waiting: list[str] = []
    # In the order in which they were begun, so that two changes to one file are committed in their order.
    for begun in vault.local.pending():
        pending = _finished(vault, begun)
        changes_by_path = {path: _as_announced(vault, path, known) for path, known in pending.files}
        changes = [change for change in changes_by_path.values() if change]
        if any(changes_by_path[path] is None and layout.file_kind(path) not in _JOURNALS for path, _ in pending.files):
            pending = replace(pending, title=f"(part of {pending.title})")
        # A cause that stops one commit (a rebase, a lock, no identity) stops the next one too: git is asked once.
        outcome = git.Commit(False, None, "waits") if waiting else _published(vault, pending, changes)
        if outcome.reason and vault.repo:
            waiting.extend(change.path for change in changes)
            if begun.writes or begun.episodes or begun.signals:
                known = ((change.path, None if change.content is None else content_hash(change.content)) for change in changes)
                vault.local.begin(pending.written(known))
        else:
            vault.local.done(pending.id)
    return tuple(waiting)


def index_written(vault: Context, written: Sequence[writer.Written]) -> None:
    """Take the files that were just written into the indexes."""
    changed = [w.path for w in written if w.changed and layout.file_kind(w.path) not in (None, FileKind.OTHER)]
    if changed:
        # If the indexes cannot take a file in now, the next comparison does.
        with suppress(Busy, StorageError):
            vault.whole_index.wrote(changed)


def _finished(vault: Context, pending: PendingOperation) -> PendingOperation:
    """The operation after its announced writes are finished; a file that was changed since the announcement is left out."""
    written: list[writer.Written] = []
    try:
        for write in pending.writes:
            # A file that was changed since stays as it is.
            with suppress(NotFound, Refused, StaleEdit):
                written.extend(_write(vault, write))
        unlogged = list(_unlogged(vault, pending.episodes))
        local = vault.local.of_author(pending.author)
        written.extend(journals.append_episode(vault.root, local, entry) for entry in unlogged)
        known = {signal.id for signal in vault.whole_index.catalog.signals()} if pending.signals else frozenset()
        if missing := [signal for signal in pending.signals if signal.id not in known]:
            written.extend(journals.append_signals(vault.root, local, missing))
    finally:
        index_written(vault, written)
    # If a journal was changed meanwhile, the entries went to a new file, which belongs to the operation too.
    others = {w.path: UNKNOWN for w in written if w.path not in dict(pending.files)}
    return replace(pending, files=(*pending.files, *others.items()))


def _write(vault: Context, write: PlannedWrite) -> Iterator[writer.Written]:
    """Write one file, if its text is still the one at planning time, and if an announcement may write this path at all."""
    if not _may_be_finished(write.path):
        return
    try:
        current: bytes | None = writer.read(vault.root, write.path)
    except NotFound:
        current = None
    if (None if current is None else content_hash(current)) != write.before:
        return
    if current is None:
        yield writer.create(vault.root, write.path, write.after or b"")
    elif write.after is None:
        yield writer.remove(vault.root, write.path, current)
    else:
        yield writer.replace(vault.root, write.path, current, write.after)


def _may_be_finished(path: str) -> bool:
    """Whether a later process may write a path because it was announced: the notes, their forms and the two pages; never
    settings, git's files or anything else of a repository that the vault lies in.
    """
    return path.startswith((f"{layout.VAULT}/", f"{layout.TEMPLATES}/")) or path in layout.MADE_PAGES


def _unlogged(vault: Context, entries: Sequence[EpisodeEntry]) -> Iterator[EpisodeEntry]:
    """The entries that are missing from the logs of their days; an entry given twice must be there twice."""
    days = {entry.at[:10] for entry in entries}
    paths = [path for path in vault.whole_index.catalog.of_kind(FileKind.EPISODE.value) if layout.journal_date(path) in days]
    logged = Counter(
        _entry_key(entry) for path in paths for entry in journals.read_episode(path, writer.read(vault.root, path))[0]
    )
    for entry in entries:
        if logged[_entry_key(entry)] > 0:
            logged[_entry_key(entry)] -= 1
        else:
            yield entry


def _entry_key(entry: EpisodeEntry) -> tuple[str, ...]:
    """The key of a log entry: its minute and its texts."""
    return entry.at[:16], one_line(entry.title) or "untitled", one_line(entry.type), entry.path, one_line(entry.summary)


def _as_announced(vault: Context, path: str, known: str | None) -> git.FileChange | None:
    """The change that the operation announced for a path; None if it was not made, or if the file was changed since."""
    try:
        data = writer.read(vault.root, path)
    except NotFound:
        return git.FileChange(path, None) if known is None else None
    except Refused:
        # The folder was replaced by a link, or the file by a pipe: that is left to the person who did it.
        return None
    if known is None:
        return None
    if known == UNKNOWN:
        # An unreadable file is skipped: perhaps a person is in the middle of saving it, or of a merge.
        return git.FileChange(path, data) if parse(path, data, vault.settings.types).readable else None
    return git.FileChange(path, data) if known == content_hash(data) else None


def commit(
    vault: Context,
    pending: PendingOperation,
    written: Sequence[writer.Written],
    conflicts: tuple[str, ...],
    edited: Mapping[str, Sequence[frontmatter.Change]],
) -> Saved:
    """Commit the files that an announced operation wrote (`edited` are its changes to fields), and return the outcome.

    If the commit fails, `finish_interrupted` makes it later.
    """
    changes = [git.FileChange(w.path, _our_part(vault, w, edited.get(w.path, ()))) for w in written if w.before != w.after]
    if vault.together is not None and changes and vault.repo is not None:
        settle = partial(settled, vault, pending, written, conflicts)
        name = vault.together.wait(pending.id, changes, message_of(pending), pending.author, settle)
        return Saved(commit=name, conflicts=conflicts)
    return settled(vault, pending, written, conflicts, _published(vault, pending, changes))


def settled(
    vault: Context, pending: PendingOperation, written: Sequence[writer.Written], conflicts: tuple[str, ...], outcome: git.Commit
) -> Saved:
    """The outcome of an operation's writes after its commit; `finish_interrupted` later repeats a commit that failed."""
    if pending.author and outcome.committed and vault.together is None:
        take_in_authors(vault)
    # Without git there will be no commit, so the operation is done.
    if not outcome.reason or vault.repo is None:
        vault.local.done(pending.id)
    else:
        # The announcement is written again with the hashes of the files now, so that `finish_interrupted` commits our text,
        # and not one that a person has changed meanwhile.
        known = {w.path: content_hash(w.after) if w.after is not None else None for w in written}
        vault.local.begin(pending.written(known.items()))
    attention = bool(outcome.reason and vault.repo) or bool(conflicts)
    return Saved(
        committed=outcome.committed, commit=outcome.commit, reason=outcome.reason, attention=attention, conflicts=conflicts
    )


def take_in_authors(vault: Context) -> None:
    """Refresh the indexes to learn the authors of the last commits; until then a text counts as written on this machine."""
    with suppress(Busy, StorageError):
        vault.whole_index.refresh()


def _our_part(vault: Context, written: writer.Written, changes: Sequence[frontmatter.Change]) -> bytes | None:
    """The text of an edited file that is committed: the last commit's text with our change alone, without a person's edits.

    A file that was never committed, or whose committed text our change does not fit, is committed as it is.
    """
    if not changes or vault.repo is None:
        return written.after
    # A person's own uncommitted changes in the same file are left for that person to commit.
    committed = _committed(vault, vault.repo, written.path)
    if committed is None or committed == written.before:
        return written.after
    try:
        return frontmatter.edit(committed, changes)
    except EditRefused:
        return written.after


def _committed(vault: Context, repo: git.Repo, path: str) -> bytes | None:
    """The text of a file in the last commit, or in a commit of this group that is not made yet."""
    if vault.together is None:
        return git.show(repo, "HEAD", path)
    return vault.together.held(path, partial(git.show, repo, "HEAD", path))


def _published(vault: Context, pending: PendingOperation, changes: Sequence[git.FileChange]) -> git.Commit:
    if not changes:
        return git.Commit(False, None)
    if vault.repo is None:
        return git.Commit(False, None, vault.git_absence())
    return git.commit(vault.repo, changes, message_of(pending), author=pending.author, lock_wait=vault.settings.lock_wait)


def message_of(pending: PendingOperation) -> str:
    """The message of an operation's commit."""
    return git.message(f"{pending.verb}: {pending.title}", pending.verb, pending.session or None, pending.ids)


def _next_id(vault: Context) -> str:
    """An operation's id. It begins with a number, so that operations of one second are finished in the order of their start."""
    number = vault.together.next_number(partial(_next_free, vault)) if vault.together is not None else _next_free(vault)
    return f"{number:06}-{new_id()}"


def _next_free(vault: Context) -> int:
    numbers = (int(operation.id[:6]) for operation in vault.local.pending() if operation.id[:6].isdecimal())
    return 1 + max(numbers, default=0)
