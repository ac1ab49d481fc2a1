"""Every call of git that the tool makes, typed, with a clean environment and a time limit."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vault_tool.files.git.log import LogEntry, changed_between, diff, log, show, show_at, show_many
from vault_tool.files.git.message import message
from vault_tool.files.git.repo import (
    GitHead,
    Repo,
    find,
    head,
    identity,
    init,
    look_for,
    merging,
    moved_by_us,
    obstacle,
    recent_heads,
    remotes,
    resolve,
)
from vault_tool.files.git.worktree import UncommittedFile, ignored, in_conflict, tracked, uncommitted

if TYPE_CHECKING:
    from vault_tool.files.git.authors import (
        blobs,
        brought,
        committed_at,
        committed_blobs,
        own_address,
        unreachable,
        work_tree_blobs,
    )
    from vault_tool.files.git.committing import Commit, FileChange, commit, resolve_conflicts

# What writes, or reads the history, which most commands that only read do without: 5 ms of each.
_LATER = {
    "FileChange": "committing",
    "Commit": "committing",
    "commit": "committing",
    "resolve_conflicts": "committing",
} | dict.fromkeys(
    ("blobs", "committed_at", "committed_blobs", "brought", "own_address", "unreachable", "work_tree_blobs"), "authors"
)

__all__ = [
    "Commit",
    "FileChange",
    "GitHead",
    "LogEntry",
    "Repo",
    "UncommittedFile",
    "blobs",
    "brought",
    "changed_between",
    "commit",
    "committed_at",
    "committed_blobs",
    "diff",
    "find",
    "head",
    "identity",
    "ignored",
    "in_conflict",
    "init",
    "log",
    "look_for",
    "merging",
    "message",
    "moved_by_us",
    "obstacle",
    "own_address",
    "recent_heads",
    "remotes",
    "resolve",
    "resolve_conflicts",
    "show",
    "show_at",
    "show_many",
    "tracked",
    "uncommitted",
    "unreachable",
    "work_tree_blobs",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
