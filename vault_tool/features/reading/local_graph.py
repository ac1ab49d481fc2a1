"""`local_graph`: what lies around one memory or subject, near enough to be drawn: its links, its subjects, and theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from vault_tool.features.reading.get import linked
from vault_tool.index.relations import Region, Regions, links_among
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.structs import Struct
from vault_tool.vault import resolve
from vault_tool.vault.context import Context
from vault_tool.vault.request import Answer, looks, verb
from vault_tool.vault.statuses import CURRENT, statuses

# So many nodes a graph has at most: more is no picture.
MOST = 60
_SUBJECTS, _OF_EACH, _FROM = 14, 6, 12


class GraphNode(Struct, kw_only=True):
    """A memory or a subject; `ring` says how many steps it is from the middle (0 to 2)."""

    id: str
    title: str
    type: str
    record_class: str
    ring: int
    status: str = "current"


class GraphEdge(Struct, kw_only=True):
    """From one node to another: a link's type, the field that names the other, `link` in a text, `about` or `shares`."""

    source: str
    target: str
    relation: str
    weight: int = 1
    why: str = ""


class LocalGraph(Answer, kw_only=True):
    """The graph around `middle`; `more` counts neighbours that were met and are not among the nodes."""

    middle: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    more: int


@verb
@looks
def local_graph(vault: Context, memory_id: str, *, limit: int = MOST) -> LocalGraph:
    """The memories and subjects at most two steps from one, at most `limit` of them, with the edges among them.

    Links written in texts are edges too, so that a folder of notes from another tool has a graph.
    """
    home = resolve.unrestricted(vault)
    entry = resolve.find(home, memory_id, begun=True)
    return _Walk(home, entry, max(2, min(limit, MOST))).graph()


class _Walk:
    """The walk outwards from a middle, ring by ring."""

    def __init__(self, vault: Context, middle: Entry, limit: int) -> None:
        self._vault, self._limit = vault, limit
        self._regions = Regions(vault.index.catalog, vault.clock.now())
        self._rings: dict[str, int] = {}
        self._entries: dict[str, Entry] = {}
        self._names: dict[str, str] = {}
        self._edges: dict[tuple[str, str, str], GraphEdge] = {}
        self._left: set[str] = set()
        self._middle = middle

    def graph(self) -> LocalGraph:
        """The nodes in the order in which they were met."""
        if self._middle.record_class is RecordClass.SUBJECT:
            self._from_subject(self._regions.called(self._middle.title))
        else:
            self._add(self._middle, 0)
            self._around(self._middle, 1)
            for entry in list(islice(self._of_ring(1), _FROM)):
                self._around(entry, 2)
            self._fellows(self._middle)
        self._links()
        return LocalGraph(middle=self._middle.id, nodes=tuple(self._nodes()), edges=tuple(self._shown()), more=len(self._left))

    def _from_subject(self, region: Region) -> None:
        self._region(region, 0)
        near = self._regions.neighbours(region)
        for other, shared in near[:_SUBJECTS]:
            if self._region(other, 1):
                self._edge(region.key, other.key, "shares", weight=shared)
        self._left |= {other.key for other, _ in near[_SUBJECTS:]}
        members = self._regions.newest(region)
        for entry in members:
            if self._add(entry, 1):
                self._about(entry)
        for entry in [entry for entry in members if entry.id in self._rings][:_FROM]:
            self._around(entry, 2)

    def _around(self, entry: Entry, ring: int) -> None:
        """Meet the memories that one is linked to, and the subjects that it is about."""
        for link in linked(self._vault, entry):
            other = link.other
            if other.record_class not in (*MEMORIES, RecordClass.SUBJECT) or not self._add(other, ring):
                continue
            ends = (entry.id, self._key(other)) if link.direction == "out" else (self._key(other), entry.id)
            self._edge(*ends, link.relation, why=link.edge.preview if link.edge else "")
        for region in self._regions.of(entry):
            if self._region(region, ring):
                self._edge(entry.id, region.key, "about")

    def _fellows(self, middle: Entry) -> None:
        """The newest other memories about the same subjects, where there is room."""
        for region in self._regions.of(middle):
            for entry in self._regions.newest(region)[:_OF_EACH]:
                if self._add(entry, 2):
                    self._edge(entry.id, region.key, "about")

    def _links(self) -> None:
        """The links among the memories that were met, whichever of them was looked at."""
        memories = {key for key, entry in self._entries.items() if entry.record_class in MEMORIES}
        for link in links_among(self._vault.index.catalog, memories):
            self._edge(link.source, link.target, link.relation, why=link.why)

    def _about(self, entry: Entry) -> None:
        for region in self._regions.of(entry):
            if region.key in self._rings:
                self._edge(entry.id, region.key, "about")

    def _of_ring(self, ring: int) -> Iterator[Entry]:
        return (entry for key, entry in self._entries.items() if self._rings[key] == ring and entry.record_class in MEMORIES)

    def _key(self, entry: Entry) -> str:
        return self._regions.called(entry.title).key if entry.record_class is RecordClass.SUBJECT else entry.id

    def _add(self, entry: Entry, ring: int) -> bool:
        """Whether an entry is a node now."""
        return self._take(self._key(entry), entry.title, entry, ring)

    def _region(self, region: Region, ring: int) -> bool:
        return self._take(region.key, region.name, region.entry, ring)

    def _take(self, key: str, name: str, entry: Entry | None, ring: int) -> bool:
        if key in self._rings:
            return True
        if len(self._rings) >= self._limit:
            self._left.add(key)
            return False
        self._rings[key], self._names[key] = ring, name
        if entry is not None:
            self._entries[key] = entry
        return True

    def _edge(self, source: str, target: str, relation: str, *, weight: int = 1, why: str = "") -> None:
        if source != target:
            edge = GraphEdge(source=source, target=target, relation=relation, weight=weight, why=why)
            self._edges.setdefault((source, target, relation), edge)

    def _nodes(self) -> Iterator[GraphNode]:
        known = statuses(self._vault, self._entries.values())
        for key, ring in self._rings.items():
            entry = self._entries.get(key)
            if entry is None or entry.record_class is RecordClass.SUBJECT:
                yield GraphNode(id=key, title=self._names[key], type="subject", record_class="subject", ring=ring)
                continue
            status = known.get(entry.path, CURRENT).status
            yield GraphNode(
                id=key, title=entry.title, type=entry.type, record_class=entry.record_class.value, ring=ring, status=status
            )

    def _shown(self) -> Sequence[GraphEdge]:
        return [edge for edge in self._edges.values() if edge.source in self._rings and edge.target in self._rings]
