"""History without some texts: written aside by git-filter-repo, switched to at once, and then nothing kept of the old."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import field

from vault_tool.errors import GitError
from vault_tool.files.git.repo import Repo, fields
from vault_tool.files.git.run import call, first_line, output, python
from vault_tool.files.git.worktree import without_filters
from vault_tool.util.hints import shell, step
from vault_tool.util.structs import Struct

OURS = "refs/vault-purge/"
# What a purge under way keeps: the commits that refs were at, those that they come to, and the stashes to be put back.
OLD, NEW, STASH = OURS + "old/", OURS + "new/", OURS + "stash/"

# Seconds that a walk over all objects, or writing them anew, may take.
LIMIT = 3600.0

_CHUNK = 64 * 2**20
_HEAD, _REFS_STASH, _NOTES, _REMOTES = "HEAD", "refs/stash", "refs/notes/", "refs/remotes/"


class Stored(Struct):
    """An object of the database: a blob, a commit or a tag."""

    oid: str
    kind: str
    data: bytes


class ReachableHistory(Struct):
    """Everything that refs and stashes reach: commits and paths by which each blob came, and each commit's parents."""

    roots: Mapping[str, str]
    parents: Mapping[str, tuple[str, ...]]
    paths: Mapping[str, frozenset[str]]
    by: Mapping[str, frozenset[str]]


class Rewrite(Struct, kw_only=True):
    """The planned changes: blobs by id (None: the file is left out), messages by the id of their commit or tag."""

    blobs: Mapping[str, bytes | None] = field(default_factory=dict)
    messages: Mapping[str, bytes] = field(default_factory=dict)

    def commits(self, history: ReachableHistory) -> tuple[str, ...]:
        """The commits that get another id, parents first: those that bring a changed blob or say it, and what follows them."""
        first = {commit for oid in self.blobs for commit in history.by.get(oid, ())} | self.messages.keys()
        changed: dict[str, None] = {}
        for commit, parents in history.parents.items():
            if commit in first or any(parent in changed for parent in parents):
                changed[commit] = None
        return tuple(changed)


def objects(repo: Repo, kinds: Iterable[str] = ("blob", "commit", "tag")) -> Iterator[Stored]:
    """Every object of the database, whether anything reaches it or not."""
    listed = output(repo.work_tree, "list its objects", *_ALL, limit=LIMIT).decode().split("\n")
    rows = [(oid, int(size)) for oid, kind, size in (line.split() for line in listed if line) if kind in set(kinds)]
    chunk: list[str] = []
    held = 0
    for oid, size in rows:
        chunk.append(oid)
        held += size
        if held > _CHUNK or len(chunk) > 20_000:
            yield from _read(repo, chunk)
            chunk, held = [], 0
    if chunk:
        yield from _read(repo, chunk)


_ALL = ("cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname) %(objecttype) %(objectsize)")


def history(repo: Repo) -> ReachableHistory:
    """Everything that can be reached now, with the stashes that a purge under way holds, without the rest that it keeps aside."""
    roots = {name: oid for name, oid in _refs(repo).items() if not name.startswith((OURS, _NOTES))}
    roots.pop(_REFS_STASH, None)
    roots |= {f"{STASH}{number:06}": oid for number, oid in enumerate(stashes(repo))}
    tips = sorted(set(peeled(repo, roots.values()).values()))
    if not tips:
        return ReachableHistory(roots, {}, {}, {})
    feed = "\n".join(tips).encode() + b"\n"
    args = ("rev-list", "--topo-order", "--reverse", "--parents", "--stdin")
    rows = output(repo.work_tree, "read the history", *args, feed=feed, limit=LIMIT).decode().split("\n")
    parents = {commit: tuple(rest) for commit, *rest in (row.split() for row in rows if row)}
    mark = os.urandom(16).hex()
    form = ("log", "--stdin", "--raw", "-z", "-m", "--root", "--no-renames", "--no-abbrev", f"--format={mark}%x00%H%x00")
    quiet = ("--no-mailmap", "--no-show-signature", "--no-ext-diff")
    listed = output(repo.work_tree, "read the history", *form, *quiet, feed=feed, limit=LIMIT)
    paths: dict[str, set[str]] = {}
    by: dict[str, set[str]] = {}
    for text in listed.decode(errors="surrogateescape").split(f"{mark}\0")[1:]:
        commit, *rest = text.split("\0")
        walk = (part.lstrip("\n") for part in rest)
        for entry in walk:
            if entry.startswith(":"):
                oid = entry.split(" ")[3]
                paths.setdefault(oid, set()).add(next(walk))
                by.setdefault(oid, set()).add(commit)
    frozen = ({oid: frozenset(names) for oid, names in each.items()} for each in (paths, by))
    return ReachableHistory(roots, parents, *frozen)


def stashes(repo: Repo) -> list[str]:
    """The stashes, the oldest first; after a purge that was killed first those that it holds for putting back."""
    held = _stash_oids(repo)
    result = call(repo.work_tree, "reflog", "show", "--format=%H", _REFS_STASH)
    listed = list(reversed(result.out.decode().split())) if result.code == 0 else []
    return list(dict.fromkeys((*held, *listed)))


def _set(repo: Repo, key: str) -> str:
    return call(repo.work_tree, "config", "--get", key).out.decode("utf-8", "replace").strip().lower()


def _stash_oids(repo: Repo) -> list[str]:
    return [oid for _, oid in sorted(_refs(repo, STASH).items())]


def tree_blobs(repo: Repo, folder: Path) -> set[str]:
    """The blobs that a work tree's HEAD and its index hold."""
    staged = fields(output(folder, "list the tracked files", "ls-files", "-s", "-z"))
    oids = {row.split(" ")[1] for row in staged}
    result = call(folder, "ls-tree", "-r", "-z", "--full-tree", _HEAD)
    return oids | {row.partition("\t")[0].split(" ")[2] for row in fields(result.out)}


def other_work_trees(repo: Repo) -> list[tuple[Path, bool]]:
    """The other work trees of this repository, and whether HEAD is on no branch there."""
    out = output(repo.work_tree, "list the work trees", "worktree", "list", "--porcelain").decode("utf-8", "surrogateescape")
    blocks = [block.split("\n") for block in out.split("\n\n") if block.strip()]
    listed = [(Path(block[0].removeprefix("worktree ")), "detached" in block) for block in blocks if "bare" not in block]
    # A submodule's own is listed as the folder where git keeps it.
    return [(path, detached) for path, detached in listed if path not in (repo.work_tree, repo.common_dir)]


def present(repo: Repo, oids: Sequence[str]) -> list[str]:
    """Those of the objects that git has."""
    if not oids:
        return []
    rows = output(repo.work_tree, "look for objects", "cat-file", "--batch-check", feed="\n".join(oids).encode() + b"\n")
    return [row.split(" ")[0] for row in rows.decode().splitlines() if not row.endswith(" missing")]


def edits(repo: Repo) -> list[str]:
    """The tracked files of the whole repository that differ from HEAD."""
    args = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames")
    return [row[3:] for row in fields(output(repo.work_tree, "compare the files", *args, config=without_filters(repo)))]


def superproject(repo: Repo) -> str:
    """The repository of which this one is a submodule; empty for none."""
    return call(repo.work_tree, "rev-parse", "--show-superproject-working-tree").out.decode(errors="replace").strip()


def hindrance(repo: Repo) -> tuple[str, str] | None:
    """Why the history of this repository cannot be written anew as it is, with what to type; None where it can."""
    common, pack = repo.common_dir, repo.common_dir / "objects" / "pack"
    if (common / "shallow").exists():
        return (
            "this is a shallow clone, which has a part of the history alone",
            f"{shell('git fetch --unshallow')} brings the rest",
        )
    if _refs(repo, "refs/replace/") or (common / "info" / "grafts").exists():
        return (
            "commits are replaced here (refs/replace or grafts)",
            f"{shell('git replace --list')} shows them, {shell('git replace -d')} ends it",
        )
    if (common / "objects" / "info" / "alternates").exists():
        return (
            "some of its objects are in another repository",
            f"{shell('git repack -a -d')}, then remove .git/objects/info/alternates",
        )
    if keep_file := next(pack.glob("*.keep"), None):
        return f"git is told to keep a pack whole ({keep_file.name})", f"remove {keep_file} if nobody needs that"
    if _set(repo, "extensions.objectFormat") == "sha256":
        return (
            "it names its objects by SHA-256, which git-filter-repo cannot do",
            f"{step('forget', memory_id=...)} erases it from the files alone",
        )
    if _set(repo, "extensions.partialClone"):
        return "this is a partial clone, which has a part of the objects alone", "clone it whole"
    if _set(repo, "gc.recentObjectsHook"):
        return (
            "gc.recentObjectsHook is set, a program that says what git keeps",
            f"{shell('git config --unset gc.recentObjectsHook')} takes it away",
        )
    return None


class Rewritten(Struct):
    """The outcome for refs (by name: their old and new ids) and for commits (by their old ids)."""

    refs: Mapping[str, tuple[str, str]]
    commits: Mapping[str, str]


def rewrite(repo: Repo, plan: Rewrite, reachable: ReachableHistory, notes: Callable[[bytes], bool]) -> Rewritten:
    """Write history anew and switch every ref to it in one transaction.

    Branches, tags and stashes move; of remotes' branches those go that hold what goes, and of
    notes on commits those that `notes` says tell of it. Until `erase` the old ids stay, under names of our own.
    """
    changed = dict.fromkeys(plan.commits(reachable))
    tips = peeled(repo, reachable.roots.values())
    old = sorted({commit for commit in tips.values() if commit in changed})
    _forget_ours(repo, (OLD, NEW))
    _update(repo, [(f"{OLD}{number}", oid, "") for number, oid in enumerate(old)])
    renamed = _filtered(repo, plan, old, reachable, changed) if old else {}
    moves: list[tuple[str, str, str]] = []
    held: dict[str, None] = {}
    for name, oid in reachable.roots.items():
        moved = tips.get(oid, "") in changed or oid in plan.messages
        new = _renamed(repo, oid, renamed, plan.messages) if moved else oid
        if name.startswith(STASH):
            held[new] = None
        elif moved:
            moves.append((name, "" if name.startswith(_REMOTES) else new, oid))
    moves += _notes(repo, renamed, notes)
    refs = {f"{STASH}{number:06}": oid for number, oid in enumerate(held)}
    moves_of_stashes = [*refs.items(), *((name, "") for name in _refs(repo, STASH) if name not in refs)]
    _update(repo, [*moves, *((name, oid, "") for name, oid in moves_of_stashes)])
    _unchanged_head(repo, moves)
    return Rewritten({name: (before, after) for name, after, before in moves}, renamed)


def erase(repo: Repo) -> None:
    """Let go of everything that no ref reaches: reflogs, names of our own, and the objects themselves. Stashes are put back."""
    held = _stash_oids(repo)
    output(repo.work_tree, "empty the reflogs", "reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    if held:
        call(repo.work_tree, "update-ref", "-d", _REFS_STASH)
        for oid in held:
            subject = (
                output(repo.work_tree, "read a stash", "log", "-1", "--format=%s", "--no-show-signature", oid).decode().strip()
            )
            output(repo.work_tree, "put a stash back", "stash", "store", "-m", subject, oid)
    _forget_ours(repo, (OURS,))
    for folder in (repo.work_tree, *(path for path, _ in other_work_trees(repo) if path.is_dir())):
        # The index keeps the sides of a conflict that was settled, by which `git checkout -m` brings it back.
        output(folder, "let go of settled conflicts", "update-index", "--clear-resolve-undo")
    for name in ("ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG"):
        (repo.git_dir / name).unlink(missing_ok=True)
    shutil.rmtree(repo.common_dir / "vault-purge", ignore_errors=True)
    output(repo.work_tree, "pack what is left", "repack", "-a", "-d", "-q", limit=LIMIT)
    output(repo.work_tree, "drop what is not reached", "prune", "--expire=now", limit=LIMIT)
    # Whatever else caches what was there by its old ids.
    for stale in (repo.common_dir / "objects" / "info").glob("commit-graph*"):
        with suppress(OSError):
            shutil.rmtree(stale) if stale.is_dir() else stale.unlink()


def _filtered(
    repo: Repo, removal: Rewrite, old: list[str], reachable: ReachableHistory, changed: Mapping[str, None]
) -> dict[str, str]:
    """Have git-filter-repo write the changed commits anew; returns their new ids by their old ones."""
    edge = {parent for commit in changed for parent in reachable.parents[commit] if parent not in changed}
    plan = {
        "old": OLD,
        "new": NEW,
        "refs": [*(f"{OLD}{number}" for number in range(len(old))), *(f"^{oid}" for oid in sorted(edge))],
        "blobs": _stored(repo, removal.blobs),
        "messages": {oid: text.decode("utf-8", "surrogateescape") for oid, text in removal.messages.items()},
    }
    # In git's own folder: a kill leaves no words anywhere else, and the next purge takes it away.
    aside = repo.common_dir / "vault-purge"
    aside.mkdir(exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=aside))
    feed = json.dumps(plan | {"folder": str(folder)}).encode("utf-8", "surrogatepass")
    done = python(repo.work_tree, "vault_tool.files.git.filtering", feed, LIMIT)
    if done.code:
        raise GitError(f"git-filter-repo failed: {first_line(done.err) or f'exit code {done.code}'}", "nothing was changed")
    rows = (folder / "commit-map").read_text("ascii").splitlines()[1:]
    renamed = dict(row.split() for row in rows)
    shutil.rmtree(aside, ignore_errors=True)
    if lost := [oid for oid in changed if not renamed.get(oid, "").strip("0")]:
        raise GitError(f"git-filter-repo left {len(lost)} commits out", "nothing was changed")
    return renamed


def _stored(repo: Repo, blobs: Mapping[str, bytes | None]) -> dict[str, str]:
    """Store the new contents, in one process; returns their ids by the old ones, an empty one for what is left out."""
    written = [(oid, data) for oid, data in blobs.items() if data is not None]
    stream = (b"blob\nmark :%d\ndata %d\n%s\n" % (n, len(data), data) for n, (_, data) in enumerate(written, 1))
    asked = (b"get-mark :%d\n" % n for n in range(1, len(written) + 1))
    feed = b"".join((b"feature done\n", *stream, *asked, b"done\n"))
    ids = output(repo.work_tree, "store the new texts", "fast-import", "--quiet", feed=feed, limit=LIMIT).decode().split()
    return dict.fromkeys(blobs, "") | {oid: new for (oid, _), new in zip(written, ids, strict=True)}


def _renamed(repo: Repo, oid: str, renamed: Mapping[str, str], messages: Mapping[str, bytes]) -> str:
    """The new id of a commit, or of a tag that is made anew around what it names: unsigned, as a signature was of the old."""
    if oid in renamed:
        return renamed[oid]
    kind = output(repo.work_tree, "read a tag", "cat-file", "-t", oid).decode().strip()
    if kind != "tag":
        return oid
    data = output(repo.work_tree, "read a tag", "cat-file", "tag", oid)
    head, _, message = data.partition(b"\n\n")
    first, _, rest = head.partition(b"\n")
    named = _renamed(repo, first.removeprefix(b"object ").decode(), renamed, messages)
    message = messages.get(oid, message)
    for mark in (b"-----BEGIN PGP SIGNATURE-----", b"-----BEGIN SSH SIGNATURE-----", b"-----BEGIN SIGNED MESSAGE-----"):
        message = message.partition(mark)[0]
    text = b"object " + named.encode() + b"\n" + rest + b"\n\n" + message
    return output(repo.work_tree, "write a tag", "hash-object", "-t", "tag", "-w", "--stdin", feed=text).decode().strip()


def _notes(repo: Repo, renamed: Mapping[str, str], holds_words: Callable[[bytes], bool]) -> Iterator[tuple[str, str, str]]:
    """Notes on commits: moved to the new commits, without those that tell of what goes, and without their own history."""
    for ref, tip in _refs(repo, _NOTES).items():
        rows = fields(output(repo.work_tree, "read the notes on commits", "ls-tree", "-r", "-z", "--full-tree", tip))
        listed = [(name.replace("/", ""), about.split(" ")[2]) for about, _, name in (row.partition("\t") for row in rows)]
        words = {blob.oid: blob.data for blob in _read(repo, [oid for _, oid in listed])}
        remaining = [(renamed.get(name, name), oid) for name, oid in listed if not holds_words(words.get(oid, b""))]
        if remaining == listed and not any(holds_words(blob.data) for blob in _read(repo, _every_version(repo, tip))):
            continue
        feed = b"".join(f"100644 blob {oid}\t{name}\n".encode() for name, oid in sorted(remaining))
        tree = output(repo.work_tree, "write the notes on commits", "mktree", feed=feed).decode().strip()
        commit = output(repo.work_tree, "write the notes on commits", "commit-tree", tree, feed=b"Notes\n").decode().strip()
        yield ref, commit, tip


def _every_version(repo: Repo, tip: str) -> list[str]:
    out = output(repo.work_tree, "read the notes on commits", "rev-list", "--objects", tip).decode("utf-8", "replace")
    return [line.split(" ")[0] for line in out.splitlines()]


def _unchanged_head(repo: Repo, moves: Sequence[tuple[str, str, str]]) -> None:
    """The files of HEAD must be what they were; where they are not, every ref is put back."""
    head = call(repo.work_tree, "rev-parse", "--symbolic-full-name", _HEAD).out.decode().strip()
    before, after = next(((old, new) for name, new, old in moves if name == head), ("", ""))
    trees = {call(repo.work_tree, "rev-parse", f"{commit}^{{tree}}").out for commit in (before, after) if commit}
    if len(trees) > 1:
        _update(repo, [(name, old, new) for name, new, old in moves])
        raise GitError("the history as it was written anew does not end in the files of HEAD, and was not taken")


def _update(repo: Repo, moves: Iterable[tuple[str, str, str]]) -> None:
    """Move refs in one transaction, each to its new id (none: it goes) from the old one (none: from wherever it is)."""
    rows = [f"option no-deref\nupdate {name} {new} {old}" if new else f"delete {name} {old}" for name, new, old in moves]
    if rows:
        feed = "\n".join(("start", *(row.rstrip() for row in rows), "prepare", "commit", "")).encode("utf-8", "surrogateescape")
        output(repo.work_tree, "move the refs", "update-ref", "--stdin", feed=feed)


def _forget_ours(repo: Repo, prefixes: tuple[str, ...]) -> None:
    _update(repo, [(name, "", "") for prefix in prefixes for name in _refs(repo, prefix)])


def _refs(repo: Repo, prefix: str = "") -> dict[str, str]:
    """The refs by their names, without those that only name another one (`refs/remotes/origin/HEAD`)."""
    args = ("for-each-ref", "--format=%(objectname) %(refname) %(symref)", *((prefix,) if prefix else ()))
    rows = output(repo.work_tree, "list the refs", *args).decode("utf-8", "surrogateescape").splitlines()
    return {name: oid for oid, name, symbolic in (row.split(" ") for row in rows) if not symbolic}


def peeled(repo: Repo, oids: Iterable[str]) -> dict[str, str]:
    """The commits that ids of commits and tags stand for; those that stand for none are left out."""
    unique = list(dict.fromkeys(oids))
    if not unique:
        return {}
    feed = "".join(f"{oid}^{{commit}}\n" for oid in unique).encode()
    rows = output(repo.work_tree, "read the refs", "cat-file", "--batch-check=%(objectname)", feed=feed).decode().splitlines()
    return {oid: row for oid, row in zip(unique, rows, strict=True) if " " not in row}


def _read(repo: Repo, oids: Iterable[str]) -> Iterator[Stored]:
    unique = list(dict.fromkeys(oids))
    if not unique:
        return
    form = "--batch=%(objectname) %(objecttype) %(objectsize)"
    out = output(repo.work_tree, "read its objects", "cat-file", form, feed="\n".join(unique).encode() + b"\n", limit=LIMIT)
    at = 0
    for _ in unique:
        end = out.index(b"\n", at)
        answer = out[at:end].decode().split(" ")
        at = end + 1
        if answer[-1].isdigit():
            size = int(answer[-1])
            yield Stored(answer[0], answer[1], out[at : at + size])
            at += size + 1
