"""The memories of a vault as its list tells them, in the memory of a process that stays: what changed is taken in."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set

from vault_tool.files.layout import AROUND, is_around
from vault_tool.index.catalog import Catalog
from vault_tool.index.schema import ENTRY, entry_of
from vault_tool.index.since import MANY, highest
from vault_tool.index.slight import slight
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, MEMORIES
from vault_tool.util.gc_paused import no_collection
from vault_tool.util.structs import Struct
from vault_tool.util.text import unwrap_link

FACETS = ("type", "subject", "tag", "by", "session", "project", "folder")

# Where a memory stands in a list: the value that it is sorted by, then its path; the highest come first.
Place = tuple[float, str]


def facet_values(entry: Entry) -> tuple[tuple[str, ...], ...]:
    """The values of a memory by which a list is narrowed, in the order of `FACETS`."""
    subjects = tuple(map(unwrap_link, entry.subjects))
    session, project = entry.text("session"), entry.text("project")
    by = entry.text("model") or entry.origin
    # Folders of our own are days; those of a folder that is served are a person's.
    folder = entry.path.removeprefix(AROUND).rpartition("/")[0] if is_around(entry.path) else ""
    return (
        (entry.type,),
        subjects,
        tuple(entry.texts("tags")),
        (by,),
        (session,) if session else (),
        (project,) if project else (),
        (folder,) if folder else (),
    )


def counters() -> dict[str, Counter[str]]:
    """A counter of no memories for each facet."""
    return {name: Counter() for name in FACETS}


def count(counts: Mapping[str, Counter[str]], values: Iterable[Iterable[str]], by: int = 1) -> None:
    """Count the values of one memory, or take them out again."""
    for counter, texts in zip(counts.values(), values, strict=True):
        for text in texts:
            counter[text] += by


class _Row(Struct):
    """A memory of the list: its id, when it was written and when it was so, its values, and whether its head may hide it."""

    id: str
    created: float
    observed: float
    values: tuple[tuple[str, ...], ...]
    may_hide: bool


class ListRows:
    """All memories of a catalogue in both orders of time, with the counts of their values."""

    def __init__(self, catalog: Catalog) -> None:
        self._begin()
        self._newest = highest(catalog)
        with no_collection():
            for entry in slight(catalog):
                self._put(entry)
        for order in self._orders.values():
            order.sort()

    @classmethod
    def of(cls, catalog: Catalog) -> ListRows:
        """Those of a catalogue as it is, kept until it changes and then brought up to date."""
        rows: ListRows = catalog.derived("rows of lists", lambda: cls(catalog), lambda rows, _: rows._followed(catalog))
        return rows

    def paths(self, ids: Iterable[str]) -> set[str]:
        """The paths of the memories with these ids."""
        return {path for identity in ids for path in self._of_id.get(identity, ())}

    @property
    def may_hide(self) -> Set[str]:
        """The paths of the memories whose own head may keep them from a list."""
        return self._may_hide

    def total(self, hidden: Collection[str]) -> int:
        """How many memories the list has."""
        return len(self._rows) - len(hidden)

    def counts(self, hidden: Collection[str]) -> Mapping[str, Counter[str]]:
        """How often each value is among the memories of the list."""
        counts = {name: counter.copy() for name, counter in self._counts.items()}
        for path in hidden:
            count(counts, self._rows[path].values, -1)
        return counts

    def since(self, moment: float, hidden: Collection[str]) -> Mapping[str, Counter[str]]:
        """The same of those that are so since a moment."""
        counts = counters()
        order = self._orders["observed"]
        for _, path in order[bisect_left(order, (moment, "")) :]:
            if path not in hidden:
                count(counts, self._rows[path].values)
        return counts

    def places(self, sort: str, hidden: Collection[str], before: Place | None) -> Iterator[Place]:
        """The places of the list, the newest first: by `created` or `observed`, all or those that come after one."""
        order = self._orders[sort]
        end = len(order) if before is None else bisect_left(order, before)
        return (order[at] for at in range(end - 1, -1, -1) if order[at][1] not in hidden)

    def _begin(self) -> None:
        self._rows: dict[str, _Row] = {}
        self._of_id: dict[str, tuple[str, ...]] = {}
        self._may_hide: set[str] = set()
        self._orders: dict[str, list[Place]] = {"created": [], "observed": []}
        self._counts = counters()
        self._texts: dict[str, str] = {}

    def _put(self, entry: Entry) -> tuple[Place, Place]:
        """Take in a memory, at the end of both orders; returns its places there."""
        # Of many memories one text is one: names of subjects are said by hundreds.
        values = tuple(tuple(self._texts.setdefault(text, text) for text in texts) for texts in facet_values(entry))
        may_hide = entry.type in KEPT_TYPES or "expires" in entry.head or "until" in entry.head
        created, observed = entry.created_sort_key[0].timestamp(), entry.observed_sort_key[0].timestamp()
        self._rows[entry.path] = _Row(entry.id, created, observed, values, may_hide)
        self._of_id[entry.id] = (*self._of_id.get(entry.id, ()), entry.path)
        if may_hide:
            self._may_hide.add(entry.path)
        count(self._counts, values)
        places = (created, entry.path), (observed, entry.path)
        for order, place in zip(self._orders.values(), places, strict=True):
            order.append(place)
        return places

    def _take_out(self, path: str) -> None:
        row = self._rows.pop(path, None)
        if row is None:
            return
        count(self._counts, row.values, -1)
        self._may_hide.discard(path)
        self._of_id[row.id] = tuple(other for other in self._of_id[row.id] if other != path)
        for order, value in zip(self._orders.values(), (row.created, row.observed), strict=True):
            del order[bisect_left(order, (value, path))]

    def _followed(self, catalog: Catalog) -> ListRows:
        """The same with what changed since, by whatever process."""
        before, now = self._newest, highest(catalog)
        if now < before or now - before > MANY:
            return ListRows(catalog)
        self._newest = now
        # Each row that is written has a higher number than all before it.
        for row in catalog.rows(f"SELECT {ENTRY} FROM entries WHERE n > ?", (before,)):
            entry = entry_of(row)
            self._take_out(entry.path)
            if entry.record_class in MEMORIES:
                for order, place in zip(self._orders.values(), self._put(entry), strict=True):
                    order.pop()
                    insort(order, place)
        # What is there now was there before or is new: where as many are left, none went.
        classes = ", ".join(f"'{record_class.value}'" for record_class in MEMORIES)
        if catalog.rows(f"SELECT count(*) FROM entries WHERE class IN ({classes})")[0][0] != len(self._rows):
            present = {path for (path,) in catalog.rows("SELECT path FROM entries")}
            for path in self._rows.keys() - present:
                self._take_out(path)
        return self
