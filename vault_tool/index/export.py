"""Exports for other programs, and when they are written.

`_index.json`: every head with its relations both ways. `_state.json`: each memory's use, decay, truth and utility, as verbs
computed them; written whole, read only when intact.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from msgspec.structs import asdict

from vault_tool.files.layout import CACHE, STATE_FILE
from vault_tool.files.local_trust import place
from vault_tool.index.catalog import Catalog
from vault_tool.index.seals import IndexState, SealedFile, lock
from vault_tool.model.types import DEFAULT_CONFIDENCE, RecordClass, Registry
from vault_tool.util.structs import Struct

VERSION = 2
STATE_VERSION = 1
_STEP = 4000
# A larger file is written when so large a part of it has changed.
_SMALL = 2000
_SHARE = 0.05

_References = dict[str, dict[str, list[str]]]


class ExportedFile(Struct):
    """A derived file for other programs, written whole: of a large vault, therefore, only when enough has changed.

    `lock` is held while it is written, for which others wait `wait` seconds.
    """

    file: SealedFile
    lock: Path
    wait: float

    def is_due(self, build: str, changes: int, size: int) -> bool:
        """Whether to write it: it is not as we left it, is of another `build`, or lacks enough changes to be worth its size."""
        missing = self.lacks(build, changes)
        return missing is None or (missing != 0 and not (size > _SMALL and missing <= _SHARE * size))

    def lacks(self, build: str, changes: int) -> int | None:
        """How many of the `changes` of a build it lacks; None where it is not as we left it, or of another build."""
        build_then, _, changes_then = self.file.nonce().rpartition(" ")
        if build_then != build or self.file.state() is not IndexState.INTACT:
            return None
        return changes - int(changes_then or 0)

    def write(self, content: Callable[[], bytes], build: str, changes: int, *, synced: bool = True) -> None:
        """Write what is `made` then, as of so many changes of a build. Raises Busy and StorageError."""
        with lock(self.lock, self.wait, self.file.path.name):
            self.file.replace(content(), f"{build} {changes}", synced=synced)


def index_json(catalog: Catalog, updated: str, types: Registry) -> bytes:
    """The document: `version, updated, count, entries` by id and `edges` by id.

    An entry has the fields of the second document flat (`title, type, tags, importance, confidence, created, updated, path,
    relations`; where its head says nothing of importance or confidence, what counts then), then the whole `head`, and its
    references by field: `references` from it, `referenced_by` to it.
    Where one id stands in several files the first path's entry stands for it and `copies` names them all.
    """
    outward, inward = _references(catalog)
    relations, edges = _edges(catalog)
    copies = _copies(catalog)
    # Piece by piece: as Python's values all at once it would need several times as much memory as it has bytes.
    entries: list[bytes] = []
    for row in _rows(catalog):
        number, record_id, path, class_, type_, title, head, size, mtime_ns, hash_, links, stale = row
        twins = copies.get(record_id)
        if twins and twins[0] != path:
            continue
        written = orjson.loads(head)
        value = {
            "title": title,
            "class": class_,
            "type": type_,
            "tags": written.get("tags") or [],
            "importance": written.get("importance", types.spec(type_ or "").importance),
            "confidence": written.get("confidence", DEFAULT_CONFIDENCE),
            "created": written.get("created"),
            "updated": written.get("updated") or written.get("created"),
            "path": path,
            "relations": relations.get(record_id, []),
            # Heads and links stand in the catalogue as JSON, and go out as they are.
            "head": orjson.Fragment(head),
            "size": size,
            "mtime": mtime_ns / 1e9,
            "hash": hash_,
            "links": orjson.Fragment(links),
            "references": outward.get(number, {}),
            "referenced_by": inward.get(record_id, {}),
            "stale": bool(stale),
        }
        entries.append(_member(record_id, {**value, "copies": twins} if twins else value))
    facts = orjson.dumps({"version": VERSION, "updated": updated, "count": len(entries)})
    return b"".join((facts[:-1], b',"entries":{', b",".join(entries), b'},"edges":{', b",".join(edges), b"}}\n"))


def _member(key: str, value: dict[str, Any]) -> bytes:
    """One member of a JSON object."""
    return orjson.dumps(key) + b":" + orjson.dumps(value)


def _rows(catalog: Catalog) -> Iterator[Any]:
    """All entries in the order of their paths, some thousands at a time: whoever writes need not wait for all of them."""
    columns = "n, id, path, class, type, title, head, size, mtime_ns, hash, links, stale"
    last = ""
    while rows := catalog.rows(f"SELECT {columns} FROM entries WHERE path > ? ORDER BY path LIMIT {_STEP}", (last,)):
        yield from rows
        last = rows[-1][2]


def _copies(catalog: Catalog) -> dict[str, list[str]]:
    """The ids that stand in several files, with the paths of those."""
    copies: dict[str, list[str]] = defaultdict(list)
    twice = "SELECT id FROM entries GROUP BY id HAVING count(*) > 1"
    for record_id, path in catalog.rows(f"SELECT id, path FROM entries WHERE id IN ({twice}) ORDER BY path"):
        copies[record_id].append(path)
    return copies


def _references(catalog: Catalog) -> tuple[dict[int, dict[str, list[str]]], _References]:
    """The targets of each row, and the sources that point at each id, by field and in order."""
    outward: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    inward: _References = defaultdict(lambda: defaultdict(list))
    query = "SELECT j.target, j.field, j.n, e.id FROM relations j JOIN entries e ON e.n = j.n ORDER BY 1, 2, 4"
    for target, field, number, record_id in catalog.rows(query):
        outward[number][field].append(target)
        inward[target][field].append(record_id)
    return outward, inward


def _edges(catalog: Catalog) -> tuple[dict[str, list[dict[str, Any]]], list[bytes]]:
    """The edges at each id, as the second document lists them with an entry, and all edges by their ids as members of JSON."""
    relations: dict[str, list[dict[str, Any]]] = defaultdict(list)
    edges: dict[str, bytes] = {}
    query = "SELECT id, path, type, head, preview FROM entries WHERE class = ? ORDER BY path"
    for edge_id, path, type_, data, context in catalog.rows(query, (RecordClass.EDGE.value,)):
        if edge_id in edges:
            continue
        head = orjson.loads(data)
        ends = {name: head.get(name) for name in ("from_id", "to_id", "strength")}
        edges[edge_id] = _member(edge_id, {"type": type_, **ends, "path": path})
        facts = {"strength": head.get("strength"), "context": context, "edge_id": edge_id}
        for at, target, direction in (("from_id", "to_id", "outgoing"), ("to_id", "from_id", "incoming")):
            relations[str(head.get(at))].append({"target": head.get(target), "type": type_, "direction": direction, **facts})
    return relations, list(edges.values())


# How we write the file: an id, and numbers that hold no braces.
_BEGINNING = b'{"version":%d,' % STATE_VERSION
_ENTRY = rb'("(?:[^"\\]|\\.)*"):(\{[^{}]*\})'


class StateRow(Struct):
    """One memory's derived numbers; `last_accessed` is empty for one that was never used, null in the file."""

    access_count: int = 0
    last_accessed: str = ""
    decay_score: float = 0.0
    truth: float = 0.0
    utility: float = 0.0


def _state_json(row: StateRow) -> bytes:
    return orjson.dumps(asdict(row) if row.last_accessed else {**asdict(row), "last_accessed": None})


def _state_row(values: Mapping[str, Any]) -> StateRow:
    return StateRow(**{**values, "last_accessed": values.get("last_accessed") or ""})


class StateFile(Struct):
    """`_state.json` of one vault."""

    root: Path

    @contextmanager
    def alone(self, wait: float = 10.0) -> Iterator[None]:
        """Keep other processes from writing the file: who computes outside may replace what is newer. Raises Busy."""
        with lock(place(self.root) / CACHE / "state.lock", wait, STATE_FILE):
            yield

    def write(self, entries: Mapping[str, StateRow], updated: str, *, of: str = "") -> None:
        """Replace the file and vouch for it as made `of` a state of what is read for it; while `alone`. Raises StorageError."""
        frame = orjson.dumps({"version": STATE_VERSION, "updated": updated, "entries": {}}).removesuffix(b"}}")
        # One by one: as a whole a hundred thousand take 100 MB more.
        rows = b",".join(b"%s:%s" % (orjson.dumps(record_id), _state_json(row)) for record_id, row in sorted(entries.items()))
        self._file.replace(b"%s%s}}\n" % (frame, rows), of)

    def of(self) -> str:
        """The state that it was written of."""
        return self._file.nonce()

    def intact(self) -> bool:
        """Whether the file is as we left it: else its entries must be computed again."""
        return self._file.state() is IndexState.INTACT

    def read(self) -> dict[str, StateRow] | None:
        """The entries by id, or None for a file that is missing, torn, foreign or of another version."""
        stored = self._file.json()
        try:
            if stored["version"] != STATE_VERSION:
                return None
            return {record_id: _state_row(values) for record_id, values in stored["entries"].items()}
        except (KeyError, TypeError, AttributeError):
            return None

    def each(self) -> Iterator[tuple[str, StateRow]]:
        """The entries one by one, none where `read` gives None: as a whole a hundred thousand take 190 MB."""
        if not self.intact():
            return
        try:
            data = self._file.path.read_bytes()
            if data.startswith(_BEGINNING):
                for match in re.finditer(_ENTRY, data):
                    yield orjson.loads(match[1]), _state_row(orjson.loads(match[2]))
        except (OSError, ValueError, TypeError):
            return

    @property
    def _file(self) -> SealedFile:
        return SealedFile(self.root / STATE_FILE, place(self.root) / CACHE / "state.seal")
