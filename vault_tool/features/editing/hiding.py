"""Memories kept off the page that every session is given, by a person: still found, listed and recalled, though lower."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.errors import UsageError
from vault_tool.files.frontmatter import Remove, Set
from vault_tool.model.types import MEMORIES
from vault_tool.util.text import counted
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.request import of_the_whole, verb


class Hidden(Saved, kw_only=True):
    """The memories that stand on the page of a session's start no more, with their titles."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]


@verb
@of_the_whole
def hide_from_page(vault: Context, ids: Sequence[str]) -> Hidden:
    """Keep memories off the page of a session's start, by one line of the head of each (`importance: 0`); a pin goes.

    One commit, which `undo` takes back. Raises Refused where no person asks.
    """
    vault = resolve.for_act(vault, "hide")
    if not ids:
        raise UsageError("no memory is named", "name those to hide")
    with writing(vault, "hide") as op:
        entries = resolve.find_all(vault, ids, MEMORIES)
        for entry in entries:
            resolve.require_own(vault, entry)
            op.edit(entry.path, Set("importance", 0), *([Remove("pinned")] if entry.pinned else []))
        title = entries[0].title if len(entries) == 1 else counted(len(entries), "memory", "memories")
        saved = op.carry_out(title, [entry.id for entry in entries])
    return Hidden(
        **saved.fields(), ids=tuple(entry.id for entry in entries), titles=tuple(entry.title for entry in entries)
    )  # fmt: skip
