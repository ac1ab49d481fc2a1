"""`_index.json`: every head with its relations in both directions, for readers that are not this tool."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import orjson

from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import relations_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util import atomic

VERSION = 2


def index_json(catalog: Catalog, updated: str) -> bytes:
    """The document: `version, updated, count, entries` by id and `edges` by id.

    Where one id stands in several files the first path's entry stands for it and `copies` names them all.
    """
    entries = catalog.snapshot().entries
    pointed: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for entry in entries:
        for target, field in relations_of(entry):
            pointed[target][field].add(entry.id)
    found: dict[str, dict[str, Any]] = {}
    edges: dict[str, dict[str, Any]] = {}
    for entry in entries:
        if entry.id in found:
            first = found[entry.id]
            first.setdefault("copies", [first["path"]]).append(entry.path)
            continue
        found[entry.id] = _entry(entry, pointed.get(entry.id, {}))
        if entry.record_class is RecordClass.EDGE:
            edges[entry.id] = _edge(entry)
    return orjson.dumps({"version": VERSION, "updated": updated, "count": len(found), "entries": found, "edges": edges})


def write_index(root_file: Path, catalog: Catalog, updated: str) -> None:
    """Write `_index.json` whole."""
    atomic.write(root_file, index_json(catalog, updated) + b"\n", durable=False)


def _entry(entry: Entry, pointed: dict[str, set[str]]) -> dict[str, Any]:
    relations: dict[str, list[str]] = defaultdict(list)
    for target, field in sorted(relations_of(entry)):
        relations[field].append(target)
    return {
        "path": entry.path,
        "class": entry.record_class.value,
        "type": entry.type,
        "title": entry.title,
        "head": entry.head,
        "size": entry.size,
        "mtime": entry.mtime_ns / 1e9,
        "hash": entry.hash,
        "links": entry.links,
        "relations": relations,
        "relations_from": {field: sorted(ids) for field, ids in sorted(pointed.items())},
        "stale": entry.stale,
    }


def _edge(entry: Entry) -> dict[str, Any]:
    return {
        "type": entry.type,
        "from_id": entry.text("from_id"),
        "to_id": entry.text("to_id"),
        "strength": entry.number("strength"),
        "path": entry.path,
    }
