"""A repository at a commit of the past: which commit that is, its files, and a small repository that stands there."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from vault_tool.files.git.repo import Repo, fields, lines
from vault_tool.files.git.run import output
from vault_tool.util.structs import Struct

_REGULAR = ("100644", "100755")
_GONE = re.compile(rb"\n--- (?:a/)?([^\n]*)\n\+\+\+ ([^\n]*)\n")


class PastCommit(Struct):
    """A commit of the branch's own line, and when it was made."""

    commit: str
    at: datetime


def last_before(repo: Repo, moment: datetime) -> PastCommit | None:
    """The last commit before a moment on the first-parent line of HEAD; None where the line begins later."""
    return _first(repo, "--max-count=1", f"--min-age={int(moment.timestamp())}")


def first_with(repo: Repo) -> PastCommit | None:
    """The first commit on the first-parent line of HEAD that holds anything of the vault."""
    out = output(repo.work_tree, "read the log", *_LINE, "--reverse", "HEAD", "--", *repo.places(()))
    return next(_commits(out), None)


_LINE = ("log", "--first-parent", "--no-show-signature", "--format=%H %ct")


def _first(repo: Repo, *narrows: str) -> PastCommit | None:
    return next(_commits(output(repo.work_tree, "read the log", *_LINE, *narrows, "HEAD", "--")), None)


def _commits(out: bytes) -> Iterator[PastCommit]:
    for line in out.decode().splitlines():
        commit, at = line.split()
        yield PastCommit(commit, datetime.fromtimestamp(int(at), UTC))


def is_shallow(repo: Repo) -> bool:
    """Whether the history of this clone was cut off."""
    return (repo.common_dir / "shallow").is_file()


def files_at(repo: Repo, commit: str, *, whole: bool) -> dict[str, str]:
    """The regular files that a commit holds, by their paths in the repository, each with its blob; of the vault, or of the
    `whole` repository.
    """
    places = () if whole else repo.places(())
    out = output(repo.work_tree, "read a commit", "ls-tree", "-r", "-z", "--full-tree", commit, "--", *places)
    rows = (row.partition("\t") for row in fields(out))
    return {path: about.split(" ")[2] for about, _, path in rows if about.split(" ")[0] in _REGULAR}


def lines_taken_out(repo: Repo, commit: str, ops: str) -> Mapping[str, frozenset[bytes]]:
    """The lines that operations of these names took out of files since a commit, by the files' paths in the repository."""
    form = ("--first-parent", "-p", "-U0", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--format=%n")
    out = output(
        repo.work_tree, "read the log", "log", *form, "-E", f"--grep=^Vault-Op: ({ops})$", f"{commit}..HEAD", "--",
        *repo.places(()),
    )  # fmt: skip
    gone: defaultdict[str, set[bytes]] = defaultdict(set)
    parts = _GONE.split(b"\n" + out)
    for path, _, patch in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        lines = (line[1:].rstrip(b"\r") for line in patch.split(b"\n") if line.startswith(b"-"))
        gone[path.decode("utf-8", "surrogateescape")].update(line for line in lines if line.strip())
    return {path: frozenset(lines) for path, lines in gone.items()}


def stand_at(repo: Repo, commit: str, folder: Path, without: Collection[str] = ()) -> None:
    """Make `folder` the work tree of a repository of its own whose branch ends at a commit, and whose index has all files of it
    but those `without` which it stands there; it has no object of its own.
    """
    form = output(repo.work_tree, "read the settings", "rev-parse", "--show-object-format").decode().strip()
    output(folder, "stand in the past", "init", "--quiet", f"--object-format={form}", "--template=", "--initial-branch=past")
    git_dir = folder / ".git"
    (git_dir / "objects" / "info").mkdir(parents=True, exist_ok=True)
    (git_dir / "objects" / "info" / "alternates").write_bytes(bytes(repo.common_dir / "objects") + b"\n")
    if is_shallow(repo):
        (git_dir / "shallow").write_bytes((repo.common_dir / "shallow").read_bytes())
    output(folder, "stand in the past", "update-ref", "refs/heads/past", commit)
    output(folder, "stand in the past", "read-tree", commit)
    if without:
        output(folder, "stand in the past", "update-index", "--force-remove", "-z", "--stdin", feed=lines(without))
