"""The working catalogue in SQLite: entries by id, prefix, name and body, relations both ways, problems and signals."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from vault_tool.files.reader import Listing
from vault_tool.files.signal_lines import merge
from vault_tool.index import schema
from vault_tool.index.database import Database, marks
from vault_tool.index.derived import Derived
from vault_tool.index.entry_cache import EntryCache
from vault_tool.index.fulltext.documents import SearchDocument
from vault_tool.index.schema import ENTRY, ENTRY_OF_E, entry_of, problem_of, signal_of, text_of
from vault_tool.model import authority, consent
from vault_tool.model.problems import Problem, Severity
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import Entry, Snapshot, owners_first
from vault_tool.model.supersession import longest_chain
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.structs import Struct

# What a file of the vault is, beside what journals are: a note with a record, any other text, and what nothing is made of.
RECORD, PAGE, UNREADABLE, FORGOTTEN, CONFLICT = "record", "page", "unreadable", "forgotten", "conflict"
NOTES = frozenset({RECORD, PAGE, UNREADABLE})

T = TypeVar("T")


class Page(Struct):
    """A markdown file that is no record: searchable as text."""

    path: str
    title: str
    preview: str


class Known(Struct):
    """The known content of a file: its kind, its size in bytes and its hash (empty: it could not be read)."""

    kind: str
    size: int
    hash: str


class Counts(Struct):
    """How much the vault holds; `notes` is every markdown file that is no journal and no conflict copy."""

    notes: int
    entries: int
    pages: int
    signals: int
    problems: int
    stale: int
    unreadable: int = 0
    """Files of which nothing that they say now can be served."""
    documents: int = 0
    """What the full-text index holds: records, pages, and notes of which only the head cannot be read."""


_N, _O = (", ".join(f"{table}.{column}" for column in ENTRY.split(", ")) for table in "no")
_ORIGIN_OF_N, _ORIGIN_OF_O = (schema.ORIGIN.replace("head", f"{table}.head") for table in "no")
_PERHAPS_BARRED = f"""
SELECT {_N}, {_O} FROM relations r JOIN entries n ON n.n = r.n JOIN entries o ON o.id = r.target
    WHERE r.field = 'supersedes' AND {_ORIGIN_OF_N} NOT IN ('', 'owner') AND ({_ORIGIN_OF_O} IN ('', 'owner')
        OR {_ORIGIN_OF_N} LIKE 'pulled (%' OR {_ORIGIN_OF_N} LIKE 'trusted (%'
        OR EXISTS (SELECT 1 FROM signals WHERE target = o.id AND {schema.REVIEW}))
"""


class Catalog(Database):
    """One open catalogue. Every answer is of the last refresh; lookups cost O(log n)."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(connection, path)
        self._derived = Derived()
        self._held_seq: str | None = None

    @cached_property
    def nonce(self) -> str:
        """The build that it is of, which never changes."""
        return self.meta("nonce")

    def seq(self) -> str:
        """A value that changes with every write to the catalogue, also by another process."""
        return self._held_seq if self._held_seq is not None else self.meta("seq")

    @contextmanager
    def consistent_read(self) -> Iterator[None]:
        """Take what it holds now for what it holds until the end, unless this process writes to it."""
        self._held_seq = self.seq()
        try:
            yield
        finally:
            self._held_seq = None

    def get(self, record_id: str) -> tuple[Entry, ...]:
        """The entries of one whole id: none, one, or every copy of it, its owner's first, else in the order of their paths."""
        entries = self._entries("id = ? ORDER BY path", (record_id,)) or self._of_absorbed(record_id)
        return owners_first(entries)

    def of_ids(self, record_ids: Collection[str]) -> list[Entry]:
        """The entries of several whole ids, in the order of their paths: every copy of each, as `get` gives them one by one."""
        rows = self.rows_in(f"SELECT {ENTRY} FROM entries WHERE id IN ({{}})", record_ids)
        entries = list(map(entry_of, rows))
        missing = set(record_ids) - {entry.id for entry in entries}
        entries += [entry for identity in missing for entry in self._of_absorbed(identity)]
        return sorted(entries, key=lambda entry: entry.path)

    def by_prefix(self, prefix: str, limit: int = 20) -> tuple[Entry, ...]:
        """The entries whose id begins with `prefix`, in the order of their ids."""
        entries = self._entries("id >= ? AND id < ? ORDER BY id, path LIMIT ?", (prefix, prefix + "g", limit))
        more = {keeper for absorbed, keeper in self.also().items() if absorbed.startswith(prefix)} - {
            entry.id for entry in entries
        }
        return (*entries, *(entry for keeper in sorted(more) for entry in self.get(keeper)))[:limit]

    def also(self) -> Mapping[str, str]:
        """The ids of subjects that became one with another, with the id of that one, kept until the catalogue changes."""
        return self.derived("also", self._absorbed)

    def _absorbed(self) -> Mapping[str, str]:
        end = f"{schema.ALSO[:-1]}{chr(ord(schema.ALSO[-1]) + 1)}"
        query = (
            "SELECT j.normal, e.id FROM names j JOIN entries e ON e.n = j.n WHERE j.normal >= ? AND j.normal < ? ORDER BY 1, 2"
        )
        rows = self.rows(query, (schema.ALSO, end))
        keepers = {normal.removeprefix(schema.ALSO): keeper for normal, keeper in reversed(rows)}
        present = {row[0] for row in self.rows_in("SELECT id FROM entries WHERE id IN ({})", keepers)} if keepers else set()
        return {absorbed: keeper for absorbed, keeper in keepers.items() if absorbed not in present}

    def _of_absorbed(self, record_id: str) -> tuple[Entry, ...]:
        keeper = self.also().get(record_id)
        return self._entries("id = ? ORDER BY path", (keeper,)) if keeper else ()

    def neighbours(self, record_id: str) -> tuple[str, ...]:
        """The ids just before and after one: all that can share its longest prefix."""
        return self.neighbours_of([record_id])[record_id]

    def neighbours_of(self, record_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """The ids just before and after each of several, by one query for all of them."""
        found_by = "(SELECT id FROM entries WHERE id {} asked.id ORDER BY id {} LIMIT 1)"
        before, after = found_by.format("<", "DESC"), found_by.format(">", "ASC")
        placeholders = ",".join(["(?)"] * len(record_ids))
        rows = self.rows(f"WITH asked(id) AS (VALUES {placeholders}) SELECT id, {before}, {after} FROM asked", list(record_ids))
        return {row[0]: tuple(neighbour for neighbour in row[1:] if neighbour is not None) for row in rows}

    def by_path(self, path: str) -> Entry | None:
        """The entry of one file, or None for one that is no record."""
        return next(iter(self._entries("path = ?", (path,))), None)

    def by_paths(self, paths: Collection[str]) -> dict[str, Entry]:
        """The entries of several files."""
        return schema.entries_at(self, paths)

    def _entries_in_memory(self) -> EntryCache:
        def follow(entries: EntryCache, before: str) -> EntryCache:
            return entries.followed(self, before)

        return self.derived("entries", lambda: EntryCache(self), follow)

    def cached_by_paths(self, paths: Collection[str]) -> dict[str, Entry]:
        """The entries of several files, in the order of these, from memory where they were asked for before.

        Not for the middle of a write.
        """
        return self._entries_in_memory().of(self, paths)

    def cached_by_id(self, record_id: str) -> tuple[Entry, ...]:
        """The same as `get` gives, from memory where all entries are there; as above."""
        entries = self._entries_in_memory().of_id(record_id)
        return self.get(record_id) if entries is None else entries or self._of_absorbed(record_id)

    def cached_of_sessions(self, names: Collection[str]) -> dict[str, list[Entry]] | None:
        """The records of several sessions, where all entries are in memory (None: they are not); as above."""
        return self._entries_in_memory().of_sessions(names)

    def mean_size(self) -> float:
        """How many bytes the newest memories have on average, heads included; a thousand are looked at."""
        # The `+` keeps SQLite from sorting all of a class by an index, where it need only read the last rows.
        query = (
            "SELECT AVG(size) FROM (SELECT size FROM entries WHERE +class IN ('observation', 'understanding') ORDER BY n DESC "
            "LIMIT 1000)"
        )
        return float(self.rows(query, ())[0][0] or 0.0)

    def by_body(self, body_hash: str) -> tuple[Entry, ...]:
        """The entries with exactly this body after normalisation."""
        return self._entries("body_hash = ? AND body_hash <> '' ORDER BY path", (body_hash,))

    def count_by_type(self) -> dict[tuple[str, str], int]:
        """How many records there are of each class and type."""
        return {
            (kind, type): count
            for kind, type, count in self.rows("SELECT class, type, count(*) FROM entries GROUP BY class, type")
        }

    def ids_of_class(self, record_class: RecordClass) -> list[str]:
        """The ids of all records of a class, without their entries."""
        return [row[0] for row in self.rows("SELECT id FROM entries WHERE class = ?", (record_class.value,))]

    def copied_ids(self) -> frozenset[str]:
        """The ids that several files have."""
        return frozenset(row[0] for row in self.rows("SELECT id FROM entries GROUP BY id HAVING count(*) > 1"))

    def of_class(self, record_class: RecordClass, *types: str) -> tuple[Entry, ...]:
        """The entries of one class, of any type or of these, in the order of their paths."""
        if not types:
            return self._entries("class = ? ORDER BY path", (record_class.value,))
        return self._entries(f"class = ? AND type IN ({marks(types)}) ORDER BY path", (record_class.value, *types))

    def heads_with(self, field: str, beginning: str, also: str) -> list[tuple[str, str, str]]:
        """The id of each record whose `field` begins so, with that field and another one of its head, by path."""
        field_path, other = f"json_extract(CAST(head AS TEXT), '$.{field}')", f"json_extract(CAST(head AS TEXT), '$.{also}')"
        query = f"SELECT id, {field_path}, ifnull({other}, '') FROM entries WHERE substr({field_path}, 1, ?) = ? ORDER BY path"
        return [(row[0], str(row[1]), str(row[2])) for row in self.rows(query, (len(beginning), beginning))]

    def owners_own(self) -> bool:
        """Whether any record of the vault itself is by a person of this machine: no commit of others brought it."""
        origin = "ifnull(json_extract(CAST(head AS TEXT), '$.origin'), '')"
        others = f"{origin} LIKE 'pulled (%' OR {origin} LIKE 'trusted (%'"
        query = f"SELECT 1 FROM entries WHERE NOT ({others}) AND substr(path, 1, 3) <> '../' LIMIT 1"
        return bool(self.rows(query))

    def subject_named(self, normal: str) -> tuple[Entry, ...]:
        """The subjects that answer to a normalised name or alias; more than one is a problem."""
        return self._joined("names j ON j.n = e.n WHERE j.normal = ? ORDER BY e.path", (normal,))

    def titled(self, normal: str) -> tuple[Entry, ...]:
        """The memories that a weak link by this normalised name may mean, by title or file name."""
        return self._joined("titles j ON j.n = e.n WHERE j.normal = ? ORDER BY e.path", (normal,))

    def titled_from(self, beginning: str, limit: int) -> tuple[Entry, ...]:
        """The memories of which a title, alias or file name begins with this normalised text, at most `limit`, by that name."""
        # Past every letter that a name may go on with.
        within = (beginning, beginning + chr(0x10FFFF), limit)
        return self._joined(
            "titles j ON j.n = e.n WHERE j.normal >= ? AND j.normal < ? ORDER BY j.normal, e.path LIMIT ?", within
        )

    def linking(self, names: Collection[str]) -> tuple[Entry, ...]:
        """The records whose weak links may mean one of these normalised names."""
        keys = [*names, *(f"{schema.OTHERWISE}{name}" for name in names)]
        entries = self._joined(f"links j ON j.n = e.n WHERE j.normal IN ({marks(keys)}) ORDER BY e.path", keys)
        return tuple({entry.path: entry for entry in entries}.values())

    def with_unknown_links(self) -> tuple[Entry, ...]:
        """The records of which a weak link names no memory or subject by a name; a path is none."""
        named = "SELECT normal FROM titles UNION ALL SELECT normal FROM names"
        links = f"SELECT n FROM links WHERE normal NOT LIKE '{schema.OTHERWISE}%' AND normal NOT IN ({named})"
        return self._entries(f"n IN ({links}) ORDER BY path", ())

    def has_links(self) -> bool:
        """Whether any record links to another in its text or properties."""
        return self.derived("linked", lambda: bool(self.rows("SELECT 1 FROM links LIMIT 1")))

    def link_counts(self, names: Collection[str]) -> dict[str, int]:
        """How many records link to each of these names in their text or properties; those that nothing links to are left out."""
        if not self.has_links():
            return {}
        if not self.derived("others", lambda: bool(self.rows("SELECT 1 FROM foreign_texts LIMIT 1"))):
            return dict(self.rows_in("SELECT normal, COUNT(*) FROM links WHERE normal IN ({}) GROUP BY normal", names))
        # A link of somebody else's counts for nothing.
        ours = f"JOIN entries USING (n) WHERE {schema.ORIGIN} NOT LIKE 'pulled (%' AND normal IN ({{}})"
        return dict(self.rows_in(f"SELECT normal, COUNT(*) FROM links {ours} GROUP BY normal", names))

    def subject_names(self) -> dict[str, tuple[str, ...]]:
        """Every normalised name and alias with the ids of the subjects that answer to it."""
        names: dict[str, tuple[str, ...]] = {}
        for normal, record_id in self.rows("SELECT j.normal, e.id FROM names j JOIN entries e ON e.n = j.n ORDER BY 1, e.path"):
            names[normal] = (*names.get(normal, ()), record_id)
        return {name: ids for name, ids in names.items() if not name.startswith(schema.ALSO)} if self.also() else names

    def known_names(self, names: Collection[str]) -> set[str]:
        """Which of these normalised names a subject answers to, or some record is tagged with."""
        queries = (f"SELECT DISTINCT normal FROM {table} WHERE normal IN ({{}})" for table in ("names", "memberships"))
        return {row[0] for query in queries for row in self.rows_in(query, names)}

    def newest_tagged(self, names: Collection[str], limit: int, type: str = "") -> list[str]:
        """The paths of the newest that are tagged with any of these normalised names, of one type where it is given."""
        # Numbers grow as files are taken in: the highest are the newest, without sorting all that is tagged.
        only = "AND e.type = ? " if type else ""
        query = (
            f"SELECT e.path FROM memberships m JOIN entries e ON e.n = m.n WHERE m.normal IN ({marks(names)}) {only}"
            "ORDER BY m.n DESC LIMIT ?"
        )
        return [row[0] for row in self.rows(query, [*sorted(names), *([type] if type else ()), limit])]

    def stored_titles(self) -> dict[str, str]:
        """The titles that stand in the heads of memories and that these are called by, by path."""
        kinds = [record_class.value for record_class in MEMORIES]
        query = (
            f"SELECT path, title FROM entries WHERE class IN ({marks(kinds)}) "
            "AND title = json_extract(CAST(head AS TEXT), '$.title')"
        )
        return dict(self.rows(query, kinds))

    def newest_of_all(self, groups: Sequence[Collection[str]], limit: int, type: str = "") -> list[str]:
        """The paths of the newest that are tagged with one normalised name of each group, of one type where it is given."""
        within = " AND ".join(f"e.n IN (SELECT n FROM memberships WHERE normal IN ({marks(names)}))" for names in groups)
        query = f"SELECT e.path FROM entries e WHERE {within}{' AND e.type = ?' if type else ''} ORDER BY e.n DESC LIMIT ?"
        return [row[0] for row in self.rows(query, [*chain.from_iterable(groups), *([type] if type else ()), limit])]

    def names_ending_in(self, words: Collection[str]) -> dict[str, list[str]]:
        """The normalised names of subjects, of several words, that end in one of these words, by it."""
        known = self.derived("last words", self._by_last_word)
        return {word: known[word] for word in words if word in known}

    def _by_last_word(self) -> dict[str, list[str]]:
        by_word: dict[str, list[str]] = {}
        for (name,) in self.rows("SELECT normal FROM names WHERE instr(normal, ' ')"):
            by_word.setdefault(name.rpartition(" ")[2], []).append(name)
        return by_word

    def observed_between(self, first: str, over: str, limit: int) -> list[str]:
        """The paths of the newest memories that were observed from one day (`2026-11-20`) until before another."""
        query = (
            f"SELECT path FROM entries WHERE {schema.OBSERVED} >= ? AND {schema.OBSERVED} < ? "
            f"AND class IN ('observation', 'understanding') ORDER BY {schema.OBSERVED} DESC, n DESC LIMIT ?"
        )
        return [row[0] for row in self.rows(query, (first, over, limit))]

    def newest_of_types(self, types: Collection[str], limit: int) -> list[str]:
        """The paths of the newest observations of some types."""
        query = f"SELECT path FROM entries WHERE class = 'observation' AND type IN ({marks(types)}) ORDER BY n DESC LIMIT ?"
        return [row[0] for row in self.rows(query, (*types, limit))]

    def oldest_tagged(self, names: Collection[str]) -> Entry | None:
        """The record that was written first of those tagged with any of these normalised names."""
        # An aggregate's row is that of its least value; to sort whole rows takes twice as long.
        within = f"memberships j JOIN entries e ON e.n = j.n WHERE j.normal IN ({marks(names)})"
        first = self.rows(f"SELECT e.path, min({schema.CREATED} || e.path) FROM {within}", list(names))[0][0]
        return self.by_path(first) if first else None

    def tagged(self, subjects: Sequence[str | Collection[str]]) -> tuple[Entry, ...]:
        """The records tagged with all of the subjects, in the order of their paths.

        Each subject is a normalised name, or several (its name and aliases) of which any will do.
        """
        groups = [[subject] if isinstance(subject, str) else list(dict.fromkeys(subject)) for subject in subjects]
        if not groups or not all(groups):
            return ()
        within = " AND ".join(f"e.n IN (SELECT n FROM memberships WHERE normal IN ({marks(names)}))" for names in groups)
        return self._joined(f"(SELECT 1) j ON {within} ORDER BY e.path", [name for names in groups for name in names])

    def pointing_at(self, record_id: str, fields: Collection[str] | None = None) -> tuple[tuple[str, Entry], ...]:
        """The records that name this id in their heads: pairs of the field and the record, in the order of their paths."""
        return tuple(self.pointing_at_each([record_id], fields).get(record_id, ()))

    def pointing_at_each(self, ids: Collection[str], fields: Collection[str] | None = None) -> dict[str, list[tuple[str, Entry]]]:
        """The same for several ids at once; those that nothing points at are left out."""
        also = self.also()
        absorbed = (
            {identity: keeper for identity, keeper in also.items() if keeper in ids and identity not in ids} if also else {}
        )
        ids = [*ids, *absorbed]
        limited = f"j.field IN ({marks(fields)}) AND " if fields is not None else ""
        query = (
            f"SELECT j.target, j.field, {ENTRY_OF_E} FROM relations j JOIN entries e ON e.n = j.n"
            f" WHERE {limited}j.target IN ({{}}) ORDER BY e.path, 2"
        )
        sources: dict[str, list[tuple[str, Entry]]] = {}
        for target, field, *row in self.rows_in(query, ids, *(fields or ())):
            sources.setdefault(absorbed.get(target, target), []).append((field, entry_of(row)))
        return sources

    def pairs(self, field: str) -> tuple[tuple[str, str], ...]:
        """References in one field of the heads: pairs of the record's id and the id that it names."""
        query = "SELECT e.id, j.target FROM relations j JOIN entries e ON e.n = j.n WHERE j.field = ? ORDER BY e.path, j.target"
        rows, also = self.rows(query, (field,)), self.also()
        return tuple((source, also.get(target, target)) for source, target in rows) if also else tuple(rows)

    def signals_of(self, targets: Collection[str]) -> Iterator[Signal]:
        """The signals of several targets, in no order."""
        return (signal_of(row[0]) for row in self.rows_in("SELECT data FROM signals WHERE target IN ({})", targets))

    def signals(self, target: str | None = None) -> list[Signal]:
        """All signals, or those of one memory, in their order, each id once."""
        where, values = ("WHERE target = ?", (target,)) if target is not None else ("", ())
        return merge([signal_of(row[0]) for row in self.rows(f"SELECT data FROM signals {where} ORDER BY at, id, path", values)])

    def types(self) -> tuple[str, ...]:
        """The types that records have."""
        return tuple(row[0] for row in self.rows("SELECT DISTINCT type FROM entries ORDER BY type"))

    def problems(self) -> tuple[Problem, ...]:
        """The problems in the files, in order."""
        return tuple(
            sorted(problem_of(row) for row in self.rows("SELECT path, line, code, severity, message, hint FROM problems"))
        )

    def problems_of(self, path: str, severity: Severity) -> tuple[Problem, ...]:
        """The problems of one file, of one severity, in order."""
        query = "SELECT path, line, code, severity, message, hint FROM problems WHERE path = ? AND severity = ?"
        return tuple(sorted(problem_of(row) for row in self.rows(query, (path, severity.value))))

    def with_problem(self, code: str) -> tuple[str, ...]:
        """The paths of the files of which one thing is wrong, each once."""
        return tuple(row[0] for row in self.rows("SELECT DISTINCT path FROM problems WHERE code = ? ORDER BY path", (code,)))

    def pages(self) -> tuple[Page, ...]:
        """The markdown files that are no records, in the order of their paths."""
        return tuple(Page(*row) for row in self.rows("SELECT path, title, preview FROM pages ORDER BY path"))

    def page(self, path: str) -> Page | None:
        """One page."""
        return next((Page(*row) for row in self.rows("SELECT path, title, preview FROM pages WHERE path = ?", (path,))), None)

    def of_kind(self, kind: str) -> tuple[str, ...]:
        """The paths of the files of one kind: record, page, unreadable, episode, signals, conflict."""
        return tuple(row[0] for row in self.rows("SELECT path FROM files WHERE kind = ? ORDER BY path", (kind,)))

    def stale_paths(self) -> tuple[str, ...]:
        """The notes that are served as HEAD has them, kept until the catalogue changes."""
        return self.derived("stale", self._stale)

    def _stale(self) -> tuple[str, ...]:
        return tuple(row[0] for row in self.rows("SELECT path FROM entries WHERE stale = 1 ORDER BY path"))

    def counts(self) -> Counts:
        """How much the vault holds, kept until the catalogue changes."""
        return self.derived("counts", self._counted)

    def _counted(self) -> Counts:
        kinds = dict(self.rows("SELECT kind, count(*) FROM files GROUP BY kind"))
        entries = self.rows("SELECT count(*) FROM entries")[0][0]
        stale = self.rows("SELECT count(*) FROM entries WHERE stale = 1")[0][0]
        signals = self.rows("SELECT count(*) FROM signals")[0][0]
        problems = self.rows("SELECT count(*) FROM problems")[0][0]
        notes = sum(kinds.get(kind, 0) for kind in ("record", "page", "unreadable"))
        # Of a note whose head cannot be read the text is searched, as a page is.
        pages = self.rows("SELECT count(*) FROM pages")[0][0]
        unreadable = kinds.get("unreadable", 0) - (pages - kinds.get("page", 0))
        return Counts(notes, entries, kinds.get("page", 0), signals, problems, stale, unreadable, entries + pages)

    def of_user(self, user: str) -> tuple[Entry, ...]:
        """The records that are about one user, the oldest first."""
        return self._entries(f"{schema.USER} = ? AND {schema.USER} <> '' ORDER BY {schema.CREATED}, id", (user,))

    def has_users(self) -> bool:
        """Whether anything in it is about, or was judged for, one user."""
        return self.derived("users", self._users)

    def _users(self) -> bool:
        of_memories = f"SELECT 1 FROM entries WHERE {schema.USER} <> '' LIMIT 1"
        of_signals = f"SELECT 1 FROM signals WHERE {schema.JUDGED_FOR} <> '' LIMIT 1"
        return bool(self.rows(of_memories) or self.rows(of_signals))

    def consented(self) -> list[str]:
        """The ids of the memories of which a consent record speaks."""
        return [row[0] for row in self.rows(f"SELECT DISTINCT target FROM signals WHERE {schema.CONSENT} ORDER BY target")]

    def withheld(self) -> frozenset[str]:
        """The ids of memories that are withheld from all, for consent to them was refused or withdrawn."""
        return self.derived("withheld", self._withheld)

    def _withheld(self) -> frozenset[str]:
        # Of the whole catalogue, whoever asks: what is hidden from one depends on this.
        by_target: defaultdict[str, list[Signal]] = defaultdict(list)
        for target, data in Catalog.rows(self, f"SELECT target, data FROM main.signals WHERE {schema.CONSENT}"):
            by_target[target].append(signal_of(data))
        if not by_target:
            return frozenset()

        withheld: set[str] = set()
        for target, records in by_target.items():
            rows = Catalog.rows(self, f"SELECT {ENTRY} FROM main.entries WHERE id = ?", (target,))
            withheld.update(target for row in rows if consent.consent_of(entry_of(row), merge(records)).withheld)
        return frozenset(withheld)

    def reviewed_at(self, entries: Iterable[Entry]) -> dict[str, str]:
        """By path, those that the owner reviewed by their text as it is, with when that was last."""
        asked = list(entries)
        query = f"SELECT DISTINCT target FROM signals WHERE {schema.REVIEW} AND target IN ({{}})"
        by_id = {row[0]: self.signals(row[0]) for row in self.rows_in(query, {entry.id for entry in asked})}
        times = {}
        for entry in asked if by_id else ():
            if at := authority.reviewed_at(by_id.get(entry.id, ()), entry):
                times[entry.path] = at
        return times

    def barred(self) -> frozenset[tuple[str, str]]:
        """The supersessions (the newer one's id, the older one's) for which their writer had no authority: both stay."""
        return self.derived("barred", self._barred)

    def _barred(self) -> frozenset[tuple[str, str]]:
        # Of most vaults nothing is read here: who wrote the newer one may replace whatever is not the owner's.
        rows = self.rows(_PERHAPS_BARRED)
        pairs = [(entry_of(row[:13]), entry_of(row[13:])) for row in rows]
        # A copy of an id takes nothing from the one whose it is.
        twins = [(twin, older) for newer, older in pairs for twin in self.get(newer.id) if older.id in twin.texts("supersedes")]
        seen = self.reviewed_at(entry for pair in twins for entry in pair) if twins else {}
        holds = {
            (newer.id, older.id, older.path)
            for newer, older in twins
            if authority.replaces(newer, older, newer.path in seen, older.path in seen) is authority.Effect.ALLOWED
        }
        return frozenset((newer.id, older.id) for newer, older in pairs if (newer.id, older.id, older.path) not in holds)

    def generation(self) -> int:
        """The consolidation cycle that the vault is in: the length of the longest chain of passes."""
        return self.derived("generation", self._longest_chain)

    def _longest_chain(self) -> int:
        return longest_chain({entry.id: entry.texts("parents") for entry in self.of_class(RecordClass.CONSOLIDATION)})

    def snapshot(self) -> Snapshot:
        """Everything at once, kept until the catalogue changes."""
        return self.derived("snapshot", self._everything)

    def _everything(self) -> Snapshot:
        # One row after the other: the rows of a large vault beside its entries take a third more.
        with no_collection():
            entries = tuple(map(entry_of, self.each(f"SELECT {ENTRY} FROM entries ORDER BY path")))
        return Snapshot(entries, self.of_kind("page"), self.problems(), self.barred())

    def known(self) -> Mapping[str, Listing]:
        """The files of each folder with the stats that they had when they were last read, kept until the catalogue changes."""
        return self.derived("known", self._listed)

    def _listed(self) -> Mapping[str, Listing]:
        rows = self.rows("SELECT path, names, stats FROM folders")
        return {path: schema.listing_of(names, stats) for path, names, stats in rows}

    def adopt_known(self, seq: str, known: dict[str, Listing]) -> None:
        """Keep listings that were just written, so that they need not be read back."""
        self._held_seq = None
        self._derived.adopt(seq, "known", known)

    def derived(self, name: Hashable, make: Callable[[], T], follow: Callable[[T, Any], T] | None = None) -> T:
        """The value of `make`, kept until the catalogue changes; then `follow` brings it up to date, given it and its state."""
        # In this order: where something came to be hidden since, what was kept is let go of by this very look.
        seq = self.seq()
        return self._derived.of(seq, name, make, follow)

    def files(self, paths: Iterable[str]) -> dict[str, Known]:
        """The kind, size and content hash under which files are known."""
        query = "SELECT path, kind, size, hash FROM files WHERE path IN ({})"
        return {row[0]: Known(*row[1:]) for row in self.rows_in(query, paths)}

    def all_files(self) -> dict[str, Known]:
        """Every file with what is known of its content."""
        return {row[0]: Known(*row[1:]) for row in self.rows("SELECT path, kind, size, hash FROM files")}

    def pending(self) -> dict[str, SearchDocument | None]:
        """The documents that wait to be written to the full-text index (None: to be removed), by path."""
        return {path: text_of(data) for path, data in self.rows("SELECT path, document FROM lexical_pending ORDER BY path")}

    def _entries(self, where: str, values: Sequence[Any] = ()) -> tuple[Entry, ...]:
        return tuple(map(entry_of, self.rows(f"SELECT {ENTRY} FROM entries WHERE {where}", values)))

    def _joined(self, join: str, values: Sequence[Any]) -> tuple[Entry, ...]:
        return tuple(map(entry_of, self.rows(f"SELECT DISTINCT {ENTRY_OF_E} FROM entries e JOIN {join}", values)))
