"""The author of each content of the vault: the commits of its history with the blobs that each of them introduced."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from vault_tool.errors import GitError
from vault_tool.files.git.repo import Repo, fields, lines
from vault_tool.files.git.run import call, output
from vault_tool.files.git.worktree import PATHS_A_CALL, without_filters
from vault_tool.util.structs import Struct

_NONE = "0"

# Seconds that a walk over the history may take: of 100,000 commits it takes some five, once.
WALK_LIMIT = 600.0


class Introduced(Struct):
    """Content that a commit put at a path. `was` is the path that it was moved from unchanged; `before` the parents' blobs."""

    path: str
    blob: str
    was: str = ""
    before: tuple[str, ...] = ()


class Brought(Struct):
    """One commit: its author's name and address as they stand in it, when it was made, and what it introduced.

    `signer` is who a valid signature is by, where signatures were asked for. `cut` marks a commit whose parents a shallow
    clone has not: what it seems to introduce may be anybody's. `op` is the tool's verb, as the commit has it;
    `removed` are the paths and blobs that a commit of one parent took away.
    """

    commit: str
    name: str
    address: str
    at: int
    signer: str = ""
    cut: bool = False
    files: tuple[Introduced, ...] = ()
    op: str = ""
    removed: tuple[tuple[str, str], ...] = ()


def own_address(repo: Repo) -> str:
    """The address that a commit made here would bear as its author's, lower case; empty where git knows none."""
    result = call(repo.work_tree, "var", "GIT_AUTHOR_IDENT")
    return "" if result.code else result.out.decode(errors="replace").rpartition(">")[0].rpartition("<")[2].strip().lower()


def unreachable(repo: Repo, old: str, tips: Sequence[str]) -> frozenset[str]:
    """The commits of `old` that no tip has; raises `GitError` where `old` is a commit no longer."""
    out = output(repo.work_tree, "read the history", "rev-list", old, "--not", *tips)
    return frozenset(out.decode().split())


def brought(repo: Repo, tips: Sequence[str], since: Sequence[str], folders: Sequence[str], signed: bool) -> list[Brought]:
    """The commits that the tips have and `since` has not, each after its parents, with what they put into the folders;
    without folders all of them, and nothing of what they brought.

    Addresses are as the commits have them, whatever a mailmap says. Of a merge only what none of its parents has counts.
    """
    mark = os.urandom(16).hex()
    # `%G?` starts a program for each commit, so it is asked only where it decides.
    op = "%(trailers:key=Vault-Op,valueonly,unfold,separator=%x20)" if folders else ""
    form = "%x00".join((mark, "%H", "%ct", "%ae", "%an", op, *(("%G?", "%GS") if signed else ("", "")))) + "%x00"
    trees = ("--full-history", "--raw", "-c", "-M100%", "-l0", "--no-abbrev") if folders else ()
    args = (
        *("--topo-order", "--reverse", *trees, "-z", "--no-mailmap"),
        *("--encoding=UTF-8", "--no-show-signature", "--no-ext-diff", "--no-textconv", f"--format={form}"),
    )
    out = output(
        repo.work_tree,
        "read the history",
        "log",
        *args,
        *tips,
        "--not",
        *since,
        "--",
        *(repo.inside(folder) for folder in folders),
        limit=WALK_LIMIT,
    )
    cut = shallow(repo)
    texts = out.decode(errors="surrogateescape").split(f"{mark}\0")[1:]
    return [_brought(repo, text.split("\0"), cut) for text in texts]


def last_to_touch(repo: Repo, paths: Sequence[str], tip: str = "HEAD") -> tuple[str, str] | None:
    """The commit, abbreviated, that last brought one of these paths to `tip`, and whose it is; None where git names none."""
    form = "--format=%h%x00%an <%ae>"
    args = ("-1", "-m", "--full-history", "--diff-filter=AMRTC", "--encoding=UTF-8", "--no-show-signature", form)
    try:
        out = output(repo.work_tree, "find who brought a file", "log", *args, tip, "--", *repo.places(paths))
    except GitError:
        return None
    commit, _, author = _text(out.decode(errors="surrogateescape")).partition("\n")[0].partition("\0")
    return (commit, author) if commit else None


def is_ancestor(repo: Repo, old: str, new: str) -> bool:
    """Whether one commit comes before another, or is it."""
    return call(repo.work_tree, "merge-base", "--is-ancestor", old, new).code == 0


def removed_by(repo: Repo, commits: Iterable[str]) -> list[tuple[str, str, str]]:
    """The files that each of the commits took away: the commit, the path, and the blob that stood there."""
    named = list(commits)
    if not named:
        return []
    mark = os.urandom(16).hex()
    args = ("--no-walk=unsorted", "--raw", "--no-renames", "--no-abbrev", "--diff-filter=D", "-z", f"--format={mark}%x00%H%x00")
    out = output(repo.work_tree, "read the history", "log", *args, "--stdin", feed="\n".join(named).encode() + b"\n")
    authors = []
    for text in out.decode(errors="surrogateescape").split(f"{mark}\0")[1:]:
        commit, *parts = text.split("\0")
        walk = iter(part.lstrip("\n") for part in parts if part.strip("\n"))
        for entry in walk:
            path = repo.relative(next(walk, ""))
            values = entry.lstrip(":").split(" ")
            if path and values[0].startswith("100"):
                authors.append((commit, path, values[2]))
    return authors


def committed_at(repo: Repo, paths: Sequence[str]) -> dict[str, int]:
    """When the newest commit of each of these files was made, in seconds; files that no commit has are left out."""
    mark = os.urandom(16).hex()
    args = ("--name-only", "-z", "--no-renames", f"--format={mark}%x00%ct%x00")
    asked = paths if len(paths) <= PATHS_A_CALL else ()
    times: dict[str, int] = {}
    out = output(repo.work_tree, "read the history", "log", *args, "HEAD", "--", *repo.places(asked))
    for text in out.decode(errors="surrogateescape").split(f"{mark}\0")[1:]:
        at, *names = text.split("\0")
        for name in names:
            if path := repo.relative(name.lstrip("\n")):
                times.setdefault(path, int(at))
    return times


def work_tree_blobs(repo: Repo, paths: Iterable[str]) -> dict[str, str]:
    """The blobs that git would store for these files as they are now, line endings and encodings turned back as it does.

    Only files that differ from git's index are read.
    """
    named = sorted(paths)
    if not named:
        return {}
    asked = repo.places(named if len(named) <= PATHS_A_CALL else ())
    quiet = without_filters(repo)
    staged = output(repo.work_tree, "list the tracked files", "ls-files", "-z", "--stage", "--", *asked)
    blobs_by_name = {name: entry.split(" ")[1] for entry, _, name in (line.partition("\t") for line in fields(staged))}
    changed = set(fields(output(repo.work_tree, "compare", "ls-files", "-z", "--modified", "--", *asked, config=quiet)))
    inside = {repo.inside(path): path for path in named}
    read = [name for name in inside if (name in changed or name not in blobs_by_name) and (repo.work_tree / name).is_file()]
    plain = [name for name in read if "\n" not in name]
    if plain:
        feed = lines(plain).replace(b"\0", b"\n")
        out = output(repo.work_tree, "hash the files", "hash-object", "--stdin-paths", feed=feed, config=quiet)
        blobs_by_name |= dict(zip(plain, out.decode().split(), strict=True))
    return {path: blobs_by_name[name] for name, path in inside.items() if name in blobs_by_name}


def committed_blobs(repo: Repo, commit: str, paths: Iterable[str]) -> dict[str, str]:
    """The blobs of these files as a commit has them."""
    named = sorted(paths)
    if not named:
        return {}
    # Without paths all of its files are told: of many that is less work, and a command line has its limits.
    asked = named if len(named) <= PATHS_A_CALL else ()
    out = output(repo.work_tree, "read a commit", "ls-tree", "-r", "-z", "--full-tree", commit, "--", *map(repo.inside, asked))
    entries = (line.partition("\t") for line in fields(out))
    return {path: entry.split(" ")[2] for entry, _, name in entries if (path := repo.relative(name))}


def earlier_blobs(repo: Repo, tip: str, paths: Sequence[str]) -> dict[str, set[str]]:
    """The blobs that commits before `tip` have of these files; without paths of all that a commit, or none yet, changed, as far
    as no operation is told by its trailer to have put something new beside them alone.
    """
    raw = ("--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")
    what: tuple[str, ...] = ("--full-history", "--diff-filter=AM")
    places: tuple[str, ...] = ("--", *repo.places(paths))
    if not paths:
        what, places = ("--diff-filter=M", "-E", "--invert-grep", f"--grep={_ADDING}"), ()
    outputs = [output(repo.work_tree, "read the history", "log", "--format=", *what, *raw, tip, *places, limit=WALK_LIMIT)]
    if not paths:
        compared = ("diff-index", "--diff-filter=M", *raw, tip)
        outputs.append(output(repo.work_tree, "compare the work tree", *compared, config=without_filters(repo)))
    blobs_by_path: dict[str, set[str]] = {}
    for out in outputs:
        walk = iter(part.lstrip("\n") for part in out.decode(errors="surrogateescape").split("\0") if part.strip("\n"))
        for entry in walk:
            path = repo.relative(next(walk, ""))
            values = entry.lstrip(":").split(" ")
            if path and len(values) == _RAW_FIELDS:
                blobs_by_path.setdefault(path, set()).update(oid for oid in values[2:4] if oid.strip(_NONE))
    return blobs_by_path


# What writes new files and changes no text that is there.
_ADDING = "^Vault-Op: (remember|add_observations|turn|link|mark_useful|mark_questionable|create_understanding|reflect|core)$"
_RAW_FIELDS = 5


def blobs(repo: Repo, names: Iterable[str]) -> dict[str, bytes]:
    """The contents of blobs by their ids, from one process; those that git has not are left out."""
    unique = list(dict.fromkeys(names))
    if not unique:
        return {}
    out = output(
        repo.work_tree,
        "read the history",
        "cat-file",
        "--batch=%(objecttype) %(objectsize)",
        feed="\n".join(unique).encode() + b"\n",
    )
    contents: dict[str, bytes] = {}
    at = 0
    for name in unique:
        end = out.index(b"\n", at)
        kind, _, size = out[at:end].partition(b" ")
        at = end + 1
        if kind == b"blob":
            contents[name] = out[at : at + int(size)]
            at += int(size) + 1
    return contents


def shallow(repo: Repo) -> frozenset[str]:
    """The commits at which a shallow clone ends: what was before them it has not."""
    try:
        return frozenset((repo.common_dir / "shallow").read_text("ascii").split())
    except (OSError, UnicodeDecodeError):
        return frozenset()


def _brought(repo: Repo, parts: list[str], cut: frozenset[str]) -> Brought:
    commit, at, address, name, op, status, signer, *rest = parts
    removed: list[tuple[str, str]] = []
    files = tuple(_introduced(repo, [part.lstrip("\n") for part in rest], removed))
    valid = signer if status == "G" else ""
    return Brought(
        commit,
        _text(name),
        _text(address).strip().lower(),
        int(at),
        _text(valid),
        commit in cut,
        files,
        op.strip(),
        tuple(removed),
    )


def _introduced(repo: Repo, parts: list[str], removed: list[tuple[str, str]]) -> Iterator[Introduced]:
    walk = iter(part for part in parts if part)
    for entry in walk:
        if not entry.startswith(":"):
            continue
        parents = len(entry) - len(entry.lstrip(":"))
        values = entry.lstrip(":").split(" ")
        mode, hashes, status = values[parents], values[parents + 1 : -1], values[-1]
        name = next(walk, "")
        was = ""
        if parents == 1 and status[0] in "RC":
            was, name = name, next(walk, "")
        *before, blob = hashes
        path = repo.relative(name)
        # What is no plain file (a link, a repository further in) is no note.
        if path and mode.startswith("100") and blob.strip(_NONE):
            yield Introduced(path, blob, repo.relative(was) or "" if was else "", tuple(before))
        elif path and parents == 1 and status == "D" and values[0].startswith("100"):
            removed.append((path, before[0]))


def _text(raw: str) -> str:
    return raw.encode(errors="surrogateescape").decode(errors="replace")
