"""A merge that git left open: the texts of each side by git's own index, and the commit that ends it."""

from __future__ import annotations

from vault_tool.errors import GitError
from vault_tool.files.git.committing import HOOK_LIMIT
from vault_tool.files.git.repo import Repo, fields, merging
from vault_tool.files.git.run import first_line, honouring, output
from vault_tool.files.git.survey import EXECUTABLE, TreeEntry
from vault_tool.util.structs import Struct


class Unmerged(Struct):
    """The file of one path as git holds it in a conflict: in the common base, in this side and in that; None where it is gone."""

    base: TreeEntry | None = None
    this: TreeEntry | None = None
    that: TreeEntry | None = None

    @property
    def executable(self) -> bool:
        """Whether the file that stays can be run: as the side has it that changed this, or alone has the file."""
        modes = [entry.mode for entry in (self.this, self.that) if entry is not None]
        changed = [mode for mode in modes if self.base is None or mode != self.base.mode]
        return EXECUTABLE in (changed or modes)


_STAGES = {"1": "base", "2": "this", "3": "that"}


def unmerged(repo: Repo) -> dict[str, Unmerged]:
    """The vault's files that git left in conflict, by path."""
    out = output(repo.work_tree, "list the conflicts", "ls-files", "-z", "--unmerged", "--", *repo.places(()))
    sides: dict[str, dict[str, TreeEntry]] = {}
    for line in fields(out):
        about, _, name = line.partition("\t")
        mode, oid, stage = about.split(" ")
        if path := repo.relative(name):
            sides.setdefault(path, {})[_STAGES[stage]] = TreeEntry(mode, oid)
    return {path: Unmerged(**entries) for path, entries in sides.items()}


def finish_merge(repo: Repo) -> str:
    """Commit the merge under way as git's index holds it, with its own message; why not, in one line, where that failed.

    Hooks and signing are honoured. Other operations under way, such as a rebase, are their person's to go on with.
    """
    if not merging(repo):
        return ""
    try:
        done = honouring(repo.work_tree, "git", "commit", "--quiet", "--no-edit", "--cleanup=strip", limit=HOOK_LIMIT)
    except GitError as fault:
        return fault.marked
    return "" if done.code == 0 else f"the merge was not committed: {first_line(done.err) or first_line(done.out.decode())}"
