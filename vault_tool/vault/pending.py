"""An operation as a commit: announced before its first byte, committed once it is written, or by a later one."""

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

# Stands for the hash of a journal that will be added to.
UNKNOWN = ""

# What each operation adds to, so that no announcement says for long what they hold.
_JOURNALS = (FileKind.EPISODE, FileKind.SIGNALS)

# Up to so many bytes of text an announcement carries what will be written.
CARRIED = 16 * 2**20


class SavedFields(TypedDict):
    """The outcome of an operation's writes, as a verb's result has it among its own fields; see `Saved`."""

    committed: bool
    commit: str | None
    reason: str
    attention: bool
    conflicts: tuple[str, ...]
    warnings: tuple[str, ...]


class Saved(Struct, kw_only=True):
    """The outcome of an operation's writes.

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

    def fields(self, *warnings: str) -> SavedFields:
        """The same as a result's own fields, with more remarks after those that there are."""
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
    """Say what will be written before the first byte is: after a kill the next operation writes and commits what is left.

    `files` are paths with the hash that each will have; None for a removal, `UNKNOWN` for what is only known once made.
    """
    # To the microsecond: what waits is committed in the order in which it was written.
    at = vault.clock.now().isoformat()
    pending = PendingOperation(
        _next_id(vault), verb, title, vault.who.session, tuple(ids), tuple(files.items()), at,
        # A kill in the middle of so much leaves a part, which the same call takes up again.
        tuple(writes) if sum(len(write.after or b"") for write in writes) <= CARRIED else (), tuple(episodes), tuple(signals),
        vault.who.author,
    )  # fmt: skip
    vault.local.begin(pending)
    return pending


@contextmanager
def held(vault: Context, verb: str) -> Iterator[None]:
    """Hold the vault's write lock; whoever waits for it meanwhile is told that this verb has it."""
    with writer.lock(vault.root, vault.settings.lock_wait, verb):
        yield


@contextmanager
def caught_up(
    vault: Context, verb: str, *, at_a_glance: bool = False, progress: Progress | None = None
) -> Iterator[tuple[str, ...]]:
    """Hold it with the indexes fresh and what was interrupted finished; gives the paths that still wait for a commit.

    `at_a_glance` is enough for what is only appended: there is no whole comparison with the files then.
    """
    with held(vault, verb):
        if at_a_glance:
            _look_at_names(vault)
        else:
            vault.fresh(progress)
        yield finish_interrupted(vault)


def _look_at_names(vault: Context) -> None:
    """Look at the files before something is appended; of several operations of one hold the first does."""
    if vault.together is None:
        vault.refresh_names()
    elif vault.index not in vault.together.looked_at:
        vault.refresh_names()
        vault.together.looked_at.add(vault.index)


def finish_interrupted(vault: Context) -> tuple[str, ...]:
    """Finish what earlier operations announced, and commit what they could not; returns the paths that still wait.

    A file that was changed since is its person's to commit now and is let go. Call it under the write lock.
    """
    if vault.together is not None:
        if vault.together.is_healed:
            return ()
        vault.together.is_healed = True
    waiting: list[str] = []
    # In the order in which they were begun: of two changes to one file the later commit must be the later change.
    for begun in vault.local.pending():
        pending = _finished(vault, begun)
        changes_by_path = {path: _as_announced(vault, path, known) for path, known in pending.files}
        changes = [change for change in changes_by_path.values() if change]
        if any(changes_by_path[path] is None and layout.file_kind(path) not in _JOURNALS for path, _ in pending.files):
            pending = replace(pending, title=f"(part of {pending.title})")
        # What stops one commit (a rebase, a lock, no identity) stops the next: ask git once.
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
    """Take what was just written into the indexes."""
    changed = [w.path for w in written if w.changed and layout.file_kind(w.path) not in (None, FileKind.OTHER)]
    if changed:
        # What is written is written: what the indexes cannot take in now, the next comparison does.
        with suppress(Busy, StorageError):
            vault.whole_index.wrote(changed)


def _finished(vault: Context, pending: PendingOperation) -> PendingOperation:
    """The operation with all written that it announced and a kill kept it from: each file that is still as it was read."""
    written: list[writer.Written] = []
    try:
        for write in pending.writes:
            # A file that somebody changed since is as they want it.
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
    # Where a journal was not as we left it, another one was begun.
    others = {w.path: UNKNOWN for w in written if w.path not in dict(pending.files)}
    return replace(pending, files=(*pending.files, *others.items()))


def _write(vault: Context, write: PlannedWrite) -> Iterator[writer.Written]:
    """Write one file, if it still holds what it held when that was planned, and an announcement may write it at all."""
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
    """Those of the entries that no log of their day has: as often as there are more of them than there."""
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
    """A key that tells one entry of a log from another, by the minute."""
    return entry.at[:16], one_line(entry.title) or "untitled", one_line(entry.type), entry.path, one_line(entry.summary)


def _as_announced(vault: Context, path: str, known: str | None) -> git.FileChange | None:
    """The change as the operation made it, or None if it was not made or the file was changed since."""
    try:
        data = writer.read(vault.root, path)
    except NotFound:
        return git.FileChange(path, None) if known is None else None
    except Refused:
        # Its folder was swapped for a link, or it for a pipe: whoever did that decides what becomes of it.
        return None
    if known is None:
        return None
    if known == UNKNOWN:
        # Perhaps it was never made, and a person is in the middle of saving the note, or of a merge.
        return git.FileChange(path, data) if parse(path, data, vault.settings.types).readable else None
    return git.FileChange(path, data) if known == content_hash(data) else None


def commit(
    vault: Context,
    pending: PendingOperation,
    written: Sequence[writer.Written],
    conflicts: tuple[str, ...],
    edited: Mapping[str, Sequence[frontmatter.Change]],
) -> Saved:
    """Commit what an announced operation wrote (`edited` are its changes to fields), and say what came of it.

    What cannot be committed is left to `finish_interrupted`.
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
    """The outcome of an operation's writes, by that of its commit; `finish_interrupted` makes a commit that failed."""
    if pending.author and outcome.committed and vault.together is None:
        take_in_authors(vault)
    # Without git nothing will ever commit it, and it must not wait for that.
    if not outcome.reason or vault.repo is None:
        vault.local.done(pending.id)
    else:
        # The intent is written again, with what the files hold now: so `finish_interrupted` commits ours, and not what a
        # person makes of it meanwhile.
        known = {w.path: content_hash(w.after) if w.after is not None else None for w in written}
        vault.local.begin(pending.written(known.items()))
    attention = bool(outcome.reason and vault.repo) or bool(conflicts)
    return Saved(
        committed=outcome.committed, commit=outcome.commit, reason=outcome.reason, attention=attention, conflicts=conflicts
    )


def take_in_authors(vault: Context) -> None:
    """Have the indexes know whose the last commits are: what they know of a text by itself is that it was written here."""
    with suppress(Busy, StorageError):
        vault.whole_index.refresh()


def _our_part(vault: Context, written: writer.Written, changes: Sequence[frontmatter.Change]) -> bytes | None:
    """The part of an edited file that is committed: our change alone, on the last commit's text; hand edits are their person's.

    A file that was never committed, or where our change does not fit the committed text, is committed as it is.
    """
    if not changes or vault.repo is None:
        return written.after
    # What a person changed in the same file and did not commit yet is theirs to describe.
    committed = _committed(vault, vault.repo, written.path)
    if committed is None or committed == written.before:
        return written.after
    try:
        return frontmatter.edit(committed, changes)
    except EditRefused:
        return written.after


def _committed(vault: Context, repo: git.Repo, path: str) -> bytes | None:
    """The last commit's text of a file, or that of a commit that waits to be made before the next."""
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
    """An operation's id: numbered, because several of one second are healed in the order in which they were begun."""
    number = vault.together.next_number(partial(_next_free, vault)) if vault.together is not None else _next_free(vault)
    return f"{number:06}-{new_id()}"


def _next_free(vault: Context) -> int:
    numbers = (int(operation.id[:6]) for operation in vault.local.pending() if operation.id[:6].isdecimal())
    return 1 + max(numbers, default=0)
