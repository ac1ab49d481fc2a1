"""Which memories may stand on the page of a session's start: kept beside the catalogue by their rows' numbers."""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from msgspec import to_builtins

from vault_tool.files.layout import CACHE
from vault_tool.files.local_trust import place
from vault_tool.index.catalog import Catalog
from vault_tool.index.database import marks
from vault_tool.index.places_kept import unless_observations
from vault_tool.index.schema import ENTRY, PROJECT, REVIEW, entry_of
from vault_tool.index.seals import SealedFile, lock
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, MEMORIES, RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

_LOCK = "page.lock"
_MEMORIES = tuple(record_class.value for record_class in MEMORIES)
_COUNT = "SELECT count(*) FROM entries WHERE class IN (?, ?)"


class ImportRows(Struct, kw_only=True):
    """One import, as the page tells it: how many notes, the largest folders, the rows of the most linked."""

    name: str
    count: int
    folders: tuple[tuple[str, int], ...] = ()
    linked: tuple[int, ...] = ()


class PageChoice(Struct, kw_only=True):
    """A choice of `rows` as of a `moment`: of a `build` of the catalogue under `settings`, when its last entry and signal had
    these numbers, and when it held so many `memories`; `elsewhere` is how many were of other projects than the page's.
    """

    build: str
    settings: str
    moment: str
    entry: int
    signal: int
    memories: int
    rows: tuple[int, ...]
    imports: tuple[ImportRows, ...] = ()
    elsewhere: int = 0

    @property
    def of(self) -> str:
        """The state that it was made of: its seal says so, too."""
        return choice_of(self.build, self.settings)


def choice_of(build: str, settings: str) -> str:
    """The state that a choice depends on: this build of the catalogue and these settings."""
    return f"{build} {settings}"


class SinceChoice(Struct):
    """The changes since a choice: the rows written, the ids judged, and how many rows are gone or were written over."""

    written: tuple[int, ...]
    judged: frozenset[str]
    gone: int


class ChoiceFile:
    """The file of one vault's choice for one project, below its cache; empty for the page of all."""

    def __init__(self, root: Path, project: str = "") -> None:
        self._cache = place(root) / CACHE
        # Not by its name: what is forgotten may be named so.
        self._name = f"page-{sha256(project.encode()).hexdigest()[:12]}" if project else "page"

    def read(self, of: str) -> PageChoice | None:
        """The choice, where it is as we left it and is of this build and these settings."""
        stored: Any = self._file.json(of)
        try:
            imports = tuple(_import(row) for row in stored["imports"])
            return PageChoice(**{**stored, "rows": tuple(map(int, stored["rows"])), "imports": imports})
        except (KeyError, TypeError, ValueError):
            return None

    def write(self, choice: PageChoice) -> None:
        """Replace it; whoever is at it already writes one that is as good. Raises Busy and StorageError."""
        with lock(self._cache / _LOCK, 0.0, "the page's choice"):
            self._file.replace(orjson.dumps(to_builtins(choice)), choice.of, synced=False)

    @property
    def _file(self) -> SealedFile:
        return SealedFile(self._cache / f"{self._name}.json", self._cache / f"{self._name}.seal")


def _import(row: dict[str, Any]) -> ImportRows:
    folders = tuple((str(name), int(count)) for name, count in row["folders"])
    return ImportRows(name=str(row["name"]), count=int(row["count"]), folders=folders, linked=tuple(map(int, row["linked"])))


def newest(catalog: Catalog) -> tuple[int, int]:
    """The numbers of the last entry and of the last signal that were written."""
    # Of everything: what one user is not told of has its number all the same.
    entry = catalog.rows("SELECT coalesce(max(n), 0) FROM main.entries")[0][0]
    signal = catalog.rows("SELECT coalesce(max(rowid), 0) FROM main.signals")[0][0]
    return int(entry), int(signal)


def memory_count(catalog: Catalog) -> int:
    """How many memories there are, superseded ones too."""
    return int(catalog.rows(_COUNT, _MEMORIES)[0][0])


def since(catalog: Catalog, choice: PageChoice, most: int) -> SinceChoice:
    """The newest `most` memories that were written, and that were judged, since a choice."""
    query = "SELECT n FROM main.entries WHERE n > ? AND class IN (?, ?) ORDER BY n DESC LIMIT ?"
    written = tuple(row[0] for row in catalog.rows(query, (choice.entry, *_MEMORIES, most)))
    rows = catalog.rows("SELECT target FROM main.signals WHERE rowid > ? ORDER BY rowid DESC LIMIT ?", (choice.signal, most))
    gone = max(0, choice.memories + len(written) - memory_count(catalog))
    return SinceChoice(written, frozenset(row[0] for row in rows), gone)


def memories_called(catalog: Catalog, ids: Collection[str]) -> dict[int, Entry]:
    """The memories of these ids, by their rows' numbers."""
    rows = catalog.rows_in(f"SELECT n, {ENTRY} FROM entries WHERE class IN (?, ?) AND id IN ({{}})", ids, *_MEMORIES)
    return {row[0]: entry_of(row[1:]) for row in rows}


def numbers_of(catalog: Catalog, paths: Collection[str]) -> dict[str, int]:
    """The numbers of the rows of these files."""
    return dict(catalog.rows_in("SELECT path, n FROM entries WHERE path IN ({})", paths))


def newest_of_each_type(catalog: Catalog, most: int) -> tuple[int, ...]:
    """The rows of the newest memories of each type."""
    kinds = catalog.rows("SELECT DISTINCT class, type FROM entries WHERE class IN (?, ?)", _MEMORIES)
    query = "SELECT n FROM entries WHERE class = ? AND type = ? ORDER BY n DESC LIMIT ?"
    return tuple(row[0] for kind in kinds for row in catalog.rows(query, (*kind, most)))


def newest_of_project(catalog: Catalog, names: Collection[str], most: int) -> tuple[int, ...]:
    """The rows of the newest memories of a project, by its normalised names: by their subjects, and by what they say."""
    tagged = f"SELECT n FROM memberships WHERE normal IN ({marks(names)}) ORDER BY n DESC LIMIT ?"
    projects = [name for (name,) in catalog.rows(f"SELECT DISTINCT {PROJECT} FROM entries WHERE {PROJECT} <> ''")]
    ours = [name for name in projects if normal_name(str(name)) in names]
    query = f"SELECT n FROM entries WHERE {PROJECT} = ? AND {PROJECT} <> '' ORDER BY n DESC LIMIT ?"
    numbers = [row[0] for row in catalog.rows(tagged, (*names, most))]
    return tuple(dict.fromkeys([*numbers, *(row[0] for name in ours for row in catalog.rows(query, (name, most)))]))


def reviewed_last(catalog: Catalog, most: int) -> frozenset[str]:
    """The ids that the owner reviewed last."""
    # The `+` has SQLite read the index of reviews: in the order of rows it would read every judgement to its end.
    rows = catalog.rows(f"SELECT target FROM main.signals WHERE {REVIEW} ORDER BY +rowid DESC LIMIT ?", (most,))
    return frozenset(row[0] for row in rows)


def present_count(catalog: Catalog, superseded: Collection[str], overtaken: Collection[str]) -> int:
    """How many memories nothing superseded, by id, or overtook, by path, without those that are given whole."""
    given_whole = f"SELECT count(*) FROM entries WHERE class = ? AND type IN ({marks(KEPT_TYPES)})"
    whole = catalog.rows(given_whole, (RecordClass.UNDERSTANDING.value, *KEPT_TYPES))[0][0]
    replaced = unless_observations(catalog, "paths replaced", lambda: _listed(catalog, "id", superseded))
    return memory_count(catalog) - int(whole) - len(replaced | _listed(catalog, "path", overtaken))


def _listed(catalog: Catalog, field: str, values: Collection[str]) -> frozenset[str]:
    """The paths of the memories with these ids, or at these paths, without those that are given whole."""
    query = f"SELECT path FROM entries WHERE class IN (?, ?) AND type NOT IN ({marks(KEPT_TYPES)}) AND {field} IN ({{}})"
    return frozenset(row[0] for row in catalog.rows_in(query, values, *_MEMORIES, *KEPT_TYPES))
