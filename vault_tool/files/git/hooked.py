"""Commits through a repository's own programs: clean filters, hooks and signing, for which git reads no file on disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import field

from vault_tool.errors import GitError
from vault_tool.files.git.repo import Repo, fields
from vault_tool.files.git.run import Result, call, first_line, honouring, output
from vault_tool.files.git.survey import INDEX_HOOKS, Survey, TreeEntry, converted, hook_folder, hooks
from vault_tool.files.git.worktree import PATHS_A_CALL
from vault_tool.util.deferred import tempfile
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct

Run = Callable[..., Result]


class Hooked(Struct):
    """A commit that hooks agreed to, and the entries that they changed in it: before them, and as they are committed."""

    commit: str
    changed: Mapping[str, tuple[TreeEntry | None, TreeEntry | None]] = field(default_factory=dict)


def filtered(repo: Repo, before: Survey, contents: Mapping[str, bytes], limit: float) -> dict[str, str]:
    """Store what git's filters and line endings make of these contents; returns the ids of the blobs.

    The texts are given to git: a file on disk may have been edited since, and is not read.
    """
    ids: dict[str, str] = {}
    for name in converted(repo, before, contents):
        stored = ("hash-object", "-w", f"--path={name}", "--stdin")
        result = honouring(repo.work_tree, "git", *stored, feed=contents[name], limit=limit)
        ids[name] = _checked(result).out.decode().strip()
    return ids


def hooked(repo: Repo, before: Survey, planned: str, message: str, limit: float, author: str = "") -> Hooked:
    """Build the planned commit anew as `git commit` would have: its hooks run, at most `limit` seconds each, and signed.

    The hooks see an index of their own that holds HEAD and the planned change, as in `git commit --only`; what they change
    in it, or in the message, is committed. Raises `GitError` with the first line of what git or a hook said.
    """
    running = hooks(repo, before.settings)
    text, tree, changed = message, f"{planned}^{{tree}}", {}
    with _own_index(repo, limit, author) as run:
        if INDEX_HOOKS.intersection(running) or before.settings.config_hooks:
            _checked(run("git", "read-tree", "--reset", planned))
            run("git", "update-index", "-q", "--refresh")
            run_hook(repo, before, run, "pre-commit")
            tree = _checked(run("git", "write-tree")).out.decode().strip()
            changed = _changed(repo, planned, tree)
            text = _worded(repo, before, run, message)
        if changed and before.head.commit and not _changed(repo, before.head.commit, tree):
            raise GitError("git commit failed: a hook left nothing of it to be committed", f"mend it, then {step('commit')}")
        parents = ("-p", before.head.commit) if before.head.commit else ()
        signed = ("-S",) if before.settings.on("commit.gpgsign") else ()
        commit = _checked(run("git", "commit-tree", *signed, *parents, tree, feed=text.encode(errors="replace")))
    return Hooked(commit.out.decode().strip(), changed)


def after_commit(repo: Repo, before: Survey, limit: float) -> None:
    """Run the hook that follows a commit; what it says, and whether it ends in time, changes nothing."""
    with suppress(GitError):
        run_hook(repo, before, lambda *args: honouring(repo.work_tree, *args, limit=limit), "post-commit")


def run_hook(repo: Repo, before: Survey, run: Run, name: str, *args: str) -> None:
    """Run a hook of the repository's, if there is one; raises `GitError` when it refuses."""
    if name not in hooks(repo, before.settings) and not before.settings.config_hooks:
        return
    result = run("git", "hook", "run", "--ignore-missing", name, "--", *args)
    if "'hook' is not a git command" in result.err:  # before git 2.36
        result = run("sh", "-c", '"$0" "$@" >&2', str(hook_folder(repo, before.settings) / name), *args)
    _checked(result)


@contextmanager
def _own_index(repo: Repo, limit: float, author: str) -> Iterator[Run]:
    """A runner of git and hooks with an index of their own, which begins as the person's and so knows the stats of files."""
    with tempfile.TemporaryDirectory(prefix="commit-") as folder:
        index = Path(folder, "index")
        with suppress(FileNotFoundError):
            shutil.copyfile(repo.git_dir / "index", index)

        name, _, address = author.removesuffix(">").rpartition(" <")
        env = {"GIT_INDEX_FILE": str(index)} | ({"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": address} if author else {})

        def run(*command: str, feed: bytes = b"") -> Result:
            return honouring(repo.work_tree, *command, feed=feed, limit=limit, env=env)

        yield run


def _worded(repo: Repo, before: Survey, run: Run, message: str) -> str:
    """The message as the hooks leave it, without blank space at the ends of its lines and its own."""
    # Where hooks and linters look for it, also those that are not told.
    file = repo.git_dir / "COMMIT_EDITMSG"
    file.write_bytes(message.encode(errors="replace"))
    run_hook(repo, before, run, "prepare-commit-msg", str(file), "message")
    run_hook(repo, before, run, "commit-msg", str(file))
    written = file.read_bytes()
    if written == message.encode(errors="replace"):
        return message
    cleaned = output(repo.work_tree, "read the message that the hooks left", "stripspace", feed=written)
    if not cleaned:
        raise GitError("git commit failed: a hook left no message", f"mend it, then {step('commit')}")
    return cleaned.decode(errors="replace")


def _changed(repo: Repo, old: str, new: str) -> dict[str, tuple[TreeEntry | None, TreeEntry | None]]:
    """The entries that differ between two trees."""
    listed = iter(fields(output(repo.work_tree, "compare the trees", "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new)))
    changes: dict[str, tuple[TreeEntry | None, TreeEntry | None]] = {}
    for row in listed:
        old_mode, mode, old_oid, oid, _ = row.removeprefix(":").split(" ")
        gone = {"000000"}
        changes[next(listed)] = (
            None if old_mode in gone else TreeEntry(old_mode, old_oid),
            None if mode in gone else TreeEntry(mode, oid),
        )
    return changes


def staged_alike(repo: Repo, entries: Mapping[str, TreeEntry | None]) -> Collection[str]:
    """Those of the paths where the person's index holds these entries."""
    out = call(repo.work_tree, "ls-files", "-s", "-z", "--", *(entries if len(entries) <= PATHS_A_CALL else ())).out
    staged: dict[str, TreeEntry | None] = dict.fromkeys(entries)
    for line in fields(out):
        about, _, name = line.partition("\t")
        staged[name] = TreeEntry(*about.split(" ")[:2])
    return {name for name, entry in entries.items() if staged[name] == entry}


def _checked(result: Result) -> Result:
    if result.code:
        reason = first_line(result.err) or f"a hook refused it (exit code {result.code})"
        raise GitError(f"git commit failed: {reason}", f"mend it, then {step('commit')}")
    return result
