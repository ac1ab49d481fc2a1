"""`open_map`: subjects and what they share, from one outwards, and on request their memories with the links between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from vault_tool.errors import UsageError
from vault_tool.features.consolidation.open_intersections import region
from vault_tool.index.relations import Region, Regions, largest, links_among, supersession
from vault_tool.model.snapshot import Entry
from vault_tool.util.hints import option
from vault_tool.util.structs import Struct
from vault_tool.vault.context import Context
from vault_tool.vault.request import Answer, looks, verb

# So many nodes a map may have: more is no picture.
MOST = 2000

# From so many of the nearest subjects the next ones are looked for.
_BROAD = 12


class MapNode(Struct, kw_only=True):
    """A subject (`kind` subject) or a memory. `size` counts a subject's observations; `created` says from when on it was known,
    `until` when a newer one took its place (empty while none did), `truth` (0..1) how far it is believed (None for a subject).
    """

    id: str
    name: str
    record_class: str
    type: str
    created: str
    until: str = ""
    truth: float | None = None
    size: int = 0


class MapEdge(Struct, kw_only=True):
    """Between two subjects (`shares`: how many memories, and in `said` how they are related, where that was written), from a
    memory to its subject (`about`), or between two memories: a link's type, or the field that names the other.
    """

    source: str
    target: str
    type: str
    weight: int = 1
    said: str = ""


class Map(Answer, kw_only=True):
    """A neighbourhood; `around` is the subject in its middle, `more` counts subjects that are near and not shown."""

    around: str
    nodes: tuple[MapNode, ...]
    edges: tuple[MapEdge, ...]
    more: int


@verb
@looks
def open_map(vault: Context, around: str = "", *, hops: int = 2, limit: int = 150, memories: int = 0) -> Map:
    """The subjects around one (by default around the largest), at most `limit` of them, at most `hops` (1 or 2) away.

    With `memories` also so many of their newest memories, with every link among those. Its cost grows with the neighbourhood,
    not with the vault.
    """
    if hops not in (1, 2):
        raise UsageError("a map goes one or two hops far", f"for example {option('hops', 1)}")
    if limit + memories > MOST or memories < 0:
        raise UsageError(f"a map has at most {MOST} nodes", "fewer, around another subject")
    regions = Regions(vault.index.catalog, vault.clock.now())
    middle = region(vault, regions, around) if around.strip() else next(iter(_largest(vault, regions)), None)
    if middle is None:
        return Map(around="", nodes=(), edges=(), more=0)
    near, more = _near(regions, middle, hops, limit)
    nodes = [_subject(region, regions) for region in near]
    edges = list(_shared(regions, near))
    if memories:
        newest = _newest(regions, near, memories)
        nodes += _memories(vault, newest)
        edges += _about(regions, near, newest)
        links = links_among(vault.index.catalog, {entry.id for entry in newest})
        edges += (MapEdge(source=link.source, target=link.target, type=link.relation, said=link.why) for link in links)
    return Map(around=middle.name, nodes=tuple(nodes), edges=tuple(edges), more=more)


def _largest(vault: Context, regions: Regions) -> Iterator[Region]:
    return (regions.called(name) for name in largest(vault.index.catalog, 1))


def _near(regions: Regions, middle: Region, hops: int, limit: int) -> tuple[list[Region], int]:
    """The regions nearest to one, that one first; how many more there are that were met."""
    first = [neighbour for neighbour, _ in regions.neighbours(middle)]
    met = {region.key: region for region in (middle, *first)}
    if hops > 1:
        for neighbour in first[:_BROAD]:
            if len(met) > 4 * limit:
                break
            met |= {other.key: other for other, _ in regions.neighbours(neighbour) if other.key not in met}
    return list(met.values())[:limit], max(0, len(met) - limit)


def _subject(region: Region, regions: Regions) -> MapNode:
    entry = region.entry
    return MapNode(
        id=region.key, name=region.name, record_class="subject", type="subject", created=entry.text("created") if entry else "",
        size=len(regions.observations(region)),
    )  # fmt: skip


def _shared(regions: Regions, near: Sequence[Region]) -> Iterator[MapEdge]:
    """The edges between regions that share observations or have a relationship understanding."""
    sets = [(subject, regions.observations(subject)) for subject in near]
    summary_by_pair = _understood(regions, near)
    for at, (subject, own) in enumerate(sets):
        for other, theirs in sets[at + 1 :]:
            if (count := len(own & theirs)) or frozenset((subject.key, other.key)) in summary_by_pair:
                words = summary_by_pair.get(frozenset((subject.key, other.key)), "")
                yield MapEdge(source=subject.key, target=other.key, type="shares", weight=count, said=words)


def _understood(regions: Regions, near: Sequence[Region]) -> Mapping[frozenset[str], str]:
    """The summaries of relationship understandings between the regions, by the keys of each pair."""
    summary_by_pair: dict[frozenset[str], str] = {}
    for subject in near[:_BROAD]:
        for entry in regions.touching(subject):
            keys = frozenset(other.key for other in regions.of(entry))
            if len(keys) == 2 and entry.type == "relationship":
                summary_by_pair.setdefault(keys, entry.text("summary") or entry.title)
    return summary_by_pair


def _newest(regions: Regions, near: Sequence[Region], limit: int) -> list[Entry]:
    """The newest memories of the regions: of each in turn, so that none is without."""
    each = [regions.newest(region) for region in near[: 2 * _BROAD]]
    newest: dict[str, Entry] = {}
    for place in range(max(map(len, each), default=0)):
        for members in each:
            if place < len(members) and len(newest) < limit:
                newest.setdefault(members[place].id, members[place])
        if len(newest) >= limit:
            break
    return list(newest.values())


def _memories(vault: Context, memories: Iterable[Entry]) -> Iterator[MapNode]:
    entries = list(memories)
    replaced = supersession(vault.index.catalog)
    by_id = {
        identity: next(iter(vault.index.catalog.get(identity)), None)
        for identity in {o for e in entries for o in replaced.get(e.id, ())}
    }
    for entry in entries:
        times = [other.text("created") for identity in replaced.get(entry.id, ()) if (other := by_id[identity]) is not None]
        truth = round(vault.standings.belief_of(entry).truth, 3)
        yield MapNode(
            id=entry.id, name=entry.title, record_class=entry.record_class.value, type=entry.type, created=entry.text("created"),
            until=min(times, default=""), truth=truth,
        )  # fmt: skip


def _about(regions: Regions, near: Sequence[Region], memories: Iterable[Entry]) -> Iterator[MapEdge]:
    keys = {subject.key for subject in near}
    for entry in memories:
        for subject in regions.of(entry):
            if subject.key in keys:
                yield MapEdge(source=entry.id, target=subject.key, type="about")
