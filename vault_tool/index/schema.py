"""The tables of the catalogue, and how values become rows and rows values."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from msgspec.structs import asdict

from vault_tool.files.layout import AROUND
from vault_tool.files.reader import Listing
from vault_tool.index.database import Database
from vault_tool.index.fulltext.documents import SearchDocument, handles
from vault_tool.model.fields import SCHEMA, FieldKind
from vault_tool.model.problems import Problem, Severity
from vault_tool.model.signals import Signal, SignalKind
from vault_tool.model.snapshot import PUT, Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.note_links import is_path, labels, led_to, targets, without_ending
from vault_tool.util.text import normal_name

GENERATION = "json_extract(CAST(head AS TEXT), '$.generation')"
# A record's age as SQL over its head: the very expressions of `entries_by_age`, or the index is passed over.
CREATED = "json_extract(CAST(head AS TEXT), '$.created')"

# When it was so, as SQL over its head: the very expression of `entries_by_observed`.
OBSERVED = "coalesce(json_extract(CAST(head AS TEXT), '$.observed'), json_extract(CAST(head AS TEXT), '$.created'))"

# The conversation that a record is of, as SQL over its head: the very expression of `entries_by_session`.
SESSION = "json_extract(CAST(head AS TEXT), '$.session')"

# The project that a record is of, as SQL over its head: the very expression of `entries_by_project`.
PROJECT = "json_extract(CAST(head AS TEXT), '$.project')"

# Whom a record is about, as SQL over its head: the very expression of `entries_by_user`.
USER = "json_extract(CAST(head AS TEXT), '$.user')"

# For whom a signal was given, as SQL over its data.
JUDGED_FOR = "coalesce(json_extract(CAST(data AS TEXT), '$.user'), '')"

# Whether a signal is a consent record, as SQL over its data: the very condition of `consents`.
CONSENT = "json_extract(CAST(data AS TEXT), '$.kind') = 'consent'"

# Whether a signal is the owner's review, as SQL over its data: the very condition of `reviews`.
REVIEW = "json_extract(CAST(data AS TEXT), '$.kind') = 'reviewed' AND json_extract(CAST(data AS TEXT), '$.origin') = 'owner'"

# By whom a record is, as SQL over its head.
ORIGIN = "coalesce(json_extract(CAST(head AS TEXT), '$.origin'), '')"

TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE folders (path TEXT PRIMARY KEY, names TEXT NOT NULL, stats BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE files (path TEXT PRIMARY KEY, kind TEXT NOT NULL, size INTEGER NOT NULL, hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE entries (n INTEGER PRIMARY KEY, path TEXT NOT NULL, id TEXT NOT NULL, class TEXT NOT NULL, type TEXT NOT NULL,
    title TEXT NOT NULL, head BLOB NOT NULL, preview TEXT NOT NULL, body_hash TEXT NOT NULL, links BLOB NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, hash TEXT NOT NULL, stale INTEGER NOT NULL);
CREATE TABLE pages (path TEXT PRIMARY KEY, title TEXT NOT NULL, preview TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE names (normal TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (normal, n)) WITHOUT ROWID;
CREATE TABLE memberships (normal TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (normal, n)) WITHOUT ROWID;
CREATE TABLE titles (normal TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (normal, n)) WITHOUT ROWID;
CREATE TABLE links (normal TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (normal, n)) WITHOUT ROWID;
CREATE TABLE relations (target TEXT NOT NULL, field TEXT NOT NULL, n INTEGER NOT NULL,
    PRIMARY KEY (target, field, n)) WITHOUT ROWID;
CREATE TABLE problems (path TEXT NOT NULL, line INTEGER NOT NULL, code TEXT NOT NULL, severity TEXT NOT NULL,
    message TEXT NOT NULL, hint TEXT NOT NULL, scan INTEGER NOT NULL);
CREATE TABLE signals (path TEXT NOT NULL, at TEXT NOT NULL, id TEXT NOT NULL, target TEXT NOT NULL, data BLOB NOT NULL);
CREATE TABLE foreign_texts (path TEXT NOT NULL, text TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL,
    by_commit TEXT NOT NULL, PRIMARY KEY (path, text)) WITHOUT ROWID;
CREATE TABLE foreign_graves (path TEXT NOT NULL, text TEXT NOT NULL, author TEXT NOT NULL, at INTEGER NOT NULL,
    by_commit TEXT NOT NULL, whose TEXT, note TEXT NOT NULL, PRIMARY KEY (path, text, author)) WITHOUT ROWID;
CREATE TABLE uses (day TEXT NOT NULL, until INTEGER NOT NULL, at TEXT NOT NULL, target TEXT NOT NULL, session TEXT NOT NULL);
CREATE TABLE use_logs (day TEXT PRIMARY KEY, size INTEGER NOT NULL, mark TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE lexical_pending (path TEXT PRIMARY KEY, document BLOB, seq INTEGER NOT NULL) WITHOUT ROWID;
"""

INDEXES = f"""
CREATE INDEX uses_by_target ON uses (target);
CREATE UNIQUE INDEX entries_by_path ON entries (path);
CREATE INDEX entries_by_id ON entries (id);
CREATE INDEX entries_by_body ON entries (body_hash) WHERE body_hash <> '';
CREATE INDEX entries_by_class ON entries (class, type);
CREATE INDEX entries_by_age ON entries (class, {GENERATION}, {CREATED}, id);
CREATE INDEX entries_by_observed ON entries ({OBSERVED}) WHERE class IN ('observation', 'understanding');
CREATE INDEX entries_by_session ON entries ({SESSION}) WHERE {SESSION} <> '';
CREATE INDEX entries_by_user ON entries ({USER}, {CREATED}, id) WHERE {USER} <> '';
CREATE INDEX entries_by_project ON entries ({PROJECT}) WHERE {PROJECT} <> '';
CREATE INDEX entries_stale ON entries (path) WHERE stale = 1;
CREATE INDEX foreign_by_text ON foreign_texts (text);
CREATE INDEX foreign_by_commit ON foreign_texts (by_commit);
CREATE INDEX files_by_kind ON files (kind);
CREATE INDEX problems_by_path ON problems (path);
CREATE INDEX signals_by_path ON signals (path);
CREATE INDEX signals_by_target ON signals (target, at, id);
CREATE INDEX consents ON signals (target) WHERE {CONSENT};
CREATE INDEX reviews ON signals (target) WHERE {REVIEW};
CREATE INDEX signals_of_users ON signals (target) WHERE {JUDGED_FOR} <> '';
"""

# Before the id of a subject that became one with another, among the names of that one; no name is written so.
ALSO = "also\x1f"

# Before what a link means only where its target names nothing, among the names that links say.
OTHERWISE = "otherwise\x1f"

_IMPORTED = "imported"

# The fact that says at which `seq` a row was last taken away or changed without a new one in its place.
DROPPED = "dropped"

ENTRY = "path, id, class, type, title, head, preview, body_hash, links, size, mtime_ns, hash, stale"
ENTRY_OF_E = ", ".join(f"e.{column}" for column in ENTRY.split(", "))
"""The same columns of a table that is called `e`."""

_POINTING = (FieldKind.ID, FieldKind.IDS)

# For each class the fields that point at other records, and whether they hold lists.
REFERENCES: dict[RecordClass, tuple[tuple[str, bool], ...]] = {
    record_class: tuple((f.name, f.kind is FieldKind.IDS) for f in fields.values() if f.kind in _POINTING and f.name != "id")
    for record_class, fields in SCHEMA.items()
}

_LINKED = frozenset({RecordClass.OBSERVATION, RecordClass.UNDERSTANDING})

_CLASSES = {member.value: member for member in RecordClass}


def entry_row(number: int, entry: Entry) -> tuple[Any, ...]:
    """An entry as a row of `entries`; raises TypeError for a text that no database can hold (lone surrogates)."""
    head = orjson.dumps(entry.head)
    links = orjson.dumps(entry.links) if entry.links else b"[]"
    return (
        number, entry.path, entry.id, entry.record_class.value, entry.type, entry.title, head, entry.preview,
        entry.body_hash, links, entry.size, entry.mtime_ns, entry.hash, int(entry.stale),
    )  # fmt: skip


def entry_of(row: Sequence[Any]) -> Entry:
    """The entry of a row with the columns of ENTRY."""
    path, id_, class_, type_, title, head, preview, body_hash, links, size, mtime_ns, hash_, stale = row
    names = tuple(orjson.loads(links)) if links != b"[]" else ()
    return Entry(
        path,
        id_,
        _CLASSES[class_],
        type_,
        title,
        orjson.loads(head),
        preview,
        body_hash,
        names,
        size,
        mtime_ns,
        hash_,
        bool(stale),
    )


def entries_at(database: Database, paths: Iterable[str]) -> dict[str, Entry]:
    """The entries of several files."""
    return {row[0]: entry_of(row) for row in database.rows_in(f"SELECT {ENTRY} FROM entries WHERE path IN ({{}})", paths)}


def names_of(entry: Entry) -> Iterator[str]:
    """The normalised names that a subject answers to, each once."""
    if entry.record_class is RecordClass.SUBJECT:
        yield from {normal_name(name) for name in (entry.text("name"), *entry.texts("aliases"), *entry.also)} - {""}
        yield from (f"{ALSO}{identity}" for identity in entry.also)


def memberships_of(entry: Entry) -> set[str]:
    """The normalised names of the subjects that a record is tagged with."""
    subjects = entry.subjects if PUT in entry.head else entry.head.get("subjects")
    return {normal_name(str(name)) for name in subjects} - {""} if subjects else set()


def titles_of(entry: Entry) -> set[str]:
    """The names by which a `[[link]]`, a question or a command may mean a memory: its title, its aliases, its file's name."""
    return {normal_name(name) for name in handles(entry)} - {""} if entry.record_class in _LINKED else set()


def linked_as(entry: Entry) -> set[str]:
    """The possible texts of a link to a memory: one of its names, or its path."""
    return {*titles_of(entry), path_name(entry.path)}


def links_of(entry: Entry) -> set[str]:
    """The weak links of a record, as `linked_as` has them; behind OTHERWISE their meaning if that names nothing."""
    names, otherwise = set[str](), set[str]()
    for link in entry.links:
        if is_path(link):
            path = led_to(link, entry.path, top_of(entry.path))
            names.add(path_name(path))
            otherwise.add(link_name(path))
        else:
            names.update(map(link_name, targets(link)))
            otherwise.update(map(link_name, labels(link)))
    return {*names, *(f"{OTHERWISE}{name}" for name in otherwise - names - {""})} - {""}


def link_name(link: str) -> str:
    """The last part of a weak link's target, normalised: people link by folder, by name, with and without the ending."""
    return normal_name(without_ending(link.rpartition("/")[2]))


def path_name(path: str) -> str:
    """A path as links along one name it: from the root, normalised, without the ending."""
    return f"/{normal_name(without_ending(path))}"


def top_of(path: str) -> str:
    """The folder whose notes belong together: the folder around the vault, an import, or all of the vault's own."""
    if path.startswith(AROUND):
        return AROUND.rstrip("/")
    parts = path.split("/")
    return "/".join(parts[:3]) if parts[1:2] == [_IMPORTED] and len(parts) > 3 else parts[0]


def relations_of(entry: Entry) -> set[tuple[str, str]]:
    """The targets of a record: pairs of target id and field."""
    pairs: set[tuple[str, str]] = set()
    head = entry.head
    for field, many in REFERENCES[entry.record_class]:
        value = entry.own(field) if many and PUT in head else head.get(field)
        if value:
            pairs.update((str(target), field) for target in (value if many else (value,)))
    return pairs


def problem_rows(problems: Iterable[Problem], scan: bool = False) -> Iterator[tuple[Any, ...]]:
    """Problems as rows; `scan` marks what the walk found rather than a file's text."""
    return ((p.path, p.line, p.code, p.severity.value, p.message, p.hint, int(scan)) for p in problems)


def problem_of(row: Sequence[Any]) -> Problem:
    """The problem of a row (its first six columns)."""
    path, line, code, severity, message, hint = row
    return Problem(path, line, code, Severity(severity), message, hint)


def signal_row(path: str, signal: Signal) -> tuple[Any, ...]:
    """A signal as a row."""
    return path, signal.at, signal.id, signal.target, orjson.dumps(signal, default=asdict)


def signal_of(data: bytes) -> Signal:
    """The signal of a row's data."""
    values = orjson.loads(data)
    values["kind"] = SignalKind(values["kind"])
    values["evidence"] = tuple(values["evidence"])
    return Signal(**values)


def text_of(data: bytes | None) -> SearchDocument | None:
    """The document of a row, None where it says that there is none any more."""
    return SearchDocument(**orjson.loads(data)) if data is not None else None


def listing_row(path: str, listing: Listing) -> tuple[str, str, bytes]:
    """A folder's files as a row: one row a folder, because 100,000 rows of stats take longer to load than to make."""
    stats = array("q", [number for stat in listing.values() for number in stat])
    return path, "/".join(listing), stats.tobytes()


def listing_of(names: str, stats: bytes) -> Listing:
    """The files of a row; empty when the row does not add up, so that all of them are read again."""
    numbers = array("q")
    numbers.frombytes(stats[: len(stats) - len(stats) % 32])
    parts = names.split("/")
    if len(numbers) != 4 * len(parts):
        return {}
    walk = iter(numbers)
    return dict(zip(parts, zip(walk, walk, walk, walk, strict=True), strict=True))


def make(connection: sqlite3.Connection) -> None:
    """Create the tables."""
    connection.executescript(TABLES)
