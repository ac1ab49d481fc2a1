"""The vault as it was known at a time: its files at the last commit before it, with what may be seen of them now.

Each such state is a folder in the cache, with a catalogue of its own: at most three are kept. Whatever was forgotten since is in
none of them, and consent, users and owners are of now.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from vault_tool.errors import UsageError
from vault_tool.files import git, tombstones
from vault_tool.files.git import authors, past_commits
from vault_tool.files.layout import CACHE, LOCAL, MADE_PAGES, VAULT
from vault_tool.files.local import LocalFolder
from vault_tool.files.signal_lines import signal_line
from vault_tool.index.slight import head_fields
from vault_tool.machine import Machine
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.util.clock import FixedClock, stamp
from vault_tool.util.deferred import shutil, tempfile
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.parameters import require_moment

if TYPE_CHECKING:
    from vault_tool.index.trusted_authors import TrustedAuthors
    from vault_tool.model.signals import Use

_Result = TypeVar("_Result")

FOLDER = "asof"
KEPT = 3
# The operations that take words of memories out of files.
_ERASING = "forget|purge"
_ID = re.compile(rb"^id:[ \t]*[\"']?([0-9A-Fa-f-]{36})", re.MULTILINE)
_USER = re.compile(rb"^user:[ \t]*[\"']?([^\"'\n\r]*)", re.MULTILINE)
_DAY = 10
_HEAD = 4096
_JOURNAL = f"{VAULT}/signals/1970-01.consents.jsonl"
_COMMIT = 7


class _NoUses(LocalFolder):
    """This machine's own files of a past state: no use is noted there, for it would be one of the past."""

    def note_use(self, use: Use) -> None:
        """Nothing."""


class PastVault(Context):
    """A vault as it was at a time: `told` says which, and nothing is written to it but its own catalogue."""

    def __init__(self, root: Path, present: Context, then: _Then) -> None:
        super().__init__(root, replace(present.who, session=""), FixedClock(then.moment))
        self.told = then.told
        self.is_past = True
        self.environ = present.environ
        self.local = _NoUses(self.root)
        self._present = present
        self._looked_for_global = True
        self._then = then

    @cached_property
    def repo(self) -> git.Repo | None:
        """The repository that ends at the commit; None while there was none."""
        # The folder lies in the repository of the present, which is not that of the past.
        return git.find(self.root) if self._then.commit is not None else None

    def machine_settings(self) -> Machine:
        """Settings by which no vector is asked for: what was known then is found by its words."""
        return Machine(provider="none")

    def owners(self) -> TrustedAuthors:
        """The owners of now."""
        return self._present.owners()

    def settle(self) -> None:
        """Nothing: no program reads the exports of a past state."""

    def export_if_due(self) -> None:
        """Nothing; see `settle`."""


class _Then(Struct):
    """A time that was asked for: the moment, how it is told, and the commit that was the last one then (None: none yet)."""

    moment: datetime
    name: str
    commit: str | None
    began: str = ""

    @property
    def told(self) -> str:
        """The words for it that each answer has."""
        if self.commit is None:
            return f"nothing was known before {self.began}"
        return f"as of {self.name} (commit {self.commit[:_COMMIT]})"


@contextmanager
def as_of(vault: Context, text: str) -> Iterator[PastVault]:
    """The vault as it was known at a time, for the same asker; raises UsageError for a time that cannot be told of."""
    vault.fresh()
    then = _then(vault, text)
    hidden = _Hidden.of(vault)
    key = f"{(then.commit or 'none')[:12]}-{hidden.print}"
    folder = vault.local.place / CACHE / FOLDER / key
    if not folder.is_dir():
        _make(vault, then, hidden, folder)
    with suppress(OSError):
        os.utime(folder)
    _sweep(folder.parent, folder)
    root = folder / (vault.repo.prefix if vault.repo is not None and then.commit is not None else "")
    with PastVault(root, vault, then) as known:
        known.viewer, known.progress = vault.viewer, vault.progress
        yield known


@contextmanager
def in_its_time(vault: Context, text: str | None) -> Iterator[Context]:
    """The vault as of a time, or as it is now where none is named."""
    if text is None:
        yield vault
        return
    with as_of(vault, text) as known:
        yield known


def told_in_time(result: _Result, vault: Context) -> _Result:
    """An answer of this vault; of a past one with what it is as of."""
    return told_as_of(result, vault.told) if isinstance(vault, PastVault) else result


def told_as_of(result: _Result, words: str) -> _Result:
    """An answer that says, in a field `past`, as of when it is."""
    if not isinstance(result, Struct):
        return result
    values: dict[str, Any] = asdict(result)
    kind: Any = type(result)
    with_past: Any = _with_past(kind)
    return with_past(**values, past=words)  # type: ignore[no-any-return]


@cache
def _with_past(kind: type) -> type:
    """The class of an answer with a field more."""

    def lean(self: Any, short: Any) -> Any:
        return {**kind.lean(self, short), "past": self.past}  # type: ignore[attr-defined]

    more = {"lean": lean} if hasattr(kind, "lean") else {}
    names = {**more, "__doc__": kind.__doc__}
    return msgspec.defstruct(kind.__name__, [("past", str)], bases=(kind,), namespace=names, module=kind.__module__, kw_only=True)


def erase(vault: Context) -> bool:
    """Remove all past states; whether there were any."""
    folder = vault.local.place / CACHE / FOLDER
    has_any = folder.is_dir()
    shutil.rmtree(folder, ignore_errors=True)
    return has_any


def _then(vault: Context, text: str) -> _Then:
    """The commit that a time is of. UsageError with the reason for a time that cannot be told of."""
    now = vault.clock.now()
    moment = require_moment(text, now, ends=True)
    day = text.strip() if len(text.strip()) == _DAY else ""
    if moment > now:
        # A day, month or year that has begun is asked of as far as it went.
        if require_moment(text, now) > now:
            raise UsageError(f"`{one_line(text, 40)}` lies ahead: what will be known is not known yet", "give a time of the past")
        moment = now
    repo = vault.repo
    if repo is None:
        why = vault.git_absence().partition("; ")[0]
        raise UsageError(f"what was known at a time is read from git's history, and there is none: {why}", "ask as of now")
    name = day or stamp(moment)
    first = past_commits.first_with(repo)
    last = past_commits.last_before(repo, moment) if first is not None else None
    if first is not None and last is not None and last.at >= first.at:
        return _Then(moment, name, last.commit)
    if first is not None and past_commits.is_shallow(repo):
        began = first.at.date().isoformat()
        raise UsageError(
            f"this clone is shallow: its history begins at {began}, and what was known before is not here",
            f"give a time since {began}, or fetch the whole history",
        )
    if first is None:
        raise UsageError("what was known at a time is read from git's history, and nothing is committed yet", "ask as of now")
    return _Then(moment, name, None, first.at.date().isoformat())


class _Hidden(Struct):
    """The bounds of what may be seen now, whatever the time: forgotten ids, all that was said of consent, and whom memories are
    about.
    """

    forgotten: frozenset[str]
    consents: tuple[Signal, ...]
    users: Mapping[str, str]

    @classmethod
    def of(cls, vault: Context) -> _Hidden:
        """The bounds of the vault now."""
        catalog = vault.whole_index.catalog
        asked = catalog.consented()
        consents = [signal for signal in catalog.signals_of(asked) if signal.kind is SignalKind.CONSENT] if asked else []
        users = {identity: str(user) for identity, (user,) in head_fields(catalog, "user") if user}
        return cls(vault.forgotten(), tuple(sorted(consents, key=lambda signal: signal.id)), users)

    @property
    def print(self) -> str:
        """A name that changes with it."""
        parts = [*sorted(self.forgotten), "", *map(signal_line, self.consents), "", *map(repr, sorted(self.users.items()))]
        return sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:8]

    def tells(self, data: bytes) -> bool:
        """Whether a note's bytes may be seen."""
        head = data[:_HEAD]
        named = _ID.search(head)
        identity = named[1].decode().lower() if named else ""
        if identity in self.forgotten:
            return False
        user = self.users.get(identity, "")
        about = _USER.search(head)
        return not user or (about is not None and about[1].decode("utf-8", "replace").strip() == user)


def _make(vault: Context, then: _Then, hidden: _Hidden, folder: Path) -> None:
    """Write the files of a past state; one that another process made meanwhile stays."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    built = Path(tempfile.mkdtemp(dir=folder.parent, prefix=".building-"))
    try:
        if then.commit is None:
            (built / VAULT).mkdir()
        else:
            _write(vault, then.commit, hidden, built)
        with suppress(OSError):
            built.rename(folder)
    finally:
        shutil.rmtree(built, ignore_errors=True)


def _write(vault: Context, commit: str, hidden: _Hidden, folder: Path) -> None:
    repo = vault.require_repo()
    named = past_commits.files_at(repo, commit, whole=vault.notes_folder is not None)
    skipped = {f"{repo.prefix}{page}" for page in MADE_PAGES}
    to_write = {path: blob for path, blob in named.items() if path not in skipped and not _is_local(path, repo.prefix)}
    texts = authors.blobs(repo, sorted(set(to_write.values())))
    gone = past_commits.lines_taken_out(repo, commit, _ERASING) if hidden.forgotten else {}
    left_out = []
    for path, blob in to_write.items():
        data = _without(texts[blob], gone.get(path, frozenset()))
        # A file of which an erasing left nothing is gone, and so is what names it.
        if hidden.tells(texts[blob]) and (data or not texts[blob]):
            _put(folder / path, data)
        else:
            left_out.append(path)
    past_commits.stand_at(repo, commit, folder, left_out)
    root = folder / repo.prefix
    for identity in hidden.forgotten:
        _put(root / tombstones.tombstone(identity), tombstones.CONFIRMED)
    if hidden.consents:
        _put(root / _JOURNAL, "".join(f"{signal_line(signal)}\n" for signal in hidden.consents).encode())
    (root / VAULT).mkdir(parents=True, exist_ok=True)


def _is_local(path: str, prefix: str) -> bool:
    """Whether a path is in a folder of a machine's own, which no commit should hold."""
    return path.removeprefix(prefix).split("/")[0] in (LOCAL, CACHE)


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _without(data: bytes, lines: frozenset[bytes]) -> bytes:
    """A text without the lines that an erasing took out of its file since."""
    if not lines:
        return data
    return b"".join(line for line in data.splitlines(keepends=True) if line.rstrip(b"\r\n") not in lines)


def _sweep(folder: Path, used: Path) -> None:
    """Keep the states that were asked for last, and nothing that a killed process began."""
    with suppress(OSError):
        places = sorted((place for place in folder.iterdir() if place != used), key=lambda place: -place.stat().st_mtime_ns)
        whole = [place for place in places if not place.name.startswith(".")]
        for place in whole[KEPT - 1 :]:
            shutil.rmtree(place, ignore_errors=True)
