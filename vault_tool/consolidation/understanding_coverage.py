"""How far understandings cover the observations of a vault: counts over all of them, in one pass."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import msgspec
from msgspec import field

from vault_tool.consolidation.packets import MOST_TAGS
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.supersession import Place, place_of
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct

# The keys of the subjects of an observation or understanding.
Keys = frozenset[str]

# The types of understandings that sum up the memories of their subjects.
COVERING = ("single_subject", "relationship")

_PAIR = 2

# An understanding's id, the time when it was written, and its sources.
_Synthesis = tuple[str, str, frozenset[str]]


class Sighting(Struct):
    """One observation: its id, its subjects, its time of writing and its generation."""

    id: str
    keys: Keys
    created: str
    generation: int | None = None


class SubjectCount(msgspec.Struct):
    """The observations of one subject, counted; mutable, because the counts are increased one by one."""

    observations: int = 0
    newest: str = ""
    generation: int = 0


class SubjectCoverage(Struct):
    """Subjects with their counts, pairs with the number of observations they share, and how far understandings are behind.

    `behind` counts, by an understanding's id, the observations of its subjects that were written after it and are not among
    its sources. `understood` are the subjects of active understandings, by type.
    """

    subjects: Mapping[str, SubjectCount]
    pairs: Mapping[tuple[str, str], int]
    behind: Mapping[str, int]
    understood: Mapping[str, frozenset[Keys]] = field(default_factory=dict)

    def uncovered(self) -> list[str]:
        """The subjects that have observations and no understanding of their own, most observations first."""
        known = self.understood.get("single_subject", frozenset())
        bare = [key for key in self.subjects if frozenset((key,)) not in known]
        return sorted(bare, key=lambda key: (-self.subjects[key].observations, key))

    def unrelated(self, least: int) -> list[tuple[str, str]]:
        """The pairs that share at least so many observations and have no relationship understanding, largest first."""
        known = self.understood.get("relationship", frozenset())
        bare = [pair for pair, count in self.pairs.items() if count >= least and frozenset(pair) not in known]
        return sorted(bare, key=lambda pair: (-self.pairs[pair], pair))


def coverage(sightings: Iterable[Sighting], understandings: Sequence[tuple[Entry, Keys]]) -> SubjectCoverage:
    """Count everything once; `understandings` are the active ones with their subjects."""
    index = _UnderstandingIndex(understandings)
    tallies: dict[str, SubjectCount] = defaultdict(SubjectCount)
    pairs: Counter[tuple[str, str]] = Counter()
    behind: Counter[str] = Counter()
    for sighting in sightings:
        for key in sighting.keys:
            _count(tallies[key], sighting)
        shared, synthesis = index.about(sighting.keys)
        for pair in shared:
            pairs[pair] += 1
        for entry, created, cited in synthesis:
            if sighting.created > created and sighting.id not in cited:
                behind[entry] += 1
    return SubjectCoverage(tallies, pairs, behind, _understood(understandings))


class _UnderstandingIndex:
    """The understandings of subjects and relations, found by the subjects of an observation; each set is looked up once."""

    def __init__(self, understandings: Sequence[tuple[Entry, Keys]]) -> None:
        self._by_place: dict[Keys, list[_Synthesis]] = defaultdict(list)
        for entry, keys in understandings:
            if entry.type in COVERING and keys:
                self._by_place[keys].append((entry.id, entry.text("created"), frozenset(entry.texts("sources"))))
        # An understanding of more than two subjects is kept under the first of them alone, so that a look-up reads few of them.
        self._broad: dict[str, list[Keys]] = defaultdict(list)
        for keys in self._by_place:
            if len(keys) > _PAIR:
                self._broad[min(keys)].append(keys)
        self._known: dict[Keys, tuple[list[tuple[str, str]], list[_Synthesis]]] = {}

    def about(self, keys: Keys) -> tuple[list[tuple[str, str]], list[_Synthesis]]:
        """The pairs among some subjects, and the understandings of one, two or more of them."""
        if keys not in self._known:
            shared = list(combinations(sorted(keys)[:MOST_TAGS], 2))
            places = [frozenset((key,)) for key in keys] + [frozenset(pair) for pair in shared]
            places += [broad for key in keys for broad in self._broad.get(key, ()) if broad <= keys]
            self._known[keys] = shared, [synthesis for place in places for synthesis in self._by_place.get(place, ())]
        return self._known[keys]


def contested(understandings: Sequence[tuple[Entry, Keys]]) -> list[tuple[Entry, ...]]:
    """Groups of more than one active understanding of the same type, subjects and user, the newest of each first.

    The copies of one id are one understanding.
    """
    groups: dict[Place, list[Entry]] = defaultdict(list)
    for entry, keys in understandings:
        if place := place_of(entry.type, entry.text("user"), keys):
            groups[place].append(entry)
    rivals = [group for group in groups.values() if len({entry.id for entry in group}) > 1]
    ordered = [tuple(sorted(group, key=lambda e: (e.created_sort_key, e.path), reverse=True)) for group in rivals]
    return sorted(ordered, key=lambda group: group[0].path)


def current(snapshot: Snapshot) -> list[tuple[Entry, Keys]]:
    """All active understandings, each with the keys of its subjects."""
    active = (entry for entry in snapshot.of_class(RecordClass.UNDERSTANDING) if snapshot.active(entry))
    return [(entry, frozenset(map(snapshot.subject_key, entry.subjects))) for entry in active]


def _count(tally: SubjectCount, sighting: Sighting) -> None:
    tally.observations += 1
    tally.newest = max(tally.newest, sighting.created)
    tally.generation = max(tally.generation, sighting.generation or 0)


def _understood(understandings: Sequence[tuple[Entry, Keys]]) -> dict[str, frozenset[Keys]]:
    keys_by_type: dict[str, set[Keys]] = defaultdict(set)
    for entry, keys in understandings:
        keys_by_type[entry.type].add(keys)
    return {kind: frozenset(places) for kind, places in keys_by_type.items()}
