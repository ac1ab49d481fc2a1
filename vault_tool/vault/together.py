"""Operations of one hold of the write lock whose commits are made at its end, all of them at once."""

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
    """An operation that is written: what its commit is to hold and to say, and what is left to do once that was tried."""

    name: str
    changes: Sequence[git.FileChange]
    message: str
    author: str
    settle: Callable[[git.Commit], T]


class Together(msgspec.Struct, Generic[T]):
    """Writes under this hold of the lock that wait for its end; T is the outcome of each operation.

    Each stays announced until then: after a kill the next one to hold the lock commits it.
    """

    repo: git.Repo | None
    lock_wait: float
    is_healed: bool = False
    """Whether what earlier operations left was seen to in this hold."""
    looked_at: set[Index] = field(default_factory=set)
    """The views of the indexes for which the names of the files were looked at in this hold."""
    _waiting: list[_Waiting[T]] = field(default_factory=list)
    _texts: dict[str, bytes | None] = field(default_factory=dict)
    _number: int = 0

    def next_number(self, next_free: Callable[[], int]) -> int:
        """The number of the next operation; what was free before the first of them is looked for once."""
        self._number = self._number + 1 if self._number else next_free()
        return self._number

    def wait(
        self, operation: str, changes: Sequence[git.FileChange], message: str, author: str, settle: Callable[[git.Commit], T]
    ) -> str:
        """Let an operation wait for its commit; returns what stands for that until `publish` says what became of it."""
        name = _WAITING + operation
        self._waiting.append(_Waiting(name, changes, message, author, settle))
        self._texts.update((change.path, change.content) for change in changes)
        return name

    def held(self, path: str, committed: Callable[[], bytes | None]) -> bytes | None:
        """The contents of a file by the last commit that is made or waits; `committed` looks it up in git."""
        return self._texts[path] if path in self._texts else committed()

    def publish(self) -> Mapping[str, T]:
        """Commit what waits, each operation by itself; returns what became of each. Call it before the lock is let go of."""
        waiting, self._waiting = self._waiting, []
        if not waiting or self.repo is None:
            return {}
        series = [(write.changes, write.message) for write in waiting]
        authors = [write.author for write in waiting]
        commits = git.commit_each(self.repo, series, authors=authors, lock_wait=self.lock_wait)
        return {write.name: write.settle(commit) for write, commit in zip(waiting, commits, strict=True)}


def stands_for_a_commit(commit: str | None) -> bool:
    """Whether a result's commit is still what `wait` returned."""
    return bool(commit) and str(commit).startswith(_WAITING)
