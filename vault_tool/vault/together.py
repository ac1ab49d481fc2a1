"""The collector for operations under one hold of the write lock, whose commits are all made together at its end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec
from msgspec import field

from vault_tool.files import git
from vault_tool.util.structs import Struct

if TYPE_CHECKING:
    from vault_tool.index.vault_index import Index

T = TypeVar("T")

# Stands for the commit of an operation that waits for it, before the operation's id.
_WAITING = "waiting:"


class _Waiting(Struct, Generic[T]):
    """A written operation: the changes, message and author of its commit, and the function to call with the commit's outcome."""

    name: str
    changes: Sequence[git.FileChange]
    message: str
    author: str
    settle: Callable[[git.Commit], T]


class Together(msgspec.Struct, Generic[T]):
    """Operations under one hold of the lock that wait for their commits; T is the type of an operation's outcome.

    Each operation stays announced until it is committed: after a kill, the next holder of the lock commits it.
    """

    repo: git.Repo | None
    lock_wait: float
    is_healed: bool = False
    """Whether interrupted operations were already finished under this hold."""
    looked_at: set[Index] = field(default_factory=set)
    """The views of the indexes that were already refreshed by the names of files under this hold."""
    _waiting: list[_Waiting[T]] = field(default_factory=list)
    _texts: dict[str, bytes | None] = field(default_factory=dict)
    _number: int = 0

    def next_number(self, next_free: Callable[[], int]) -> int:
        """The number of the next operation; `next_free` is called for the first one only."""
        self._number = self._number + 1 if self._number else next_free()
        return self._number

    def wait(
        self, operation: str, changes: Sequence[git.FileChange], message: str, author: str, settle: Callable[[git.Commit], T]
    ) -> str:
        """Add an operation that waits for its commit; returns a placeholder for that commit until `publish` makes it."""
        name = _WAITING + operation
        self._waiting.append(_Waiting(name, changes, message, author, settle))
        self._texts.update((change.path, change.content) for change in changes)
        return name

    def held(self, path: str, committed: Callable[[], bytes | None]) -> bytes | None:
        """The contents of a file in the last commit, made or waiting; `committed` looks it up in git."""
        return self._texts[path] if path in self._texts else committed()

    def publish(self) -> Mapping[str, T]:
        """Make a commit for each waiting operation; returns the outcome of each. Call it before the lock is released."""
        waiting, self._waiting = self._waiting, []
        if not waiting or self.repo is None:
            return {}
        series = [(write.changes, write.message) for write in waiting]
        authors = [write.author for write in waiting]
        commits = git.commit_each(self.repo, series, authors=authors, lock_wait=self.lock_wait)
        return {write.name: write.settle(commit) for write, commit in zip(waiting, commits, strict=True)}


def stands_for_a_commit(commit: str | None) -> bool:
    """Whether a result's commit is still a placeholder from `wait`."""
    return bool(commit) and str(commit).startswith(_WAITING)
