"""Tombstones by whose they are: the owner's count for everything, others' for the texts that they brought themselves.

A tombstone is whose commit brought the file as it is. What is not committed was made here, and without git there is one owner.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from msgspec import field

from vault_tool.files import tombstones
from vault_tool.index.catalog import Catalog
from vault_tool.model.authority import OWNER, Act, Effect, Party, authority, by_origin
from vault_tool.model.ids import canonical
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct

_SHA1 = 40


class ForeignGrave(Struct):
    """A tombstone that another person's commit brought: the blob of the file at its path, its author, and when.

    `whose` is whose the note was that the same commit took away, as an origin: the empty text is the owner's, None says that
    it took none away.
    """

    path: str
    text: str
    author: str
    at: int
    commit: str
    whose: str | None = None
    note: str = ""
    """That note's blob; its path, which holds words of it, is in the history alone."""


class Graves(Struct, dict=True):
    """The ids that were forgotten: `ours` for good, `theirs` by others, each with who says so."""

    ours: frozenset[str] = frozenset()
    theirs: Mapping[str, tuple[ForeignGrave, ...]] = field(default_factory=lambda: MappingProxyType({}))
    owned: frozenset[str] = frozenset()
    """The paths at which another's words stand over the owner's: the memory is the owner's for all that."""

    def __bool__(self) -> bool:
        return bool(self.ours or self.theirs)

    @property
    def named(self) -> frozenset[str]:
        """All ids of which a tombstone is there, whether it counts or not."""
        return self.ours.union(self.theirs) if self.theirs else self.ours

    @cached_property
    def counting(self) -> frozenset[str]:
        """The ids that are forgotten whoever may write of them now: by the owner, or by who had brought the memory."""
        return self.ours.union(
            identity
            for identity, tombs in self.theirs.items()
            if any(grave.whose is not None and _counts(grave, by_origin(grave.whose)) for grave in tombs)
        )

    def refuses(self, entry: Entry) -> bool:
        """Whether a note is not read: its own id is forgotten, or, of a link, one of its ends, whose title it repeats."""
        if entry.id in self.ours:
            return True
        if tombs := self.theirs.get(entry.id, ()):
            writer = OWNER if entry.path in self.owned else by_origin(entry.origin)
            if any(_counts(grave, writer) for grave in tombs):
                return True
        if entry.record_class is not RecordClass.EDGE:
            return False
        return not self.counting.isdisjoint((entry.text("from_id"), entry.text("to_id")))

    def waiting(self, identity: str, present: Sequence[Entry]) -> tuple[ForeignGrave, ...]:
        """Others' tombstones of one id that count for nothing before the owner says so; `kept` are told under that id now."""
        if identity in self.counting:
            return ()
        return tuple(grave for grave in self.theirs.get(identity, ()) if present or grave.whose is not None)

    def digest(self) -> str:
        """A digest that tells one set of forgotten ids from another; empty for no forgotten ids."""
        if not self:
            return ""
        theirs = [*sorted(self.owned)] if self.theirs else []
        theirs += sorted(f"{identity} {grave.author} {grave.whose}" for identity, tombs in self.theirs.items() for grave in tombs)
        return hashlib.blake2b("\n".join((*sorted(self.ours), *theirs)).encode(), digest_size=8).hexdigest()


def _counts(grave: ForeignGrave, writer: Party) -> bool:
    """Whether another's tombstone counts for what is by this writer."""
    return authority(Act.TOMBSTONE, by_origin(grave.author), writer) is Effect.ALLOWED


NONE = Graves()


# Under which text it is known of a path that another's words stand there over the owner's.
OWNED = "mark:owned"


class GraveNews(Struct):
    """The history's tombstones that the catalogue does not know yet: see `HistoryDelta`."""

    rows: tuple[ForeignGrave, ...] | None = None
    owned: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    whole: bool = False


_NO_NEWS = GraveNews()


def graves(root: Path, catalog: Catalog | None, news: GraveNews = _NO_NEWS) -> Graves:
    """The tombstones that lie in the vault now, by what the catalogue and the history that it lacks yet know of others'."""
    named = tombstones.files(root)
    if not named:
        return NONE
    rows = news.rows
    if rows is None:
        rows = known(catalog) if catalog is not None and not news.whole else ()
    by_path: dict[str, list[ForeignGrave]] = defaultdict(list)
    for row in rows:
        by_path[row.path].append(row)
    ours: set[str] = set()
    theirs: dict[str, tuple[ForeignGrave, ...]] = {}
    for name, identity in named.items():
        recorded = by_path.get(f"{tombstones.FORGOTTEN}/{name}")
        matching = tuple(grave for grave in recorded if grave.text == _blob(root, name, len(grave.text))) if recorded else ()
        if matching:
            theirs[identity] = (*theirs.get(identity, ()), *matching)
        else:
            ours.add(identity)
    left = {identity: tombs for identity, tombs in theirs.items() if identity not in ours}
    return Graves(frozenset(ours), left, _owned(catalog, news) if left else frozenset())


def _owned(catalog: Catalog | None, news: GraveNews) -> frozenset[str]:
    if catalog is None or news.whole:
        return news.owned
    rows = catalog.rows("SELECT path, by_commit FROM foreign_texts WHERE text = ?", (OWNED,))
    return news.owned.union(path for path, commit in rows if commit not in news.lost)


def _blob(root: Path, name: str, length: int) -> str:
    """The blob that git would store for a tombstone, by the hash that the repository uses; its few bytes are no note's."""
    try:
        data = (root / tombstones.FORGOTTEN / name).read_bytes().replace(b"\r\n", b"\n")
    except OSError:
        return ""
    digest = hashlib.sha1(usedforsecurity=False) if length == _SHA1 else hashlib.sha256()
    digest.update(b"blob %d\0" % len(data) + data)
    return digest.hexdigest()


COLUMNS = "path, text, author, at, by_commit, whose, note"
ADD = "INSERT OR REPLACE INTO foreign_graves VALUES (?,?,?,?,?,?,?)"


def known(catalog: Catalog) -> tuple[ForeignGrave, ...]:
    """Others' tombstones that the history has, whether they lie in the vault or not."""
    query = f"SELECT {COLUMNS} FROM foreign_graves ORDER BY 1, 2, 3"
    return catalog.derived("graves", lambda: tuple(ForeignGrave(*row) for row in catalog.rows(query)))


def row_of(grave: ForeignGrave) -> tuple[Any, ...]:
    """A tombstone as a row of `foreign_graves`."""
    return grave.path, grave.text, grave.author, grave.at, grave.commit, grave.whose, grave.note


def is_grave(path: str) -> bool:
    """Whether a path is a tombstone's."""
    return path.startswith(f"{tombstones.FORGOTTEN}/") and canonical(path.rpartition("/")[2]) is not None


def identity_of(path: str) -> str:
    """The id that a tombstone at a path is of."""
    return canonical(path.rpartition("/")[2]) or ""
