"""Records in time: what was written lately, what one session wrote, and what came before and after a memory in its session."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

import orjson

from vault_tool.files.signal_lines import merge
from vault_tool.index.catalog import Catalog
from vault_tool.index.database import marks
from vault_tool.index.relations import supersession
from vault_tool.index.schema import CREATED, ENTRY, GENERATION, PROJECT, SESSION, USER, entry_of, signal_of
from vault_tool.model.signals import Signal
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct

# Of a longer session only the first so many records are put in order.
_MOST = 5000

# Of one project's records the first so many are asked whose they are.
_MOST_ASKED = 50

# So many entries are in memory at once, where they are read by batches.
_BATCH = 1000

_NUMBER = re.compile(r"(\d+)")


def ids_since(catalog: Catalog, record_class: RecordClass, generation: int, created: str) -> list[str]:
    """The ids of one class's records of `generation` or later; of those that name none, what is not older than `created`.

    What says neither could be of any time, and is among them. Records without an id in common with others cost O(log n).
    """
    ids: dict[str, None] = {}
    for where, values in (
        (f"{GENERATION} >= ?", (generation,)),
        (f"{GENERATION} IS NULL AND {CREATED} >= ?", (created,)),
        (f"{GENERATION} IS NULL AND {CREATED} IS NULL", ()),
    ):
        query = f"SELECT id FROM entries WHERE class = ? AND {where}"
        ids.update((row[0], None) for row in catalog.rows(query, (record_class.value, *values)))
    return list(ids)


def projects(catalog: Catalog) -> tuple[str, ...]:
    """The projects that records name, each as it is written; the cost is that of the records which name one."""
    rows = catalog.rows(f"SELECT DISTINCT {PROJECT} FROM entries WHERE {PROJECT} <> ''")
    return tuple(str(row[0]) for row in rows)


def own_projects(catalog: Catalog) -> tuple[str, ...]:
    """The projects among them that a text of this vault's own names: others' texts make no project of our memories' names."""
    query = f"SELECT {ENTRY} FROM entries WHERE {PROJECT} = ? AND {PROJECT} <> '' LIMIT ?"
    return tuple(
        name for name in projects(catalog) if any(not entry_of(row).pulled for row in catalog.rows(query, (name, _MOST_ASKED)))
    )


def written_of(catalog: Catalog, user: str, session: str, project: str, most: int, after: int = 0) -> list[Entry]:
    """The observations of one user in one project, newest first; without a user those of one session.

    At most `most` of them (all for -1). The cost is that of what the user (or the session) ever wrote; nobody else's
    records are read.
    """
    # `<> ''` is the condition of the partial index, which SQLite takes for no less; the plus keeps it from the one by class.
    whose, value = (USER, user) if user else (SESSION, session)
    query = (
        f"SELECT {ENTRY} FROM entries WHERE {whose} = ? AND {whose} <> '' AND +class = ?"
        f" AND coalesce({PROJECT}, '') = ? ORDER BY {CREATED} DESC, id DESC LIMIT ? OFFSET ?"
    )
    return list(map(entry_of, catalog.rows(query, (value, RecordClass.OBSERVATION.value, project, most, after))))


def ageless(catalog: Catalog, record_class: RecordClass) -> bool:
    """Whether any record of the class says neither its generation nor when it was created."""
    query = f"SELECT 1 FROM entries WHERE class = ? AND {GENERATION} IS NULL AND {CREATED} IS NULL LIMIT 1"
    return bool(catalog.rows(query, (record_class.value,)))


def entries_of(catalog: Catalog, identities: Iterable[str]) -> list[Entry]:
    """The entries of many ids, in the order of their paths within each thousand."""
    return [entry for batch in batches_of(catalog, identities) for entry in batch]


def batches_of(catalog: Catalog, identities: Iterable[str]) -> Iterator[list[Entry]]:
    """The same, by the thousand: a hundred thousand entries take 300 MB."""
    query = f"SELECT {ENTRY} FROM entries WHERE id IN ({{}}) ORDER BY path"
    ids = list(dict.fromkeys(identities))
    for start in range(0, len(ids), _BATCH):
        yield [entry_of(row) for row in catalog.rows_in(query, ids[start : start + _BATCH])]


def unlinked_count(catalog: Catalog) -> int:
    """How many observations are direct evidence for nothing: no `related_to`, in no active understanding's `sources`."""
    total = catalog.rows("SELECT count(*) FROM entries WHERE class = ?", (RecordClass.OBSERVATION.value,))[0][0]
    query = "SELECT count(*) FROM entries WHERE +class = ? AND id IN ({})"
    linked = sum(row[0] for row in catalog.rows_in(query, linked_ids(catalog), RecordClass.OBSERVATION.value))
    return int(total - linked)


def unlinked(catalog: Catalog, limit: int) -> list[Entry]:
    """The newest of the observations that are direct evidence for nothing, at most `limit`."""
    linked = linked_ids(catalog)
    query = f"SELECT id FROM entries WHERE class = ? ORDER BY {CREATED} DESC, id DESC"
    numbers = [row[0] for row in catalog.rows(query, (RecordClass.OBSERVATION.value,)) if row[0] not in linked][:limit]
    order = {identity: place for place, identity in enumerate(numbers)}
    return sorted(entries_of(catalog, numbers), key=lambda entry: (order[entry.id], entry.path))


def linked_ids(catalog: Catalog) -> set[str]:
    """The ids of what is direct evidence for an understanding, by its own word or by an active understanding's."""
    replaced = supersession(catalog)
    cited = {target for newer, target in catalog.pairs("sources") if newer not in replaced}
    return cited | {identity for identity, _ in catalog.pairs("related_to")}


def ages(catalog: Catalog, record_class: RecordClass) -> Iterator[tuple[int, str, int | None, str]]:
    """For each record of a class its number in the catalogue, its id, its generation and when it was created ("" unsaid);
    to be read to the end at once.
    """
    query = f"SELECT n, id, {GENERATION}, {CREATED} FROM entries WHERE class = ?"
    rows = catalog.each(query, (record_class.value,))
    return ((n, id_, gen if isinstance(gen, int) else None, created or "") for n, id_, gen, created in rows)


def questioned(catalog: Catalog, journals: Collection[str] | None = None) -> list[str]:
    """The ids of memories that were ever called questionable, in any journal or in these; belief says if they still are."""
    query = "SELECT DISTINCT target FROM signals WHERE CAST(data AS TEXT) LIKE '%\"questionable\"%'"
    asked = catalog.rows(query) if journals is None else catalog.rows_in(f"{query} AND path IN ({{}})", journals)
    return sorted({row[0] for row in asked})


def written_in(catalog: Catalog, session: str) -> tuple[Entry, ...]:
    """The records whose head names `session`, oldest first, without reading the others."""
    if not _is_text(session):
        return ()
    # The second term is the index's own: without it SQLite cannot know that the index will do.
    query = f"SELECT {ENTRY} FROM entries WHERE {SESSION} = ? AND {SESSION} <> ''"
    entries = map(entry_of, catalog.rows(query, (session,)))
    return tuple(sorted(entries, key=lambda entry: (entry.created_sort_key[0], entry.path)))


def signals_in(catalog: Catalog, session: str) -> list[Signal]:
    """The signals that `session` gave, in their order, each once; the others are passed over without being unpacked."""
    if not _is_text(session):
        return []
    needle = orjson.dumps({"session": session})[1:-1]
    rows = catalog.rows("SELECT data FROM signals WHERE instr(data, ?) > 0 ORDER BY at, id, path", (needle,))
    return merge([signal for row in rows if (signal := signal_of(row[0])).session == session])


def _is_text(session: str) -> bool:
    """Whether any file could hold it: half a character could not be written."""
    try:
        session.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class Session(Struct):
    """The paths of one session's records in their order, and the place of each in it."""

    order: tuple[str, ...]
    places: Mapping[str, int]

    def around(self, path: str, reach: int) -> tuple[str, ...]:
        """The paths recorded just before and just after one, at most `reach` each."""
        at = self.places.get(path)
        return () if at is None else self.order[max(0, at - reach) : at] + self.order[at + 1 : at + 1 + reach]


def sessions(catalog: Catalog, names: Collection[str]) -> dict[str, Session]:
    """Several sessions by their names, each looked up when first asked for and kept until the catalogue changes."""
    known: dict[str, Session] = catalog.derived("sessions", dict)
    missing = [name for name in names if name not in known]
    if missing:
        known.update(_sessions(catalog, missing))
    return {name: known[name] for name in names}


def _sessions(catalog: Catalog, names: Sequence[str]) -> dict[str, Session]:
    cached = catalog.cached_of_sessions(names)
    if cached is None:
        return _looked_up(catalog, names)
    observations = {
        name: (entry for entry in entries if entry.record_class is RecordClass.OBSERVATION) for name, entries in cached.items()
    }
    rows = {
        name: [_row(entry.path, entry.head, entry.mtime_ns) for entry in islice(entries, _MOST)]
        for name, entries in observations.items()
    }
    return {name: _session(entries) for name, entries in rows.items()}


def _looked_up(catalog: Catalog, names: Sequence[str]) -> dict[str, Session]:
    # As the partial index has it (`<> ''`), and not by the class, which most records share (the plus).
    where = f"{SESSION} IN ({marks(names)}) AND {SESSION} <> '' AND +class = 'observation'"
    # The heads as they are: to take four values out of each takes SQLite longer than reading it takes here.
    rows = catalog.rows(f"SELECT path, head, mtime_ns FROM entries WHERE {where} LIMIT {_MOST}", names)
    if len(rows) == _MOST and len(names) > 1:
        # One of them is longer than all may be together: each for itself.
        return {name: session for session_name in names for name, session in _looked_up(catalog, [session_name]).items()}
    of: dict[str, list[Any]] = {name: [] for name in names}
    for path, session, mtime_ns in rows:
        head = orjson.loads(session)
        of[head["session"]].append(_row(path, head, mtime_ns))
    return {name: _session(entries) for name, entries in of.items()}


def _row(path: str, head: Mapping[str, Any], mtime_ns: int) -> tuple[Any, ...]:
    """The sort key of a session's record: its path, turn, its times, and its file's."""
    return path, head.get("turn"), head.get("observed"), head.get("created"), mtime_ns


def _session(rows: Iterable[Any]) -> Session:
    order = tuple(row[0] for row in _in_order(rows))
    return Session(order, {path: place for place, path in enumerate(order)})


def _in_order(rows: Iterable[Any]) -> list[Any]:
    """By turn where all say one, else by when it was observed or written; files of one moment in the order they were written."""
    listed = list(rows)
    if all(row[1] for row in listed):
        return _sorted(listed, lambda row: (_natural(row[1]), row[2] or row[3] or ""))
    return _sorted(listed, lambda row: (row[2] or row[3] or "", row[3] or "", row[4]))


def _sorted(rows: Sequence[Any], key: Callable[[Any], Any]) -> list[Any]:
    """In the order of the keys, and those of one key in the order of their paths; most sessions need no path for it."""
    keys = [key(row) for row in rows]
    if len(set(keys)) < len(keys):
        keys = [(key, _natural(row[0])) for key, row in zip(keys, rows, strict=True)]
    return [row for _, row in sorted(zip(keys, rows, strict=True), key=itemgetter(0))]


def _natural(text: object) -> tuple[tuple[int, str], ...]:
    """A text with numbers in it, so that 10 comes after 9."""
    if isinstance(text, str) and text.isdecimal():
        return ((0, ""), (int(text), ""), (0, ""))
    return tuple((int(part), "") if part.isdecimal() else (0, part) for part in _NUMBER.split(str(text)))
