"""The relations between records, as the catalogue has them: what points where, what replaces what, who is tagged with whom."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from vault_tool.index.catalog import Catalog
from vault_tool.index.database import marks
from vault_tool.index.places_kept import unless_observations
from vault_tool.index.schema import ENTRY_OF_E, REFERENCES, entry_of
from vault_tool.index.slight import slight
from vault_tool.index.visibility import Request, visible
from vault_tool.model.snapshot import Entry
from vault_tool.model.supersession import Place, place_of, superseded_by
from vault_tool.model.types import KEPT_TYPES, MEMORIES, RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name

_MEMORIES = tuple(record_class.value for record_class in MEMORIES)
# Characters of an edge's prose that a picture has beside its line.
_WHY = 200


def references(entry: Entry) -> Iterator[tuple[str, str]]:
    """The field and the id of everything that a record's head points at, in the order of its class's fields."""
    for field, many in REFERENCES[entry.record_class]:
        targets = entry.own(field) if many else (entry.text(field),)
        yield from ((field, target) for target in targets if target)


def supersession(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    """For each replaced understanding the ids of what replaces it; members of a cycle replace nothing.

    Nor does what its writer had no authority to put in its place. Computed once for a state of the catalogue.
    """
    return unless_observations(catalog, "superseded", lambda: _supersession(catalog))


def successors(catalog: Catalog, identity: str) -> tuple[str, ...]:
    """The ids of what replaces an understanding; none for one that is active."""
    return supersession(catalog).get(identity, ())


def _supersession(catalog: Catalog) -> Mapping[str, tuple[str, ...]]:
    edges: dict[str, list[str]] = defaultdict(list)
    for newer, older in catalog.pairs("supersedes"):
        edges[newer].append(older)
    return superseded_by(edges, catalog.barred() if edges else frozenset())


class Link(NamedTuple):
    """From one memory to another: an edge's type with its prose, or the field of a head that names the other."""

    source: str
    target: str
    relation: str
    why: str = ""


def links_among(catalog: Catalog, ids: Collection[str]) -> Iterator[Link]:
    """The links that begin and end at these memories, each once."""
    links: dict[tuple[str, str, str], Link] = {}
    for target, pointing in catalog.pointing_at_each(ids).items():
        for field, source in pointing:
            if source.record_class is RecordClass.EDGE:
                link = Link(source.text("from_id"), source.text("to_id"), source.type, source.preview[:_WHY])
            else:
                link = Link(source.id, target, field)
            if link.source in ids and link.target in ids:
                links.setdefault(link[:3], link)
    yield from links.values()


def edges_at(catalog: Catalog, ids: Collection[str]) -> list[Entry]:
    """The edges that begin or end at these memories, each once."""
    pointing = (entry for entries in catalog.pointing_at_each(ids, ("from_id", "to_id")).values() for _, entry in entries)
    return list({entry.path: entry for entry in pointing if entry.record_class is RecordClass.EDGE}.values())


def lineage(catalog: Catalog, entry: Entry) -> list[Entry]:
    """All understandings that an entry replaces or is replaced by, directly or not, itself among them."""
    entries = {entry.id: entry}
    waiting = [entry]
    while waiting:
        node = waiting.pop()
        older = [other for identity in node.texts("supersedes") for other in catalog.get(identity)]
        newer = [other for _, other in catalog.pointing_at(node.id, ("supersedes",))]
        for other in (*older, *newer):
            if other.id not in entries:
                entries[other.id] = other
                waiting.append(other)
    return list(entries.values())


def names_of(subject: Entry) -> tuple[str, ...]:
    """The normalised names under which memories are tagged with a subject: its name and its aliases."""
    return tuple(
        dict.fromkeys(normal_name(name) for name in (subject.text("name"), *subject.texts("aliases"), *subject.also) if name)
    )


def declared_projects(tags: Iterable[str], subjects: Iterable[Entry]) -> dict[str, str]:
    """The names that are those of projects by a vault's own files: the `tags` that its settings call so, and those of these
    subjects whose role says it, by each of their names. Each with the project that it means.
    """
    projects = {tag: tag for tag in tags}
    for subject in subjects:
        if normal_name(subject.text("role")) == "project":
            projects.update(dict.fromkeys((subject.title, *subject.texts("aliases"), *subject.also), subject.title))
    return projects


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
    subjects = catalog.subject_named(normal_name(name))
    return names_of(subjects[0]) if len(subjects) == 1 else (normal_name(name),)


class Region(Struct):
    """A subject as memories are tagged with it; `entry` is its file, None for one that is only named.

    `key` is the file's id, else the normalised name; `names` are the normalised names that mean this subject alone.
    """

    key: str
    name: str
    names: tuple[str, ...]
    entry: Entry | None = None


class Piece(NamedTuple):
    """An observation of a region in a few words: where it is, its type, and how long its beginning is, in characters."""

    path: str
    type: str
    length: int


class Regions:
    """The regions of one catalogue, each looked up once; for the length of one answer.

    With `now` what has expired by then is no member: it is for answers, where a pass reads all evidence.
    """

    def __init__(self, catalog: Catalog, now: datetime | None = None) -> None:
        self._catalog = catalog
        self._now = now
        self._by_name: dict[str, Region] = {}
        self._by_key: dict[str, Region] = {}
        self._observations: dict[str, frozenset[int]] = {}
        self._evidence: dict[str, dict[str, Piece]] = {}
        self._touching: dict[str, list[Entry]] = {}

    def without_observations(self) -> Regions:
        """The same, with no observation looked up yet."""
        other = Regions(self._catalog, self._now)
        other._by_name, other._by_key, other._touching = self._by_name, self._by_key, self._touching
        return other

    def called(self, name: str) -> Region:
        """The region that a memory tagged with `name` belongs to; one of its own where two subjects claim the name."""
        normal = normal_name(name)
        if normal not in self._by_name:
            self._by_name[normal] = self._looked_up(normal, name)
        return self._by_name[normal]

    def of(self, entry: Entry) -> tuple[Region, ...]:
        """The regions of one memory, each once, in the order in which its head names them."""
        regions = {region.key: region for region in map(self.called, entry.subjects) if region.key}
        return tuple(regions.values())

    def members(self, *regions: Region) -> list[Entry]:
        """The active memories that are tagged with all of the regions, in the order of their paths."""
        if not all(region.names for region in regions):
            return []
        members = self._catalog.tagged([region.names for region in regions])
        return self._current(active(self._catalog, members))

    def all_members(self, region: Region) -> list[Entry]:
        """The memories of a region, those that are superseded too, in the order of their paths."""
        members = self._catalog.tagged([region.names]) if region.names else ()
        return self._current([entry for entry in members if entry.record_class.value in _MEMORIES])

    def newest(self, region: Region) -> list[Entry]:
        """All memories of a region, the newest first."""
        return sorted(self.all_members(region), key=lambda entry: (entry.created_sort_key, entry.id), reverse=True)

    def observations(self, region: Region) -> frozenset[int]:
        """The observations of a region, by their numbers in the catalogue: what sizes are counted from."""
        if region.key not in self._observations:
            query = f"SELECT e.n FROM {_tagged(region)} WHERE +e.class = ?"
            rows = self._catalog.rows(query, (*region.names, RecordClass.OBSERVATION.value)) if region.names else []
            self._observations[region.key] = frozenset(row[0] for row in rows)
        return self._observations[region.key]

    def evidence(self, region: Region) -> Mapping[str, Piece]:
        """The observations of a region by their ids, without their heads."""
        if region.key not in self._evidence:
            query = f"SELECT e.id, e.path, e.type, length(e.preview) FROM {_tagged(region)} WHERE +e.class = ?"
            rows = self._catalog.rows(query, (*region.names, RecordClass.OBSERVATION.value)) if region.names else []
            self._evidence[region.key] = {row[0]: Piece(*row[1:]) for row in rows}
        return self._evidence[region.key]

    def read_evidence(self) -> None:
        """Look up the observations of all regions at once: for who asks about many."""
        keys = _keys(self._catalog)
        query = "SELECT n, id, path, type, length(preview) FROM entries WHERE class = ?"
        pieces = {row[0]: (row[1], Piece(*row[2:])) for row in self._catalog.each(query, (RecordClass.OBSERVATION.value,))}
        by_region: dict[str, dict[str, Piece]] = defaultdict(dict)
        for number, normal in self._catalog.each("SELECT n, normal FROM memberships"):
            if number in pieces:
                identity, piece = pieces[number]
                by_region[keys.get(normal, normal)][identity] = piece
        self._evidence.update(by_region)

    def keyed(self, key: str) -> Region:
        """The region that has this key: a subject's id, or the name of one that no file describes."""
        if key in self._by_key:
            return self._by_key[key]
        subject = next((entry for entry in self._catalog.get(key) if entry.record_class is RecordClass.SUBJECT), None)
        return self.called(key) if subject is None else self._of_subject(subject)

    def understandings(self, regions: Iterable[Region], type: str = "") -> list[Entry]:
        """The active understandings tagged with exactly these regions, of any type or one; the newest first.

        What contests another of them comes after it.
        """
        by_key = {region.key: region for region in regions}
        if not by_key:
            return []
        touching = self.touching(next(iter(by_key.values())))
        of_type = [entry for entry in touching if not type or entry.type == type]
        exact = [entry for entry in of_type if {region.key for region in self.of(entry)} == by_key.keys()]
        return present_first(self._catalog, exact)

    def touching(self, region: Region) -> list[Entry]:
        """The active understandings tagged with a region, among others or alone."""
        if region.key not in self._touching:
            query = f"SELECT {ENTRY_OF_E} FROM {_tagged(region)} WHERE +e.class = ? ORDER BY e.path"
            values = (*region.names, RecordClass.UNDERSTANDING.value)
            rows = self._catalog.rows(query, values) if region.names else []
            self._touching[region.key] = self._current(active(self._catalog, map(entry_of, rows)))
        return self._touching[region.key]

    def neighbours(self, region: Region) -> list[tuple[Region, int]]:
        """The other regions that share active memories with one, with how many; the largest intersection first."""
        counts: dict[str, int] = defaultdict(int)
        neighbours: dict[str, Region] = {}
        for entry in self.members(region):
            for other in self.of(entry):
                if other.key != region.key:
                    neighbours[other.key] = other
                    counts[other.key] += 1
        ordered = sorted(counts.items(), key=lambda neighbour: (-neighbour[1], normal_name(neighbours[neighbour[0]].name)))
        return [(neighbours[key], count) for key, count in ordered]

    def _current(self, entries: list[Entry]) -> list[Entry]:
        now = self._now
        return [entry for entry in entries if visible(entry, Request(now=now), "observed") is None]

    def _looked_up(self, normal: str, name: str) -> Region:
        subjects = self._catalog.subject_named(normal) if normal else ()
        if len(subjects) != 1:
            return Region(normal, name, (normal,) if normal else ())
        return self._of_subject(subjects[0])

    def _of_subject(self, subject: Entry) -> Region:
        if subject.id not in self._by_key:
            own = tuple(other for other in names_of(subject) if len(self._catalog.subject_named(other)) == 1)
            self._by_key[subject.id] = Region(subject.id, subject.title, own, subject)
        return self._by_key[subject.id]


def present_first(catalog: Catalog, understandings: Sequence[Entry]) -> list[Entry]:
    """Those of one place with the one that answers there first: the newest, and what contests another of them after it."""
    contesting = contesting_among(catalog, understandings)
    return sorted(understandings, key=lambda e: (e.id not in contesting, e.created_sort_key, e.path), reverse=True)


def contesting_among(catalog: Catalog, understandings: Sequence[Entry]) -> frozenset[str]:
    """The ids of those that were to replace another of them, by a writer without the authority."""
    ids = {entry.id for entry in understandings} if len(understandings) > 1 else ()
    return frozenset(newer for newer, older in catalog.barred() if older in ids) if ids else frozenset()


def beside(catalog: Catalog, understanding: Entry) -> list[Entry]:
    """The other understandings that nothing replaces and that have the place of this one."""
    type, user, regions = understanding.type, understanding.text("user"), regions_of(catalog)
    if type not in KEPT_TYPES:
        by_region = regions.understandings(regions.of(understanding), type)
    else:
        by_region = active(catalog, catalog.of_class(RecordClass.UNDERSTANDING, type))
    return [entry for entry in by_region if entry.id != understanding.id and entry.text("user") == user]


def forked(catalog: Catalog) -> list[tuple[str, ...]]:
    """The ids of all understandings that nothing replaces, where several have one place."""
    return unless_observations(catalog, "forked", lambda: _forked(catalog))


def _forked(catalog: Catalog) -> list[tuple[str, ...]]:
    gone, regions = supersession(catalog), regions_of(catalog)
    places: dict[Place, set[str]] = defaultdict(set)
    for entry in slight(catalog, RecordClass.UNDERSTANDING, at_once=True):
        keys = frozenset(region.key for region in regions.of(entry))
        if entry.id not in gone and (place := place_of(entry.type, entry.text("user"), keys)):
            places[place].add(entry.id)
    return [tuple(sorted(ids)) for ids in places.values() if len(ids) > 1]


def regions_of(catalog: Catalog) -> Regions:
    """The regions with all that was ever tagged with them, expired or not: kept until the catalogue changes."""
    return unless_observations(catalog, "regions", lambda: Regions(catalog), Regions.without_observations)


def understood_names(catalog: Catalog) -> set[str]:
    """The names that any understanding is tagged with, kept until the catalogue changes."""
    query = "SELECT DISTINCT normal FROM memberships WHERE n IN (SELECT n FROM entries WHERE class = ?)"
    values = (RecordClass.UNDERSTANDING.value,)
    return catalog.derived("understood names", lambda: {str(row[0]) for row in catalog.rows(query, values)})


def largest(catalog: Catalog, limit: int) -> list[str]:
    """The names under which most memories are tagged, the most frequent first."""
    query = "SELECT normal FROM memberships GROUP BY normal ORDER BY count(*) DESC, normal LIMIT ?"
    return [str(row[0]) for row in catalog.rows(query, (limit,))]


def active(catalog: Catalog, entries: Iterable[Entry]) -> list[Entry]:
    """Those that are memories and that nothing supersedes, in their order."""
    memories = [entry for entry in entries if entry.record_class.value in _MEMORIES]
    gone = superseded(catalog, [e.id for e in memories if e.record_class is RecordClass.UNDERSTANDING])
    return [entry for entry in memories if entry.id not in gone]


def superseded(catalog: Catalog, identities: Iterable[str]) -> set[str]:
    """Which of these understandings something replaces; members of a cycle replace nothing. Asked one by one."""
    superseded_ids = set()
    replaced: dict[str, set[str]] = {}
    for identity, pointing in catalog.pointing_at_each(list(identities), ("supersedes",)).items():
        newer = {entry.id for _, entry in pointing} - {identity}
        if newer and (barred := catalog.barred()):
            newer = {successor for successor in newer if (successor, identity) not in barred}
        # Only what it replaces itself, directly or not, could stand in a cycle with it.
        if newer and newer - _replaced_by(catalog, identity, replaced):
            superseded_ids.add(identity)
    return superseded_ids


def tagging(catalog: Catalog) -> Mapping[int, frozenset[str]]:
    """The whole vault at once: for each active memory, by its number, the keys of its regions."""
    keys = _keys(catalog)
    gone = set(_superseded_numbers(catalog))
    # By the class's index alone: a join would read every head.
    active_ones = {row[0] for row in catalog.each("SELECT n FROM entries WHERE class IN (?, ?)", _MEMORIES)} - gone
    tags: dict[int, list[str]] = defaultdict(list)
    for number, normal in catalog.each("SELECT n, normal FROM memberships"):
        if number in active_ones:
            tags[number].append(keys.get(normal, normal))
    alike: dict[tuple[str, ...], frozenset[str]] = {}
    return {
        number: alike.setdefault(names, frozenset(names)) for number, names in zip(tags, map(tuple, tags.values()), strict=True)
    }


def _keys(catalog: Catalog) -> dict[str, str]:
    """For each name that means one subject alone, that subject's id."""
    return {name: ids[0] for name, ids in catalog.subject_names().items() if len(ids) == 1}


def _superseded_numbers(catalog: Catalog) -> Iterable[int]:
    gone = supersession(catalog)
    rows = catalog.rows("SELECT n, id FROM entries WHERE class = ?", (RecordClass.UNDERSTANDING.value,))
    return (number for number, identity in rows if identity in gone)


def _replaced_by(catalog: Catalog, identity: str, read: dict[str, set[str]]) -> set[str]:
    """All that an understanding supersedes, directly or not; `read` keeps what each one names, so that a chain is read once."""
    targets: set[str] = set()
    waiting = [identity]
    while waiting:
        newer = waiting.pop()
        if newer not in read:
            read[newer] = {old for entry in catalog.get(newer) for old in entry.texts("supersedes")}
        older = read[newer] - targets
        targets |= older
        waiting.extend(older)
    return targets


def _tagged(region: Region) -> str:
    return f"(SELECT DISTINCT n FROM memberships WHERE normal IN ({marks(region.names)})) m JOIN entries e ON e.n = m.n"
