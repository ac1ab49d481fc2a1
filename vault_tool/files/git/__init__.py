"""Every call of git that the tool makes, typed, with a clean environment and a time limit."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from vault_tool.files.git.history import LogEntry, changed_between, diff, log, show, show_many
from vault_tool.files.git.message import message
from vault_tool.files.git.repo import Head, Repo, find, head, identity, init, obstacle, recent_heads, remotes, resolve, why_absent
from vault_tool.files.git.status import Pending, ignored, in_conflict, tracked, uncommitted

if TYPE_CHECKING:
    from vault_tool.files.git.committing import Change, Commit, commit, settle

# What writes, which a command that only reads does without: 5 ms of each.
_WRITING = {"Change": "committing", "Commit": "committing", "commit": "committing", "settle": "committing"}

__all__ = [
    "Change",
    "Commit",
    "Head",
    "LogEntry",
    "Pending",
    "Repo",
    "changed_between",
    "commit",
    "diff",
    "find",
    "head",
    "identity",
    "ignored",
    "in_conflict",
    "init",
    "log",
    "message",
    "obstacle",
    "recent_heads",
    "remotes",
    "resolve",
    "settle",
    "show",
    "show_many",
    "tracked",
    "uncommitted",
    "why_absent",
]


def __getattr__(name: str) -> Any:
    if name not in _WRITING:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WRITING[name]}"), name)
