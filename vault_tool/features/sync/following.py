"""The work tree follows the branch: each file that is as the old commit has it becomes as the new one has it.

What somebody edited meanwhile keeps the edit: it is merged with what came. A kill at any point is finished by the next command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

import msgspec
from msgspec import field

from vault_tool.errors import GitError, NotFound, Refused, StaleEdit, VaultError
from vault_tool.files import git, layout, writer
from vault_tool.files.git import remote as elsewhere
from vault_tool.files.git.hooked import staged_alike
from vault_tool.files.git.index import enter, refresh
from vault_tool.files.git.survey import settings_of
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.files.merging.other_files import merge_file
from vault_tool.util.text import content_hash
from vault_tool.vault.context import Context
from vault_tool.vault.pending import index_written

# From so many new files on their folders are synced once for all of them.
_MANY = 20
_ATTEMPTS = 5


class Followed(msgspec.Struct):
    """The files as they followed: written, edited meanwhile by a person, or kept as a copy beside."""

    written: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    copies: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def finish(vault: Context) -> None:
    """Finish what a killed sync left: the files follow where the branch has moved, else nothing of it stays."""
    if vault.repo is None or not vault.local.syncing():
        return
    # Nobody waits for a process that is in the middle of it.
    with suppress(VaultError), writer.lock(vault.root, 0, "sync"):
        finish_locked(vault, vault.repo)


def finish_locked(vault: Context, repo: git.Repo) -> None:
    """The same under the write lock."""
    for new, old in vault.local.syncing().items():
        head = git.head(repo).commit or ""
        try:
            if head and git.is_ancestor(repo, new, head):
                follow(vault, repo, elsewhere.entries_between(repo, old, new))
            else:
                _take_back(repo, elsewhere.entries_between(repo, old, new), vault.settings.lock_wait)
        except GitError:
            # Objects that were never whole: the branch was not moved to them.
            if head and git.resolve(repo, new):
                raise
        vault.local.end_syncing(new)


def _take_back(repo: git.Repo, changes: Mapping[str, elsewhere.Change], wait: float) -> None:
    """Have git's index hold again what it held, where a sync that moved no branch had entered what was to come."""
    entered = staged_alike(repo, {path: now for path, (_, now) in changes.items()}) if changes else ()
    enter(repo, {path: changes[path][0] for path in entered}, wait)


def follow(vault: Context, repo: git.Repo, changes: Mapping[str, elsewhere.Change]) -> Followed:
    """Bring the files from one commit to the other; call it under the write lock, once the branch has moved."""
    texts = git.blobs(repo, (entry.oid for pair in changes.values() for entry in pair if entry))
    followed = Followed()
    written: list[writer.Written] = []
    new_files = sum(was is None for was, _ in changes.values())
    many = writer.Many() if new_files > _MANY else None
    try:
        # What goes away goes first, so that a name that differs by case alone is free.
        for path in sorted(changes, key=lambda path: (changes[path][1] is not None, path)):
            before, after = (texts[entry.oid] if entry else None for entry in changes[path])
            try:
                written.extend(_follow_one(vault, path, before, after, followed, many))
            except (Refused, StaleEdit) as fault:
                followed.faults.append(f"{path}: {fault.message}")
        if many is not None:
            many.sync(vault.root)
    finally:
        followed.written = [each.path for each in written]
        index_written(vault, written)
    settings = settings_of(repo)
    refresh(repo, settings)
    return followed


def _follow_one(
    vault: Context, path: str, before: bytes | None, after: bytes | None, followed: Followed, many: writer.Many | None
) -> Iterator[writer.Written]:
    for _ in range(_ATTEMPTS):
        current = _current(vault, path)
        if current == after:
            return
        target = after
        if current != before and current is not None:
            followed.edited.append(path)
            target = _merged(path, before, current, after)
            if target is None:
                # Neither is dropped: the edit keeps its place, and what came stands beside it.
                if after is not None:
                    copy = layout.conflict_name(path.rpartition("/")[2], vault.now()[:19].translate(_STAMP) + "Z", "sync")
                    place = f"{path.rpartition('/')[0]}/{copy}".lstrip("/")
                    with suppress(writer.Taken):
                        yield writer.create(vault.root, place, after)
                        followed.copies.append(place)
                return
        try:
            if target is None:
                if current is not None:
                    yield writer.remove(vault.root, path, current)
            elif current is None:
                yield writer.create(vault.root, path, target, many)
            else:
                done = writer.replace(vault.root, path, current, target)
                followed.copies += [done.conflict] if done.conflict else []
                _keep_own(vault, path, before, after)
                yield done
            return
        except (writer.Changed, writer.Taken):
            # Saved in the same instant: looked at once more.
            if _current(vault, path) == current:
                raise
    followed.faults.append(f"{path}: it keeps changing, and was left as it is")


_STAMP = str.maketrans("", "", "-:")


def _merged(path: str, before: bytes | None, edit: bytes, after: bytes | None) -> bytes | None:
    """An edit that is on disk alone, with what came; None where both texts have to be kept."""
    if after is None or before == edit:
        return after
    merged = merge_file(path, before, edit, after)
    return merged.data if merged is not None else None


def _current(vault: Context, path: str) -> bytes | None:
    try:
        return writer.read(vault.root, path)
    except NotFound:
        return None


def _keep_own(vault: Context, path: str, before: bytes | None, after: bytes | None) -> None:
    """A journal that this machine goes on with stays its own where the merge only took words out of it."""
    own = file_kind(path) in (FileKind.EPISODE, FileKind.SIGNALS) and f".{vault.local.token()}." in path
    states = vault.local.journal_states(path) if own and before is not None and after is not None else ()
    if before is not None and after is not None and content_hash(before) in states and len(after) <= len(before):
        vault.local.expect_journal(path, content_hash(after))
