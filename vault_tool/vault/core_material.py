"""The material of CORE.md: the memories that may stand on it, gathered without holding all of a large vault in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from heapq import nsmallest

import msgspec
from msgspec import field

from vault_tool.belief.fold import Belief
from vault_tool.files import layout
from vault_tool.generate.core_forms import MOST_TRIED, Beside, CoreItem, ImportMap
from vault_tool.generate.core_order import COVERED, LEAST_TRUTH, Claim, Claims, in_order
from vault_tool.generate.core_project import CoreProject
from vault_tool.importing.notes import FROM as IMPORTED_FROM
from vault_tool.index import relations
from vault_tool.index.schema import linked_as
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, CoreSection, RecordClass
from vault_tool.util.clock import moment as moment_of
from vault_tool.util.structs import Struct
from vault_tool.vault.answers import NO_ANSWER
from vault_tool.vault.contests import all_overtaken, contested
from vault_tool.vault.context import Context
from vault_tool.vault.folder_project import ProjectPlace
from vault_tool.vault.perhaps_changed import PERHAPS
from vault_tool.vault.standing import FAILED_TACTIC
from vault_tool.vault.statuses import POINTING, SOLVES, could_solve, statuses

# An import with at least so many unused notes is shown as a map of its folders, not note by note.
MAPPED_FROM = 20
MAP_FOLDERS = 8
MAP_LINKED = 5
# A folder with this part of an import or more is opened: its name alone would say nothing about the contents.
_NEARLY_ALL = 0.9

# The type of understandings that sum up one subject.
_WHOLE = "single_subject"
_BATCH = 2000


class CoreMaterial(Struct):
    """The items of a page, the maps of imports, and the number of memories in `total` and of other projects (`elsewhere`).

    At most `most` items of each section were kept; `whole` says that these are all.
    """

    items: list[CoreItem]
    imports: list[ImportMap]
    total: int
    most: int = 0
    whole: bool = True
    elsewhere: int = 0


class _Solver(Struct):
    """The facts about a memory that solves a problem, or about a problem."""

    pulled: bool
    theirs: bool
    able: bool


class _Import(msgspec.Struct):
    """The memories of one import that were not used, reviewed or pinned: one by one while they are few, then by their places."""

    few: list[Claim] = field(default_factory=list)
    places: list[tuple[str, str]] = field(default_factory=list)

    def add(self, claim: Claim | None, path: str, place: str) -> None:
        self.places.append((path, place))
        if len(self.places) >= MAPPED_FROM:
            self.few.clear()
        elif claim is not None:
            self.few.append(claim)


class Covering:
    """The subjects whose earlier memories an understanding sums up, with its time, and whether a person vouches for it."""

    def __init__(self) -> None:
        self._since: dict[str, tuple[float, float]] = {}

    def add(self, entry: Entry, claim: Claim | None) -> None:
        """Add an understanding of one subject. One from other people covers nothing, one from an agent nothing of the owner's."""
        if claim is not None and entry.type == _WHOLE and not entry.pulled:
            at = moment_of(entry.text("created")).timestamp()
            for subject in claim.subjects:
                by_person, by_any = self._since.get(subject, (float("-inf"), float("-inf")))
                self._since[subject] = (max(by_person, at) if claim.vouched else by_person, max(by_any, at))

    def covers(self, claim: Claim) -> bool:
        """Whether every subject of a claim has an understanding that was written after the claim."""
        if not self._since or claim.standing or claim.section not in COVERED or claim.rank[2] is False:
            return False
        return all(subject in self._since and claim.seen <= self._since[subject][not claim.vouched] for subject in claim.subjects)


class CoreMaker:
    """Takes the memories of a vault one after another, and keeps the facts that a page for a project, or for all, may need."""

    def __init__(self, vault: Context, moment: datetime, project: CoreProject | None = None) -> None:
        self._vault = vault
        self._now = vault.clock.now()
        # The page is in all prompts, so it has no memory about a user, and none that was made from one.
        self._seen = vault.seen_by("")
        self._claims = Claims(vault.settings.types, moment.date(), project)
        self._place = ProjectPlace(vault, project) if project is not None else None
        self._overtaken = all_overtaken(self._seen)
        catalog = self._seen.index.catalog
        self._edges = catalog.of_class(RecordClass.EDGE, SOLVES)
        self._pairs = catalog.pairs("problem")
        named = {identity for pair in self._pairs for identity in pair}
        self._named = named.union(*((edge.text("from_id"), edge.text("to_id")) for edge in self._edges))
        self._known: dict[str, _Solver] = {}
        self._solutions: set[str] = set()
        self._found: list[Claim] = []
        self._tactics: list[tuple[Claim, str]] = []
        self._covering = Covering()
        self._imports: dict[str, _Import] = defaultdict(_Import)
        self._total = 0
        self._elsewhere = 0

    def take(self, entry: Entry, belief: Belief) -> None:
        """Take a memory that no other supersedes; one that a change overtook is not counted."""
        if entry.id in self._named:
            self._note(entry, belief)
        if entry.type in KEPT_TYPES:
            return
        if entry.path in self._overtaken:
            return
        self._total += 1
        if self._place is not None and self._place.is_elsewhere(entry):
            self._elsewhere += 1
            return
        claim = self._claims.of(entry, belief)
        if entry.record_class is RecordClass.UNDERSTANDING:
            self._covering.add(entry, claim)
        if entry.origin == "import" and (name := import_of(entry, belief)):
            self._imports[name].add(claim, entry.path, _came_from(entry))
        elif claim is not None and entry.type == FAILED_TACTIC and entry.text("problem"):
            self._tactics.append((claim, entry.text("problem")))
        elif claim is not None:
            self._found.append(claim)

    def in_order(self) -> dict[CoreSection, list[Claim]]:
        """The claims of each section in order, once all memories were taken."""
        solved = self._solved()
        few = [claim for brought in self._imports.values() for claim in brought.few]
        # A failed tactic is shown with its problem; if the problem is gone, it is an item of its own.
        alone = [claim for claim, problem in self._tactics if problem not in self._known]
        every = (*self._found, *few, *alone)
        return in_order(claim for claim in every if claim.id not in solved and not self._covering.covers(claim))

    def made(self, ordered: Mapping[CoreSection, Sequence[Claim]], most: int) -> CoreMaterial:
        """The material of the page: the first `most` of each section."""
        paths = [claim.path for claims in ordered.values() for claim in claims[:most]]
        entries = self._seen.index.catalog.by_paths(paths)
        believed = self._seen.standings.beliefs(entries.values())
        items = core_items(self._seen, [(entry, believed[entry.id]) for entry in entries.values()])
        whole = all(len(claims) <= most for claims in ordered.values())
        large = {
            name: import_map.places for name, import_map in sorted(self._imports.items()) if len(import_map.places) >= MAPPED_FROM
        }
        maps = [_import_map(self._vault, name, places) for name, places in large.items()]
        return CoreMaterial(items, maps, self._total, most, whole, self._elsewhere)

    def _note(self, entry: Entry, belief: Belief) -> None:
        if entry.id not in self._known or not entry.pulled:
            theirs = entry.pulled and not belief.reviewed
            able = could_solve(entry, belief, self._now) and not entry.text("user")
            self._known[entry.id] = _Solver(entry.pulled, theirs, able)
        if entry.type == "solution":
            self._solutions.add(entry.id)

    def _solved(self) -> frozenset[str]:
        """The ids of problems with a valid solution; a solution from other people solves only problems from other people."""
        known, nobody = self._known, _Solver(False, False, False)
        pairs = [(solution, problem, False) for solution, problem in self._pairs if solution in self._solutions]
        pairs += [(edge.text("from_id"), edge.text("to_id"), edge.pulled) for edge in self._edges]
        return frozenset(
            problem
            for solution, problem, pulled in pairs
            if known.get(solution, nobody).able
            and ((problem in known and known[problem].pulled) or not (pulled or known[solution].theirs))
        )


def core_items(vault: Context, weighed: Iterable[tuple[Entry, Belief]]) -> list[CoreItem]:
    """Items for the memories that may stand on the page by their status, each with the facts shown beside it."""
    pairs = list(weighed)
    return _Telling(vault, pairs).items(pairs) if pairs else []


class _Telling:
    """The facts shown beside memories, looked up for all of them together."""

    def __init__(self, vault: Context, pairs: Sequence[tuple[Entry, Belief]]) -> None:
        self._vault = vault
        self._catalog = vault.index.catalog
        entries, believed = [entry for entry, _ in pairs], {entry.id: belief for entry, belief in pairs}
        self._pointed = self._catalog.pointing_at_each({*believed}, POINTING)
        self._rivals = contested(vault, entries, self._pointed)
        self._status = statuses(vault, entries, pointed=self._pointed, believed=believed, rivals=self._rivals)
        self._problem_of = {entry.id: problem for entry in entries if (problem := self._solved_by(entry))}
        failed_at = (entry.text("problem") for entry in entries if entry.type == FAILED_TACTIC)
        self._problems = self._visible({*self._problem_of.values(), *failed_at})
        self._tactics = self._tried([entry for entry in entries if entry.type == "problem"])
        self._reviewed = self._catalog.reviewed_at(self._problems.values()) if self._problems else {}

    def items(self, pairs: Sequence[tuple[Entry, Belief]]) -> list[CoreItem]:
        """An item for each memory that may stand on the page."""
        return [self._item(entry, belief) for entry, belief in pairs if self._may_stand(entry)]

    def _may_stand(self, entry: Entry) -> bool:
        status = self._status[entry.path].status
        if entry.type == FAILED_TACTIC and entry.text("problem") in self._problems:
            return False
        return status not in NO_ANSWER and status != "solved"

    def _item(self, entry: Entry, belief: Belief) -> CoreItem:
        problem = self._problems.get(self._problem_of.get(entry.id, ""))
        of = problem.id if problem else entry.id
        return CoreItem(
            entry,
            belief,
            Beside(problem, problem.path in self._reviewed) if problem else None,
            tuple(self._tactics.get(of, ())[:MOST_TRIED]),
            tuple((other.id, other.origin, other.line) for other in self._rivals.get(entry.id, ())),
            self._perhaps_changed_by(entry),
        )

    def _perhaps_changed_by(self, entry: Entry) -> str:
        """The id of a memory that seems to have changed this one; empty for one of the same second.

        Only this machine knows the order within a second, and the page has to be the same on all machines.
        """
        ids = (by for mark in self._status[entry.path].marks if mark.mark == PERHAPS for by in mark.by)
        newer = (entry for identity in ids for entry in self._catalog.cached_by_id(identity))
        own = entry.observed, entry.text("created")
        return next((entry.id for entry in newer if (entry.observed, entry.text("created")) != own), "")

    def _solved_by(self, entry: Entry) -> str:
        """The id of the problem that a memory solves, by its own field or by an edge."""
        if entry.type == "solution" and entry.text("problem"):
            return entry.text("problem")
        edges = (edge for field, edge in self._pointed.get(entry.id, ()) if field == "from_id")
        return next((edge.text("to_id") for edge in edges if edge.type == SOLVES and not edge.pulled), "")

    def _visible(self, ids: Collection[str]) -> dict[str, Entry]:
        """The memories of these ids that may be named on a page for all users."""
        pairs = ((identity, entry) for identity in ids if identity for entry in self._catalog.cached_by_id(identity)[:1])
        return {identity: entry for identity, entry in pairs if not entry.text("user") and not entry.stale}

    def _tried(self, open_problems: Sequence[Entry]) -> dict[str, list[Beside]]:
        """The failed tactics of each problem that still count, newest first."""
        problems = {**self._problems, **{problem.id: problem for problem in open_problems}}
        elsewhere = {identity for identity in problems if identity not in self._pointed}
        pointed = {**self._pointed, **(self._catalog.pointing_at_each(elsewhere, ("problem",)) if elsewhere else {})}
        failed = {
            tactic.path: (problem, tactic)
            for problem in problems
            for field, tactic in pointed.get(problem, ())
            if field == "problem" and tactic.type == FAILED_TACTIC and not tactic.text("user") and not tactic.stale
        }
        if not failed:
            return {}
        tactics = [tactic for _, tactic in failed.values()]
        believed = self._vault.standings.beliefs(tactics)
        status = statuses(self._vault, tactics, believed=believed)
        tried: dict[str, list[Beside]] = defaultdict(list)
        for problem, tactic in sorted(failed.values(), key=lambda pair: pair[1].observed_sort_key, reverse=True):
            belief = believed[tactic.id]
            theirs = tactic.pulled and not belief.reviewed and not problems[problem].pulled
            if status[tactic.path].answers and not theirs and not belief.set_aside and belief.truth >= LEAST_TRUTH:
                tried[problem].append(Beside(tactic, belief.reviewed))
        return tried


def covering(vault: Context, listed: Sequence[tuple[Entry, Belief]], new: Collection[str], as_of: date) -> set[str]:
    """The paths of memories that an understanding covers, where the memory or the understanding is `new`.

    The choice has left out the other covered memories already.
    """
    if not new:
        return set()
    claims = Claims(vault.settings.types, as_of)
    claimed = [(entry, claim) for entry, belief in listed if (claim := claims.of(entry, belief)) is not None]
    fresh = [claim for _, claim in claimed if claim.path in new]
    covers = Covering()
    for entry, claim in claimed:
        covers.add(entry, claim)
    catalog = vault.index.catalog
    names = {subject for claim in fresh for subject in claim.subjects if subject}
    holding = {entry.path: entry for name in names for entry in relations.holding_place(catalog, _WHOLE, [name])}
    others = relations.active(catalog, holding.values())
    believed = vault.standings.beliefs(others) if others else {}
    for entry in others:
        covers.add(entry, claims.of(entry, believed[entry.id]))
    return {claim.path for _, claim in claimed if covers.covers(claim)}


def import_of(entry: Entry, belief: Belief) -> str:
    """The import of a memory that was not used, reviewed or pinned since; empty for any other."""
    name, _, place = _came_from(entry).partition("/")
    used = belief.access_count or belief.reviewed or entry.pinned
    return name if place and not used and entry.origin == "import" else ""


def import_map(vault: Context, name: str, count: int, folders: Sequence[tuple[str, int]], linked: Sequence[Entry]) -> ImportMap:
    """The map of an import; files of the folder around the vault go under that folder's name."""
    return ImportMap(vault.root.parent.name if name == ".." else name, count, tuple(folders), tuple(linked))


def _came_from(entry: Entry) -> str:
    """The import of a note and its path there; the folder around the vault counts as an import."""
    return entry.path if layout.is_around(entry.path) else entry.text(IMPORTED_FROM)


def _import_map(vault: Context, name: str, places: Sequence[tuple[str, str]]) -> ImportMap:
    shown = _folders([place.split("/")[1:-1] for _, place in places])
    linked = nsmallest(MAP_LINKED, _linked(vault, [path for path, _ in places]), key=lambda pair: (-pair[0], pair[1].path))
    return import_map(vault, name, len(places), shown, [entry for _, entry in linked])


def _folders(places: Sequence[Sequence[str]]) -> tuple[tuple[str, int], ...]:
    """The largest folders of some notes, with the number of notes in each; a folder with nearly all notes is opened."""
    within: tuple[str, ...] = ()
    while True:
        depth = len(within)
        counts = Counter(place[depth] for place in places if len(place) > depth and tuple(place[:depth]) == within)
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        deeper = any(len(place) > depth + 1 and place[depth] == ordered[0][0] for place in places) if ordered else False
        if not deeper or ordered[0][1] < _NEARLY_ALL * len(places):
            return tuple(("/".join((*within, name)), count) for name, count in ordered[:MAP_FOLDERS])
        within = (*within, ordered[0][0])


def _linked(vault: Context, paths: Sequence[str]) -> Iterator[tuple[int, Entry]]:
    """The notes that more than one other note links to, each with that number."""
    catalog = vault.index.catalog
    for start in range(0, len(paths) if catalog.has_links() else 0, _BATCH):
        entries = catalog.by_paths(paths[start : start + _BATCH]).values()
        titles = {entry.path: linked_as(entry) for entry in entries}
        links = catalog.link_counts(set().union(*titles.values()))
        counts = ((max((links.get(title, 0) for title in titles[entry.path]), default=0), entry) for entry in entries)
        yield from (pair for pair in counts if pair[0] > 1)
