"""The relations between records, as the catalogue holds them: what points where, what replaces what, who is tagged with whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import REFERENCES
from vault_tool.model.snapshot import Entry
from vault_tool.model.supersession import superseded_by
from vault_tool.model.types import RecordClass
from vault_tool.util.text import normal_name


def references(entry: Entry) -> Iterator[tuple[str, str]]:
    """The field and the id of everything that a record's head points at, in the order of its class's fields."""
    for field, many in REFERENCES[entry.record_class]:
        targets = entry.texts(field) if many else (entry.text(field),)
        yield from ((field, target) for target in targets if target)


def supersession(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """For each replaced understanding the ids of what replaces it; members of a cycle replace nothing."""
    edges: dict[str, list[str]] = defaultdict(list)
    for newer, older in catalog.pairs("supersedes"):
        edges[newer].append(older)
    return superseded_by(edges)


def lineage(catalog: Catalog, entry: Entry) -> list[Entry]:
    """All understandings that an entry replaces or is replaced by, directly or not, itself among them."""
    found = {entry.id: entry}
    waiting = [entry]
    while waiting:
        node = waiting.pop()
        older = [other for identity in node.texts("supersedes") for other in catalog.get(identity)]
        newer = [other for _, other in catalog.pointing_at(node.id, ("supersedes",))]
        for other in (*older, *newer):
            if other.id not in found:
                found[other.id] = other
                waiting.append(other)
    return list(found.values())


def names_of(subject: Entry) -> tuple[str, ...]:
    """The normalised names under which memories are tagged with a subject: its name and its aliases."""
    return tuple(dict.fromkeys(normal_name(name) for name in (subject.text("name"), *subject.texts("aliases")) if name))


def members(catalog: Catalog, *subjects: Entry) -> tuple[Entry, ...]:
    """The memories tagged with all of the subjects, under any of their names."""
    return catalog.tagged([names_of(subject) for subject in subjects])


def holding_place(catalog: Catalog, kind: str, names: Sequence[str]) -> list[Entry]:
    """The understandings of `kind` tagged with exactly the subjects called `names`, whatever supersedes them.

    Without names, all of that kind: a soul belongs to the vault, whatever it is tagged with.
    """
    groups = [_group(catalog, name) for name in names]
    if not groups:
        return list(catalog.of_class(RecordClass.UNDERSTANDING, kind))
    known = {name for group in groups for name in group}
    return [
        entry
        for entry in catalog.tagged(groups)
        if entry.record_class is RecordClass.UNDERSTANDING
        and entry.type == kind
        and {normal_name(name) for name in entry.subjects} <= known
    ]


def _group(catalog: Catalog, name: str) -> tuple[str, ...]:
    found = catalog.subject_named(normal_name(name))
    return names_of(found[0]) if len(found) == 1 else (normal_name(name),)
