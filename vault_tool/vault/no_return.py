"""Forgotten memories do not come back: no text may have the id of one or cite it."""

from __future__ import annotations

from collections.abc import Iterable

from vault_tool.errors import Refused
from vault_tool.files import tombstones
from vault_tool.model.records import Record
from vault_tool.vault.context import Context


def is_buried(vault: Context, identity: str) -> bool:
    """Whether the memory that had this id was forgotten, by its owner or by whoever had brought it."""
    return identity in vault.forgotten()


def is_taken(vault: Context, identity: str) -> bool:
    """Whether no new memory may have this id: one in the vault has it, or one that was forgotten had it."""
    return bool(vault.index.catalog.get(identity)) or is_buried(vault, identity)


def buried_in(vault: Context, record: Record | None) -> str:
    """The id of something forgotten that a record has as its own or cites; empty where there is none."""
    graves = vault.forgotten() if record is not None else frozenset()
    if record is None or not graves:
        return ""
    return record.id if record.id in graves else tombstones.cited(record, graves)


def citable(vault: Context, references: Iterable[str]) -> tuple[str, ...]:
    """The references that may stand as evidence: those to nothing that was forgotten."""
    graves = vault.forgotten()
    return tuple(reference for reference in references if not (graves and tombstones.cites(reference, graves)))


def refuse(vault: Context, record: Record, what: str = "it", hint: str = "leave that id out", *, own: str = "") -> None:
    """Raise Refused for a record, called `what`, that has the id of something forgotten (hint `own`) or cites it."""
    if not (buried := buried_in(vault, record)):
        return
    if buried == record.id:
        refuse_id(vault, record.id, what, own or hint)
    raise Refused(f"{what} cites {buried}, which was forgotten", hint)


def refuse_id(vault: Context, identity: str, what: str, hint: str) -> None:
    """Raise Refused where `identity` is that of something forgotten; `what` has it."""
    if is_buried(vault, identity):
        raise Refused(f"{what} has the id of a memory that was forgotten", hint)
