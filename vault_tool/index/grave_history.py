"""Others' tombstones as the history has them: who brought each, and whose the note was that went with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from vault_tool.files import git
from vault_tool.files.layout import FileKind, file_kind
from vault_tool.files.parse import parse
from vault_tool.files.tombstones import FORGOTTEN
from vault_tool.index.graves import ForeignGrave, identity_of, is_grave
from vault_tool.model.types import Registry

if TYPE_CHECKING:
    from vault_tool.files.git.authors import Brought

# Whose a text at a path is, as an origin: the empty text is the owner's.
Whose = Callable[[str, str], str]


def foreign_graves(
    repo: git.Repo,
    ends: Sequence[str],
    signed: bool,
    wrote: Callable[[Brought], bool],
    author: Callable[[Brought], str],
    whose: Whose,
) -> tuple[ForeignGrave, ...]:
    """Others' tombstones among all that the history has, where `wrote` tells the owner's commits; raises `GitError`.

    One is the owner's where a commit of theirs put the same text there, unless somebody put it back after it was taken away.
    """
    ours: dict[tuple[str, str], str] = {}
    theirs: dict[tuple[str, str], dict[str, Brought]] = {}
    for commit in git.brought(repo, ends, (), [FORGOTTEN], signed):
        for path, blob in ((file.path, file.blob) for file in commit.files if is_grave(file.path)):
            if wrote(commit):
                ours[path, blob] = commit.commit
                theirs.pop((path, blob), None)
            elif (path, blob) not in ours or git.is_ancestor(repo, ours[path, blob], commit.commit):
                ours.pop((path, blob), None)
                theirs.setdefault((path, blob), {}).setdefault(author(commit), commit)
    if not theirs:
        return ()
    gone = _taken_away(repo, dict.fromkeys(commit.commit for commits in theirs.values() for commit in commits.values()), whose)
    rows = []
    for (path, blob), by_author in theirs.items():
        for who, commit in by_author.items():
            owner, note = gone.get((commit.commit, identity_of(path)), (None, ""))
            rows.append(ForeignGrave(path, blob, who, commit.at, commit.commit, owner, note))
    return tuple(rows)


def _taken_away(repo: git.Repo, commits: Iterable[str], whose: Whose) -> dict[tuple[str, str], tuple[str, str]]:
    """The notes that each of the commits took away, by the commit and the note's id: whose it was, and its blob."""
    removed = [removal for removal in git.removed_by(repo, commits) if file_kind(removal[1]) is FileKind.NOTE]
    texts = git.blobs(repo, (blob for _, _, blob in removed))
    registry = Registry()
    owners = {}
    for commit, path, blob in removed:
        identity = str(parse(path, texts.get(blob, b""), registry).head.get("id") or "")
        if identity:
            owners[commit, identity] = whose(path, blob), blob
    return owners
