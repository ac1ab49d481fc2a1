"""Which records a check of all can find anything at: what most are in order by is seen by their rows and not by their heads."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import orjson

from vault_tool.index.catalog import Catalog
from vault_tool.index.database import marks
from vault_tool.index.schema import ENTRY, entry_of, names_of
from vault_tool.model.fields import OF_ENDS, OF_WORDS
from vault_tool.model.snapshot import Entry
from vault_tool.model.supersession import cycles
from vault_tool.model.types import RecordClass

_RELATIONSHIPS = "SELECT n FROM entries WHERE class = 'understanding' AND type = 'relationship'"
_TWICE = {
    "an id of several files": "SELECT n FROM entries WHERE id IN (SELECT id FROM entries GROUP BY id HAVING count(*) > 1)",
    "a name of several subjects": """
        SELECT n FROM names WHERE normal IN (SELECT normal FROM names GROUP BY normal HAVING count(*) > 1)""",
    "a text of several notes": """
        SELECT n FROM entries WHERE body_hash <> '' AND class = 'observation' AND body_hash IN
            (SELECT body_hash FROM entries WHERE body_hash <> '' GROUP BY body_hash HAVING count(*) > 1)""",
    "a tag without a subject": """
        SELECT n FROM memberships WHERE normal IN (SELECT DISTINCT normal FROM memberships m
            WHERE NOT EXISTS (SELECT 1 FROM names s WHERE s.normal = m.normal))""",
    "a relationship of one": f"""
        SELECT n FROM memberships m WHERE n IN ({_RELATIONSHIPS}) GROUP BY n
            HAVING count(DISTINCT coalesce((SELECT min(s.n) FROM names s WHERE s.normal = m.normal), normal)) < 2""",
    "a relationship of none": f"{_RELATIONSHIPS} AND n NOT IN (SELECT n FROM memberships)",
    "what is there once": "SELECT n FROM entries WHERE class IN ('workspace', 'consolidation', 'subject')",
    "one of all": "SELECT min(n) FROM entries HAVING min(n) IS NOT NULL",
    "one of the folder around": "SELECT n FROM entries WHERE path >= '../' AND path < '..0' LIMIT 1",
}  # fmt: skip

_JOINED = """
SELECT r.n, e.class, e.type, r.field, r.target, t.class, t.type, r.target = e.id FROM relations r JOIN entries e ON e.n = r.n
    LEFT JOIN entries t ON t.id = r.target
"""
_HEAD = "CAST(head AS TEXT)"
_BESIDES = ["evidence", "relations", *(field.name for field in OF_WORDS), *OF_ENDS]
_VALUES = "json_extract({}, {})".format(_HEAD, ", ".join(f"'$.{name}'" for name in _BESIDES))
_SAID = f"""
SELECT n, {_VALUES}, json_array_length({_HEAD}, '$.subjects') FROM entries
    WHERE {_VALUES} <> '[{",".join(["null"] * len(_BESIDES))}]'
        OR json_array_length({_HEAD}, '$.subjects') > ?
"""


def doubled_or_alone(catalog: Catalog) -> set[int]:
    """The records that share what should be one's own, lack what they name, or are looked at one and all."""
    return {row[0] for query in _TWICE.values() for row in catalog.each(query)}


Reference = tuple[int, str, str, str, str, str | None, str | None, int]


def references_joined(catalog: Catalog) -> Iterator[Reference]:
    """Each reference: the record's number, class and type, the field, the id that it names, the class and type of what has that
    (None for what is not there), and whether that is the record itself.
    """
    return catalog.each(_JOINED)


def said_besides(catalog: Catalog, tags: int) -> Iterator[tuple[int, list[Any], int]]:
    """The records that give evidence, relations, fields of one word or ends, with these, or have more than so many tags."""
    for number, values, count in catalog.each(_SAID, (tags,)):
        yield number, orjson.loads(values), count or 0


def of_types(catalog: Catalog, types: Collection[str]) -> set[int]:
    """The records of these types."""
    return {row[0] for row in catalog.rows(f"SELECT n FROM entries WHERE type IN ({marks(types)})", list(types))}


def in_a_circle(catalog: Catalog) -> set[int]:
    """The understandings that supersede each other."""
    edges: dict[str, list[str]] = {}
    for newer, older in catalog.pairs("supersedes"):
        edges.setdefault(newer, []).append(older)
    members = {member for cycle in cycles(edges) for member in cycle}
    return {row[0] for row in catalog.rows_in("SELECT n FROM entries WHERE id IN ({})", members)}


def beside(catalog: Catalog, entries: Collection[Entry]) -> set[int]:
    """The records at which a rule may find something since these are there: what has an id, a text or a name of theirs, is
    tagged with one of these subjects, refers to one of them, or begins where an edge of them begins.
    """
    ids, bodies = {entry.id for entry in entries}, {entry.body_hash for entry in entries} - {""}
    names = {name for entry in entries for name in names_of(entry)}
    starts = {entry.text("from_id") for entry in entries if entry.record_class is RecordClass.EDGE}
    asked = (
        ("SELECT n FROM entries WHERE id IN ({})", ids),
        ("SELECT n FROM entries WHERE body_hash <> '' AND body_hash IN ({})", bodies),
        ("SELECT n FROM names WHERE normal IN ({})", names),
        ("SELECT n FROM memberships WHERE normal IN ({})", names),
        ("SELECT n FROM relations WHERE target IN ({})", ids),
        ("SELECT n FROM relations WHERE field = 'from_id' AND target IN ({})", starts),
    )
    return {row[0] for query, values in asked for row in catalog.rows_in(query, values)}


def path_twins_of(catalog: Catalog, entries: Collection[Entry]) -> set[str]:
    """The paths that are twins of one of these records', with these; all twins where a path of the vault is not plain ASCII."""
    paths = {entry.path for entry in entries}
    is_plain = not catalog.rows("SELECT 1 FROM entries WHERE length(CAST(path AS BLOB)) <> length(path) LIMIT 1")
    pages = catalog.of_kind("page")
    if paths and not (is_plain and all(path.isascii() for path in pages)):
        return path_twins(catalog)
    # SQLite folds the letters of ASCII alone.
    alike = {row[0] for row in catalog.rows_in("SELECT path FROM entries WHERE path COLLATE NOCASE IN ({})", paths)}
    folded = {path.lower() for path in paths}
    alike |= {path for path in pages if path.lower() in folded}
    many = Counter(path.lower() for path in alike)
    return {path for path in alike if many[path.lower()] > 1}


def path_twins(catalog: Catalog) -> set[str]:
    """The paths of records and pages that differ only in case or in how their letters are composed."""
    first: dict[str, str] = {}
    twins: set[str] = set()
    for (path,) in catalog.each("SELECT path FROM entries UNION ALL SELECT path FROM files WHERE kind = 'page'"):
        folded = path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
        if (other := first.setdefault(folded, path)) != path:
            twins |= {path, other}
    return twins


def numbered(catalog: Catalog, numbers: Iterable[int], paths: Collection[str] = ()) -> dict[int, Entry]:
    """The records of these numbers and paths, by their numbers."""
    entries = {row[0]: entry_of(row[1:]) for row in catalog.rows_in(f"SELECT n, {ENTRY} FROM entries WHERE n IN ({{}})", numbers)}
    rows = catalog.rows_in(f"SELECT n, {ENTRY} FROM entries WHERE path IN ({{}})", paths)
    return entries | {row[0]: entry_of(row[1:]) for row in rows}


def looked_up_by(catalog: Catalog, entries: Collection[Entry], numbers: Collection[int]) -> set[int]:
    """The records that a look at these asks for: what they refer to, and what supersedes them."""
    targets = {row[0] for row in catalog.rows_in("SELECT target FROM relations WHERE n IN ({})", numbers)}
    numbers_there = {row[0] for row in catalog.rows_in("SELECT n FROM entries WHERE id IN ({})", targets)}
    ids = {entry.id for entry in entries if entry.record_class is RecordClass.UNDERSTANDING}
    newer = catalog.rows_in("SELECT n FROM relations WHERE field = 'supersedes' AND target IN ({})", ids)
    return numbers_there | {row[0] for row in newer}
