"""One operation, one commit: exactly the changes given, whatever else is staged or edited."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vault_tool.errors import GitError
from vault_tool.files.git.hooked import commit_by_git
from vault_tool.files.git.index import Target, enter, wait_for_lock
from vault_tool.files.git.publish import build, keep_tidy, publish
from vault_tool.files.git.repo import Repo, obstacle
from vault_tool.files.git.survey import REGULAR, Entry, Settings, Survey, converted, hooks, survey

LOCK_WAIT = 10.0
"""Seconds that a commit waits for another git process to let go of the index."""
HOOK_LIMIT = 20.0
"""Seconds that a repository's own hooks and signing may take."""
_ATTEMPTS = 10
_LONGEST_PAUSE = 0.2
_KINDS = {"120000": "a symbolic link", "160000": "a submodule", "040000": "a folder"}


@dataclass(frozen=True, slots=True)
class Change:
    """A file as it now is: its path relative to the vault's root, and its bytes, or None when it is gone."""

    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Commit:
    """What became of a commit: made (`committed`, with its id), not needed (`nothing`), or not made (`reason`, one line).

    `nothing`: HEAD holds every change already.
    """

    committed: bool
    commit: str | None
    reason: str = ""
    nothing: bool = False


def commit(
    repo: Repo, changes: Sequence[Change], message: str, *, lock_wait: float = LOCK_WAIT, hook_limit: float = HOOK_LIMIT
) -> Commit:
    """Commit `changes`, and only those, on the branch that HEAD is on.

    Git's own `commit` is run where the repository has hooks, signing or filters for it to honour; elsewhere the commit is
    built aside, entered in the index, and published if HEAD is still the commit that it was built on. A kill at any point
    leaves at worst our paths staged. What stands in the way comes back as `reason`, and HEAD, the branch and the index
    are then as they were. Raises `Refused` for a path that leaves the vault; whatever git fails at is a reason.
    """
    wanted = {repo.inside(change.path): change.content for change in changes}
    if not wanted:
        return Commit(False, None, nothing=True)
    try:
        if reason := obstacle(repo):
            return Commit(False, None, reason)
        for attempt in range(_ATTEMPTS):
            done = _attempt(repo, wanted, message, lock_wait, hook_limit)
            if done is not None:
                return done
            # Two that always lose to each other come apart by pauses of random length.
            time.sleep(min(_LONGEST_PAUSE, 0.01 * 2**attempt) * os.urandom(1)[0] / 255)
    except GitError as error:
        return Commit(False, None, str(error))
    return Commit(False, None, "other commits were made here at the same time, again and again; the next write tries again")


def _attempt(repo: Repo, wanted: Mapping[str, bytes | None], message: str, lock_wait: float, hook_limit: float) -> Commit | None:
    """One try at the commit; None when HEAD moved meanwhile."""
    before = survey(repo, wanted)
    if reason := _objection(before, wanted):
        return Commit(False, None, reason)
    targets = {name: _target(before, name, content) for name, content in wanted.items()}
    differing = {name: target for name, target in targets.items() if target.entry != before.committed.get(name)}
    # Entries that HEAD has overtaken are brought up to it too, or the user's next commit would take our notes back.
    behind = {name: target for name, target in targets.items() if target.entry != before.staged.get(name)}
    if not differing:
        enter(repo, behind, lock_wait)
        return Commit(False, None, nothing=True)
    contents = {name: target.content for name, target in differing.items() if target.content is not None}
    if _needs_git(repo, before.settings, contents):
        wait_for_lock(repo, lock_wait)
        return Commit(True, commit_by_git(repo, before, differing, message, hook_limit))
    wait_for_lock(repo, lock_wait)
    made = build(repo, before, differing, message)
    return _publish(repo, before, made, differing | behind, message, lock_wait)


def _publish(
    repo: Repo, before: Survey, made: str, targets: Mapping[str, Target], message: str, lock_wait: float
) -> Commit | None:
    # The index comes first: killed here, our paths are staged; the other way round, the user's next commit would undo ours.
    enter(repo, targets, lock_wait)
    try:
        published = publish(repo, before.head, made, message)
    except GitError:
        enter(repo, {name: Target(before.staged.get(name)) for name in targets}, lock_wait)
        raise
    if not published:
        return None
    keep_tidy(repo, made)
    return Commit(True, made)


def _objection(before: Survey, wanted: Mapping[str, bytes | None]) -> str:
    if before.head.branch is None:
        return "HEAD is detached, so a commit would be on no branch; type: git switch <branch>"
    if not (before.settings.author and before.settings.committer):
        return "git does not know who you are; type: git config user.name 'Your Name' && git config user.email you@example.org"
    if before.unmerged:
        return f"{min(before.unmerged)} is in conflict; settle it, then type: git add '{min(before.unmerged)}'"
    if hidden := sorted(name for name in before.ignored if wanted[name] is not None):
        return f"{hidden[0]} is ignored by git; to see by which rule, type: git check-ignore -v '{hidden[0]}'"
    if before.nested:
        return f"{min(before.nested)} lies in a repository of its own within the vault; commit it there"
    for name, entry in before.committed.items():
        if entry and entry.mode in _KINDS:
            return f"{name} is {_KINDS[entry.mode]} in git and was not replaced; remove it with git first"
    return ""


def _target(before: Survey, name: str, content: bytes | None) -> Target:
    if content is None:
        return Target(None)
    old = before.committed.get(name)
    return Target(Entry(old.mode if old else REGULAR, before.settings.blob(content)), content)


def _needs_git(repo: Repo, settings: Settings, contents: Mapping[str, bytes]) -> bool:
    forced = settings.on("commit.gpgsign") or settings.on("core.sparsecheckout")
    return forced or bool(hooks(repo, settings)) or converted(repo, settings, contents)
