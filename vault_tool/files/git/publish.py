"""A commit built aside by `git fast-import` and published by compare-and-swap of HEAD."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from os import fsencode

from vault_tool.errors import GitError
from vault_tool.files.git.repo import OURS, GitHead, Repo, head
from vault_tool.files.git.run import call, honouring, one_line
from vault_tool.files.git.survey import Survey, TreeEntry
from vault_tool.util.structs import Struct


class Step(Struct):
    """One commit to be built: the entries that it changes, the contents of those that git does not have yet, and its message."""

    targets: Mapping[str, TreeEntry | None]
    contents: Mapping[str, bytes]
    message: str
    merged: str = ""
    """The second parent, where the commit is a merge."""
    author: str = ""
    """Its author, `Name <address>`; empty for whom git would name."""


# The pack that fast-import writes of so few files it takes apart at once: to deflate folders of 1,000 names for that costs more
# than all else.
_FEW = 10
_STORED = (("pack.compression", "0"),)
_UNPACK_LIMITS = ("fastimport.unpacklimit", "transfer.unpacklimit")


def build(
    repo: Repo,
    before: Survey,
    targets: Mapping[str, TreeEntry | None],
    contents: Mapping[str, bytes],
    message: str,
    author: str = "",
) -> str:
    """Write the commit and its objects, which no ref names yet; returns its id."""
    return build_each(repo, before, [Step(targets, contents, message, author=author)])[0]


def build_each(repo: Repo, before: Survey, steps: Sequence[Step]) -> list[str]:
    """Write several commits, the first on what was seen and each further one on the one before; returns their ids."""
    feed = b"".join(_stream(before, steps))
    # A person who has git keep such packs whole would keep them as they were written.
    kept_whole = any(name in before.settings.config for name in _UNPACK_LIMITS)
    few = not kept_whole and sum(len(step.targets) for step in steps) <= _FEW
    result = call(repo.work_tree, "fast-import", "--quiet", "--date-format=raw", feed=feed, config=_STORED if few else ())
    if result.code:
        with suppress(OSError):
            (repo.git_dir / f"fast_import_crash_{result.pid}").unlink()
        raise result.failure("write the commit")
    return result.out.decode().split()


def publish(repo: Repo, seen: GitHead, commit: str, message: str, hook_limit: float | None = None, *, how: str = OURS) -> bool:
    """Move the branch from the commit that was seen to the one made; False when HEAD is no longer what was seen.

    With `hook_limit` the hook that watches refs is run, for so many seconds at most. `how` begins the note in the log of HEAD.
    """
    first = "" if seen.commit else " (initial)"
    note = f"{how}{first}: {one_line(message.partition(chr(10))[0])}"
    # An empty old id says that there must be no branch yet, so a first commit can lose the race as well.
    args = ("update-ref", "-m", note, "HEAD", commit, seen.commit or "")
    result = honouring(repo.work_tree, "git", *args, limit=hook_limit) if hook_limit else call(repo.work_tree, *args)
    if result.code == 0:
        return True
    # Git's answer is the same for a lost race and for any other refusal, and a hook can hang after the branch has moved:
    # only HEAD tells them apart.
    now = head(repo)
    if now == seen:
        raise result.failure("move the branch to the commit")
    return now.commit == commit


def keep_tidy(repo: Repo, commit: str) -> None:
    """Let git pack its objects when it finds them too many, after about one commit in 256, as `git commit` does after each."""
    if commit.startswith("00"):
        with suppress(GitError):
            call(repo.work_tree, "maintenance", "run", "--auto", "--quiet")


def _stream(before: Survey, steps: Sequence[Step]) -> Iterator[bytes]:
    """The fast-import stream: commits on a ref that the same stream takes away again, and a question for their ids."""
    ref = f"refs/vault-tool/{os.urandom(16).hex()}".encode()
    settings = before.settings
    # So that a stream that breaks off before its `done` is refused whole.
    yield b"feature done\n"
    parent = before.head.commit.encode() if before.head.commit else b""
    for mark, step in enumerate(steps, 1):
        yield b"commit " + ref + b"\nmark :%d\n" % mark
        author = settings.author_of(step.author)
        yield b"author " + fsencode(author) + b"\ncommitter " + fsencode(settings.committer) + b"\n"
        yield _data(step.message.encode(errors="replace"))
        yield b"from " + parent + b"\n" if parent else b""
        yield b"merge " + step.merged.encode() + b"\n" if step.merged else b""
        # Removals first, so that a folder may take the place of a file.
        yield from (b"D " + _quoted(name) + b"\n" for name, entry in step.targets.items() if entry is None)
        for name, entry in step.targets.items():
            if entry is not None:
                inline = name in step.contents
                yield f"M {entry.mode} {'inline' if inline else entry.oid} ".encode() + _quoted(name) + b"\n"
                yield _data(step.contents[name]) if inline else b""
        yield b"\n"
        parent = b":%d" % mark
    zero = b"0" * (64 if settings.sha256 else 40)
    yield b"reset " + ref + b"\nfrom " + zero + b"\n\n"
    yield from (b"get-mark :%d\n" % mark for mark in range(1, len(steps) + 1))
    yield b"done\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content + b"\n"


def _quoted(name: str) -> bytes:
    return b'"' + fsencode(name).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
