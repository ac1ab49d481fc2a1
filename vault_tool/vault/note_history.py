"""A memory's own commits, wherever its file lies: in the vault's repository, or in that of the folder around it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from vault_tool.files import git
from vault_tool.files.layout import AROUND, is_around
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
