"""`forget`: a person erases a memory from the vault, from what refers to it, and from everything derived or local."""

from __future__ import annotations

from vault_tool.features.erasing.erasing import Citing, erased, resolve_target
from vault_tool.files import tombstones
from vault_tool.vault import person
from vault_tool.vault.context import Context
from vault_tool.vault.operation import Saved, writing
from vault_tool.vault.pending import held
from vault_tool.vault.request import of_the_whole, verb


class Forgotten(Saved, kw_only=True):
    """The erased parts: `removed` files (links to the memory too), `redacted` journals and ledgers, and the tombstone's place.

    `subjects_removed` are subjects that were made by naming them in it, and that nothing else is tagged with.

    `title` is told beforehand alone (`dry_run`). `citing` still names its id. `in_history` says that earlier commits, and
    clones of them, still hold the text.
    """

    id: str
    title: str = ""
    tombstone: str
    removed: tuple[str, ...]
    links_removed: tuple[str, ...]
    subjects_removed: tuple[str, ...] = ()
    redacted: tuple[str, ...]
    citing: tuple[Citing, ...]
    local: int = 0
    in_history: bool = False
    dry_run: bool = False


@verb
@of_the_whole
def forget(vault: Context, memory_id: str, *, dry_run: bool = False) -> Forgotten:
    """Erase one memory: its files and links to it in a commit, its words in journals, and every derived and local trace.

    Its id alone is kept, as an empty tracked file, by which readers, imports and pulls refuse its return. What cites it
    is listed, for a person to mend. History keeps the text. With `dry_run` nothing changes. Naming a forgotten id again
    erases what has come back. Raises Refused where no person asks.
    """
    vault = person.acting(vault, "forget")
    with held(vault, "forget"):
        return _forgotten(vault.with_withheld(), memory_id, dry_run)


def _forgotten(vault: Context, memory_id: str, dry_run: bool) -> Forgotten:
    # All that can be refused is refused before the first byte goes: half a forgotten memory would be the worst of both.
    with writing(vault, "forget") as op:
        identity, entries = resolve_target(vault, memory_id)
        done = erased(op, {identity: entries}, dry_run=dry_run)
    return Forgotten(
        **done.fields(), id=identity, title=done.titles[0] if done.titles else "", tombstone=tombstones.tombstone(identity),
        removed=done.removed, links_removed=done.links_removed, subjects_removed=done.subjects_removed,
        redacted=done.redacted, citing=done.citing, local=done.local, in_history=vault.repo is not None, dry_run=dry_run,
    )  # fmt: skip
