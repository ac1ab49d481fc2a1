"""Writes of a served person: what has to hold before one, and which texts of others it may not change."""

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

# The fields of another's note to which anybody may put something: it is told as theirs.
_OPEN = frozenset({"tags", "subjects", "related_to", "pinned"})


def require_history(vault: Context, waiting: Sequence[str]) -> None:
    """Refuse a served person's write that no commit would have: nothing else says whose it is."""
    if vault.repo is None:
        raise Refused("this vault has no git history, which says who wrote what", "whoever keeps the vault gives it one")
    if reason := git.obstacle(vault.repo):
        raise Busy(f"the vault's history cannot be added to now: {reason}", "try again later")
    if waiting:
        raise Busy(f"{waiting[0]} waits to be committed, and what others write comes after it", "try again later")


def require_change(vault: Context, path: str, changes: Iterable[Change]) -> None:
    """Refuse a change to fields of another's note, but for those to which anybody may put something."""
    if {change.key for change in changes} - _OPEN:
        require_own(vault, path)


def require_own(vault: Context, path: str) -> None:
    """Refuse a change to a note that another wrote; raises Refused."""
    if file_kind(path) is not FileKind.NOTE:
        return
    entry = vault.whole_index.catalog.by_path(path)
    if entry is None:
        raise NotFound(f"{path} is no note", "")
    if entry.origin not in (own_origin := pulled(vault.who.author), trusted(own_origin)):
        raise Refused("another wrote it, and only its writer or the owner changes it", "vote on it, or write what changes it")
