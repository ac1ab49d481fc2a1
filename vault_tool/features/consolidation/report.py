"""`get_consolidation_report`: what maintenance would pay, each list in the order of its estimated value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from vault_tool.belief.fold import said_by
from vault_tool.consolidation.packets import is_contained
from vault_tool.consolidation.understanding_coverage import COVERING, Keys, Sighting, SubjectCoverage, contested, coverage
from vault_tool.features.consolidation.hygiene import protocol_findings, soul_findings
from vault_tool.features.consolidation.open_intersections import Brief, brief, briefs
from vault_tool.features.consolidation.passes import PacketPlan, changed_pairs, due
from vault_tool.features.consolidation.subject_similarity import between, prepared, usual
from vault_tool.features.consolidation.suggestions import ANSWERS, edge_suggestions
from vault_tool.index.places_kept import unless_observations
from vault_tool.index.relations import Region, regions_of, supersession, tagging
from vault_tool.index.timeline import ages, unlinked, unlinked_count
from vault_tool.model.details import Details
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, body_of
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.open_pass import passes
from vault_tool.vault.questioned import Questioned
from vault_tool.vault.request import Answer, looks, of_the_whole, verb

# From so many shared observations without a relationship understanding a pair is asked about.
DENSE = 3

# For so many generations a subject that is still in use may go without anything new before it is asked about.
UNTOUCHED = 3

_CANDIDATES = 100
_DRIFT = 3


class NeedsUnderstanding(Struct, kw_only=True):
    """A subject with evidence and no synthesis; `generation` is that of its newest observation."""

    name: str
    observation_count: int
    generation: int


class Stale(Struct, kw_only=True):
    """An understanding that evidence has overtaken: `new_observation_count` came after it, and it rests on none of them."""

    id: str
    subject_names: tuple[str, ...]
    summary: str
    generation: int | None
    last_updated: str
    new_observation_count: int


class NeedsSynthesis(Struct, kw_only=True):
    """Two subjects whose intersection changed; `trivial` where they share so little that it may be chance."""

    subject_a: str
    subject_b: str
    intersection_size: int
    new_generation_count: int
    existing_understanding: Brief | None
    trivial: bool


class Dense(Struct, kw_only=True):
    """Two subjects that share many observations and have no relationship understanding."""

    subject_a: str
    subject_b: str
    similarity_score: float | None
    intersection_size: int


class UnlinkedObservation(Struct, kw_only=True):
    """Evidence that is placed nowhere yet."""

    id: str
    subject_names: tuple[str, ...]
    content: str
    details: Details
    created_at: str


class Questionable(Struct, kw_only=True):
    """A doubted memory whose doubt has not been settled."""

    id: str
    kind: str
    title: str
    reason: str
    flagged_at: str


class Contested(Struct, kw_only=True):
    """Several active understandings where there should be one; one that supersedes all settles it."""

    kind: str
    subject_names: tuple[str, ...]
    heads: tuple[Brief, ...]


class Untouched(Struct, kw_only=True):
    """A subject that is still read and that nothing new was written about for generations."""

    name: str
    observation_count: int
    last_generation: int
    generations_ago: int
    last_observation_at: str


class Contained(Struct, kw_only=True):
    """A subject whose observations are nearly all about a larger one too: a part of it or its other name, and no pair."""

    part: str
    whole: str
    part_count: int
    shared_count: int


class EdgeSuggestion(Struct, kw_only=True):
    """A link that seems to be missing; look at both ends first."""

    from_id: str
    from_title: str
    type: str
    to_id: str
    to_title: str
    why: str


class StaleOrientation(Struct, kw_only=True):
    """The page that says where we are, and what happened since it was written."""

    id: str
    summary: str
    last_updated: str
    reason: str


class Hygiene(Struct, kw_only=True):
    """A sign that a soul or protocol has drifted: `sign` is procedural or tactical."""

    id: str
    kind: str
    sign: str
    why: str


class ConsolidationReport(Answer, kw_only=True):
    """Maintenance that would pay. Each list is cut at the limit that was asked for; `counts` has how many there are."""

    generation: int
    pending_consolidation_count: int
    due_packets: int
    subjects_needing_understanding: tuple[NeedsUnderstanding, ...]
    stale_understandings: tuple[Stale, ...]
    intersections_needing_synthesis: tuple[NeedsSynthesis, ...]
    semantically_dense_intersections: tuple[Dense, ...]
    unlinked_observations: tuple[UnlinkedObservation, ...]
    questionable_items: tuple[Questionable, ...]
    contested_understandings: tuple[Contested, ...]
    untouched_subjects: tuple[Untouched, ...]
    contained_subjects: tuple[Contained, ...]
    edge_suggestions: tuple[EdgeSuggestion, ...]
    stale_orientation: StaleOrientation | None
    hygiene: tuple[Hygiene, ...]
    counts: Mapping[str, int]
    degraded: tuple[str, ...]
    notice: str = HYPOTHESIS_NOTICE


class NeedingAPerson(Struct):
    """How much there is of what a person settles: contradictions, questioned memories, and what waits for a pass."""

    contested: int
    questioned: int
    observations: int
    packets: int


@verb
@looks
@of_the_whole
def get_consolidation_report(vault: Context, *, limit: int | None = 20) -> ConsolidationReport:
    """List what needs maintenance, at most `limit` of each kind, the most valuable first, of the whole vault.

    Dense intersections need embeddings to be judged by meaning; without them they are listed by size alone.
    """
    with no_collection():
        return _reported(vault, limit)


def needing_a_person(vault: Context) -> NeedingAPerson:
    """The counts of the report that a person is told first, without the rest of it. Indexes must be fresh."""
    seen, waits = _Survey(vault), due(vault)
    contradictions = sum(1 for _ in contested(seen.understandings))
    questions = Questioned.of(vault).unsettled(vault.index.catalog)
    return NeedingAPerson(contradictions, len(questions), waits.observations, waits.packets)


def _reported(vault: Context, limit: int | None) -> ConsolidationReport:
    degraded = prepared(vault)
    seen = _Survey(vault)
    lists: dict[str, Sequence[object]] = {
        "subjects_needing_understanding": list(seen.uncovered()),
        "stale_understandings": list(seen.stale()),
        "semantically_dense_intersections": seen.dense(),
        "questionable_items": seen.questionable(),
        "contested_understandings": list(seen.contested()),
        "untouched_subjects": list(seen.untouched()),
        "contained_subjects": list(seen.contained()),
        "edge_suggestions": list(seen.suggestions()),
        "hygiene": list(seen.hygiene()),
    }
    waits = due(vault)
    count = unlinked_count(vault.index.catalog)
    pairs = changed_pairs(vault)
    totals = {name: len(items) for name, items in lists.items()}
    totals |= {"unlinked_observations": count, "intersections_needing_synthesis": len(pairs)}
    return ConsolidationReport(
        **{name: tuple(items[:limit]) for name, items in lists.items()},  # type: ignore[arg-type]
        generation=seen.generation,
        pending_consolidation_count=waits.observations,
        due_packets=waits.packets,
        unlinked_observations=tuple(seen.unlinked(limit or count)),
        stale_orientation=seen.orientation(),
        intersections_needing_synthesis=tuple(map(seen.changed, pairs[:limit])),
        counts=totals,
        degraded=degraded,
    )


class _Survey:
    """The vault as the report sees it: everything counted once, by regions."""

    def __init__(self, vault: Context) -> None:
        catalog = vault.index.catalog
        self.vault = vault
        self.regions = regions_of(catalog)
        self.generation = catalog.generation()
        self.understandings: list[tuple[Entry, Keys]] = unless_observations(catalog, "places", self._placed)

    def _placed(self) -> list[tuple[Entry, Keys]]:
        """The understandings that nothing supersedes, each with its regions."""
        catalog = self.vault.index.catalog
        gone = supersession(catalog)
        current = [entry for entry in catalog.of_class(RecordClass.UNDERSTANDING) if entry.id not in gone]
        return [(entry, frozenset(region.key for region in self.regions.of(entry))) for entry in current]

    @cached_property
    def _names(self) -> dict[str, str]:
        return {entry.id: entry.title for entry in self.vault.index.catalog.of_class(RecordClass.SUBJECT)}

    @cached_property
    def sightings(self) -> list[Sighting]:
        """Every observation with the regions that it is of."""
        catalog = self.vault.index.catalog
        tags = tagging(catalog)
        return [
            Sighting(identity, tags.get(number, frozenset()), created, generation)
            for number, identity, generation, created in ages(catalog, RecordClass.OBSERVATION)
        ]

    @cached_property
    def coverage(self) -> SubjectCoverage:
        """The understandings of each region, and how far they are behind."""
        return coverage(self.sightings, self.understandings)

    def name(self, key: str) -> str:
        """The name of a region, as people write it."""
        return self._names.get(key, key)

    def uncovered(self) -> Iterator[NeedsUnderstanding]:
        for key in self.coverage.uncovered():
            tally = self.coverage.subjects[key]
            yield NeedsUnderstanding(name=self.name(key), observation_count=tally.observations, generation=tally.generation)

    def stale(self) -> Iterator[Stale]:
        behind = {**self.coverage.behind}
        related = {target for _, target in self.vault.index.catalog.pairs("related_to")}
        for entry, keys in self.understandings:
            if entry.id in related:
                behind[entry.id] = behind.get(entry.id, 0) + self._elsewhere(entry, keys)
        late = [entry for entry, _ in self.understandings if behind.get(entry.id)]
        for entry in sorted(late, key=lambda e: (-behind[e.id], e.path)):
            yield Memory(self.vault, entry).told_first(Stale, new_observation_count=behind[entry.id])

    def _elsewhere(self, view: Entry, keys: Keys) -> int:
        """How many observations were related to an understanding after it was written, and are not counted by its subjects."""
        known = {view.id, *view.texts("sources")}
        related = [entry for _, entry in self.vault.index.catalog.pointing_at(view.id, ("related_to",)) if entry.id not in known]
        after = [entry for entry in related if entry.text("created") > view.text("created")]
        if view.type not in COVERING or not keys:
            return len(after)
        return sum(not keys <= {region.key for region in self.regions.of(entry)} for entry in after)

    def dense(self) -> list[Dense]:
        pairs = self.coverage.unrelated(DENSE)[:_CANDIDATES]
        region_by_key = {key: self._region(key) for pair in pairs for key in pair}
        cosines = between(self.vault, list(region_by_key.values()), list(region_by_key.values()))
        least = usual(self.vault)
        rows = [(pair, self.coverage.pairs[pair], cosines.get(pair)) for pair in pairs]
        near = [row for row in rows if not cosines or (row[2] is not None and row[2] >= least)]
        near.sort(key=lambda row: (-row[1] * (row[2] or 1.0), row[0]))
        return [
            Dense(subject_a=names[0], subject_b=names[1], similarity_score=cosine, intersection_size=size)
            for pair, size, cosine in near
            for names in [sorted(map(self.name, pair), key=normal_name)]
        ]

    def unlinked(self, limit: int) -> Iterator[UnlinkedObservation]:
        for entry in unlinked(self.vault.index.catalog, limit):
            yield Memory(self.vault, entry).told_first(UnlinkedObservation, content=entry.preview)

    def questionable(self) -> list[Questionable]:
        catalog = self.vault.index.catalog
        doubted = catalog.by_paths(Questioned.of(self.vault).unsettled(catalog))
        doubts = []
        for entry, belief in self.vault.standings.judged_each(doubted.values()):
            last = (belief.questionable or belief.told)[-1]
            kind = entry.record_class.value
            doubts.append(Questionable(id=entry.id, kind=kind, title=entry.title, reason=said_by(last), flagged_at=last.at))
        return sorted(doubts, key=lambda doubt: doubt.flagged_at, reverse=True)

    def contested(self) -> Iterator[Contested]:
        for group in contested(self.understandings):
            yield Contested(kind=group[0].type, subject_names=group[0].subjects, heads=briefs(self.vault, group))

    def untouched(self) -> Iterator[Untouched]:
        """Subjects whose memories are still alive (read, or not faded), though nothing was added for generations."""
        alive = self.vault.standings.active_ids()
        used = {key for sighting in self.sightings if sighting.id in alive for key in sighting.keys}
        tallies = self.coverage.subjects
        old = [
            key for key in used if self.generation - tallies[key].generation >= UNTOUCHED and tallies[key].observations >= DENSE
        ]
        for key in sorted(old, key=lambda key: (-tallies[key].observations, key)):
            tally = tallies[key]
            yield Untouched(
                name=self.name(key),
                observation_count=tally.observations,
                last_generation=tally.generation,
                generations_ago=self.generation - tally.generation,
                last_observation_at=tally.newest,
            )

    def contained(self) -> Iterator[Contained]:
        """The pairs of which one is nearly contained in the other, but for those about which a text says how they are built."""
        structures = self.coverage.understood.get("structural", frozenset())
        for pair in self.coverage.unrelated(DENSE):
            shared = self.coverage.pairs[pair]
            (part_count, _, part), (whole_count, _, whole) = sorted(
                (self.coverage.subjects[key].observations, normal_name(self.name(key)), key) for key in pair
            )
            is_told = any(pair_key in keys for keys in structures for pair_key in pair)
            if is_contained(shared, part_count, whole_count) and not is_told:
                yield Contained(part=self.name(part), whole=self.name(whole), part_count=part_count, shared_count=shared)

    def suggestions(self) -> Iterator[EdgeSuggestion]:
        catalog = self.vault.index.catalog
        edges = catalog.of_class(RecordClass.EDGE, *ANSWERS.values())
        linked = {edge.text("from_id") for edge in edges}
        answers = catalog.of_class(RecordClass.OBSERVATION, *ANSWERS)
        problems = catalog.of_class(RecordClass.OBSERVATION, "problem")
        for suggestion in edge_suggestions(answers, problems, linked):
            yield EdgeSuggestion(
                from_id=suggestion.start.id,
                from_title=suggestion.start.title,
                type=suggestion.type,
                to_id=suggestion.end.id,
                to_title=suggestion.end.title,
                why=suggestion.why,
            )

    def orientation(self) -> StaleOrientation | None:
        newest = self._newest_page("orientation")
        if newest is None:
            return None
        written = newest.text("created")
        moved = {key for key, tally in self.coverage.subjects.items() if tally.newest > written}
        last = passes(self.vault).last
        reasons = [f"{len(moved)} subjects have new observations since"] if len(moved) >= _DRIFT else []
        reasons += ["a pass of consolidation began since"] if last > written else []
        if not reasons:
            return None
        return StaleOrientation(id=newest.id, summary=newest.text("summary"), last_updated=written, reason=" and ".join(reasons))

    def hygiene(self) -> Iterator[Hygiene]:
        for kind, look in (("soul", soul_findings), ("protocol", protocol_findings)):
            entry = self._newest_page(kind)
            if entry is not None:
                for finding in look(body_of(self.vault, entry)):
                    yield Hygiene(id=entry.id, kind=kind, sign=finding.sign, why=finding.why)

    def changed(self, plan: PacketPlan) -> NeedsSynthesis:
        return NeedsSynthesis(
            subject_a=plan.names[0],
            subject_b=plan.names[1],
            intersection_size=len(self.regions.members(*plan.regions)),
            new_generation_count=len(plan.due.current),
            existing_understanding=brief(self.vault, plan.understanding) if plan.understanding else None,
            trivial=plan.trivial,
        )

    def _newest_page(self, kind: str) -> Entry | None:
        """The newest active page of one of the kept types."""
        assert kind in KEPT_TYPES
        pages = [entry for entry, _ in self.understandings if entry.type == kind]
        return max(pages, key=lambda e: e.created_sort_key, default=None)

    def _region(self, key: str) -> Region:
        return self.regions.called(self.name(key))
