"""The changes that single commits made to the vault's files: of several at once, with the blobs before and after."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator

from vault_tool.files.git.repo import Repo, checked
from vault_tool.files.git.run import output
from vault_tool.util.structs import Struct

_FORM = ("%H", "%P", "%s", "%(trailers:key=Vault-Op,valueonly,unfold,separator=%x20)")
_SHA256 = 64
_QUIET = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")


class FileChanged(Struct):
    """A file of the vault and its blob before and after; empty where it was not there."""

    path: str
    before: str
    after: str


class CommitChanges(Struct):
    """A commit, its first parent (empty for the first commit), the operation that it is of, and what it changed in the vault."""

    commit: str
    parent: str
    subject: str
    op: str
    files: tuple[FileChanged, ...]


def changes_of(repo: Repo, commits: Iterable[str]) -> dict[str, CommitChanges]:
    """The changes of each commit against its first parent, by its whole id, from one process; a move is both gone and new."""
    named = list(dict.fromkeys(map(checked, commits)))
    if not named:
        return {}
    mark = os.urandom(16).hex()
    form = "--format=" + "%x00".join([mark, *_FORM]) + "%x00"
    reach = ("--no-walk=unsorted", "-m", "--first-parent", "--raw", "--no-abbrev", "--no-renames", "--encoding=UTF-8")
    args = ("-z", *reach, "--no-show-signature", *_QUIET, form, "--stdin", "--", *repo.places(()))
    out = output(repo.work_tree, "read the log", "log", *args, feed="\n".join(named).encode() + b"\n")
    texts = out.decode(errors="surrogateescape").split(f"{mark}\0")[1:]
    return {changes.commit: changes for changes in (_changes(repo, text.split("\0")) for text in texts)}


def blob_id(data: bytes, like: str) -> str:
    """The id of a blob with these bytes, by the hash that another id is of."""
    hashed = hashlib.sha256() if len(like) == _SHA256 else hashlib.sha1(usedforsecurity=False)
    hashed.update(b"blob %d\0" % len(data))
    hashed.update(data)
    return hashed.hexdigest()


def off_branch(repo: Repo, commits: Iterable[str]) -> frozenset[str]:
    """Those of the commits that HEAD does not come from."""
    named = frozenset(map(checked, commits))
    if not named:
        return named
    out = output(
        repo.work_tree, "read the history", "rev-list", "--stdin", feed="\n".join([*sorted(named), "^HEAD", ""]).encode()
    )
    return named.intersection(out.decode().split())


def _changes(repo: Repo, parts: list[str]) -> CommitChanges:
    commit, parents, subject, op, *rest = parts
    shown = subject.encode(errors="surrogateescape").decode(errors="replace")
    return CommitChanges(commit, parents.partition(" ")[0], shown, op.strip(), tuple(_files(repo, rest)))


def _files(repo: Repo, rest: list[str]) -> Iterator[FileChanged]:
    parts = [part.lstrip("\n") for part in rest]
    parts = [part for part in parts if part]
    for status, name in zip(parts[::2], parts[1::2], strict=False):
        path = repo.relative(name)
        fields = status.split(" ")
        if path and len(fields) == 5:
            before, after = ("" if not blob.strip("0") else blob for blob in fields[2:4])
            yield FileChanged(path, before, after)
