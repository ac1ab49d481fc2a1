"""An operation as a commit: announced before its first byte, committed once it is written, or by a later one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from vault_tool.errors import EditRefused, NotFound, Refused
from vault_tool.files import frontmatter, git, writer
from vault_tool.files.local import PendingOperation
from vault_tool.files.parse import parse
from vault_tool.model.ids import new_id
from vault_tool.util.text import content_hash
from vault_tool.verbs.context import Context

UNKNOWN = ""
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


def announce(vault: Context, verb: str, title: str, ids: Sequence[str], files: Mapping[str, str | None]) -> PendingOperation:
    """Say what will be written before the first byte is: a kill then leaves nothing uncommitted for good.

    `files` are paths with the hash that each will have; None for a removal, `UNKNOWN` for what is only known once made.
    """
    # To the microsecond: what waits is committed in the order in which it was written.
    at = vault.clock.now().isoformat()
    pending = PendingOperation(_next_id(vault), verb, title, vault.who.session, tuple(ids), tuple(files.items()), at)
    vault.local.begin(pending)
    return pending


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
    try:
        data = writer.read(vault.root, path)
    except NotFound:
        return git.Change(path, None) if known is None else None
    except Refused:
        # Its folder was swapped for a link, or it for a pipe: whoever did that decides what becomes of it.
        return None
    if known is None:
        return None
    if known == UNKNOWN:
        # Perhaps it was never made, and a person is in the middle of saving the note, or of a merge.
        return git.Change(path, data) if parse(path, data, vault.settings.types).readable else None
    return git.Change(path, data) if known == content_hash(data) else None


def commit(
    vault: Context,
    pending: PendingOperation,
    written: Sequence[writer.Written],
    conflicts: tuple[str, ...],
    edited: Mapping[str, Sequence[frontmatter.Change]],
) -> Saved:
    """Commit what an announced operation wrote (`edited` are its changes to fields), or leave it to `heal`, and say which."""
    changes = [git.Change(w.path, _our_part(vault, w, edited.get(w.path, ()))) for w in written if w.before != w.after]
    outcome = _published(vault, pending, changes)
    # Without git nothing will ever commit it, and it must not wait for that.
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
    # What a person changed in the same file and did not commit yet is theirs to describe.
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
