"""The commits of one note: those in which a file was it, told by the id in its head and never by likeness.

Git follows a file by how alike two texts are, and so takes one of three notes that resemble each other for another.
Here a note's file is at another path before a commit only where that commit took the same id, or for a note that has
none the same bytes, from there.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import PurePosixPath

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.files.git.authors import blobs, committed_blobs, shallow, work_tree_blobs
from vault_tool.files.git.commit_log import FORM, QUIET, LogEntry, log_entry
from vault_tool.files.git.repo import OURS, Repo, fields, head, resolve
from vault_tool.files.git.run import output
from vault_tool.files.git.worktree import without_filters
from vault_tool.util.structs import Struct

Identity = Callable[[bytes], str]

_NONE = "0"

# Operations that commit what a person did, a move among it; every other that names an id made the note or changed it in place.
_GATHERING = frozenset({"commit", "edit", "undo", "doctor"})


class NoteLog(Struct):
    """A note's own commits, newest first, and the one that made it; `ends` where a shallow clone lacks what was before."""

    commits: tuple[LogEntry, ...] = ()
    created: LogEntry | None = None
    ends: bool = False


class _Change(Struct):
    """A commit's change of one file: the blobs that its parents had there and the one that it has, "" for no blob."""

    path: str
    before: tuple[str, ...]
    after: str


class _Step(Struct):
    """One commit, and what it did to the files that were asked for."""

    entry: LogEntry
    changes: tuple[_Change, ...]


class _Ids(msgspec.Struct):
    """The ids in the heads of blobs, each read once."""

    repo: Repo
    identity: Identity
    known: dict[str, str] = field(default_factory=lambda: {"": ""})

    def read(self, names: Iterable[str]) -> None:
        lacking = {name for name in names if name not in self.known}
        contents = blobs(self.repo, sorted(lacking))
        self.known |= {name: self.identity(contents[name]) if name in contents else "" for name in lacking}

    def of_steps(self, steps: Sequence[_Step]) -> None:
        self.read(blob for step in steps for change in step.changes for blob in (change.after, *change.before))

    def __getitem__(self, name: str) -> str:
        return self.known[name]


def note_log(repo: Repo, path: str, identity: str, read_id: Identity) -> NoteLog:
    """The commits of the note at `path`, whose head has this id; "" for one that is known by its place alone.

    `read_id` gives the id in the head of a file's bytes. A note that stands elsewhere than in HEAD is looked for there.
    """
    if head(repo).commit is None:
        return NoteLog()
    steps = _steps(repo, [path])
    places = [path]
    if not steps:
        places = _before_the_move(repo, path, identity, read_id)
        steps = _steps(repo, places) if places else []
    cut = shallow(repo)
    ids = _Ids(repo, read_id)
    if identity:
        ids.of_steps(steps)
    # Where no committed text says its id (it was a page, or git keeps it encrypted) its place is all that there is.
    if not identity or not any(ids[change.after] == identity for step in steps for change in step.changes):
        return _by_place(repo, steps, places[:1], cut)
    return _by_id(repo, steps, places, identity, ids, cut)


def _by_id(repo: Repo, steps: list[_Step], places: list[str], identity: str, ids: _Ids, cut: frozenset[str]) -> NoteLog:
    asked: dict[str, bool] = {}
    while True:
        ids.of_steps(steps)
        new: list[str] = []
        for step in steps:
            arrived = any(ids[change.after] == identity and not _stood(change, identity, ids) for change in step.changes)
            settled = identity in step.entry.ids and step.entry.op not in _GATHERING
            if arrived and not settled and step.entry.commit not in asked and step.entry.commit not in cut:
                sources = _sources(repo, step, places[0], identity, ids)
                asked[step.entry.commit] = bool(sources)
                new.extend(source for source in sources if source not in places)
        if not new:
            break
        places.extend(dict.fromkeys(new))
        steps = _steps(repo, places)
    adopted = {
        change.path
        for step in steps
        for change in step.changes
        if ids[change.after] == identity and any(blob and not ids[blob] for blob in change.before)
    }
    own: list[LogEntry] = []
    entries: list[LogEntry] = []
    ends = False
    for step in steps:
        held = [change.path for change in step.changes if ids[change.after] == identity]
        was = [change.path for change in step.changes if any(ids[blob] == identity for blob in change.before)]
        page = [change.path for change in step.changes if change.path in adopted and change.after and not ids[change.after]]
        ends = ends or step.entry.commit in cut
        # The commit at which a shallow clone ends seems to add all that there is.
        if not (held or was or page) or (step.entry.commit in cut and identity not in step.entry.ids):
            continue
        entry = replace(step.entry, paths=tuple(held or was or page))
        own.append(entry)
        if held and not was and not asked.get(entry.commit):
            entries.append(entry)
    named = [entry for entry in entries if identity in entry.ids]
    return NoteLog(tuple(own), next(iter(reversed(named or entries)), None), ends)


def _stood(change: _Change, identity: str, ids: _Ids) -> bool:
    """Whether the note stood at this path before, with its id or, as a page, with none."""
    return any(blob and ids[blob] in ("", identity) for blob in change.before)


def _sources(repo: Repo, step: _Step, path: str, identity: str, ids: _Ids) -> list[str]:
    """The paths that a commit took the note from, and where it took it from none of them, those of the id's own commits."""
    left = [change for change in _whole(repo, step.entry.commit) if any(change.before) and _alike(change.path, path)]
    ids.read(blob for change in left for blob in (change.after, *change.before))
    paths = [
        change.path for change in left if ids[change.after] != identity and any(ids[blob] == identity for blob in change.before)
    ]
    if paths or identity in step.entry.ids or (earlier := resolve(repo, f"{step.entry.commit}^")) is None:
        return paths
    # It was away for a while: taken out by one commit and brought back by another.
    steps = _steps(repo, (), earlier, ("--fixed-strings", f"--grep={identity}"))
    named = [step for step in steps if identity in step.entry.ids]
    ids.of_steps(named)
    places = {change.path for step in named for change in step.changes if ids[change.after] == identity}
    now = committed_blobs(repo, "HEAD", places) if places else {}
    ids.read(now.values())
    # One that still stands there is another file with the same id, with a history of its own.
    return sorted(place for place in places if ids[now.get(place, "")] != identity)


def _by_place(repo: Repo, steps: list[_Step], places: list[str], cut: frozenset[str]) -> NoteLog:
    own: list[LogEntry] = []
    seen = set(places)
    ends = False
    while steps:
        source = ""
        for step in steps:
            ends = ends or step.entry.commit in cut
            if step.entry.commit in cut:
                continue
            own.append(replace(step.entry, paths=tuple(change.path for change in step.changes)))
            arrived = next((change for change in step.changes if change.after and not any(change.before)), None)
            source = _same_bytes(repo, step.entry.commit, arrived) if arrived is not None else ""
            if source and source not in seen:
                break
        if not source or source in seen or (earlier := resolve(repo, f"{own[-1].commit}^")) is None:
            break
        seen.add(source)
        steps = _steps(repo, [source], earlier)
    return NoteLog(tuple(own), None if ends else next(iter(reversed(own)), None), ends)


def _same_bytes(repo: Repo, commit: str, arrived: _Change) -> str:
    """The one path that a commit took these bytes from; "" where there is none, or several that could be it."""
    gone = [change.path for change in _whole(repo, commit) if not change.after and arrived.after in change.before]
    named = [path for path in gone if PurePosixPath(path).name == PurePosixPath(arrived.path).name]
    sources = gone if len(gone) == 1 else named
    return sources[0] if len(sources) == 1 else ""


def _before_the_move(repo: Repo, path: str, identity: str, read_id: Identity) -> list[str]:
    """Where HEAD has a note that was moved and not committed since: files that are gone and hold its id, or its bytes."""
    args = ("diff", "-z", "--name-only", "--no-renames", "--diff-filter=D", *QUIET, "HEAD", "--", *repo.places(()))
    names = fields(output(repo.work_tree, "compare the files", *args, config=without_filters(repo)))
    gone = [relative for name in names if (relative := repo.relative(name)) and _alike(relative, path)]
    if not gone:
        return []
    held = committed_blobs(repo, "HEAD", gone)
    if identity:
        texts = blobs(repo, held.values())
        return [place for place, blob in held.items() if blob in texts and read_id(texts[blob]) == identity]
    now = work_tree_blobs(repo, [path]).get(path, "")
    same = [place for place, blob in held.items() if blob == now]
    return same if len(same) == 1 else []


def _alike(path: str, other: str) -> bool:
    """Whether one may have been the other's file: a note never was a journal or a picture."""
    return PurePosixPath(path).suffix.lower() == PurePosixPath(other).suffix.lower()


def _steps(repo: Repo, paths: Sequence[str], tip: str = "HEAD", chosen: Sequence[str] = ()) -> list[_Step]:
    """The commits before `tip` that changed these files, newest first, each with what it did to them."""
    mark = os.urandom(16).hex()
    form = "--format=" + "%x00".join([mark, *FORM]) + "%x00"
    raw = ("-z", "--raw", "-c", "--no-abbrev", "--no-renames", "--no-follow")
    args = (*raw, "--encoding=UTF-8", "--no-show-signature", *QUIET, *chosen, form, tip, "--", *repo.places(paths))
    texts = output(repo.work_tree, "read the log", "log", *args).decode(errors="surrogateescape").split(f"{mark}\0")[1:]
    return [_step(repo, text.split("\0")) for text in texts]


def _step(repo: Repo, parts: list[str]) -> _Step:
    values, rest = parts[: len(FORM)], parts[len(FORM) :]
    return _Step(log_entry(values, ()), tuple(_changes(repo, rest)))


def _whole(repo: Repo, commit: str) -> list[_Change]:
    """All that one commit did to the vault's files; a merge by each of its parents."""
    args = ("diff-tree", "--root", "-r", "-m", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-commit-id", *QUIET, commit)
    out = output(repo.work_tree, "read a commit", *args, "--", *repo.places(())).decode(errors="surrogateescape")
    return list(_changes(repo, out.split("\0")))


def _changes(repo: Repo, parts: Sequence[str]) -> Iterator[_Change]:
    walk = iter(part.lstrip("\n") for part in parts)
    for entry in walk:
        if not entry.startswith(":"):
            continue
        parents = len(entry) - len(entry.lstrip(":"))
        *before, after = entry.lstrip(":").split(" ")[parents + 1 : -1]
        path = repo.relative(next(walk, ""))
        if path:
            yield _Change(path, tuple(map(_blob, before)), _blob(after))


def _blob(name: str) -> str:
    return name if name.strip(_NONE) else ""


def renames(repo: Repo) -> list[tuple[str, str]]:
    """Which files got which other path without a change of their bytes, by all commits of this branch, the oldest first."""
    if head(repo).commit is None:
        return []
    args = ("--reverse", "-z", "--name-status", "--find-renames=100%", "-l0", "--diff-filter=R", "--format=", *QUIET, "HEAD")
    parts = output(repo.work_tree, "read the log", "log", *args, "--", *repo.places(())).decode(errors="surrogateescape")
    names = [part.lstrip("\n") for part in parts.split("\0")]
    pairs = (
        (repo.relative(names[at + 1]), repo.relative(names[at + 2])) for at, letter in enumerate(names[:-2]) if letter == "R100"
    )
    return [(old, new) for old, new in pairs if old and new]


def own_operations(repo: Repo) -> dict[str, str]:
    """The commits that this tool made in this clone, each with its operation, by HEAD's own log, which no hook rewrites."""
    operations: dict[str, str] = {}
    with suppress(OSError):
        for row in (repo.git_dir / "logs" / "HEAD").read_text("utf-8", "replace").splitlines():
            commit, _, note = row.partition("\t")
            names = commit.split(" ")[1:2]
            if names and note.startswith(OURS):
                verb = note.partition(": ")[2].partition(":")[0]
                operations[names[0]] = verb if verb.replace("-", "").isalpha() else "commit"
    return operations
