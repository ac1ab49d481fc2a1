"""Memories deleted by a person in a commit that `undo` takes back: history keeps them, unlike what is forgotten."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.errors import Refused, UsageError
from vault_tool.features.history.history import keep_first
from vault_tool.files import layout
from vault_tool.index.relations import edges_at
from vault_tool.model.types import MEMORIES
from vault_tool.util.text import counted
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.new_observation import orphaned_subjects
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.request import of_the_whole, verb


class Deleted(Saved, kw_only=True):
    """The memories that were deleted, with their titles and the number of links that went with them."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    links_removed: int
    subjects_removed: tuple[str, ...] = ()


@verb
@of_the_whole
def delete_memories(vault: Context, ids: Sequence[str]) -> Deleted:
    """Delete memories with the links that begin or end at them, in one commit that `undo` takes back.

    What no commit has is committed first, so that history keeps it. Subjects that were made by naming them there, and that
    nothing else is tagged with, go too. Raises Refused where no person asks, and for notes of the folder that the vault serves.
    """
    vault = resolve.for_act(vault, "delete")
    if not ids:
        raise UsageError("no memory is named", "name those to delete")
    with writing(vault, "delete") as op:
        entries = resolve.find_all(vault, ids, MEMORIES)
        if served := [entry for entry in entries if layout.is_around(entry.path)]:
            raise Refused(f"{served[0].path} is a note of the folder that this vault serves", "delete it there")
        links = edges_at(vault.index.catalog, {entry.id for entry in entries})
        remarks = [remark for entry in entries if (remark := keep_first(vault, entry.path))]
        emptied = list(orphaned_subjects(vault, entries))
        for going in (*entries, *links, *emptied):
            op.remove(going.path)
        title = entries[0].title if len(entries) == 1 else counted(len(entries), "memory", "memories")
        saved = op.carry_out(title, [entry.id for entry in entries])
    return Deleted(
        **saved.fields(*remarks),
        ids=tuple(entry.id for entry in entries),
        titles=tuple(entry.title for entry in entries),
        links_removed=len(links),
        subjects_removed=tuple(subject.title for subject in emptied),
    )
