"""Where a vault lies in git: its work tree, its branch, and what stands in the way of a commit."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable
from os import fsdecode, fsencode
from pathlib import Path

from vault_tool.errors import GitError, Refused
from vault_tool.files.git.run import Result, call, first_line, one_line, output
from vault_tool.util.hints import if_there, shell, step
from vault_tool.util.structs import Struct

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")

_COMMIT = re.compile(r"[0-9a-f]{40,64}", re.ASCII)
_LOG_LINE = 400
_LATELY = 100

# How the log of HEAD begins to tell of a commit that this tool made itself.
OURS = "commit by vault_tool"
# The same of a commit that is by somebody else than git would name: no such commit is known as the owner's without a look at it.
SERVED = "served by vault_tool"


class Repo(Struct):
    """A vault's place in git. `prefix` is the vault's root relative to the work tree: "" or like `notes/`."""

    root: Path
    work_tree: Path
    git_dir: Path
    common_dir: Path
    prefix: str

    def inside(self, path: str) -> str:
        """A path relative to the vault's root as git names it; `Refused` for one that could leave the vault."""
        parts = path.split("/")
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or _CONTROL.search(path):
            raise Refused(f"'{one_line(path)}' is no path of a file in the vault")
        return self.prefix + path

    def places(self, paths: Iterable[str]) -> list[str]:
        """Arguments for git that mean these paths, or the whole vault when there are none."""
        names = [self.inside(path) for path in paths]
        return names or ([self.prefix.rstrip("/")] if self.prefix else [])

    def relative(self, name: str) -> str | None:
        """A path that git named, relative to the vault's root; None when it lies outside the vault."""
        return name[len(self.prefix) :] if name.startswith(self.prefix) else None


class GitHead(Struct):
    """Where HEAD is: an unborn branch has no commit, a detached HEAD has no branch."""

    branch: str | None
    commit: str | None


def find(root: Path) -> Repo | None:
    """The repository whose work tree holds `root`, from one git call; None where there is none (`look_for` says why).

    Raises `Refused` for a repository that another user owns, with the command by which git trusts it.
    """
    repo, _ = look_for(root)
    return repo


def init(root: Path) -> Repo:
    """Make `root` a repository of its own (`git init`), also inside the work tree of another."""
    output(root, "make a repository", "init", "--quiet")
    repo, why = look_for(root)
    if repo is None:
        raise GitError(f"git made no work tree in {root}: {why}")
    return repo


def head(repo: Repo) -> GitHead:
    """Where HEAD is now; read from git's own files where they say so, or asked of git."""
    if known := _read_head(repo):
        return known
    result = call(repo.work_tree, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
    if result.code == 0:
        commit, name = result.out.decode().split()
        return GitHead(None if name == "HEAD" else name.removeprefix("refs/heads/"), commit)
    name = output(repo.work_tree, "read HEAD", "symbolic-ref", "HEAD").decode().strip()
    return GitHead(name.removeprefix("refs/heads/"), None)


def _read_head(repo: Repo) -> GitHead | None:
    """HEAD on a branch whose commit is in a file of its own, as it is after each commit; None for every other case."""
    try:
        ref = (repo.git_dir / "HEAD").read_text("ascii").removesuffix("\n").removeprefix("ref: ")
        commit = (repo.common_dir / ref).read_text("ascii").removesuffix("\n")
    except (OSError, ValueError):
        return None
    known = ref.startswith("refs/heads/") and _COMMIT.fullmatch(commit)
    return GitHead(ref.removeprefix("refs/heads/"), commit) if known else None


def recent_heads(repo: Repo, limit: int = 20) -> list[str]:
    """The commits that HEAD was at last, newest first, each once; from its own log, without a process."""
    try:
        with (repo.git_dir / "logs" / "HEAD").open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - limit * _LOG_LINE))
            rows = file.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return []
    commits = [fields[1] for row in reversed(rows) if len(fields := row.split(" ", 2)) == 3 and _COMMIT.fullmatch(fields[1])]
    return list(dict.fromkeys(commits))[:limit]


def moved_by_us(repo: Repo, old: str, new: str, addresses: Collection[str] | None) -> bool:
    """Whether HEAD came from one commit to the other by commits of this tool alone, made under one of these addresses (or any).

    Its own log says so, which no pull brings; without a process.
    """
    try:
        with (repo.git_dir / "logs" / "HEAD").open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _LATELY * _LOG_LINE))
            rows = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return False
    at = new
    for row in reversed(rows):
        commit, _, note = row.partition("\t")
        before, after, *who = commit.split(" ")
        if (
            after != at
            or not note.startswith(OURS)
            or (addresses is not None and " ".join(who).rpartition(">")[0].rpartition("<")[2].lower() not in addresses)
        ):
            return False
        if before == old:
            return True
        at = before
    return False


def merging(repo: Repo) -> list[str]:
    """The commits that a merge under way brings in: their files are in the work tree already."""
    try:
        return (repo.git_dir / "MERGE_HEAD").read_text("ascii").split()
    except (OSError, UnicodeDecodeError):
        return []


_LEFT_TEXTS = f": {step('review')} settles what git left in conflict"
_LEFT_MERGE = f"{_LEFT_TEXTS}, and ends the merge with the last of it; where nothing is left, {step('commit')} ends it"

_UNDER_WAY = (
    ("rebase-merge", "a rebase", ("git rebase --continue", "git rebase --abort")),
    ("rebase-apply/applying", "a git am", ("git am --continue", "git am --abort")),
    ("rebase-apply", "a rebase", ("git rebase --continue", "git rebase --abort")),
    ("MERGE_HEAD", "a merge", ("git merge --abort",)),
    ("CHERRY_PICK_HEAD", "a cherry-pick", ("git cherry-pick --continue", "git cherry-pick --abort")),
    ("REVERT_HEAD", "a revert", ("git revert --continue", "git revert --abort")),
    ("sequencer", "a cherry-pick or revert of several commits", ("git status",)),
    ("BISECT_LOG", "a bisect", ("git bisect reset",)),
)


def obstacle(repo: Repo) -> str | None:
    """An operation under way in this work tree that a commit of ours would disturb: one line with what to type, or None.

    Looks at files alone, so that it costs no process.
    """
    for mark, what, commands in _UNDER_WAY:
        if (repo.git_dir / mark).exists():
            settles = "" if mark == "BISECT_LOG" else if_there(_LEFT_MERGE if mark == "MERGE_HEAD" else _LEFT_TEXTS)
            then = "; or" if mark == "MERGE_HEAD" else "; then" if settles else ":"
            how = if_there(f"{then} {', or '.join(map(shell, commands))}")
            return f"{what} is in progress in {repo.work_tree}; finish it first{settles}{how}"
    return None


def require_free(repo: Repo, refused: str) -> None:
    """Raise GitError, with what is refused and what to type, while such an operation is under way."""
    if under_way := obstacle(repo):
        what, _, advice = under_way.partition("; ")
        raise GitError(f"{refused}: {what}", advice)


def remotes(repo: Repo) -> list[str]:
    """The names of the repository's remotes."""
    return output(repo.work_tree, "list the remotes", "remote").decode(errors="replace").split()


def identity(repo: Repo) -> str | None:
    """The committer that git would name, `Name <email>`; None when git does not know."""
    result = call(repo.work_tree, "var", "GIT_COMMITTER_IDENT")
    return None if result.code else result.out.decode(errors="replace").rpartition(">")[0] + ">"


def resolve(repo: Repo, rev: str) -> str | None:
    """The commit that a name stands for, as a full id; None when there is none. An option-like name is `Refused`."""
    result = call(repo.work_tree, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{checked(rev)}^{{commit}}")
    return result.out.decode().strip() or None if result.code == 0 else None


def at(repo: Repo, name: str) -> str | None:
    """The commit that a ref is at, by its full name; from git's own file where it has one, else as git says."""
    try:
        commit = (repo.common_dir / checked(name)).read_text("ascii").removesuffix("\n")
    except (OSError, ValueError):
        commit = ""
    return commit if _COMMIT.fullmatch(commit) else resolve(repo, name)


def checked(rev: str) -> str:
    """`rev` itself, when it can only mean a revision; `Refused` when it reads as an option, a path or a range."""
    if not rev or rev.startswith("-") or _CONTROL.search(rev) or ":" in rev or ".." in rev:
        raise Refused(f"'{one_line(rev)}' is no revision", "give a commit id, a branch or a tag")
    return rev


def lines(names: Iterable[str]) -> bytes:
    """Paths as git reads them with `-z`: NUL after each."""
    return b"".join(fsencode(name) + b"\0" for name in names)


def fields(out: bytes) -> list[str]:
    """The fields of an output of git with `-z`, taken apart at the NULs."""
    return [fsdecode(field) for field in out.split(b"\0")[:-1]]


def look_for(root: Path) -> tuple[Repo | None, str]:
    """The result of `find`; for None also one line that says why, and what to type."""
    if not root.is_dir():
        return None, f"{root} is no folder"
    if not _is_worth_asking(root):
        return None, _in_none(root)
    try:
        result = call(root, "rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir", "--show-prefix")
    except GitError as error:
        return None, error.marked
    answer = fsdecode(result.out).split("\n")
    if result.code or len(answer) != 5:
        return None, _absence(root, result)
    top, git_dir, common, prefix, _ = answer
    work_tree = Path(top)
    if not root.resolve().is_relative_to(work_tree.resolve()):
        return None, f"the repository of {root} keeps its files elsewhere ({one_line(top)})"
    return Repo(root.absolute(), work_tree, Path(git_dir), (root / common).resolve(), prefix), ""


def _is_worth_asking(root: Path) -> bool:
    """Whether only git can tell: something that a repository has stands in the folder or in one above it, or git is not here."""
    real = root.resolve()
    is_near = any(os.path.lexists(folder / name) for folder in (real, *real.parents) for name in (".git", "HEAD"))
    return is_near or not any(os.path.lexists(f"{folder}/git") for folder in os.get_exec_path())


def _in_none(root: Path) -> str:
    return f"{root} is in no git repository; {shell('git init')} makes one"


def _absence(root: Path, result: Result) -> str:
    reason = result.err
    if "safe.directory" in reason:
        command = next((line.strip() for line in reason.splitlines() if "--add safe.directory" in line), "")
        raise Refused(first_line(reason), f"if you trust it: {shell(command)}" if command else "")
    if "safe.bareRepository" in reason or "must be run in a work tree" in reason:
        return f"{root} is a bare repository or a folder of git's own, not a work tree"
    if "not a git repository" in reason:
        return _in_none(root)
    return f"git cannot use the repository of {root}: {first_line(reason) or 'it has no work tree'}"
