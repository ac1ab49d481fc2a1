"""Memories kept off the page that every session is given, by a person: found, listed, recalled and faded as any other."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.errors import Refused, UsageError
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, MEMORIES
from vault_tool.util.text import counted
from vault_tool.vault import at_start, resolve
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.request import of_the_whole, verb


class Hidden(Saved, kw_only=True):
    """The memories that stand on the page of a session's start no more, or (`hidden` is false) again, with their titles."""

    ids: tuple[str, ...]
    titles: tuple[str, ...]
    hidden: bool


@verb
@of_the_whole
def hide_from_page(vault: Context, ids: Sequence[str], *, off: bool = False) -> Hidden:
    """Keep memories off the page of a session's start (or, with `off`, give them again) by one line of the head of each
    (`not_at_start: true`); a pin goes. Nothing but the page reads it.

    One commit, which `undo` takes back. Raises Refused where no person asks.
    """
    vault = resolve.for_act(vault, "hide")
    if not ids:
        raise UsageError("no memory is named", "name those to hide")
    saved, entries = _write(vault, ids, off)
    return Hidden(
        **saved.fields(), ids=tuple(entry.id for entry in entries), titles=tuple(entry.title for entry in entries), hidden=not off
    )  # fmt: skip


def _write(vault: Context, ids: Sequence[str], off: bool) -> tuple[Saved, list[Entry]]:
    with writing(vault, "unhide" if off else "hide") as op:
        entries = resolve.find_all(vault, ids, MEMORIES)
        for entry in entries:
            resolve.require_own(vault, entry)
            if not off and entry.type in KEPT_TYPES:
                raise UsageError(f"every session reads the {entry.type} first, which stands on no page", "write it anew")
            if not off and (by := at_start.put_by(entry)):
                name = resolve.short(vault, entry.id)
                raise Refused(
                    f"{name} has that line by {by}, where it counts for nothing", "edit its text: what you save is yours"
                )
            if changes := at_start.given_again(entry) if off else at_start.hidden(entry):
                op.edit(entry.path, *changes)
        title = entries[0].title if len(entries) == 1 else counted(len(entries), "memory", "memories")
        return op.carry_out(title, [entry.id for entry in entries]), entries
