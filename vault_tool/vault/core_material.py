"""What CORE.md is made from: the memories that can come to stand on it, without holding all of a large vault at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nsmallest

from vault_tool.belief.decay import Standing, standing
from vault_tool.files import layout
from vault_tool.generate.core_choice import CoreChoice
from vault_tool.generate.core_forms import CoreItem, ImportMap
from vault_tool.importing.notes import FROM as IMPORTED_FROM
from vault_tool.index import relations
from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import titles_of
from vault_tool.model.authority import bringer
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.vault.answers import Rival
from vault_tool.vault.contests import all_contested, all_overtaken
from vault_tool.vault.context import Context
from vault_tool.vault.standing import Weighed

# An import with so many unused notes is told by a map of it, and not note by note.
MAPPED_FROM = 20
MAP_FOLDERS = 8
MAP_LINKED = 5

_SOLVES = "SOLVES"
_BATCH = 2000


@dataclass(frozen=True, slots=True)
class CoreMaterial:
    """The items of a page, what imports brought, and of how many memories in all how many are active.

    `kept` are souls, protocols and orientations, `whole` says that nothing was left out that could stand on the page;
    `active` is None where nobody counted.
    """

    items: list[CoreItem]
    kept: list[Weighed]
    imports: list[ImportMap]
    active: int | None
    total: int
    whole: bool


@dataclass(frozen=True, slots=True)
class _Solver:
    """What is asked of a memory that solves a problem, or is one."""

    path: str
    pulled: bool
    reviewed: bool


@dataclass(slots=True)
class _Import:
    """What one import brought and nobody used, reviewed or pinned: as memories while they are few, then by their places."""

    few: list[Weighed] = field(default_factory=list)
    places: list[tuple[str, str]] = field(default_factory=list)

    def add(self, one: Weighed, place: str) -> None:
        self.places.append((one.entry.path, place))
        if len(self.places) < MAPPED_FROM:
            self.few.append(one)
        else:
            self.few.clear()


class CoreMaker:
    """Takes the memories of a vault one after the other and keeps those that a page can need."""

    def __init__(self, vault: Context, moment: datetime, most: int) -> None:
        self._vault = vault
        # The page is in everybody's prompt: what is about one user, or was made of it, is not on it.
        self._seen = vault.seen_by("")
        self._choice = CoreChoice(vault.settings.types, moment.date(), most)
        self._rivals = all_contested(self._seen)
        self._overtaken = all_overtaken(self._seen)
        catalog = self._seen.index.catalog
        self._edges = catalog.of_class(RecordClass.EDGE, _SOLVES)
        named = {identity for pair in catalog.pairs("problem") for identity in pair}
        self._named = named.union(*((edge.id, edge.text("from_id"), edge.text("to_id")) for edge in self._edges))
        self._known: dict[str, _Solver] = {}
        self._said: list[tuple[Entry, str]] = []
        self._problems: list[Weighed] = []
        self._kept: list[Weighed] = []
        self._imports: dict[str, _Import] = defaultdict(_Import)
        self._active = self._total = 0

    def take(self, one: Weighed) -> None:
        """Look at a memory that nothing supersedes."""
        entry = one.entry
        self._total += 1
        self._active += standing(one.score) is Standing.ACTIVE
        if entry.id in self._named:
            self._note(one)
        if entry.type in KEPT_TYPES:
            self._kept.append(one)
            return
        if entry.path in self._overtaken:
            return
        if entry.origin == "import" and self._is_told_by_a_map(one):
            return
        if self._choice.hopeless(entry, one.score, one.belief.truth, one.belief.reviewed):
            return
        # Whether it is solved is known once all were looked at.
        if entry.type == "problem" and entry.id in self._named:
            self._problems.append(one)
        else:
            self._offer(one, frozenset())

    def made(self) -> CoreMaterial:
        """What the page is made from, once all memories were taken."""
        solved = self._solved()
        few = [one for brought in self._imports.values() for one in brought.few]
        for one in (*self._problems, *few):
            self._offer(one, solved)
        catalog = self._seen.index.catalog
        chosen = {item.entry.path: item for item in self._choice.chosen()}
        whole = catalog.by_paths(chosen)
        items = [replace(item, entry=whole[path]) for path, item in chosen.items() if path in whole]
        large = {name: one.places for name, one in sorted(self._imports.items()) if len(one.places) >= MAPPED_FROM}
        maps = [_import_map(self._vault, name, places) for name, places in large.items()]
        return CoreMaterial(items, self._kept, maps, self._active, self._total, self._choice.whole)

    def _offer(self, one: Weighed, solved: Set[str]) -> None:
        self._choice.offer(core_item(one, solved, self._rivals.get(one.entry.id, ())))

    def _note(self, one: Weighed) -> None:
        entry, other = one.entry, self._known.get(one.entry.id)
        if other is None or other.path < entry.path:
            self._known[entry.id] = _Solver(entry.path, entry.pulled, one.belief.reviewed)
        if entry.type == "solution":
            self._said.append((entry, entry.text("problem")))

    def _is_told_by_a_map(self, one: Weighed) -> bool:
        """Whether it came by an import and nobody used it since: it waits for how many there are of these."""
        name = import_of(one)
        if name:
            self._imports[name].add(one, _came_from(one.entry))
        return bool(name)

    def _solved(self) -> frozenset[str]:
        """The ids of the problems that an active solution, or an edge from an active memory, says are solved.

        What others brought says so of what they brought alone.
        """
        known = self._known
        edges = ((edge, edge.text("to_id")) for edge in self._edges if edge.text("from_id") in known)

        def holds(by: Entry, problem: str) -> bool:
            theirs = by.pulled and not (by.id in known and known[by.id].reviewed)
            return not theirs or (problem in known and known[problem].pulled)

        return frozenset(problem for by, problem in (*self._said, *edges) if problem and holds(by, problem))


def core_item(one: Weighed, solved: Set[str], rivals: Sequence[Rival]) -> CoreItem:
    """A memory as the page knows it."""
    belief, entry = one.belief, one.entry
    done = entry.type == "problem" and entry.id in solved
    told = () if belief.questionable else tuple(dict.fromkeys(bringer(signal.origin) for signal in belief.told))
    contested = tuple((other.id, other.origin, other.line) for other in rivals)
    return CoreItem(
        entry, one.score, belief.truth, belief.reviewed, bool(belief.questionable), belief.set_aside, done, told, contested
    )


def import_of(one: Weighed) -> str:
    """The import that brought a memory which nobody used, reviewed or pinned since; empty for any other."""
    name, _, place = _came_from(one.entry).partition("/")
    used = one.belief.access_count or one.belief.reviewed or one.entry.pinned
    return name if place and not used and one.entry.origin == "import" else ""


def solved_among(catalog: Catalog, listed: Sequence[Weighed]) -> frozenset[str]:
    """Which problems among these are solved, as `CoreMaker` finds it for all: asked for by their ids."""
    problems = {one.entry.id: one.entry for one in listed if one.entry.type == "problem"}
    pointed = catalog.pointing_at_each(problems, ("problem", "to_id")) if problems else {}
    said = [(identity, entry) for identity, pairs in pointed.items() for field, entry in pairs if field == "problem"]
    edges = [(identity, edge) for identity, pairs in pointed.items() for field, edge in pairs if field == "to_id"]
    ends = {edge.text("from_id"): edge for _, edge in edges if edge.type == _SOLVES}
    solving = {e.id for e in relations.active(catalog, [entry for one in ends for entry in catalog.get(one)])}
    made = [(identity, entry) for identity, entry in said if entry.type == "solution"]
    reviewed = catalog.reviewed_at(entry for _, entry in made if entry.pulled)
    made += [(identity, edge) for identity, edge in edges if edge.type == _SOLVES and edge.text("from_id") in solving]
    return frozenset(identity for identity, by in made if not by.pulled or by.path in reviewed or problems[identity].pulled)


def import_map(vault: Context, name: str, count: int, folders: Sequence[tuple[str, int]], linked: Sequence[Entry]) -> ImportMap:
    """What is told of an import; what lies in the folder around the vault is called as that is."""
    return ImportMap(vault.root.parent.name if name == ".." else name, count, tuple(folders), tuple(linked))


def _came_from(entry: Entry) -> str:
    """The import and the path in it that a note came by; the folder around the vault is one more."""
    return entry.path if layout.is_around(entry.path) else entry.text(IMPORTED_FROM)


def _import_map(vault: Context, name: str, places: Sequence[tuple[str, str]]) -> ImportMap:
    folders = Counter(place.split("/")[1] for _, place in places if place.count("/") > 1)
    shown = tuple(sorted(folders.items(), key=lambda pair: (-pair[1], pair[0]))[:MAP_FOLDERS])
    linked = nsmallest(MAP_LINKED, _linked(vault, [path for path, _ in places]), key=lambda pair: (-pair[0], pair[1].path))
    return import_map(vault, name, len(places), shown, [entry for _, entry in linked])


def _linked(vault: Context, paths: Sequence[str]) -> Iterator[tuple[int, Entry]]:
    """Those of these notes that more than one other links to, with how many do."""
    catalog = vault.index.catalog
    for start in range(0, len(paths) if catalog.has_links() else 0, _BATCH):
        entries = catalog.by_paths(paths[start : start + _BATCH]).values()
        titles = {entry.path: titles_of(entry) for entry in entries}
        links = catalog.link_counts(set().union(*titles.values()))
        counts = ((max((links.get(title, 0) for title in titles[entry.path]), default=0), entry) for entry in entries)
        yield from (pair for pair in counts if pair[0] > 1)
