"""One operation, one commit: exactly the changes given, whatever else is staged or edited."""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from shlex import quote

from msgspec.structs import replace

from vault_tool.errors import GitError
from vault_tool.files.conflict_markers import what_to_do
from vault_tool.files.git.hooked import after_commit, filtered, hooked, staged_alike
from vault_tool.files.git.index import enter, refresh, wait_for_lock
from vault_tool.files.git.publish import Step, build, build_each, keep_tidy, publish
from vault_tool.files.git.repo import OURS, SERVED, Repo, head, obstacle
from vault_tool.files.git.run import output
from vault_tool.files.git.survey import EXECUTABLE, REGULAR, Survey, TreeEntry, converted, hooks, survey
from vault_tool.util.hints import shell
from vault_tool.util.structs import Struct

# How a person tells git who they are, in a folder without a repository too.
_WHO = "git config --global user.name 'Your Name' && git config --global user.email you@example.org"
# Seconds that a commit waits for another git process to let go of the index.
LOCK_WAIT = 10.0
# Seconds that each of a repository's own hooks, filters and its signing may take.
HOOK_LIMIT = 20.0
_ATTEMPTS = 10
_LONGEST_PAUSE = 0.2
# So many paths of one commit have their stats known to the index at once; of smaller ones, about one in sixteen sees to all.
_MANY = 16
_KINDS = {"120000": "a symbolic link", "160000": "a submodule", "040000": "a folder"}


class FileChange(Struct):
    """A file as it now is: its path relative to the vault's root, and its bytes, or None when it is gone."""

    path: str
    content: bytes | None


class Commit(Struct):
    """The outcome of a commit: made (`committed`, with its id), not needed (`nothing`), or not made (`reason`, one line).

    `nothing`: HEAD holds every change already.
    """

    committed: bool
    commit: str | None
    reason: str = ""
    nothing: bool = False


def commit(
    repo: Repo,
    changes: Sequence[FileChange],
    message: str,
    *,
    author: str = "",
    lock_wait: float = LOCK_WAIT,
    hook_limit: float = HOOK_LIMIT,
) -> Commit:
    """Commit `changes`, and only those, on the branch that HEAD is on.

    The commit is built aside from these bytes, never from files on disk, which a person may be editing; filters, hooks and
    signing are honoured on the way. Then it is entered in the index, by id, and published if HEAD is still the commit that
    it was built on. `author` (`Name <address>`) is whose it is, where that is not whom git would name. A kill at any point
    leaves at worst our paths staged. What stands in the way comes back as `reason`, and HEAD, the branch and the index are
    then as they were. Raises `Refused` for a path that leaves the vault; whatever git fails at is a reason.
    """
    contents = {repo.inside(change.path): change.content for change in changes}
    if not contents:
        return Commit(False, None, nothing=True)
    try:
        if reason := obstacle(repo):
            return Commit(False, None, reason)
        for attempt in range(_ATTEMPTS):
            done = _attempt(repo, contents, message, author, lock_wait, hook_limit)
            if done is not None:
                return done
            # Two that always lose to each other come apart by pauses of random length.
            time.sleep(min(_LONGEST_PAUSE, 0.01 * 2**attempt) * os.urandom(1)[0] / 255)
    except GitError as error:
        return Commit(False, None, error.marked)
    return Commit(False, None, "other commits were made here at the same time, again and again; the next write tries again")


def commit_each(
    repo: Repo,
    series: Sequence[tuple[Sequence[FileChange], str]],
    *,
    authors: Sequence[str] = (),
    lock_wait: float = LOCK_WAIT,
    hook_limit: float = HOOK_LIMIT,
) -> list[Commit]:
    """Commit each of several operations, its changes and its message, by itself and in their order; see `commit`.

    `authors` has an author for each, as `commit` takes it; none are named where it is empty.

    They are built by one process and published at once, which takes little longer than one of them. Where hooks, filters or
    signing have a say, or anything stands in the way, they are committed one after the other.
    """
    together = None
    authors = authors or [""] * len(series)
    if len(series) > 1:
        with suppress(GitError):
            together = _attempt_together(repo, series, authors, lock_wait)
    return together or [
        commit(repo, changes, message, author=author, lock_wait=lock_wait, hook_limit=hook_limit)
        for (changes, message), author in zip(series, authors, strict=True)
    ]


def _attempt_together(
    repo: Repo, series: Sequence[tuple[Sequence[FileChange], str]], authors: Sequence[str], lock_wait: float
) -> list[Commit] | None:
    """One try at the commits of a series; None where they have to be made one by one."""
    each = [({repo.inside(change.path): change.content for change in changes}, message) for changes, message in series]
    contents_together = {name: content for contents, _ in each for name, content in contents.items()}
    if obstacle(repo):
        return None
    before = survey(repo, contents_together)
    settings = before.settings
    if _objection(before, contents_together) or hooks(repo, settings) or settings.config_hooks or settings.on("commit.gpgsign"):
        return None
    held, steps = dict(before.committed), []
    for (contents, message), author in zip(each, authors, strict=True):
        if converted(repo, before, {name: content for name, content in contents.items() if content is not None}):
            return None
        differing = _differing({name: _target(before, name, content) for name, content in contents.items()}, held)
        held |= differing
        inline = {name: content for name in differing if (content := contents[name]) is not None}
        steps.append(Step(differing, inline, message, author=author))
    last = {name: held.get(name) for name in contents_together}
    behind = _differing(last, before.staged)
    if not any(step.targets for step in steps):
        enter(repo, behind, lock_wait)
        return [Commit(False, None, nothing=True) for _ in steps]
    wait_for_lock(repo, lock_wait)
    built = iter(build_each(repo, before, [step for step in steps if step.targets]))
    done = [Commit(True, next(built)) if step.targets else Commit(False, None, nothing=True) for step in steps]
    ids = [step.commit for step in done if step.commit]
    message = next(step.message for step in reversed(steps) if step.targets)
    served = any(step.author for step in steps if step.targets)
    if _publish(repo, before, ids[-1], _differing(last, before.committed) | behind, message, lock_wait, served=served) is None:
        return None
    for passed in ids[:-1]:
        keep_tidy(repo, passed)
    return done


def _attempt(
    repo: Repo, contents_by_name: Mapping[str, bytes | None], message: str, author: str, lock_wait: float, hook_limit: float
) -> Commit | None:
    """One try at the commit; None when HEAD moved meanwhile."""
    before = survey(repo, contents_by_name)
    if reason := _objection(before, contents_by_name):
        return Commit(False, None, reason)
    targets = {name: _target(before, name, content) for name, content in contents_by_name.items()}
    contents = {name: contents_by_name[name] for name in _differing(targets, before.committed)}
    ids = filtered(repo, before, {name: content for name, content in contents.items() if content is not None}, hook_limit)
    targets |= {name: replace(entry, oid=ids[name]) for name, entry in targets.items() if entry and name in ids}
    differing = _differing(targets, before.committed)
    # Entries that HEAD has overtaken are brought up to it too, or the user's next commit would take our notes back.
    behind = _differing(targets, before.staged)
    if not differing:
        enter(repo, behind, lock_wait)
        return Commit(False, None, nothing=True)
    wait_for_lock(repo, lock_wait)
    inline = {name: content for name in differing if (content := contents_by_name[name]) is not None and name not in ids}
    built = build(repo, before, differing, inline, message, author)
    if not (hooks(repo, before.settings) or before.settings.config_hooks or before.settings.on("commit.gpgsign")):
        return _publish(repo, before, built, differing | behind, message, lock_wait, served=bool(author))
    passed = hooked(repo, before, built, message, hook_limit, author)
    before, targets = _with_changed(repo, before, differing | behind, passed.changed)
    done = _publish(repo, before, passed.commit, targets, message, lock_wait, hook_limit, served=bool(author))
    if done is not None:
        after_commit(repo, before, hook_limit)
    return done


def _publish(
    repo: Repo,
    before: Survey,
    commit_id: str,
    targets: Mapping[str, TreeEntry | None],
    message: str,
    lock_wait: float,
    hook_limit: float | None = None,
    *,
    served: bool = False,
) -> Commit | None:
    # The index comes first: killed here, our paths are staged; the other way round, the user's next commit would undo ours.
    enter(repo, targets, lock_wait)
    published = False
    try:
        published = publish(repo, before.head, commit_id, message, hook_limit, how=SERVED if served else OURS)
    finally:
        # At once and not after the last try: the next would take what we entered for what the person had staged.
        if not published and head(repo).commit != commit_id:
            enter(repo, {name: before.staged.get(name) for name in targets}, lock_wait)
    if not published:
        return None
    if len(targets) >= _MANY or commit_id.startswith("0"):
        refresh(repo, before.settings)
    keep_tidy(repo, commit_id)
    return Commit(True, commit_id)


def _with_changed(
    repo: Repo,
    before: Survey,
    targets: Mapping[str, TreeEntry | None],
    changed: Mapping[str, tuple[TreeEntry | None, TreeEntry | None]],
) -> tuple[Survey, dict[str, TreeEntry | None]]:
    """The entries to put into the index where hooks changed the commit: as committed, but for files that the person staged."""
    others = {name: old for name, (old, _) in changed.items() if name not in targets}
    alike = staged_alike(repo, others) if others else ()
    entered = {name: new for name, (_, new) in changed.items() if name in targets or name in alike}
    return replace(before, staged={**before.staged, **{name: others[name] for name in alike}}), {**targets, **entered}


def resolve_conflicts(repo: Repo, contents: Mapping[str, bytes | None], limit: float, executable: Collection[str] = ()) -> None:
    """Enter these contents (None: no file) for conflicted files of the vault, by which git knows that their conflict is settled.

    Those of `executable` can be run. Raises `IndexLocked` after `limit` seconds.
    """
    by_name = {repo.inside(path): content for path, content in contents.items()}
    before = survey(repo, by_name)
    texts = {name: content for name, content in by_name.items() if content is not None}
    ids = filtered(repo, before, texts, HOOK_LIMIT)
    for name in texts.keys() - ids.keys():
        stored = output(repo.work_tree, "store a text", "hash-object", "-w", "--no-filters", "--stdin", feed=texts[name])
        ids[name] = stored.decode().strip()
    modes = {repo.inside(path): EXECUTABLE for path in executable}
    enter(repo, {name: TreeEntry(modes.get(name, REGULAR), ids[name]) if name in ids else None for name in by_name}, limit)


def unknown_committer() -> str:
    """Said where git does not know whose a commit would be."""
    return f"git does not know who you are; {shell(_WHO)} tells it"


def _objection(before: Survey, contents: Mapping[str, bytes | None]) -> str:
    if before.head.branch is None:
        return f"HEAD is detached, so a commit would be on no branch; {shell('git switch BRANCH')} goes back to one"
    if not (before.settings.author and before.settings.committer):
        return unknown_committer()
    if before.unmerged:
        return f"{min(before.unmerged)} is in conflict; {what_to_do(ends_merge=True)}"
    if hidden := sorted(name for name in before.ignored if contents[name] is not None):
        return f"{hidden[0]} is ignored by git; {shell(f'git check-ignore -v {quote(hidden[0])}')} says by which rule"
    if before.nested:
        return f"{min(before.nested)} lies in a repository of its own within the vault; commit it there"
    for name, entry in before.committed.items():
        if entry and entry.mode in _KINDS:
            return f"{name} is {_KINDS[entry.mode]} in git and was not replaced; remove it with git first"
    return ""


def _target(before: Survey, name: str, content: bytes | None) -> TreeEntry | None:
    if content is None:
        return None
    old = before.committed.get(name)
    return TreeEntry(old.mode if old else REGULAR, before.settings.blob(content))


def _differing(targets: Mapping[str, TreeEntry | None], held: Mapping[str, TreeEntry | None]) -> dict[str, TreeEntry | None]:
    return {name: entry for name, entry in targets.items() if entry != held.get(name)}
