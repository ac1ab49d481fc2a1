"""The vault's past in git: earlier texts, the log, and differences."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from vault_tool.errors import NotFound
from vault_tool.files.git.repo import Repo, checked, head, resolve
from vault_tool.files.git.run import output
from vault_tool.files.git.worktree import without_filters
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

QUIET = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
_TRAILERS = ("Vault-Op", "Vault-Session", "Vault-Ids")
FORM = ("%H", "%at", "%an", "%s", *(f"%(trailers:key={key},valueonly,unfold,separator=%x20)" for key in _TRAILERS))


class LogEntry(Struct):
    """One commit: `at` is the author's time in UTC (ISO 8601); `op`, `session` and `ids` are "" or () on foreign commits.

    `paths` are the files of the vault that the commit touched, relative to its root; in the log of one note its own alone.
    `more` counts those that an answer does not list.
    """

    commit: str
    at: str
    author: str
    subject: str
    op: str
    session: str
    ids: tuple[str, ...]
    paths: tuple[str, ...]
    more: int = 0


def show(repo: Repo, rev: str, path: str) -> bytes | None:
    """A file's bytes as a commit holds them; None when it holds no such file."""
    return show_many(repo, rev, [path]).get(path)


def show_many(repo: Repo, rev: str, paths: Iterable[str]) -> dict[str, bytes]:
    """The bytes of several files as one commit holds them, from one process; files that it lacks are left out."""
    return {path: data for (_, path), data in show_at(repo, ((rev, path) for path in paths)).items()}


def show_at(repo: Repo, places: Iterable[tuple[str, str]]) -> dict[tuple[str, str], bytes]:
    """The bytes of files at commits, each named by both, from one process; what is not there is left out."""
    named = list(dict.fromkeys(places))
    asked = b"".join(f"{checked(rev)}:{repo.inside(path)}\n".encode(errors="surrogateescape") for rev, path in named)
    if not named:
        return {}
    out = output(repo.work_tree, "read files as committed", "cat-file", "--batch=%(objecttype) %(objectsize)", feed=asked)
    return dict(_blobs(out, named))


def log(repo: Repo, *, paths: Iterable[str] = (), limit: int = 20, tip: str = "HEAD") -> list[LogEntry]:
    """The newest commits that touched these paths (the vault, when none is given), newest first, at most `limit`.

    They are those that `tip` has. One note's own are told by `note_log`.
    """
    if head(repo).commit is None:
        return []
    return _told(repo, (f"--max-count={limit}", "--no-follow", "--full-diff"), (tip, "--", *repo.places(paths)))


def newest(repo: Repo, *, paths: Iterable[str] = (), limit: int = 20) -> list[str]:
    """The same commits of HEAD by their ids alone: what they changed is not looked for."""
    if head(repo).commit is None:
        return []
    args = (f"--max-count={limit}", "--no-follow", "--no-renames", "--no-show-signature", "--format=%H")
    return output(repo.work_tree, "read the log", "log", *args, "HEAD", "--", *repo.places(paths)).decode().split()


def log_of(repo: Repo, commits: Sequence[str]) -> list[LogEntry]:
    """These commits as the log tells them."""
    named = "\n".join(map(checked, commits)).encode() + b"\n"
    return _told(repo, ("--no-walk=unsorted", "--stdin"), (), named) if commits else []


def _told(repo: Repo, reach: Sequence[str], of: Sequence[str], feed: bytes = b"") -> list[LogEntry]:
    mark = os.urandom(16).hex()
    form = "--format=" + "%x00".join([mark, *FORM]) + "%x00"
    args = ("-z", "--name-only", "--no-renames", "--encoding=UTF-8", "--no-show-signature", *QUIET, *reach, form)
    out = output(repo.work_tree, "read the log", "log", *args, *of, feed=feed)
    texts = out.decode(errors="surrogateescape").split(f"{mark}\0")[1:]
    return [_entry(repo, text.split("\0")) for text in texts]


def diff(
    repo: Repo, *, since: str | None = None, of: str | None = None, paths: Iterable[str] = (), color: bool = False
) -> str:  # fmt: skip
    """How the files of the vault differ from HEAD, or from the commit `since`, as a patch; untracked files are not in it.

    With `of`, what that one commit changed. Raises `NotFound` when `since` or `of` names no commit.
    """
    named = since if of is None else of
    base = head(repo).commit if named is None else resolve(repo, named)
    if base is None and named is not None:
        raise NotFound(f"no commit is called '{named}'", f"{step('log')} lists the commits")
    until = [base] if of is not None and base is not None else []
    if until:
        base = resolve(repo, f"{base}^")
    if base is None:
        base = output(repo.work_tree, "compare", "hash-object", "-t", "tree", "--stdin").decode().strip()
    shade = "--color=always" if color else "--no-color"
    # A move is told only of the same bytes: of what is merely alike git names the wrong one.
    args = ("diff", *QUIET, shade, "--find-renames=100%", base, *until, "--", *repo.places(paths))
    return output(repo.work_tree, "compare the files", *args, config=without_filters(repo)).decode(errors="replace")


def changed_between(repo: Repo, old: str, new: str) -> dict[str, str]:
    """The changes of the vault's files from one commit to another: path to `A`, `M` or `D`; a move is both A and D."""
    bases = [resolve(repo, old), resolve(repo, new)]
    for rev, base in zip((old, new), bases, strict=True):
        if base is None:
            raise NotFound(f"no commit is called '{rev}'", f"{step('log')} lists the commits")
    args = ("diff-tree", "-r", "-z", "--name-status", "--no-renames", *QUIET, *(base for base in bases if base))
    parts = output(repo.work_tree, "compare the commits", *args, "--", *repo.places(())).decode(errors="surrogateescape")
    names = parts.split("\0")[:-1]
    pairs = zip(names[::2], names[1::2], strict=True)
    return {path: "M" if code == "T" else code for code, name in pairs if (path := repo.relative(name))}


def _blobs(out: bytes, named: list[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], bytes]]:
    at = 0
    for place in named:
        end = out.index(b"\n", at)
        answer = out[at:end].split(b" ")
        at = end + 1
        if not answer[-1].isdigit():
            continue
        size = int(answer[-1])
        if answer[0] == b"blob":
            yield place, out[at : at + size]
        at += size + 1


def _entry(repo: Repo, parts: list[str]) -> LogEntry:
    touched = (repo.relative(name.lstrip("\n")) for name in parts[len(FORM) :] if name.strip("\n"))
    return log_entry(parts[: len(FORM)], tuple(path for path in touched if path))


def log_entry(values: Sequence[str], paths: tuple[str, ...]) -> LogEntry:
    """A commit from what `FORM` had git say of it."""
    commit, at, author, subject, op, session, ids = values
    return LogEntry(
        commit=commit,
        at=datetime.fromtimestamp(int(at), UTC).isoformat(),
        author=_text(author),
        subject=_text(subject),
        op=op.strip(),
        session=session.strip(),
        ids=tuple(ids.split()),
        paths=paths,
    )


def _text(raw: str) -> str:
    return raw.encode(errors="surrogateescape").decode(errors="replace")
