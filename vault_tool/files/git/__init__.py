"""Every call of git that the tool makes, typed, with a clean environment and a time limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    require_free,
    resolve,
)
from vault_tool.util.deferred import deferred_names

if TYPE_CHECKING:
    from vault_tool.files.git.authors import (
        blobs,
        brought,
        committed_at,
        committed_blobs,
        earlier_blobs,
        is_ancestor,
        last_to_touch,
        own_address,
        removed_by,
        unreachable,
        work_tree_blobs,
    )
    from vault_tool.files.git.commit_changes import CommitChanges, blob_id, changes_of, off_branch
    from vault_tool.files.git.commit_log import LogEntry, changed_between, diff, log, log_of, newest, show, show_at, show_many
    from vault_tool.files.git.commit_message import message
    from vault_tool.files.git.committing import Commit, FileChange, commit, commit_each, resolve_conflicts
    from vault_tool.files.git.note_commits import NoteLog, note_log, own_operations, renames
    from vault_tool.files.git.open_merge import Unmerged, finish_merge, unmerged
    from vault_tool.files.git.worktree import (
        UncommittedFile,
        filters_and_remotes,
        ignored,
        ignored_in,
        in_conflict,
        staged,
        tracked,
        uncommitted,
        untracked_and_ignored,
    )

# What writes, and what reads the history or the work tree, which most commands that only read do without: 7 ms of each.
_LATER = {
    **dict.fromkeys(("Commit", "FileChange", "commit", "commit_each", "resolve_conflicts"), "committing"),
    **dict.fromkeys(
        (
            *(
                "blobs",
                "brought",
                "committed_at",
                "committed_blobs",
                "earlier_blobs",
                "is_ancestor",
                "own_address",
                "removed_by",
                "unreachable",
            ),
            *("last_to_touch", "work_tree_blobs"),
        ),
        "authors",
    ),
    **dict.fromkeys(
        ("LogEntry", "changed_between", "diff", "log", "log_of", "newest", "show", "show_at", "show_many"), "commit_log"
    ),
    **dict.fromkeys(("NoteLog", "note_log", "own_operations", "renames"), "note_commits"),
    **dict.fromkeys(("CommitChanges", "blob_id", "changes_of", "off_branch"), "commit_changes"),
    **dict.fromkeys(
        (
            *(
                "UncommittedFile",
                "filters_and_remotes",
                "ignored",
                "ignored_in",
                "in_conflict",
                "staged",
                "tracked",
                "uncommitted",
            ),
            "untracked_and_ignored",
        ),
        "worktree",
    ),
    **dict.fromkeys(("Unmerged", "finish_merge", "unmerged"), "open_merge"),
    "message": "commit_message",
}

__all__ = [
    "Commit",
    "CommitChanges",
    "FileChange",
    "GitHead",
    "LogEntry",
    "NoteLog",
    "Repo",
    "UncommittedFile",
    "Unmerged",
    "blob_id",
    "blobs",
    "brought",
    "changed_between",
    "changes_of",
    "commit",
    "commit_each",
    "committed_at",
    "committed_blobs",
    "diff",
    "earlier_blobs",
    "filters_and_remotes",
    "find",
    "finish_merge",
    "head",
    "identity",
    "ignored",
    "ignored_in",
    "in_conflict",
    "init",
    "is_ancestor",
    "last_to_touch",
    "log",
    "log_of",
    "look_for",
    "merging",
    "message",
    "moved_by_us",
    "newest",
    "note_log",
    "obstacle",
    "off_branch",
    "own_address",
    "own_operations",
    "recent_heads",
    "remotes",
    "removed_by",
    "renames",
    "require_free",
    "resolve",
    "resolve_conflicts",
    "show",
    "show_at",
    "show_many",
    "staged",
    "tracked",
    "uncommitted",
    "unmerged",
    "unreachable",
    "untracked_and_ignored",
    "work_tree_blobs",
]

__getattr__ = deferred_names(__name__, _LATER, {"rewriting": "6 ms, where history is rewritten"})
