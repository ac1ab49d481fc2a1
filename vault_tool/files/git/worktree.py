"""The state of the vault's files in git now: tracked, ignored, not yet committed, in conflict."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from vault_tool.files.git.repo import Repo, fields, find, lines
from vault_tool.files.git.run import Config, GitCall, call, output, together
from vault_tool.util.deferred import tempfile
from vault_tool.util.structs import Struct

State = Literal["new", "modified", "deleted", "renamed", "conflicted"]
# More paths than this are not given to git as arguments; what it says of the whole vault is narrowed down instead.
PATHS_A_CALL = 500

_CONFLICTS = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})


class UncommittedFile(Struct):
    """A file of the vault that differs from HEAD; `was` is the old path of a renamed one."""

    path: str
    state: State
    was: str = ""


def tracked(repo: Repo, paths: Iterable[str] = ()) -> set[str]:
    """Which of these files (or folders' files; of the whole vault, when none is given) git's index holds."""
    named = list(paths)
    out = output(repo.work_tree, "list the tracked files", "ls-files", "-z", "--cached", "--", *_few(repo, named))
    return _chosen(repo, fields(out), named)


def in_conflict(repo: Repo) -> set[str]:
    """The vault's files that a merge left unmerged."""
    out = output(repo.work_tree, "list the conflicts", "ls-files", "-z", "--unmerged", "--", *repo.places(()))
    return _chosen(repo, (line.partition("\t")[2] for line in fields(out)), ())


def ignored(repo: Repo, paths: Iterable[str]) -> set[str]:
    """Which of these paths the ignore rules name, whether they are tracked or not."""
    return _named_by_rules(repo, paths, "check-ignore", "--no-index", "-z", "--stdin")


def ignored_in(folder: Path, paths: Iterable[str]) -> set[str]:
    """The paths that a repository's ignore rules name; in a folder without a repository, those of its own `.gitignore`."""
    sayable = [path for path in paths if path.isprintable()]
    repo = find(folder)
    if repo is not None:
        return ignored(repo, sayable)
    with tempfile.TemporaryDirectory(prefix="vt-rules-") as empty:
        output(folder, "read the ignore rules", "init", "--quiet", "--bare", empty)
        where = (f"--git-dir={empty}", f"--work-tree={folder}")
        command = (*where, "check-ignore", "--no-index", "-z", "--stdin")
        query = GitCall(command, lines([f"./{path}" for path in sayable]), literal=False)
        result = together(folder, [query])[0]
    if result.code > 1:
        raise result.failure("apply the ignore rules")
    return {name.removeprefix("./") for name in fields(result.out)}


def _named_by_rules(repo: Repo, paths: Iterable[str], *command: str) -> set[str]:
    # `check-ignore` knows no literal pathspecs, and would read a leading colon as magic.
    named = {f"./{repo.inside(path)}": path for path in paths}
    if not named:
        return set()
    query = GitCall(command, lines(named), literal=False)
    result = together(repo.work_tree, [query])[0]
    if result.code > 1:
        raise result.failure("apply the ignore rules")
    return {named[name] for name in fields(result.out)}


def untracked_and_ignored(repo: Repo, paths: Iterable[str]) -> set[str]:
    """Which of these paths the ignore rules name and git's index does not hold: one process, where nothing is amiss."""
    return _named_by_rules(repo, paths, "check-ignore", "-z", "--stdin")


def uncommitted(repo: Repo, paths: Iterable[str] = (), quiet: Config | None = None) -> list[UncommittedFile]:
    """The vault's files that differ from HEAD, untracked ones one by one, sorted by path; ignored files are left out.

    `quiet` are the settings of `without_filters`, where they are known.
    """
    named = list(paths)
    out = output(
        repo.work_tree,
        "compare the files",
        *("status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--find-renames=100%"),
        *("--", *_few(repo, named)),
        config=without_filters(repo) if quiet is None else quiet,
    )
    by_path = {pending.path: pending for pending in _merged(_pending(repo, fields(out)))}
    chosen = _chosen(repo, (repo.prefix + path for path in by_path), named)
    return [by_path[path] for path in sorted(chosen)]


def staged(repo: Repo) -> set[str]:
    """The vault's files of which git's index says other than HEAD: the files themselves are not looked at."""
    args = ("diff-index", "--cached", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", "HEAD")
    names = fields(output(repo.work_tree, "compare the files", *args, "--", *repo.places(())))
    return {path for name in names if (path := repo.relative(name))}


def without_filters(repo: Repo) -> Config:
    """Settings that keep the clean filters and conversion programs of the config from running during a comparison."""
    return filters_and_remotes(repo)[0]


def filters_and_remotes(repo: Repo) -> tuple[Config, tuple[str, ...]]:
    """The same settings, and the names of the repository's remotes in order: one look at the config for both."""
    pattern = r"^(filter\..*\.(clean|process|required)|remote\..*\.[^.]*)$"
    keys = fields(call(repo.work_tree, "config", "--null", "--name-only", "--get-regexp", pattern).out)
    quiet = [(key, "false" if key.endswith(".required") else "") for key in keys if key.startswith("filter.")]
    remotes = {key.removeprefix("remote.").rpartition(".")[0] for key in keys if key.startswith("remote.")}
    # Git itself lists none whose name begins so.
    return quiet, tuple(sorted((name for name in remotes if not name.startswith("/")), key=os.fsencode))


def _few(repo: Repo, paths: list[str]) -> list[str]:
    return repo.places(paths if len(paths) <= PATHS_A_CALL else ())


def _chosen(repo: Repo, names: Iterable[str], paths: Iterable[str]) -> set[str]:
    own = {path for name in names if (path := repo.relative(name))}
    chosen = set(paths)
    if not chosen:
        return own
    return {path for path in own if path in chosen or any(folder in chosen for folder in _folders(path))}


def _folders(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[: end + 1]) for end in range(len(parts)))


def _pending(repo: Repo, names: list[str]) -> Iterator[UncommittedFile]:
    entries = iter(names)
    for entry in entries:
        code, path = entry[:2], repo.relative(entry[3:])
        was = repo.relative(next(entries)) if "R" in code or "C" in code else None
        # A name that ends in a slash is a repository within the vault, whose files are its own.
        if path and not path.endswith("/"):
            yield UncommittedFile(path, _state(code, bool(was)), was or "" if "R" in code else "")


def _state(code: str, moved_within: bool) -> State:
    if code in _CONFLICTS:
        return "conflicted"
    if code[1] == "D":
        return "deleted"
    if "R" in code and moved_within:
        return "renamed"
    if code == "??" or code[0] in "ARC" or code[1] in "ARC":
        return "new"
    return "deleted" if code[0] == "D" else "modified"


def _merged(files: Iterable[UncommittedFile]) -> Iterator[UncommittedFile]:
    """A path that is both deleted in the index and there untracked has been modified."""
    seen: dict[str, UncommittedFile] = {}
    for pending in files:
        other = seen.get(pending.path)
        twice = other is not None and {other.state, pending.state} == {"deleted", "new"}
        seen[pending.path] = UncommittedFile(pending.path, "modified") if twice else pending
    return iter(seen.values())
