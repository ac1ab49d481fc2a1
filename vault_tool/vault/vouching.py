"""The owner's review of a memory of the vault: from then on it is the owner's, as it says now."""

from __future__ import annotations

from vault_tool.model.authority import OWNER, review_mark, writer_of
from vault_tool.model.ids import new_id
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.snapshot import Entry
from vault_tool.vault.operation import Operation


def vouch(op: Operation, entry: Entry) -> None:
    """Plan the line that says that the owner saw this text, and what it does to others."""
    op.signal(
        Signal(
            id=new_id(), at=op.vault.now(), target=entry.id, kind=SignalKind.REVIEWED, origin="owner",
            evidence=(review_mark(entry),),
        )
    )  # fmt: skip


def owners(op: Operation, entry: Entry) -> bool:
    """Whether a memory is the owner's: written or reviewed by them."""
    return writer_of(entry, bool(op.vault.index.catalog.reviewed_at([entry]))) is OWNER
