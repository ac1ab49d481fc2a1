"""Writes of a served person: the conditions for one, and the texts of others that it may not change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from vault_tool.errors import Busy, NotFound, Refused
from vault_tool.files import git
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.model.snapshot import pulled, trusted

if TYPE_CHECKING:
    from vault_tool.files.frontmatter import Change
    from vault_tool.vault.context import Context

# The fields of another person's note to which any served person may add; the addition is attributed to its writer.
_OPEN = frozenset({"tags", "subjects", "related_to", "pinned"})


def require_history(vault: Context, waiting: Sequence[str]) -> None:
    """Refuse a served person's write if it could not be committed: only its commit says who wrote it."""
    if vault.repo is None:
        raise Refused("this vault has no git history, which says who wrote what", "whoever keeps the vault gives it one")
    if reason := git.obstacle(vault.repo):
        raise Busy(f"the vault's history cannot be added to now: {reason}", "try again later")
    if waiting:
        raise Busy(f"{waiting[0]} waits to be committed, and what others write comes after it", "try again later")


def require_change(vault: Context, path: str, changes: Iterable[Change]) -> None:
    """Refuse a change to fields of another person's note, except the fields that are open to all."""
    if {change.key for change in changes} - _OPEN:
        require_own(vault, path)


def require_own(vault: Context, path: str) -> None:
    """Refuse a change to a note that another person wrote; raises Refused."""
    if file_kind(path) is not FileKind.NOTE:
        return
    entry = vault.whole_index.catalog.by_path(path)
    if entry is None:
        raise NotFound(f"{path} is no note", "")
    if entry.origin not in (own_origin := pulled(vault.who.author), trusted(own_origin)):
        raise Refused("another wrote it, and only its writer or the owner changes it", "vote on it, or write what changes it")
