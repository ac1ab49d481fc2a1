"""Which subjects and pairs have enough that is new for a packet: said once, for passes and for every count of what is due."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product

import msgspec
from msgspec import field
from msgspec.structs import replace

from vault_tool.consolidation import ledger, packets
from vault_tool.consolidation.ledger import PacketName
from vault_tool.consolidation.packets import ENOUGH, MORE, Due, is_contained, keys_of
from vault_tool.index.catalog import Catalog
from vault_tool.index.relations import Piece, Region, Regions, regions_of, understood_names
from vault_tool.index.timeline import entries_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.structs import Struct
from vault_tool.util.text import BYTES_A_TOKEN, normal_name
from vault_tool.vault.answers import body_of
from vault_tool.vault.contests import all_overtaken
from vault_tool.vault.context import Context
from vault_tool.vault.open_pass import Passes, spoken_of
from vault_tool.vault.questioned import Questioned

# What names a packet: the keys of its subjects.
Keys = tuple[str, ...]

# Of more touched subjects the observations are read together.
_MANY = 200

# The tokens of a line beside its text: id, type and date.
_LINE = 10

# The edges by which a memory says something against another.
_AGAINST = ("CHANGES", "CONTRADICTS", "QUESTIONS")


class Touched(msgspec.Struct):
    """The packets that new memories are in, whether or not there is enough for one; mutable, because it is collected.

    `related` are by packet the ids of those that were related to an understanding of its subjects.
    """

    subjects: set[str] = field(default_factory=set)
    pairs: set[Keys] = field(default_factory=set)
    related: dict[Keys, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, keys: Sequence[str], related: str = "") -> None:
        """A memory that is tagged with the subjects of these keys, or is `related` (its id) to an understanding of them."""
        for key in keys_of(keys):
            if len(key) == 1:
                self.subjects.add(key[0])
            else:
                self.pairs.add(key)
            if related:
                self.related[key].add(related)

    def add_entries(self, vault: Context, entries: Iterable[Entry], regions: Regions) -> None:
        """The observations among these."""
        for entry in entries:
            if entry.record_class is RecordClass.OBSERVATION:
                self.add([region.key for region in regions.of(entry)])
                for spoken in spoken_of(vault, entry, regions):
                    self.add([region.key for region in spoken], entry.id)


class Eligible(Struct, kw_only=True):
    """A packet with enough in it: what is new, of whom, how many observations there are, and what is understood already."""

    due: Due
    regions: tuple[Region, ...]
    observations: int
    understanding: Entry | None


class Settled(Struct):
    """The matters that the ledgers settled: by packet, the packets with nothing to say, and memories read before ledgers
    said it by packet; `doubtful` passes have a ledger of another hand, and stand for all that was before them.
    """

    by_packet: Mapping[PacketName, frozenset[str]]
    nothing: Mapping[PacketName, frozenset[str]]
    read: frozenset[str] = frozenset()
    doubtful: tuple[Entry, ...] = ()

    def beside(self, other: Settled) -> Settled:
        """The sum of what both settled, by packet; the rest as it is here."""
        return replace(self, by_packet=_joined(self.by_packet, other.by_packet), nothing=_joined(self.nothing, other.nothing))


def _joined(
    names: Mapping[PacketName, frozenset[str]], others: Mapping[PacketName, frozenset[str]]
) -> dict[PacketName, frozenset[str]]:
    return {name: names.get(name, frozenset()) | others.get(name, frozenset()) for name in {*names, *others}}


def settled(vault: Context, known: Passes) -> Settled:
    """The sum of the ledgers of the passes so far, kept until the catalogue changes."""
    return vault.index.catalog.derived("settled", lambda: _settled(vault, known))


def _settled(vault: Context, known: Passes) -> Settled:
    by_packet: dict[PacketName, frozenset[str]] = {}
    nothing: dict[PacketName, frozenset[str]] = {}
    read: set[str] = set()
    doubtful = []
    for entry in known.all:
        settled_before = ledger.read(body_of(vault, entry))
        if not settled_before.ended:
            continue
        if not settled_before.listed:
            doubtful.append(entry)
        elif not settled_before.by_packet:
            read |= settled_before.new
        else:
            for target, names in ((by_packet, settled_before.settled), (nothing, settled_before.skipped)):
                target.update({name: target.get(name, frozenset()) | ids for name, ids in names.items()})
    return Settled(by_packet, nothing, frozenset(read), tuple(doubtful))


def precedes(entry: Entry, other: Entry) -> bool:
    """Whether a memory was written before a pass began, by its generation or else by the clock."""
    generation, number = entry.generation, other.generation
    if generation is not None and number is not None:
        return generation < number
    return bool(entry.text("created")) and entry.text("created") < other.text("created")


class Finder:
    """Looks for the packets of one catalogue; for the length of one answer. `ending` is what a pass settles that is to end."""

    def __init__(self, vault: Context, known: Passes, *, again: bool = False, ending: Settled | None = None) -> None:
        self._vault = vault
        self._regions = regions_of(vault.index.catalog)
        before = settled(vault, known)
        self._settled = before if ending is None else before.beside(ending)
        self._open = known.open
        self._again = again
        catalog = vault.index.catalog
        self._overtaken: set[str] = catalog.derived("overtaken", lambda: all_overtaken(vault))
        self._against: Mapping[str, set[str]] = catalog.derived("spoken against", lambda: _spoken_against(catalog))
        self._questioned: Collection[str] = Questioned.of(vault).ids

    def found(self, touched: Touched) -> dict[Keys, Eligible]:
        """The packets with enough in them among those that were touched."""
        if len(touched.subjects) > _MANY:
            self._regions.read_evidence()
        eligible: dict[Keys, Eligible] = {}
        for key in touched.subjects:
            subject = self._subject(key, touched.related.get((key,), frozenset()))
            if subject is not None:
                eligible[(key,)] = subject
        for pair in touched.pairs:
            both = self._pair(pair, touched.related.get(pair, frozenset()))
            if both is not None:
                eligible[pair] = both
        return eligible

    def changed(self, touched: Touched) -> dict[Keys, Eligible]:
        """The pairs that share enough and something new, whether or not it is their turn: for a report."""
        eligible: dict[Keys, Eligible] = {}
        for keys in touched.pairs:
            regions = [self._regions.keyed(key) for key in keys]
            first, other = map(self._regions.evidence, regions)
            shared = {identity: piece for identity, piece in first.items() if identity in other}
            if len(shared) >= ENOUGH:
                view = self._present(regions)
                due = self._new(keys, regions, shared, view, touched.related.get(keys, frozenset()))
                if due.new:
                    eligible[keys] = self._eligible(due, regions, shared, view)
        return eligible

    def _subject(self, key: str, related: Collection[str]) -> Eligible | None:
        region = self._regions.keyed(key)
        evidence = self._regions.evidence(region)
        if len(evidence) < ENOUGH and not self._is_understood(region):
            return None
        view = self._present([region])
        due = self._new((key,), [region], evidence, view, related)
        understood = view is not None and not self._is_of_the_pass(view)
        if understood:
            enough = len(self._current(due.new, evidence)) >= MORE or self._concerns(due, view, related)
        else:
            enough = len(self._current(evidence, evidence)) >= ENOUGH
        return self._eligible(due, [region], evidence, view) if enough and self._is_more(due, [region]) else None

    def _pair(self, keys: Keys, related: Collection[str]) -> Eligible | None:
        regions = [self._regions.keyed(key) for key in keys]
        if not all(map(self._is_understood, regions)):
            return None
        first, other = map(self._regions.evidence, regions)
        shared = {identity: piece for identity, piece in first.items() if identity in other}
        enough = len(self._current(shared, shared)) >= ENOUGH and not is_contained(len(shared), len(first), len(other))
        if not (enough or related):
            return None
        view = self._present(regions)
        if not all(self._present([region]) for region in regions) or (not enough and view is None):
            return None
        due = self._new(keys, regions, shared, view, related)
        return self._eligible(due, regions, shared, view) if due.new and self._is_more(due, regions) else None

    def _is_understood(self, region: Region) -> bool:
        """Whether there could be an understanding of a subject: for the many of which there is none."""
        return not understood_names(self._vault.index.catalog).isdisjoint(region.names)

    def _present(self, regions: Sequence[Region]) -> Entry | None:
        kind = "single_subject" if len(regions) == 1 else "relationship"
        return next(iter(self._regions.understandings(regions, kind)), None)

    def _is_of_the_pass(self, view: Entry) -> bool:
        """Whether an understanding was written in the pass that is open: to that its subjects were not understood before."""
        return self._open is not None and view.text("pass") == self._open.id and not self._before(view)

    def _before(self, view: Entry) -> list[Entry]:
        """The understanding that one of the open pass replaces, if it was written before the pass."""
        older = [entry for identity in view.texts("supersedes") for entry in self._vault.index.catalog.get(identity)]
        assert self._open is not None
        return [entry for entry in older if entry.text("pass") != self._open.id]

    def _rests_on(self, view: Entry | None) -> set[str]:
        """The memories that a packet's understanding rests on; that of the one before, if it was written in the open pass."""
        if view is None:
            return set()
        if self._open is not None and view.text("pass") == self._open.id:
            return {identity for entry in self._before(view) for identity in (entry.id, *entry.texts("sources"))}
        return {view.id, *view.texts("sources")}

    def _new(
        self, keys: Keys, regions: Sequence[Region], evidence: Mapping[str, Piece], view: Entry | None, related: Collection[str]
    ) -> Due:
        """The evidence of a packet that no understanding rests on, and that no pass has settled."""
        rests = self._rests_on(view)
        starts = self._starts(regions)
        fresh = [
            related_id
            for related_id in (*evidence, *(identity for identity in related if identity not in evidence))
            if related_id not in rests
        ]
        fresh = [identity for identity in fresh if ledger.known(identity) not in starts]
        if view is not None and fresh and not self._is_of_the_pass(view):
            fresh = [identity for identity in fresh if ledger.known(identity) not in self._settled.read or identity in related]
            fresh = self._after_doubtful(fresh) if self._settled.doubtful else fresh
        weights = {identity: self._weight(evidence.get(identity), identity in related) for identity in fresh}
        length = sum(evidence[identity].length for identity in fresh if identity in evidence)
        return Due(
            keys=keys,
            weights=weights,
            tokens=length // BYTES_A_TOKEN + _LINE * len(fresh),
            shaken=any(identity in self._questioned for identity in fresh) or (view is not None and self._is_shaken(view)),
            shown=0 if view is None or not fresh else self._vault.standings.belief_of(view).access_count,
        )

    def _weight(self, piece: Piece | None, related: bool) -> float:
        if piece is None:
            return packets.weight("", 1.0, related)
        if piece.path in self._overtaken:
            return 0.0
        return packets.weight(piece.type, self._vault.settings.types.spec(piece.type).importance, related)

    def _after_doubtful(self, ids: Sequence[str]) -> list[str]:
        entries = {entry.id: entry for entry in entries_of(self._vault.index.catalog, ids)}
        return [identity for identity in ids if not any(precedes(entries[identity], other) for other in self._settled.doubtful)]

    def _starts(self, regions: Sequence[Region]) -> frozenset[str]:
        """The beginnings of the ids that passes have settled in the packet of these subjects."""
        starts: frozenset[str] = frozenset()
        for name in _names(regions) if self._settled.by_packet or self._settled.nothing else ():
            starts |= self._settled.by_packet.get(name, frozenset())
            starts |= frozenset() if self._again else self._settled.nothing.get(name, frozenset())
        return starts

    def _is_more(self, due: Due, regions: Sequence[Region]) -> bool:
        """Whether enough came since a pass that had nothing to say of it."""
        if not due.new:
            return False
        is_settled = not self._again and any(name in self._settled.nothing for name in _names(regions))
        return not is_settled or len(due.new) >= MORE

    def _current(self, ids: Iterable[str], evidence: Mapping[str, Piece]) -> list[str]:
        return [identity for identity in ids if identity not in evidence or evidence[identity].path not in self._overtaken]

    def _concerns(self, due: Due, view: Entry | None, related: Collection[str]) -> bool:
        """Whether something new is about the understanding itself, or against what that rests on."""
        rests = self._rests_on(view)
        return any(new in related or not rests.isdisjoint(self._against.get(new, ())) for new in due.new)

    def _is_shaken(self, view: Entry) -> bool:
        sources = view.texts("sources")
        if any(source in self._questioned for source in sources):
            return True
        lookup = self._vault.index.catalog.cached_by_id if self._overtaken else None
        return lookup is not None and any(entry.path in self._overtaken for source in sources for entry in lookup(source))

    def _eligible(self, due: Due, regions: Sequence[Region], evidence: Mapping[str, Piece], view: Entry | None) -> Eligible:
        by_name = tuple(sorted(regions, key=lambda region: normal_name(region.name)))
        return Eligible(due=due, regions=by_name, observations=len(evidence), understanding=view)


def _names(regions: Sequence[Region]) -> Iterator[PacketName]:
    """How ledgers may call a packet: by any of its subjects' names."""
    for combination in product(*({*region.names, normal_name(region.name)} for region in regions)):
        yield ledger.packet_name(" × ".join(combination))


def _spoken_against(catalog: Catalog) -> Mapping[str, set[str]]:
    """By the id of a memory those that it changes or contradicts, by its own head or by an edge."""
    against: dict[str, set[str]] = defaultdict(set)
    for newer, other in catalog.pairs("change_targets"):
        against[newer].add(other)
    for edge in catalog.of_class(RecordClass.EDGE, *_AGAINST):
        against[edge.text("from_id")].add(edge.text("to_id"))
    return against
