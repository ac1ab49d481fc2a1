"""The vault's git history: `log`, `history`, `diff` and `commit`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from msgspec.structs import replace

from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.files import git, layout, reader, writer
from vault_tool.files.parse import parse
from vault_tool.index.relations import lineage
from vault_tool.model.ids import new_id
from vault_tool.model.problems import Problem, error
from vault_tool.model.snapshot import Entry
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault import resolve, screening
from vault_tool.vault.answers import HasStatus
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.generated_pages import resolve_page_conflicts
from vault_tool.vault.note_history import note_history, with_their_old_places
from vault_tool.vault.pending import Saved, caught_up, finish_interrupted, take_in_authors
from vault_tool.vault.person import is_owner, is_person
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.statuses import CURRENT, statuses
from vault_tool.vault.two_texts import left_by_git, marked_paths

# So many ids and paths of one commit `log` lists.
LISTED = 50


class Log(Struct, kw_only=True):
    """The vault's commits, newest first."""

    results: tuple[git.LogEntry, ...]


class Revision(HasStatus, kw_only=True):
    """One member of a supersession chain, with its status and the commits that touched its file."""

    id: str
    type: str
    title: str
    summary: str
    created: str
    origin: str
    reviewed: bool
    model: str
    reason: str
    path: str
    active: bool
    commits: tuple[git.LogEntry, ...]


class History(Answer, kw_only=True):
    """A memory's supersession chain, newest first, back to its origin."""

    id: str
    title: str
    results: tuple[Revision, ...]


class Difference(Struct, kw_only=True):
    """Changes of the vault's files since the last commit (or `since`), or those that the commit `of` made."""

    since: str | None
    of: str | None = None
    pending: tuple[git.UncommittedFile, ...]
    text: str


class Gathered(Saved, kw_only=True):
    """The hand edits that one `commit` gathered; `left` names what may not be committed as it stands."""

    paths: tuple[str, ...] = ()
    left: tuple[Problem, ...] = ()


@verb
@looks
@of_the_whole
def log(vault: Context, limit: int = 20, *, memory_id: str = "") -> Log:
    """The commits that touched the vault (or one memory's file), newest first; nothing where there is no history yet."""
    repo = vault.require_repo()
    if memory_id:
        commits = note_history(vault, resolve.find(resolve.unrestricted(vault), memory_id, begun=True)).commits[:limit]
    else:
        commits = _newest_commits(vault, repo, limit)
    return Log(results=tuple(_brief(_redacted(vault, commit_entry)) for commit_entry in commits))


@verb
@looks
def history(vault: Context, memory_id: str) -> History:
    """The supersession chain that a memory belongs to, newest first, each with the commits that touched its file."""
    vault = resolve.unrestricted(vault)
    entry = resolve.find(vault, memory_id, begun=True)
    chain = _newest_first(lineage(vault.index.catalog, entry))
    known = statuses(vault, chain)
    return History(id=entry.id, title=entry.title, results=tuple(_revision(vault, e, known.get(e.path, CURRENT)) for e in chain))


@verb
@looks
@of_the_whole
def diff(
    vault: Context, memory_id: str = "", *, since: str | None = None, of: str | None = None, color: bool = False
) -> Difference:  # fmt: skip
    """The uncommitted changes of the vault (or of one memory's file), all changes `since` a commit, or those `of` one."""
    if since is not None and of is not None:
        raise UsageError("changes are since a commit, or of one", "leave one of the two out")
    repo = vault.require_repo()
    paths: Sequence[str] = _WHOLE
    if memory_id:
        paths = [resolve.find(resolve.unrestricted(vault), memory_id, begun=True).path]
    pending = git.uncommitted(repo, paths) if of is None else ()
    text = git.diff(repo, since=since, of=of, paths=paths, color=color)
    return Difference(since=since, of=of, pending=tuple(pending), text=text)


@verb
@of_the_whole
def commit(vault: Context, paths: Sequence[str | Path] = (), *, message: str = "") -> Gathered:
    """Commit hand edits: all of the vault's, or those of `paths`; the message names the notes unless one is given.

    A file with conflict markers, one that cannot be read, or one with what looks like a new secret is left and named.
    Operations of the tool that could not be committed before are committed first, each as its own, and before them a person's
    merge of which nothing is left in conflict.
    """
    repo = vault.require_repo()
    if not vault.allow_secrets:
        screening.refuse_secrets(vault, [*screening.asker(vault.who), *screening.named_texts(message=message)])
    with caught_up(vault, "commit") as waiting:
        settled = resolve_page_conflicts(vault)
        ended = git.Commit(False, None) if paths else _end_of_merge(vault, repo)
        waiting = finish_interrupted(vault) if ended.committed else waiting
        chosen = [_relative(vault, path) for path in paths] or _WHOLE
        pending = [p for p in git.uncommitted(repo, chosen) if _ours(p.path)]
        pending = with_their_old_places(repo, pending) if paths else pending
        _require_known(vault, chosen if paths else (), pending)
        left: list[Problem] = []
        changes: list[git.FileChange] = []
        for file in pending:
            content, problems = _content(vault, file)
            left.extend(problems)
            changes.extend([] if problems else [git.FileChange(file.path, content)])
            changes.extend([git.FileChange(file.was, None)] if file.was and not problems else [])
        outcome = _commit_edits(vault, repo, changes, message) if changes else ended
    reason = ended.reason or outcome.reason or (f"{len(waiting)} earlier writes still wait" if waiting else "")
    reason = settled.reason if settled and not outcome.committed else reason
    return Gathered(
        committed=outcome.committed,
        commit=outcome.commit,
        reason=reason,
        attention=bool(reason or left),
        paths=tuple(change.path for change in changes) if outcome.committed else (),
        left=tuple(left),
    )


def _end_of_merge(vault: Context, repo: git.Repo) -> git.Commit:
    """The commit that ends a person's merge of which nothing is left in conflict, where there is such a merge."""
    if not (is_person(vault) and git.merging(repo)) or git.unmerged(repo) or marked_paths(vault):
        return git.Commit(False, None)
    reason = git.finish_merge(repo)
    if reason:
        return git.Commit(False, None, reason)
    take_in_authors(vault)
    return git.Commit(True, git.head(repo).commit)


def has_edits(vault: Context) -> bool:
    """Whether there is anything to commit, by what git says and what waits of earlier operations: without a look of our own."""
    pending = git.uncommitted(vault.require_repo(), _WHOLE)
    return bool(vault.local.pending()) or any(_ours(file.path) for file in pending)


def keep_first(vault: Context, path: str) -> str:
    """Keep a file that is about to be replaced, where no commit has what it says: by a commit of its own, else as a copy.

    Returns what is to be said of it. Refused where it holds what looks like a secret, which belongs in neither.
    """
    data = reader.read(vault.root, path)
    if vault.repo is not None:
        if not git.uncommitted(vault.repo, [path]):
            return ""
        outcome = commit(vault, [path])
        if outcome.committed:
            return f"what it said before is in {(outcome.commit or '')[:10]}"
        if (
            not vault.allow_secrets
            and any(problem.path == path for problem in outcome.left)
            and screening.new_in_file(vault, path, data)
        ):
            raise Refused(f"{outcome.left[0].message}; nothing was written", f"take it out of {path} in an editor")
    copy_path = f"{layout.LOCAL}/deleted/{vault.now().replace(':', '')}-{new_id()[:6]}-{PurePosixPath(path).name}"
    writer.create(vault.root, copy_path, data)
    return f"what it said before is kept in {copy_path}"


def _newest_commits(vault: Context, repo: git.Repo, limit: int) -> tuple[git.LogEntry, ...]:
    """The newest commits that touched the vault. What a commit did never changes: a process that stays asks for each once."""
    known: dict[str, git.LogEntry] = vault.whole_index.catalog.derived("commits told", dict, lambda commits, _: commits)
    if not known:
        newest = {entry.commit: entry for entry in git.log(repo, paths=_WHOLE, limit=limit)}
    else:
        names = git.newest(repo, paths=_WHOLE, limit=limit)
        unknown = {entry.commit: entry for entry in git.log_of(repo, [name for name in names if name not in known])}
        newest = {name: unknown.get(name) or known[name] for name in names}
    if len(known) > _MOST_COMMITS:
        known.clear()
    # Its ids say whether it may be told; of its files only the first are.
    known.update(
        (name, replace(entry, paths=entry.paths[:LISTED], more=entry.more + len(entry.paths[LISTED:])))
        for name, entry in newest.items()
    )
    return tuple(newest.values())


def _redacted(vault: Context, entry: git.LogEntry) -> git.LogEntry:
    """A commit without its subject where it names memories that only the vault's owner may see."""
    if is_owner(vault) or vault.whole_index.catalog.withheld().isdisjoint(entry.ids):
        return entry
    return replace(entry, subject=f"{entry.op or 'commit'}: of what is told to nobody", paths=())


def _brief(entry: git.LogEntry) -> git.LogEntry:
    """A commit with the first of its ids and paths: an import has thousands."""
    return replace(entry, ids=entry.ids[:LISTED], paths=entry.paths[:LISTED], more=entry.more + len(entry.paths[LISTED:]))


# So many commits a process keeps.
_MOST_COMMITS = 500

_WHOLE = [
    layout.VAULT,
    layout.TEMPLATES,
    layout.SETTINGS_FILE,
    layout.CORE_FILE,
    layout.REFLECTION_FILE,
    *layout.GIT_FILES,
]


def _commit_edits(vault: Context, repo: git.Repo, changes: Sequence[git.FileChange], message: str) -> git.Commit:
    names, ids = [], []
    for change in changes:
        entry = vault.index.catalog.by_path(change.path)
        names.append(entry.title if entry else Path(change.path).name)
        ids.extend([entry.id] if entry else [])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    subject = one_line(message) or f"edit: {', '.join(names[:3])}{more}"
    body = "\n".join(f"- {one_line(name)}" for name in names[:100]) if len(names) > 1 else ""
    text = git.message(subject, "commit", vault.who.session or None, ids, body)
    return git.commit(repo, changes, text, lock_wait=vault.settings.lock_wait)


def _content(vault: Context, pending: git.UncommittedFile) -> tuple[bytes | None, list[Problem]]:
    """The content of a changed file (None: it is gone), read once, and the problems that keep it out of history.

    That is what cannot be read, a link, a conflict that nobody settled, or what looks like a secret.
    """
    if pending.state == "conflicted":
        return None, [left_by_git(vault, pending.path)]
    if pending.state == "deleted":
        return None, []
    try:
        data = reader.read(vault.root, pending.path)
    except (OSError, Refused) as fault:
        reason = fault.message if isinstance(fault, Refused) else f"it cannot be read: {os.strerror(fault.errno or 0).lower()}"
        return None, [error(pending.path, 0, "not-read", reason, "commit it with git if it is meant to be kept")]
    suspected = [] if vault.allow_secrets else screening.new_in_file(vault, pending.path, data)
    if layout.file_kind(pending.path) is not layout.FileKind.NOTE:
        return data, suspected
    parsed = parse(pending.path, data, vault.settings.types)
    return data, suspected if parsed.readable else list(parsed.problems)


def _require_known(vault: Context, chosen: Sequence[str], pending: Sequence[git.UncommittedFile]) -> None:
    """A path that is neither on disk nor among the changes was mistyped: to say that all is committed would mislead."""
    for path in chosen:
        if not (vault.root / path).exists() and not any(
            path in (p.path, p.was) or p.path.startswith(f"{path}/") for p in pending
        ):
            raise NotFound(f"there is no {one_line(path, 80)} in the vault", f"{step('diff')} lists what changed")


def _ours(path: str) -> bool:
    """Whether a path may be committed by the tool at all: derived, local and ignored files never are."""
    if path in layout.GIT_FILES:
        return True
    untracked = any(path == name or path.startswith(f"{name}/") for name in layout.UNTRACKED)
    return not untracked and layout.file_kind(path) is not None


def _relative(vault: Context, path: str | Path) -> str:
    readings = list(resolve.readings(vault, path))
    if not readings:
        raise NotFound(f"{one_line(str(path), 80)} is not in the vault {vault.root}", "name a file of the vault")
    meant = next((reading for reading, exists in readings if exists), readings[-1][0])
    if meant != "." and not _ours(meant):
        message = f"{one_line(meant, 80)} is derived, local or hidden: it is never committed by the tool"
        raise Refused(message, "name a file of the vault")
    return meant


def _newest_first(chain: Sequence[Entry]) -> list[Entry]:
    """A chain with each revision before what it supersedes, whatever their clocks said; else by time."""
    left = {entry.id: entry for entry in sorted(chain, key=lambda e: e.created_sort_key, reverse=True)}
    waits = Counter(old for entry in left.values() for old in entry.texts("supersedes") if old in left)
    ordered: list[Entry] = []
    while left:
        # In a cycle everybody waits: then time decides.
        entry = next((revision for revision in left.values() if not waits[revision.id]), next(iter(left.values())))
        ordered.append(left.pop(entry.id))
        waits.subtract(old for old in entry.texts("supersedes"))
    return ordered


def _revision(vault: Context, entry: Entry, status: HasStatus) -> Revision:
    commits = note_history(vault, entry).commits[:LISTED]
    return Memory(vault, entry, status).told(
        Revision, summary=entry.text("summary") or entry.preview, active=status.status != "superseded", commits=commits
    )
