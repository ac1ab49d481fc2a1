"""Every call of git that the tool makes, typed, with a clean environment and a time limit."""

from __future__ import annotations

from vault_tool.files.git.commit import Change, Commit, commit
from vault_tool.files.git.history import LogEntry, changed_between, diff, log, show, show_many
from vault_tool.files.git.index import settle
from vault_tool.files.git.message import message
from vault_tool.files.git.repo import Head, Repo, find, head, identity, init, obstacle, recent_heads, remotes, resolve, why_absent
from vault_tool.files.git.status import Pending, ignored, in_conflict, tracked, uncommitted

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
