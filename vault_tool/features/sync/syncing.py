"""`sync`: hand edits are committed, what others pushed is merged in memory, and what is here alone is pushed; never by force."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.errors import GitError, Refused
from vault_tool.features.history.history import commit as commit_edits
from vault_tool.features.history.history import has_edits
from vault_tool.features.sync import pulled_by_hand
from vault_tool.features.sync.following import Followed, finish, finish_locked, follow
from vault_tool.features.sync.joining import OWN, Join, clear_local, ids_of, join, refuse_bulk, require_common
from vault_tool.files import git
from vault_tool.files.git import remote as elsewhere
from vault_tool.files.git.committing import unknown_committer
from vault_tool.files.git.index import enter, wait_for_lock
from vault_tool.files.git.publish import Step, build_each, keep_tidy, publish
from vault_tool.files.git.remote import Pushed, Upstream
from vault_tool.files.git.repo import GitHead
from vault_tool.files.git.run import honouring, one_line
from vault_tool.files.git.survey import CommitSettings, Survey, settings_of
from vault_tool.model.problems import Problem
from vault_tool.util.hints import if_there, shell, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault import person
from vault_tool.vault.context import Context
from vault_tool.vault.generated_pages import make_anew
from vault_tool.vault.pending import finish_interrupted, held
from vault_tool.vault.request import Answer, of_the_whole, verb

# How the log of HEAD begins to tell of a move by sync: what it moves to may be anybody's commits.
MOVED = "sync by vault_tool"

_PUSHES = 5
_PAUSE = 0.2
_SIGNING = 20.0


class TwoTextsLeft(Struct, kw_only=True):
    """A memory (or another file, by its path) in which the merge kept two texts, and at how many places."""

    id: str
    places: int


class Synced(Answer, kw_only=True):
    """The outcome of a sync: how many commits were `received` and `sent`, and what became of what both sides had changed.

    `merged` are the ids (or paths) of what was put together field by field, `unsettled` those of them that keep two texts for a
    person, `stayed` what one side took away and the other changed, `redacted` what was rid of words of forgotten memories, and
    `removed` what was forgotten. `waiting` commits are here alone, and `reason` says why; `attention` that a person is needed.
    """

    remote: str = ""
    branch: str = ""
    received: int = 0
    sent: int = 0
    waiting: int = 0
    commit: str = ""
    merged: tuple[str, ...] = ()
    unsettled: tuple[TwoTextsLeft, ...] = ()
    stayed: tuple[str, ...] = ()
    redacted: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    left: tuple[Problem, ...] = ()
    outside: tuple[str, ...] = ()
    reason: str = ""
    warnings: tuple[str, ...] = ()
    attention: bool = False
    dry_run: bool = False


class _Tally(msgspec.Struct):
    """The sum of several rounds of one sync."""

    received: int = 0
    joins: list[Join] = field(default_factory=list)
    followed: list[Followed] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    redacted: list[str] = field(default_factory=list)
    folded: list[str] = field(default_factory=list)
    commit: str = ""


@verb
@of_the_whole
def sync(
    vault: Context, *, remote: str = "", push: bool = True, dry_run: bool = False, confirm: bool = False
) -> Synced:  # fmt: skip
    """Bring the vault and its remote together: fetch, merge in memory, and push; a memory that both changed is merged by fields.

    Without `push` nothing is sent, with `dry_run` nothing is changed but git's own copy of what the remote has. Many notes that
    would be gone, and a remote whose history was rewritten, need a person's `confirm`. Raises Refused where there is no remote,
    no branch, another merge under way, or more in the repository than the vault; UsageError for a remote that is none (more).
    """
    if confirm:
        person.require_person(vault, "have many notes go, or take over a history that was rewritten")
    repo = _require_repository(vault)
    finish(vault)
    settings, head = settings_of(repo), git.head(repo)
    branch = _require_branch(repo, head)
    _require_alone(repo)
    where = elsewhere.upstream(settings, branch, remote)
    elsewhere.require_addresses(repo, where.remote, push=push)
    left = () if dry_run else _commit_edits(vault)
    asks = person.at_terminal()
    tally, refusal = _Tally(), ""
    for attempt in range(_PUSHES + 1):
        fetched = elsewhere.fetch(repo, where, asks=asks, accept_rewritten=confirm)
        if fetched.fault:
            return _answer(repo, where, branch, tally, left, unreached=fetched.fault, broken=fetched.broken)
        if fetched.rewritten:
            require_common(repo, git.head(repo).commit or "", fetched.commit)
            return _rewritten(repo, where, branch, tally, left, fetched.commit)
        if fetched.commit and fetched.commit == git.head(repo).commit:
            # Nothing is to be received or sent: the files need no second look.
            return _answer(repo, where, branch, tally, left, in_step=True, dry_run=dry_run)
        if not attempt and not dry_run and (tip := git.head(repo).commit):
            mended = pulled_by_hand.mend(vault, repo, tip, fetched.commit)
            tally.redacted += mended.redacted
            tally.folded += mended.folded
        stopped = _receive(vault, repo, where, fetched.commit, tally, confirm=confirm, dry_run=dry_run)
        if stopped is not None:
            return replace(stopped, left=left, attention=True)
        if dry_run or not push:
            return _answer(repo, where, branch, tally, left, dry_run=dry_run, unsent=not push)
        ours = git.head(repo).commit or ""
        if not ours or ours == fetched.commit:
            return _answer(repo, where, branch, tally, left)
        sent = elsewhere.commit_count(repo, ours, fetched.commit)
        outcome, why = elsewhere.push(repo, where, ours, asks=asks)
        if outcome is Pushed.DONE:
            return replace(_answer(repo, where, branch, tally, left), sent=sent, waiting=0)
        if outcome is Pushed.UNREACHED:
            return _answer(repo, where, branch, tally, left, unreached=why)
        if outcome is Pushed.FORBIDDEN:
            return _answer(repo, where, branch, tally, left, forbidden=why)
        refusal = why
        # Two that always lose to each other come apart by pauses of random length.
        if attempt < _PUSHES:
            time.sleep(_PAUSE * 2**attempt * (0.5 + os.urandom(1)[0] / 255))
    return _answer(
        repo, where, branch, tally, left, forbidden=f"it was pushed {_PUSHES + 1} times, and refused each time: {refusal}"
    )


def _require_repository(vault: Context) -> git.Repo:
    """The repository that the vault is in; raises Refused without one."""
    if vault.repo is None:
        begins = if_there(shell(f"git init {vault.root}"))
        raise Refused(f"there is nothing to sync without git: {vault.git_absence()}", begins)
    return vault.repo


def _require_branch(repo: git.Repo, head: GitHead) -> str:
    if obstacle := git.obstacle(repo):
        what, _, advice = obstacle.partition("; ")
        raise Refused(what, advice)
    if head.branch is None:
        goes_back = f"{shell('git switch BRANCH')} goes back to one"
        raise Refused("HEAD is detached, so no branch is there to be kept in step", goes_back)
    return head.branch


def _commit_edits(vault: Context) -> tuple[Problem, ...]:
    """Commit what was edited by hand; the problems of the files that cannot be. Raises GitError where nothing could be."""
    if not has_edits(vault):
        return ()
    gathered = commit_edits(vault)
    if gathered.reason and not gathered.committed:
        raise GitError(f"nothing was sent or received: {gathered.reason}")
    return gathered.left


def _require_alone(repo: git.Repo) -> None:
    if repo.prefix:
        own = f"{step('own_repository', folder=...)} gives it one, with its history"
        raise Refused(
            f"the vault lies in a repository with other things ({repo.work_tree}), and sync is for a vault's own",
            f"{own}; or go on with {shell('git pull')} and {shell('git push')}",
        )


def _receive(
    vault: Context, repo: git.Repo, where: Upstream, theirs: str, tally: _Tally, *, confirm: bool, dry_run: bool
) -> Synced | None:
    """Merge what was fetched; an answer where what came, or what would be sent, is not the vault's alone."""
    with held(vault, "sync"):
        vault.fresh()
        if not dry_run:
            finish_locked(vault, repo)
            finish_interrupted(vault)
        for _ in range(_PUSHES):
            head = git.head(repo)
            branch = _require_branch(repo, head)
            ours = head.commit or ""
            if outside := _outside(repo, where, ours, theirs):
                waits = _what_waits(repo, where, ours, theirs)
                return Synced(remote=where.shown, branch=branch, outside=tuple(outside[:20]), reason=waits)
            if not theirs or theirs == ours or (ours and git.is_ancestor(repo, theirs, ours)):
                return None
            if not ours:
                commits = f"{step('commit')} commits what is here"
                raise Refused("nothing is committed here yet, so there is nothing to join", commits)
            joined = join(vault, repo, ours, theirs)
            refuse_bulk(vault, repo, joined, confirm=confirm)
            received = elsewhere.commit_count(repo, theirs, ours)
            if dry_run:
                tally.joins.append(joined)
                tally.received += received
                return None
            followed = _move(vault, repo, head, joined, where)
            if followed is not None:
                tally.joins.append(joined)
                tally.followed.append(followed)
                tally.received += received
                _settle(vault, joined, tally)
                tally.commit = git.head(repo).commit or ""
                return None
    raise GitError("other commits were made here at the same time, again and again", f"{step('sync')} tries again")


def _outside(repo: git.Repo, where: Upstream, ours: str, theirs: str) -> list[str]:
    """The files beside the vault's own that commits to be sent, or merged, change."""
    rows: list[tuple[tuple[str, str, str], str]] = []
    if ours and ours != theirs:
        rows += [(row, "here") for row in elsewhere.paths_outside(repo, ours, [theirs] if theirs else [], OWN)]
    if theirs and ours != theirs:
        rows += [(row, f"on {where.shown}") for row in elsewhere.paths_outside(repo, theirs, [ours] if ours else [], OWN)]
    shown = (f"{one_line(path, 80)} (commit {commit} by {one_line(who, 60)}, {place})" for (path, commit, who), place in rows)
    return list(dict.fromkeys(shown))


def _what_waits(repo: git.Repo, where: Upstream, ours: str, theirs: str) -> str:
    ahead, behind = elsewhere.ahead_and_behind(repo, ours, theirs) if theirs else (elsewhere.commit_count(repo, ours), 0)
    waits = f"{counted(behind, 'commit')} wait on {where.shown} and {counted(ahead, 'commit')} here"
    return f"there is more than the vault in these commits, so nothing was merged or sent: {waits}"


def _move(vault: Context, repo: git.Repo, head: GitHead, joined: Join, where: Upstream) -> Followed | None:
    """Move the branch to the result, and the files after it; None where the branch was moved meanwhile."""
    settings = settings_of(repo)
    new = joined.theirs
    message = _message(vault, joined, where)
    if joined.targets or not joined.moves_forward:
        new = _built(repo, head, settings, joined, message)
    changes = elsewhere.entries_between(repo, joined.ours, new)
    wait_for_lock(repo, vault.settings.lock_wait)
    vault.local.begin_syncing(joined.ours, new)
    # The index comes first, as in every commit of ours: killed here it is taken back by the next command.
    enter(repo, {path: now for path, (_, now) in changes.items()}, vault.settings.lock_wait)
    moved = False
    try:
        moved = publish(repo, GitHead(head.branch, joined.ours), new, message, how=MOVED)
    finally:
        if not moved:
            finish_locked(vault, repo)
    if not moved:
        return None
    followed = follow(vault, repo, changes)
    vault.local.end_syncing(new)
    keep_tidy(repo, new)
    return followed


def _built(repo: git.Repo, head: GitHead, settings: CommitSettings, joined: Join, message: str) -> str:
    if not (settings.author and settings.committer):
        raise GitError(unknown_committer())
    nothing: frozenset[str] = frozenset()
    before = Survey(GitHead(head.branch, joined.builds_on), settings, {}, {}, nothing, nothing, nothing)
    merged = "" if joined.moves_forward else joined.theirs
    built = build_each(repo, before, [Step(joined.targets, joined.contents, message, merged)])[0]
    if not settings.on("commit.gpgsign"):
        return built
    parents = ("-p", joined.builds_on, *(("-p", merged) if merged else ()))
    args = ("git", "commit-tree", "-S", *parents, f"{built}^{{tree}}")
    signed = honouring(repo.work_tree, *args, feed=message.encode(errors="replace"), limit=_SIGNING)
    if signed.code:
        raise signed.failure("sign the merge")
    return signed.out.decode().strip()


def _message(vault: Context, joined: Join, where: Upstream) -> str:
    outcome = joined.outcome
    ids = list(ids_of(joined))
    merged = f", {counted(len(outcome.merged), 'file')} merged" if outcome.merged else ""
    text = git.message(f"sync: {where.shown}{merged}", "sync", vault.who.session or None, ids)
    return f"{text}Vault-Unsettled: {sum(outcome.left.values())}\n"


def _settle(vault: Context, joined: Join, tally: _Tally) -> None:
    """Take local words of forgotten memories away, and make pages anew, once the files have followed."""
    if joined.is_settled:
        # The files that followed are taken in already; who wrote them the next comparison asks git, before any answer.
        return
    vault.fresh()
    tally.warnings += clear_local(vault, joined)
    if joined.outcome.pages:
        tally.warnings += make_anew(vault, lambda text: True)


def _rewritten(
    repo: git.Repo, where: Upstream, branch: str, tally: _Tally, left: Sequence[Problem], theirs: str
) -> Synced:  # fmt: skip
    answer = _answer(repo, where, branch, tally, left)
    reason = (
        f"the history of {where.shown} was rewritten: commits that it had are gone from it. Nothing was merged or sent, for that"
        f" would bring them back; if that is meant: {step('sync', confirm=True)}"
    )
    return replace(answer, reason=reason, attention=True)


def _answer(
    repo: git.Repo, where: Upstream, branch: str, tally: _Tally, left: Sequence[Problem], *, unreached: str = "",
    broken: bool = False, forbidden: str = "", dry_run: bool = False, unsent: bool = False, in_step: bool = False,
) -> Synced:  # fmt: skip
    waiting = 0
    if not in_step and (ours := git.head(repo).commit):
        known = git.resolve(repo, where.tracking) or ""
        waiting = 0 if known == ours else elsewhere.commit_count(repo, ours, known)
    reason = ""
    if unreached:
        waits = f"{counted(waiting, 'commit')} {'waits' if waiting == 1 else 'wait'} for {where.remote}"
        state = "has not what it names and must be mended there" if broken else "is not reached"
        reason = f"{where.remote} {state} ({unreached}); {waits if waiting else 'nothing waits'}"
    elif forbidden:
        are = "is" if waiting == 1 else "are"
        reason = f"{counted(waiting, 'commit')} {are} here alone: {forbidden}"
    elif unsent and waiting:
        reason = f"{counted(waiting, 'commit')} {'was' if waiting == 1 else 'were'} not sent"
    outcomes = [joined.outcome for joined in tally.joins]
    unsettled: dict[str, int] = {}
    for outcome in outcomes:
        unsettled |= outcome.left
    faults = [fault for followed in tally.followed for fault in followed.faults]
    copies = [path for outcome in outcomes for path in outcome.copies]
    copies += [path for followed in tally.followed for path in followed.copies]
    return Synced(
        remote=where.shown,
        branch=branch,
        received=tally.received,
        waiting=waiting,
        commit=tally.commit,
        merged=_once(key for outcome in outcomes for key in outcome.merged),
        unsettled=tuple(TwoTextsLeft(id=key, places=places) for key, places in sorted(unsettled.items())),
        stayed=_once(path for outcome in outcomes for path in outcome.stayed),
        redacted=_once([*tally.redacted, *(path for joined in tally.joins for path in joined.redacted)]),
        removed=_once(path for outcome in outcomes for path in outcome.gone),
        folded=_once([*tally.folded, *(key for outcome in outcomes for key in outcome.folded)]),
        edited=_once(path for followed in tally.followed for path in followed.edited),
        copies=_once(copies),
        remarks=_once(line for outcome in outcomes for line in outcome.remarks),
        paths=_once(path for joined in tally.joins for path in joined.received),
        left=tuple(left),
        reason=reason,
        warnings=(*tally.warnings, *faults),
        attention=bool(left or unsettled or copies or forbidden or faults or broken),
        dry_run=dry_run,
    )


def _once(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))
