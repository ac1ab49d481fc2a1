"""What git remembers: `log`, `history`, `diff` and `commit`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_tool.errors import GitError, NotFound
from vault_tool.files import git, layout, reader, writer
from vault_tool.files.parse import parse
from vault_tool.index.graph import lineage
from vault_tool.model.problems import Problem
from vault_tool.model.snapshot import Entry
from vault_tool.util.text import one_line
from vault_tool.verbs import resolve
from vault_tool.verbs.context import Context, Freshness
from vault_tool.verbs.operation import Saved, heal


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The vault's commits, newest first."""

    results: tuple[git.LogEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """One member of a supersession chain, with the commits that touched its file."""

    id: str
    type: str
    title: str
    summary: str
    created: str
    origin: str
    model: str
    reason: str
    path: str
    active: bool
    commits: tuple[git.LogEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """A memory's supersession chain, newest first, back to its origin."""

    id: str
    title: str
    results: tuple[Revision, ...]
    freshness: Freshness


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What the vault's files have that the last commit (or `since`) has not."""

    since: str | None
    pending: tuple[git.Pending, ...]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered(Saved):
    """The hand edits that one `commit` gathered; `left` names what may not be committed as it stands."""

    paths: tuple[str, ...] = ()
    left: tuple[Problem, ...] = ()


def log(vault: Context, limit: int = 20, *, memory_id: str = "") -> Log:
    """The commits that touched the vault (or one memory's file), newest first; nothing where there is no history yet."""
    repo = _repo(vault)
    paths: Sequence[str] = _WHOLE
    if memory_id:
        vault.fresh()
        paths = [resolve.find(vault, memory_id).path]
    return Log(results=tuple(git.log(repo, paths=paths, limit=limit, follow=bool(memory_id))))


def history(vault: Context, memory_id: str) -> History:
    """The supersession chain that a memory belongs to, newest first, each with the commits that touched its file."""
    freshness = vault.fresh()
    entry = resolve.find(vault, memory_id)
    chain = _newest_first(lineage(vault.index.catalog, entry))
    return History(id=entry.id, title=entry.title, results=tuple(_revision(vault, e) for e in chain), freshness=freshness)


def diff(vault: Context, memory_id: str = "", *, since: str | None = None, color: bool = False) -> Difference:
    """The uncommitted changes of the vault (or of one memory's file), or all changes since a commit."""
    repo = _repo(vault)
    paths: Sequence[str] = _WHOLE
    if memory_id:
        vault.fresh()
        paths = [resolve.find(vault, memory_id).path]
    pending = git.uncommitted(repo, paths)
    return Difference(since=since, pending=tuple(pending), text=git.diff(repo, since=since, paths=paths, color=color))


def commit(vault: Context, paths: Sequence[str | Path] = (), *, message: str = "") -> Gathered:
    """Commit hand edits: all of the vault's, or those of `paths`; the message names the notes unless one is given.

    A file with conflict markers, or one that cannot be read, is left and named. Operations of the tool that could
    not be committed before are committed first, each as its own.
    """
    repo = _repo(vault)
    with writer.lock(vault.root, vault.settings.lock_wait, "commit"):
        vault.fresh()
        waiting = heal(vault)
        chosen = [_relative(vault, path) for path in paths] or _WHOLE
        pending = [p for p in git.uncommitted(repo, chosen) if _ours(p.path)]
        left = [problem for p in pending for problem in _unfit(vault, p)]
        unfit = {problem.path for problem in left}
        taken = [p for p in pending if p.path not in unfit]
        changes = [git.Change(p.path, None if p.state == "deleted" else reader.read(vault.root, p.path)) for p in taken]
        outcome = _commit_edits(vault, repo, changes, message) if changes else git.Commit(False, None)
    reason = outcome.reason or (f"{len(waiting)} earlier writes still wait" if waiting else "")
    return Gathered(
        committed=outcome.committed,
        commit=outcome.commit,
        reason=reason,
        attention=bool(reason or left),
        paths=tuple(change.path for change in changes) if outcome.committed else (),
        left=tuple(left),
    )


_WHOLE = [
    layout.VAULT,
    layout.TEMPLATES,
    layout.SETTINGS_FILE,
    layout.CORE_FILE,
    layout.REFLECTION_FILE,
    ".gitignore",
    ".gitattributes",
]


def _commit_edits(vault: Context, repo: git.Repo, changes: Sequence[git.Change], message: str) -> git.Commit:
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


def _unfit(vault: Context, pending: git.Pending) -> list[Problem]:
    """What keeps a changed file out of history: text that cannot be read, or a conflict that nobody settled."""
    if pending.state == "deleted" or layout.file_kind(pending.path) is not layout.FileKind.NOTE:
        return []
    parsed = parse(pending.path, reader.read(vault.root, pending.path), vault.settings.types)
    return [] if parsed.readable else list(parsed.problems)


def _ours(path: str) -> bool:
    """Whether a path may be committed by the tool at all: derived and local files never are."""
    return not any(path == name or path.startswith(f"{name}/") for name in layout.UNTRACKED)


def _relative(vault: Context, path: str | Path) -> str:
    for base in (Path.cwd(), vault.root):
        full = (base / path).resolve()
        if full.is_relative_to(vault.root) and (full.exists() or base == vault.root):
            return full.relative_to(vault.root).as_posix()
    raise NotFound(f"{path} is not in the vault {vault.root}", "name a file of the vault")


def _newest_first(chain: Sequence[Entry]) -> list[Entry]:
    """A chain with each revision before what it supersedes, whatever their clocks said; else by time."""
    left = {entry.id: entry for entry in sorted(chain, key=lambda e: (e.text("created"), e.id), reverse=True)}
    waits = Counter(old for entry in left.values() for old in entry.texts("supersedes") if old in left)
    ordered: list[Entry] = []
    while left:
        # In a cycle everybody waits: then time decides.
        entry = next((one for one in left.values() if not waits[one.id]), next(iter(left.values())))
        ordered.append(left.pop(entry.id))
        waits.subtract(old for old in entry.texts("supersedes"))
    return ordered


def _revision(vault: Context, entry: Entry) -> Revision:
    commits = git.log(vault.repo, paths=[entry.path], limit=50, follow=True) if vault.repo else []
    return Revision(
        id=entry.id,
        type=entry.type,
        title=entry.title,
        summary=entry.text("summary") or entry.preview,
        created=entry.text("created"),
        origin=entry.text("origin") or "owner",
        model=entry.text("model"),
        reason=entry.text("reason"),
        path=entry.path,
        active=not vault.superseded_by(entry.id),
        commits=tuple(commits),
    )


def _repo(vault: Context) -> git.Repo:
    if vault.repo is None:
        raise GitError(f"this vault has no git history: {vault.git_absence()}", f"`git init {vault.root}` starts one")
    return vault.repo
