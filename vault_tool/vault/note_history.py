"""A memory's own commits, wherever its file lies: in the vault's repository, or in that of the folder around it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from vault_tool.errors import Refused
from vault_tool.files import git, reader
from vault_tool.files.layout import AROUND, VAULT, FileKind, file_kind, is_around
from vault_tool.importing.notes import own_id
from vault_tool.model.snapshot import Entry
from vault_tool.vault.context import Context


def note_history(vault: Context, entry: Entry) -> git.NoteLog:
    """The commits in which a file was this memory, newest first; nothing where no repository has it."""
    if not is_around(entry.path):
        return git.note_log(vault.repo, entry.path, entry.id, own_id) if vault.repo is not None else git.NoteLog()
    # A served note is known by its place; where its own head has an id, by that.
    folder = vault.root.parent
    repo = git.find(folder)
    if repo is None:
        return git.NoteLog()
    path = entry.path.removeprefix(AROUND)
    identity = ""
    with suppress(OSError):
        identity = own_id(Path(folder, path).read_bytes())
    return git.note_log(repo, path, identity, own_id)


def with_their_old_places(repo: git.Repo, pending: Sequence[git.UncommittedFile]) -> list[git.UncommittedFile]:
    """The same, where a new note whose id a deleted one had was moved from there, however much of it was edited since."""
    new = {identity: file.path for file in pending if file.state == "new" and (identity := _id_at(repo, file.path))}
    if not new:
        return list(pending)
    gone = [file.path for file in git.uncommitted(repo, [VAULT]) if file.state == "deleted"]
    was = {new[identity]: path for path, data in git.show_many(repo, "HEAD", gone).items() if (identity := own_id(data)) in new}
    moved = [replace(file, state="renamed", was=was[file.path]) if file.path in was else file for file in pending]
    return [file for file in moved if file.path not in was.values()]


def _id_at(repo: git.Repo, path: str) -> str:
    """The id in the head of a note as it is on disk; "" where it cannot be read, which whoever commits it is told."""
    if file_kind(path) is not FileKind.NOTE:
        return ""
    with suppress(OSError, Refused):
        return own_id(reader.read(repo.root, path))
    return ""
