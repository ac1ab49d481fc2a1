"""`_index.json`: every head with its relations in both directions, for readers that are not this tool."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson

from vault_tool.index.catalog import Catalog
from vault_tool.model.types import RecordClass
from vault_tool.util import atomic

VERSION = 2

_Relations = dict[str, dict[str, list[str]]]


def index_json(catalog: Catalog, updated: str) -> bytes:
    """The document: `version, updated, count, entries` by id and `edges` by id.

    Where one id stands in several files the first path's entry stands for it and `copies` names them all.
    """
    outward, inward = _relations(catalog)
    found: dict[str, dict[str, Any]] = {}
    edges: dict[str, dict[str, Any]] = {}
    # Heads and links stand in the catalogue as JSON, and go out as they are.
    columns = "n, id, path, class, type, title, head, size, mtime_ns, hash, links, stale"
    for row in catalog.rows(f"SELECT {columns} FROM entries ORDER BY path"):
        number, record_id, path, class_, type_, title, head, size, mtime_ns, hash_, links, stale = row
        if record_id in found:
            first = found[record_id]
            first.setdefault("copies", [first["path"]]).append(path)
            continue
        found[record_id] = {
            "path": path,
            "class": class_,
            "type": type_,
            "title": title,
            "head": orjson.Fragment(head),
            "size": size,
            "mtime": mtime_ns / 1e9,
            "hash": hash_,
            "links": orjson.Fragment(links),
            "relations": outward.get(number, {}),
            "relations_from": inward.get(record_id, {}),
            "stale": bool(stale),
        }
        if class_ == RecordClass.EDGE.value:
            edges[record_id] = _edge(path, type_, orjson.loads(head))
    return orjson.dumps({"version": VERSION, "updated": updated, "count": len(found), "entries": found, "edges": edges})


def write_index(file: Path, catalog: Catalog, updated: str) -> None:
    """Write `_index.json` whole."""
    atomic.write(file, index_json(catalog, updated) + b"\n", durable=False)


def _relations(catalog: Catalog) -> tuple[dict[int, dict[str, list[str]]], _Relations]:
    """What each row points at, and what points at each id, by field and in order."""
    outward: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    inward: _Relations = defaultdict(lambda: defaultdict(list))
    query = "SELECT j.target, j.field, j.n, e.id FROM relations j JOIN entries e ON e.n = j.n ORDER BY 1, 2, 4"
    for target, field, number, record_id in catalog.rows(query):
        outward[number][field].append(target)
        inward[target][field].append(record_id)
    return outward, inward


def _edge(path: str, type_: str, head: dict[str, Any]) -> dict[str, Any]:
    ends = {name: head.get(name) for name in ("from_id", "to_id", "strength")}
    return {"type": type_, **ends, "path": path}
