"""The check that the files in a vault's local folders are this machine's own, and did not come with a pull, copy or archive.

It uses a key that lies in no vault: `_local/mark` is a keyed hash of the folder's device and inode. If the mark is another's, or
git tracks one of these paths (or did since the mark was made), none of the files is read. This machine's files of the vault are
then kept in the user's own data folder, until a person accepts those in the vault (`vt doctor --adopt-local`).
"""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import monotonic

from msgspec.structs import replace

from vault_tool.errors import GitError, Refused, VaultError
from vault_tool.files.git.repo import Repo, fields, moved_by_us
from vault_tool.files.git.run import GitCall, together
from vault_tool.files.layout import CACHE, CONFIG_FILE, LOCAL, SETTINGS_FILE
from vault_tool.util.atomic import write_in
from vault_tool.util.deferred import shutil, tempfile
from vault_tool.util.folder import opened
from vault_tool.util.hints import shell
from vault_tool.util.structs import Struct
from vault_tool.util.user_folder import PRIVATE_FILE, PRIVATE_FOLDER, data_folder

NAMES = (LOCAL, CACHE, CONFIG_FILE)
MARK_FILE = "mark"
# The values of the mark at the last check. The file is overwritten in place, and a torn one is ignored.
_CHECKED_FILE = "checked"
OWN_FILES = (MARK_FILE, _CHECKED_FILE)

_KEY_FILE = "key"
_KEY_BYTES = 32
_ELSEWHERE = "elsewhere"
# The mark has a line for each user of the folder, for at most so many users.
_MOST_MARKS = 20
_LONGEST = 2**16
_NONE = "-"
# The format of git's index: the bytes of its header, the bytes of an entry before its name, and two masks for the entry's flags.
_HEADER, _ENTRY, _EXTENDED, _LENGTH = 12, 62, 0x4000, 0xFFF
_BYTES = tuple(name.encode() for name in NAMES)

Stamp = tuple[int, ...]
Repos = tuple[Repo, ...]


class Doubt(Enum):
    """The reason not to trust local files: git has them, git had them after the mark was made, or the mark is from elsewhere."""

    NONE = ""
    TRACKED = "tracked"
    BROUGHT = "brought"
    ELSEWHERE = "elsewhere"


class Trust(Struct):
    """The place of this machine's own files of a vault: below `place`, which is the vault's root if there is no doubt.

    `tracked` are the local paths that git tracks now, `commit` is a commit that had some since the mark was made.
    """

    place: Path
    doubt: Doubt = Doubt.NONE
    tracked: tuple[str, ...] = ()
    commit: str = ""


class _Line(Struct):
    """One user's line about a folder: the commit and git's index at the last check without a doubt."""

    mark: str
    head: str
    index: str
    seal: str

    def text(self) -> str:
        return f"{self.mark} {self.head} {self.index} {self.seal}\n"


# Seconds for which a decision is reused without a check, because an answer asks for it some twenty times.
_A_MOMENT = 0.0005


class _Known:
    """A remembered decision about a folder: the files that were looked at, their stamps, the time, and the result."""

    __slots__ = ("at", "files", "found", "repos", "stamps")

    def __init__(self, repos: Repos, files: tuple[str, ...], stamps: tuple[Stamp, ...], decision: Trust) -> None:
        self.repos, self.files, self.stamps, self.found = repos, files, stamps, decision
        self.at = monotonic()


# By root and data folder.
_known: dict[tuple[str, str], _Known] = {}


def place(root: Path) -> Path:
    """The folder below which `_local/`, `_cache/` and `_config.json` are this machine's own."""
    return trust(root).place


def trust(root: Path) -> Trust:
    """The decision about a vault's local folders; it costs three stats if nothing changed since the last time."""
    named = str(root), data_folder()
    known = _known.get(named)
    if known is not None:
        now = monotonic()
        if now - known.at < _A_MOMENT:
            return known.found
        if known.stamps == _stamps(known.files):
            known.at = now
            return known.found
    # While the indexes are at their places, the repositories are the same.
    is_known = known is not None and known.repos and all(_stamps(known.files)[2:])
    repos = known.repos if known is not None and is_known else tuple(repositories(root))
    files = _looked_at(root, repos)
    folder, _, *index = _stamps(files)
    if not folder:
        return Trust(root)
    decision = _decided(root, repos, folder, index)
    _known[named] = _Known(repos, files, (folder, _stamp(files[1]), *index), decision)
    return decision


def adopt(root: Path) -> None:
    """Trust the local files from now on, because a person has seen them, and move this machine's other files to them.

    Raises Refused if git still tracks some of them, StorageError if no mark can be written.
    """
    decision = trust(root)
    if decision.tracked:
        names = dict.fromkeys(path.split("/")[0] for path in decision.tracked)
        raise Refused(f"git tracks {', '.join(names)}", shell(f"git rm --cached -r {' '.join(names)}"))
    repos = tuple(repositories(root))
    folder, _, *index = _stamps(_looked_at(root, repos))
    if decision.doubt is Doubt.BROUGHT:
        # The cache is derived, and made anew faster than checked.
        shutil.rmtree(root / CACHE, ignore_errors=True)
    if decision.place != root:
        _merge(decision.place, root)
    _write_mark(root, folder, index, _heads(repos))
    look_again()


def vouch(root: Path) -> None:
    """Write the mark of a new vault, unless there is a doubt."""
    with rewritten(root):
        pass


@contextmanager
def rewritten(root: Path) -> Iterator[None]:
    """Write the mark again after history was rewritten, because its commit is gone then; not if there was a doubt before."""
    believed = trust(root).doubt is Doubt.NONE
    yield
    if believed:
        repos = tuple(repositories(root))
        folder, _, *index = _stamps(_looked_at(root, repos))
        with suppress(VaultError, OSError):
            _write_mark(root, folder, index, _heads(repos))
        look_again()


def look_again() -> None:
    """Forget all decisions, so that the next call checks again."""
    _known.clear()


def has_key() -> bool:
    """Whether this user has a key, or can have one."""
    return bool(_key(data_folder()))


def seal(kind: str, text: bytes) -> str:
    """A keyed hash which shows later that this user wrote a text, as a text of that kind; empty without a key."""
    return _keyed(kind, text) if has_key() else ""


def is_sealed(kind: str, text: bytes, signature: str) -> bool:
    """Whether `signature` is this user's seal of the text; False without a key."""
    return has_key() and hmac.compare_digest(_keyed(kind, text).encode(), signature.encode("utf-8", "replace"))


def _decided(root: Path, repos: Repos, folder: Stamp, index: Sequence[Stamp]) -> Trust:
    lines = _lines(root, MARK_FILE) if has_key() else []
    own = _own(lines, "mark", folder)
    # The last check may be much later than the mark.
    last = (_own(_lines(root, _CHECKED_FILE), "checked", folder) or own) if own is not None else None
    if last is not None and last.index == _text(index):
        return Trust(root)
    if tracked := tuple(path for repo in repos for path in _tracked(repo)):
        return _elsewhere(root, folder, Doubt.TRACKED, tracked=tracked)
    if own is None and lines:
        return _elsewhere(root, folder, Doubt.ELSEWHERE)
    heads = _heads(repos)
    # A new vault and a fresh clone have no local files that could have come with a pull.
    if last is not None or _is_there(root):
        if commit := _brought_by_any(repos, last.head if last is not None else "", heads):
            return _elsewhere(root, folder, Doubt.BROUGHT, commit=commit)
    elif not (root / SETTINGS_FILE).exists():
        return Trust(root)
    with suppress(VaultError, OSError):
        if own is None and not (root / SETTINGS_FILE).exists():
            pass  # the rest of a vault that was deleted meanwhile
        elif own is None:
            _write_mark(root, folder, index, heads)
        elif has_key():
            with opened(root, (LOCAL,)) as where:
                where.put(_CHECKED_FILE, _line("checked", folder, index, heads).text().encode(), mode=PRIVATE_FILE)
    return Trust(root)


def _elsewhere(root: Path, folder: Stamp, doubt: Doubt, *, tracked: tuple[str, ...] = (), commit: str = "") -> Trust:
    """The result for a vault whose local folders are not trusted: a place in the user's folder that no pull or copy can reach."""
    name = hmac.new(_key(data_folder()), _of_place(folder), sha256).hexdigest()[:32]
    created = Path(data_folder()) / _ELSEWHERE / name
    try:
        created.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    except OSError:
        created = _for_this_process(str(root))
    return Trust(created, doubt, tracked, commit)


@cache
def _for_this_process(root: str) -> Path:
    return Path(tempfile.mkdtemp(prefix="vault_tool-"))


def _merge(source: Path, root: Path) -> None:
    """Move files that were kept elsewhere into the vault: logs are appended, other files replace those in the vault.

    After a kill the next call moves the rest, and appends no line twice.
    """
    for folder, _, names in os.walk(source / LOCAL):
        below = Path(folder).relative_to(source)
        into = root / below
        into.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
        for name in names:
            source_file, target_file = Path(folder) / name, into / name
            if name.endswith(".jsonl") and target_file.is_file():
                present, more = target_file.read_bytes(), source_file.read_bytes()
                with opened(root, below.parts) as where:
                    write_in(where, name, present + _not_yet_in(present, more), durable=False, mode=PRIVATE_FILE)
                source_file.unlink()
            elif not name.endswith(".lock"):
                shutil.move(source_file, target_file)
    if (source / CONFIG_FILE).is_file():
        shutil.move(source / CONFIG_FILE, root / CONFIG_FILE)
    shutil.rmtree(source, ignore_errors=True)


def _not_yet_in(present: bytes, more: bytes) -> bytes:
    """The lines to append that are not at the end of a log yet: after a kill some may be there already."""
    lines = more.splitlines(keepends=True)
    return b"".join(lines[next((n for n in range(len(lines), 0, -1) if present.endswith(b"".join(lines[:n]))), 0) :])


def _is_there(root: Path) -> bool:
    return any(os.path.lexists(root / name) for name in NAMES)


# The mark.


def _lines(root: Path, name: str) -> list[_Line]:
    try:
        with opened(root, (LOCAL,)) as folder:
            data = folder.read(name) or b""
    except (OSError, VaultError):
        return []
    # An unknown line is not a mark of this user, but it counts as one of another user and is not overwritten.
    rows = [row.split(" ") for row in data[:_LONGEST].decode("utf-8", "replace").splitlines()]
    return [_Line(*(row if len(row) == 4 else ("", "", "", ""))) for row in rows]


def _own(lines: list[_Line], kind: str, folder: Stamp) -> _Line | None:
    """The line that this user wrote for this folder."""
    mark = _keyed("mark", _of_place(folder)) if lines else ""
    return next((line for line in lines if line.mark == mark and is_sealed(kind, _said(line), line.seal)), None)


def _line(kind: str, folder: Stamp, index: Sequence[Stamp], heads: str) -> _Line:
    bare = _Line(_keyed("mark", _of_place(folder)), heads, _text(index), "")
    return replace(bare, seal=seal(kind, _said(bare)))


def _write_mark(root: Path, folder: Stamp, index: Sequence[Stamp], heads: str) -> None:
    """Write the mark for the local files as of this commit and index; raises OSError, StorageError, Refused."""
    if not has_key():
        return
    line = _line("mark", folder, index, heads)
    others = [known for known in _lines(root, MARK_FILE) if known.mark and known.mark != line.mark][-_MOST_MARKS + 1 :]
    data = "".join(entry.text() for entry in (*others, line)).encode()
    with opened(root, (LOCAL,), create=True, mode=PRIVATE_FOLDER) as where:
        where.discard(_CHECKED_FILE)
        write_in(where, MARK_FILE, data, durable=False, mode=PRIVATE_FILE)


def _said(line: _Line) -> bytes:
    return f"{line.mark} {line.head} {line.index}".encode()


def _of_place(folder: Stamp) -> bytes:
    return "/".join(map(str, folder)).encode()


def _text(index: Sequence[Stamp]) -> str:
    return ",".join("/".join(map(str, stamp)) or _NONE for stamp in index) or _NONE


# The key.


@cache
def _key(folder: str) -> bytes:
    """The user's key, made when it is first needed; empty if it cannot be read or stored."""
    path = Path(folder) / _KEY_FILE
    for _ in range(2):
        try:
            key = path.read_bytes()
            if len(key) == _KEY_BYTES:
                return key
            path.unlink()
        except FileNotFoundError:
            pass
        except OSError:
            return b""
        with suppress(OSError):
            _make_key(path)
    return b""


def _make_key(path: Path) -> None:
    path.parent.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
    temporary = path.with_name(f"{_KEY_FILE}.{os.getpid()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    try:
        if os.write(descriptor, os.urandom(_KEY_BYTES)) < _KEY_BYTES:
            return
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        # The first process to link its key wins: a second key would make the marks of the first one invalid.
        os.link(temporary, path)
    except FileExistsError:
        pass
    except OSError:
        temporary.rename(path)
        return
    temporary.unlink()


def _keyed(kind: str, text: bytes) -> str:
    return hmac.new(_key(data_folder()), kind.encode() + b"\0" + text, sha256).hexdigest()


# The local paths in git. If git's files alone decide, no process is started.


def _looked_at(root: Path, repos: Repos) -> tuple[str, ...]:
    """The folder itself, the mark, and git's index of each repository."""
    return str(root), str(root / LOCAL / MARK_FILE), *(str(repo.git_dir / "index") for repo in repos)


def _stamps(files: tuple[str, ...]) -> tuple[Stamp, ...]:
    """The stamps of a folder, its mark and git's indexes; each changes with its file."""
    root, *others = files
    try:
        info = os.stat(root)  # noqa: PTH116  (asked many times in an answer, and a path is as dear as the look)
    except OSError:
        return tuple(() for _ in files)
    return (info.st_dev, info.st_ino), *map(_stamp, others)


def _stamp(path: str) -> Stamp:
    try:
        info = os.lstat(path)
    except OSError:
        return ()
    return info.st_mtime_ns, info.st_size, info.st_ino


def repositories(root: Path) -> Iterator[Repo]:
    """The repositories around a folder, found by their files, nearest first: an outer repository may bring files into an inner
    work tree.
    """
    real = root.resolve()
    for folder in (real, *real.parents):
        dot = folder / ".git"
        git_dir = dot if dot.is_dir() else _linked(dot)
        if git_dir is not None and (git_dir / "HEAD").exists():
            below = real.relative_to(folder).as_posix()
            yield Repo(real, folder, git_dir, _common(git_dir), "" if below == "." else f"{below}/")


def _linked(dot: Path) -> Path | None:
    """The repository folder that the `.git` file of a linked work tree or submodule names."""
    pointer = _first_line(dot)
    return dot.parent / pointer.removeprefix("gitdir:").strip() if pointer.startswith("gitdir:") else None


def _common(git_dir: Path) -> Path:
    pointer = _first_line(git_dir / "commondir")
    return (git_dir / pointer).resolve() if pointer else git_dir


def _first_line(path: Path) -> str:
    try:
        # A fifo would never end.
        return path.read_text("utf-8", "surrogateescape").partition("\n")[0].strip() if path.is_file() else ""
    except (OSError, ValueError):
        return ""


def _heads(repos: Repos) -> str:
    return ",".join(_head(repo) or _NONE for repo in repos) or _NONE


def _head(repo: Repo) -> str:
    """The commit of HEAD; empty if there is none, or if only git itself can find it."""
    reference = _first_line(repo.git_dir / "HEAD")
    if not reference.startswith("ref: "):
        return reference
    name = reference.removeprefix("ref: ")
    if commit := _first_line(repo.common_dir / name):
        return commit
    try:
        packed = (repo.common_dir / "packed-refs").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return ""
    return next((line.split(" ")[0] for line in packed if line.endswith(f" {name}")), "")


def _tracked(repo: Repo) -> tuple[str, ...]:
    """The local paths that git's index has, as paths in the vault."""
    try:
        data = (repo.git_dir / "index").read_bytes()
    except OSError:
        return ()
    if not _may_have(repo, data):
        return ()
    out = _git(repo, "ls-files", "-z", "--cached", "--", *_places(repo))
    listed = [path for name in fields(out or b"") if (path := name[len(repo.prefix) :])]
    return tuple(listed) if out is not None else NAMES


def _may_have(repo: Repo, index: bytes) -> bool:
    """Whether git's index may have one of the local paths. It is parsed here, unless it shortens names (version 4) or keeps
    some in another file: then only git can tell.
    """
    shared = any(name.startswith("sharedindex.") for name in os.listdir(repo.git_dir))
    if shared or index[:4] != b"DIRC" or index[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return True
    if repo.prefix:
        return f"{repo.prefix}_".encode("utf-8", "surrogateescape").lower() in index.lower()
    # The index is sorted: few names come before the local paths, and nearly all of a vault comes after them.
    at, left = _HEADER, int.from_bytes(index[8:_HEADER], "big")
    while left:
        flags = int.from_bytes(index[at + _ENTRY - 2 : at + _ENTRY], "big")
        begin = at + _ENTRY + (2 if flags & _EXTENDED else 0)
        end = index.find(b"\0", begin)
        name = index[begin:end].lower()
        if end < 0 or end - begin != flags & _LENGTH or name.startswith(_BYTES):
            return True  # a local path, or an index of another form, with longer hashes
        if index[begin : begin + 1] > b"_":
            return False
        at += (end - at + 8) & ~7
        left -= 1
    return False


def _brought_by_any(repos: Repos, before: str, heads: str) -> str:
    """A commit with one of the local paths that HEAD did not have before, in any of the repositories; empty for none."""
    known = [*before.split(","), *(_NONE for _ in repos)]
    answers = (_brought_by(repo, was, now) for repo, was, now in zip(repos, known, heads.split(","), strict=False))
    return next(filter(None, answers), "")


def _brought_by(repo: Repo, before: str, head: str) -> str:
    is_told = before not in ("", _NONE) and head != _NONE
    if is_told and (before == head or moved_by_us(repo, before, head, None)):
        return ""
    since = f"{before}.." if before not in ("", _NONE) else ""
    for revisions in dict.fromkeys((f"{since}HEAD", "HEAD")):
        # A commit that only deleted the paths brought nothing. The filter lists the other letters, because older versions of git
        # find no commit with `d` unless they make a patch.
        asked = ("log", "-1", "-m", "--full-history", "--diff-filter=AMRTC", "--format=%H", revisions, "--", *_places(repo))
        out = _git(repo, *asked)
        if out is not None:
            return out.decode("ascii", "replace").partition("\n")[0].strip()
    return ""


def _places(repo: Repo) -> list[str]:
    """The local paths as git's pathspecs, in upper or lower case, because a file system may ignore case while git does not."""
    return [f":(icase,literal){repo.prefix}{name}" for name in NAMES]


def _git(repo: Repo, *arguments: str) -> bytes | None:
    """The answer of a git command; None where git fails."""
    try:
        result = together(repo.work_tree, [GitCall(arguments, literal=False)])[0]
    except GitError:
        return None
    return None if result.code else result.out
