"""The passes so far, what none of them has read yet, and the packets that this comes to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from vault_tool.consolidation import ledger, packets
from vault_tool.consolidation.packets import MOST_TAGS, Due, Item, best_first, is_trivial, keys_of, worth
from vault_tool.files.skipped_turns import Keys, skipped
from vault_tool.index.catalog import Catalog
from vault_tool.index.relations import Region, Regions, active, lineage, present_first, regions_of, supersession, tagging
from vault_tool.index.timeline import ageless, ages, batches_of, ids_since
from vault_tool.model.authority import weights
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.clock import moment, parse_time, stamp
from vault_tool.util.text import counted, normal_name
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context
from vault_tool.vault.open_pass import Passes, items_of, passes, spoken_of

# So many passes back it is looked whether something came too late for them: by a pull, from a machine that had not heard.
LATE = 2

# Clocks of other machines, and times that people write with another offset, may be off by so much.
_SLACK = timedelta(days=2)

# Of more new memories the tags are read as a whole to count them, and their heads are not.
_FEW = 1000

# The keys of the packet that offers the orientation for review: it is about no subject.
ORIENTATION: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketPlan:
    """One packet before it is filled: what it is about, how much is there, and what it is worth to settle it."""

    regions: tuple[Region, ...]
    due: Due
    observations: int
    understanding: Entry | None
    worth: float
    trivial: bool

    @property
    def keys(self) -> tuple[str, ...]:
        """What names the packet."""
        return self.due.keys

    @property
    def names(self) -> tuple[str, ...]:
        """The subjects' names, as their files have them."""
        return tuple(region.name for region in self.regions)

    @property
    def label(self) -> str:
        """The packet's name for people."""
        return label(self.names)


def label(names: Sequence[str]) -> str:
    """How a packet is called: its subject, or both with a cross between them; the orientation by its type."""
    return " × ".join(names) or "orientation"


@dataclass(frozen=True, slots=True)
class UnreadIds:
    """What no ledger names, by class; `doubtful` passes have a ledger of another hand, and time alone tells what they read."""

    observations: Sequence[str]
    understandings: Sequence[str]
    doubtful: Sequence[Entry]


def unread(vault: Context, known: Passes) -> list[Entry]:
    """The observations, and the active understandings about subjects, that no pass has read or written.

    Written since the last pass began, or come from elsewhere too late for it. The cost grows with what was written
    during the last three passes, not with the vault.
    """
    return [entry for some in unread_batches(vault, known) for entry in some]


def unread_batches(vault: Context, known: Passes, *, observations: bool = True) -> Iterator[list[Entry]]:
    """The same, by the thousand: after an import it is most of the vault; without `observations` the understandings alone."""
    catalog = vault.index.catalog
    found = unread_ids(vault, known)
    for some in batches_of(catalog, [*(found.observations if observations else ()), *found.understandings]):
        yield active(catalog, [e for e in some if _counts(e) and not any(_precedes(e, one) for one in found.doubtful)])


def unread_ids(vault: Context, known: Passes) -> UnreadIds:
    """The ids of what no ledger names; whether it counts, its entries say."""
    catalog = vault.index.catalog
    oldest = known.generation - LATE
    later = [entry for entry in known.all if (entry.generation or 0) > oldest]
    since = "" if oldest <= 0 else _some_days_before(min((e.text("created") for e in later), default="", key=moment))
    observations, understandings = (ids_since(catalog, kind, oldest, since) for kind in MEMORIES)
    # What says no time may have been read by any pass, and only all ledgers together can tell.
    asked = (
        known.all
        if _undated(vault, observations or understandings)
        else [e for e in known.all if e in later or e.text("created") >= since]
    )
    ledgers = [(entry, ledger.read(body_of(vault, entry))) for entry in asked]
    read = {start for _, kept in ledgers for start in kept.new}
    # Ledgers hold the beginnings of ids, and so are asked for the beginning.
    return UnreadIds(
        [identity for identity in observations if ledger.known(identity) not in read],
        [identity for identity in understandings if ledger.known(identity) not in read],
        [entry for entry, kept in ledgers if not kept.listed],
    )


def plans(vault: Context, entries: Iterable[Entry], regions: Regions, within: Entry | None = None) -> list[PacketPlan]:
    """The packets that new memories come to, in the order in which a pass takes them.

    What the current understanding of just these subjects rests on already is not due again, unless that understanding
    was written in the pass that we are `within`.
    """
    return plans_of(vault, [list(entries)], regions, within)


def plans_of(
    vault: Context, batches: Iterable[Sequence[Entry]], regions: Regions, within: Entry | None = None
) -> list[PacketPlan]:
    """The same of memories that come by the thousand (`unread_batches`): nothing of them is kept but what a plan holds."""
    found: dict[str, Region] = {}
    items: list[Item] = []
    for entries in batches:
        believed = vault.standings.beliefs(entries)
        for entry in entries:
            # What was found useful or questioned is worth reading for it: signals count from a half to one and a half.
            weight = _importance(vault, entry, believed[entry.id].reviewed) * (0.5 + believed[entry.id].utility)
            for tagged in (regions.of(entry), *spoken_of(vault, entry, regions)):
                found.update((region.key, region) for region in tagged)
                items.append(Item(entry.id, weight, tuple(region.key for region in tagged)))
    planned = (_plan(one, _by_name(found[key] for key in one.keys), regions, within) for one in packets.due(items))
    made = {plan.keys: plan for plan in planned if plan.due.new}
    order = best_first({keys: plan.worth for keys, plan in made.items()}, {keys: plan.label for keys, plan in made.items()})
    return [made[keys] for keys in order]


def is_placed(vault: Context, entry: Entry) -> bool:
    """Whether a memory stands in a packet: by its own subjects, or by those of an understanding that it was related to."""
    return bool(entry.subjects) or any(spoken_of(vault, entry, regions_of(vault.index.catalog)))


def related_to(vault: Context, view: Entry) -> list[Entry]:
    """What was related to an understanding, and since it was written to one that it replaces."""
    found = vault.index.catalog.pointing_at_each([one.id for one in lineage(vault.index.catalog, view)], ("related_to",))
    return [
        entry
        for target, pointing in found.items()
        for _, entry in pointing
        if target == view.id or entry.by_created > view.by_created
    ]


def written_packets(vault: Context, one: Entry, regions: Regions) -> set[tuple[str, ...]]:
    """The packets of a pass for which an understanding was written in it."""
    found = set()
    written = written_in(vault, one)
    last = max((entry.by_created[0] for entry in written), default=None)
    for entry in written:
        keys = tuple(sorted(region.key for region in regions.of(entry)))
        # It comes last, always: of what was understood after it, it says nothing.
        if entry.type == "orientation":
            found.update([ORIENTATION] if entry.by_created[0] == last else [])
        elif entry.type in ("single_subject", "relationship"):
            found.add(keys)
    return found


def written_in(vault: Context, one: Entry) -> list[Entry]:
    """The understandings that carry a pass's id, in the order in which they were written."""
    found = [entry for _, entry in vault.index.catalog.pointing_at(one.id, ("pass",))]
    return sorted(found, key=lambda entry: (entry.by_created[0], entry.path))


def waiting(vault: Context, one: Entry, regions: Regions) -> list[PacketPlan]:
    """The packets of a pass that are neither settled nor passed over."""
    done = written_packets(vault, one, regions) | skipped(vault.root, one.id)
    return [plan for plan in plans(vault, items_of(vault, one), regions, one) if plan.keys not in done]


def _plan(one: Due, regions: tuple[Region, ...], known: Regions, within: Entry | None) -> PacketPlan:
    shared = frozenset.intersection(*(known.observations(region) for region in regions))
    understood = next(iter(known.understandings(regions, one.kind)), None)
    one = one.without(rests_on(understood, within))
    return PacketPlan(
        regions=regions,
        due=one,
        observations=len(shared),
        understanding=understood,
        worth=worth(one, len(shared), understood is not None),
        trivial=is_trivial(one, len(shared)),
    )


def rests_on(understood: Entry | None, within: Entry | None) -> set[str]:
    """What an understanding was made of, with itself: not new in its packet, but in the pass that it was written `within`."""
    # Within its own pass a new understanding settles its packet; taken for known, it would make the packet vanish.
    if understood is None or (within is not None and understood.text("pass") == within.id):
        return set()
    return {understood.id, *understood.texts("sources")}


def _by_name(regions: Iterable[Region]) -> tuple[Region, ...]:
    return tuple(sorted(regions, key=lambda region: normal_name(region.name)))


def _precedes(entry: Entry, one: Entry) -> bool:
    """Whether a memory was written before a pass began, by its generation or else by the clock."""
    generation, number = entry.generation, one.generation
    if generation is not None and number is not None:
        return generation < number
    return bool(entry.text("created")) and entry.text("created") < one.text("created")


def _undated(vault: Context, identities: Sequence[str]) -> bool:
    return bool(identities) and any(ageless(vault.index.catalog, kind) for kind in MEMORIES)


def _counts(entry: Entry) -> bool:
    """Whether a record can be new to a pass: evidence, or a synthesis about subjects that was not written in one."""
    if entry.record_class is RecordClass.OBSERVATION:
        return True
    return not entry.text("pass") and bool(entry.subjects)


def _importance(vault: Context, entry: Entry, reviewed: bool) -> float:
    return weights(entry, vault.settings.types.spec(entry.type).importance, reviewed)[1]


def _some_days_before(moment: str) -> str:
    found = parse_time(moment)
    return stamp(found - _SLACK) if found else ""


@dataclass(frozen=True, slots=True)
class DueCount:
    """What waits for a pass, or in the one that is open: packets, and the observations that are new in any of them."""

    packets: int
    observations: int


def told(observations: int, packets: int) -> str:
    """How much waits, in words."""
    return f"{counted(observations, 'observation')} in {counted(packets, 'packet')}" if packets else "nothing"


def due(vault: Context) -> DueCount:
    """What waits, kept until the catalogue changes or another packet is passed over. Indexes must be fresh."""
    known = passes(vault)
    over = skipped(vault.root, known.open.id) if known.open else frozenset()
    return vault.index.catalog.derived(("due", over), lambda: _counted(vault, known, over))


def _counted(vault: Context, known: Passes, over: frozenset[Keys]) -> DueCount:
    catalog = vault.index.catalog
    regions = regions_of(catalog)
    done = written_packets(vault, known.open, regions) | over if known.open else frozenset()
    touched: dict[Keys, set[str]] = defaultdict(set)
    observed: set[str] = set()
    for identity, is_evidence, keys in _new_keys(vault, known, regions):
        if is_evidence:
            observed.add(identity)
        for one in keys_of(keys):
            if one not in done:
                touched[one].add(identity)
    _leave_out_known(vault, known, regions, touched)
    left = [ids for ids in touched.values() if ids]
    return DueCount(len(left), len(observed.intersection(*[set().union(*left)]) if left else ()))


def _leave_out_known(vault: Context, known: Passes, regions: Regions, touched: Mapping[Keys, set[str]]) -> None:
    """Take out of each packet what the understanding of just its subjects rests on."""
    catalog = vault.index.catalog
    gone = supersession(catalog)
    for kind in ("single_subject", "relationship"):
        views: dict[Keys, list[Entry]] = defaultdict(list)
        for view in catalog.of_class(RecordClass.UNDERSTANDING, kind):
            if view.id not in gone:
                views[tuple(sorted(region.key for region in regions.of(view)))].append(view)
        for keys in views.keys() & touched.keys():
            touched[keys].difference_update(rests_on(present_first(catalog, views[keys])[0], known.open))


def _new_keys(vault: Context, known: Passes, regions: Regions) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Each new memory, once for each set of subjects by which it is in packets: its id, whether it is evidence, their keys."""
    if known.open:
        yield from _with_keys(vault, items_of(vault, known.open), regions)
        return
    ids = unread_ids(vault, known)
    observations = set(ids.observations)
    if ids.doubtful or len(observations) <= _FEW:
        for some in unread_batches(vault, known):
            yield from _with_keys(vault, some, regions)
        return
    yield from _tagged(vault.index.catalog, observations, regions)
    related = [one for one, _ in vault.index.catalog.pairs("related_to") if one in observations]
    for some in batches_of(vault.index.catalog, related):
        for entry in some:
            yield from ((entry.id, True, tuple(one.key for one in tags)) for tags in spoken_of(vault, entry, regions))
    for some in unread_batches(vault, known, observations=False):
        yield from _with_keys(vault, some, regions)


def _tagged(catalog: Catalog, observations: set[str], regions: Regions) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """The tags of many observations, read at once and without their heads."""
    tags = tagging(catalog)
    many = []
    for number, identity, _, _ in ages(catalog, RecordClass.OBSERVATION):
        if identity in observations:
            keys = tags.get(number, frozenset())
            if len(keys) > MOST_TAGS:
                many.append(identity)  # which of them make pairs depends on their order
            else:
                yield identity, True, tuple(keys)
    for some in batches_of(catalog, many):
        yield from ((entry.id, True, tuple(region.key for region in regions.of(entry))) for entry in some)


def _with_keys(vault: Context, entries: Iterable[Entry], regions: Regions) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    for entry in entries:
        is_evidence = entry.record_class is RecordClass.OBSERVATION
        for tags in (regions.of(entry), *spoken_of(vault, entry, regions)):
            yield entry.id, is_evidence, tuple(region.key for region in tags)
