"""The passes so far, what none of them has read yet, and the packets that this comes to."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import timedelta

from msgspec.structs import replace

from vault_tool.consolidation import ledger, packets
from vault_tool.consolidation.ledger import SettledPacket
from vault_tool.consolidation.packets import MOST_PAIRS, MOST_TAGS, Due
from vault_tool.features.consolidation.given_packets import Walk, walk
from vault_tool.features.consolidation.skipped_packets import Keys, skipped
from vault_tool.index.catalog import Catalog
from vault_tool.index.relations import Region, Regions, active, lineage, regions_of, tagging
from vault_tool.index.timeline import ageless, ages, batches_of, entries_of, ids_since
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import MEMORIES, RecordClass
from vault_tool.util.clock import moment, parse_time, stamp
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted
from vault_tool.vault.answers import body_of
from vault_tool.vault.context import Context
from vault_tool.vault.eligible import Eligible, Finder, Settled, Touched, precedes, settled
from vault_tool.vault.open_pass import Passes, items_of, passes, spoken_of

# So many passes back it is looked whether something came too late for them: by a pull, from a machine that had not heard.
LATE = 2

# Clocks of other machines, and times that people write with another offset, may be off by so much.
_SLACK = timedelta(days=2)

# A pass that is walked packet by packet ends by itself after so long.
IDLE = timedelta(minutes=30)

# Of more new memories the tags are read as a whole to count them, and their heads are not.
_FEW = 1000

# The keys of the packet that offers the orientation for review: it is about no subject.
ORIENTATION: tuple[str, ...] = ()


class PacketPlan(Struct, kw_only=True):
    """One packet before it is filled: what it is about, how much is there, and what it is worth to settle it."""

    regions: tuple[Region, ...]
    due: Due
    observations: int
    understanding: Entry | None
    worth: float
    trivial: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of the packet's subjects, which identify it."""
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


class UnreadIds(Struct):
    """Ids that no ledger names, by class; `doubtful` passes have a foreign ledger, and only time tells what they read."""

    observations: Sequence[str]
    understandings: Sequence[str]
    doubtful: Sequence[Entry]


def unread(vault: Context, known: Passes) -> list[Entry]:
    """The observations, and the active understandings about subjects, that no pass has read or written.

    Written since the last pass began, or come from elsewhere too late for it. The cost grows with what was written
    during the last three passes, not with the vault.
    """
    return [entry for batch in unread_batches(vault, known) for entry in batch]


def unread_batches(vault: Context, known: Passes, *, observations: bool = True) -> Iterator[list[Entry]]:
    """The same, by the thousand: after an import it is most of the vault; without `observations` the understandings alone."""
    catalog = vault.index.catalog
    ids = unread_ids(vault, known)
    for batch in batches_of(catalog, [*(ids.observations if observations else ()), *ids.understandings]):
        yield active(
            catalog, [e for e in batch if _counts(e) and not any(precedes(e, doubtful_pass) for doubtful_pass in ids.doubtful)]
        )


def unread_ids(vault: Context, known: Passes) -> UnreadIds:
    """The ids of what no ledger names; whether it counts, its entries say."""
    catalog = vault.index.catalog
    oldest = known.generation - LATE
    later = [entry for entry in known.all if (entry.generation or 0) > oldest]
    since = "" if oldest <= 0 else _some_days_before(min((e.text("created") for e in later), default="", key=moment))
    observations, understandings = (ids_since(catalog, kind, oldest, since) for kind in MEMORIES)
    # A memory without a time may have been read by any pass, and only all ledgers together can tell.
    asked = (
        known.all
        if _undated(vault, observations or understandings)
        else [e for e in known.all if e in later or e.text("created") >= since]
    )
    ledgers = [(entry, ledger.read(body_of(vault, entry))) for entry in asked]
    # Of two passes that took a memory in, the later one says whether it was read or left new.
    ledgers.sort(key=lambda pair: (pair[0].generation or 0, pair[0].created_sort_key))
    is_read = {start: start in contents.new for _, contents in ledgers for start in contents.new | contents.unread}
    read = {start for start, yes in is_read.items() if yes}
    left = {start for entry, contents in ledgers if entry in known.heads for start in contents.unread} - read
    # Memories that the last passes left new stay so, however old they are by now.
    observations = list(dict.fromkeys((*observations, *_observations_of(catalog, left))))
    # Ledgers hold the beginnings of ids, and so are asked for the beginning.
    return UnreadIds(
        [identity for identity in observations if ledger.known(identity) not in read],
        [identity for identity in understandings if ledger.known(identity) not in read],
        [entry for entry, contents in ledgers if not contents.listed],
    )


def _observations_of(catalog: Catalog, starts: Iterable[str]) -> Iterator[str]:
    """The ids that begin so, of observations."""
    for start in starts:
        for entry in catalog.by_prefix(start, limit=2):
            if entry.record_class is RecordClass.OBSERVATION:
                yield entry.id


def plans(
    vault: Context, entries: Iterable[Entry], known: Passes, *, again: bool = False, ending: Settled | None = None
) -> Planned:
    """The packets that new memories come to; `again` asks once more for those of which there was nothing to say, and `ending` is
    what a pass has settled that ends before.
    """
    touched = Touched()
    touched.add_entries(vault, entries, regions_of(vault.index.catalog))
    return planned(vault, touched, known, again=again, ending=ending)


def settled_with_nothing(vault: Context, known: Passes) -> list[Entry]:
    """The observations of packets of which there was nothing to say."""
    starts = {start for ids in settled(vault, known).nothing.values() for start in ids}
    return entries_of(vault.index.catalog, _observations_of(vault.index.catalog, sorted(starts)))


class Planned(Struct):
    """The packets that are touched and have enough in them: those that are `done`, those of this pass that come `next`, in their
    order, and those that are `left` for another: mostly shown already in this pass, or understood elsewhere while there are
    others, or pairs beyond the most of one pass.

    `answered` are the keys of all that was written of or passed over, with the orientation and what shows nothing new any more.
    """

    done: Sequence[PacketPlan] = ()
    next: Sequence[PacketPlan] = ()
    left: Sequence[PacketPlan] = ()
    answered: Collection[Keys] = ()

    @property
    def all(self) -> list[PacketPlan]:
        """Those of this pass, the done ones first."""
        return [*self.done, *self.next]


def planned(
    vault: Context,
    touched: Touched,
    known: Passes,
    done: Collection[Keys] = (),
    *,
    again: bool = False,
    ending: Settled | None = None,
) -> Planned:
    """The packets of what was touched; of two that show the same, the one that says more comes. `ending` is what a pass has
    settled that ends before.
    """
    eligible = Finder(vault, known, again=again, ending=ending).found(touched)
    names = {keys: label([region.name for region in packet.regions]) for keys, packet in eligible.items()}
    over = {keys: packet for keys, packet in eligible.items() if keys in done}
    shown = {identity for packet in over.values() for identity in packet.due.weights}
    chosen: list[PacketPlan] = []
    for size in (1, 2):
        open_ones = {keys: packet.due for keys, packet in eligible.items() if len(keys) == size and keys not in over}
        if size == 1:
            taken = packets.news_first(open_ones, names, shown, _understood_before(vault, known), packets.FEW - len(over))
        else:
            taken = packets.in_order(open_ones, names, shown)
            taken = taken[: max(0, MOST_PAIRS - sum(len(keys) > 1 for keys in over))]
        chosen += [_plan(eligible[due_packet.keys], worth) for due_packet, worth in taken]
        shown.update(identity for due_packet, _ in taken for identity in due_packet.weights)
    taken_keys = {plan.keys for plan in chosen} | over.keys()
    return Planned(
        [_plan(packet, packet.due.worth()) for packet in over.values()],
        chosen,
        [_plan(packet, 0.0) for keys, packet in eligible.items() if keys not in taken_keys],
        done,
    )


def _understood_before(vault: Context, known: Passes) -> Collection[str]:
    """The memories that an understanding rests on which the open pass has not written."""
    own = known.open.id if known.open else None
    catalog = vault.index.catalog

    def resting() -> Collection[str]:
        written_now = {entry.id for _, entry in catalog.pointing_at(own, ("pass",))} if own else set()
        return {source for identity, source in catalog.pairs("sources") if identity not in written_now}

    return catalog.derived(("understood before", own), resting)


def of_pass(vault: Context, entry: Entry) -> Planned:
    """The packets of a pass, as far as they are known of its ledger; kept until the catalogue changes or another packet is passed
    over. Indexes must be fresh.
    """
    over = skipped(vault.root, entry.id)
    kept_walk = walk(vault.root, entry.id)
    again = kept_walk is not None and kept_walk.again

    def made() -> Planned:
        regions = regions_of(vault.index.catalog)
        touched = Touched()
        touched.add_entries(vault, items_of(vault, entry), regions)
        done = written_packets(vault, entry, regions) | over
        return planned(vault, touched, replace(passes(vault), open=entry), done, again=again)

    return vault.index.catalog.derived(("packets of", entry.id, over, again), made)


class Outcome(Struct):
    """The result of a pass if it ends now: the packets that were written of and those passed over, each with what it showed,
    the packets that are left, and the memories that stay new.
    """

    written: tuple[SettledPacket, ...]
    skipped: tuple[SettledPacket, ...]
    left: tuple[PacketPlan, ...]
    unread: Sequence[Entry]

    def settled(self) -> Settled:
        """The packets that it settles, as its ledger will be read."""
        return Settled(by_packet=_by_name(self.written), nothing=_by_name(self.skipped))


def outcome(vault: Context, entry: Entry) -> Outcome:
    """The outcome of a pass if it ends now. Indexes must be fresh."""
    packets_of_it = of_pass(vault, entry)
    kept_walk = walk(vault.root, entry.id)
    passed = skipped(vault.root, entry.id)
    done = written_packets(vault, entry, regions_of(vault.index.catalog))
    left = (*packets_of_it.next, *packets_of_it.left)
    arrived = frozenset(unread_ids(vault, passes(vault)).observations)
    shown = {plan.keys: _shown(plan, kept_walk, arrived) for plan in packets_of_it.done}
    cut = [identity for plan in packets_of_it.done for identity in plan.due.new if identity not in shown[plan.keys]]
    stays = dict.fromkeys((*(identity for plan in left for identity in plan.due.new), *cut))
    return Outcome(
        tuple(SettledPacket(plan.label, shown[plan.keys]) for plan in packets_of_it.done if plan.keys in done),
        tuple(SettledPacket(plan.label, shown[plan.keys]) for plan in packets_of_it.done if plan.keys in passed - done),
        left,
        entries_of(vault.index.catalog, [*stays]),
    )


def _shown(plan: PacketPlan, kept_walk: Walk | None, arrived: Collection[str]) -> tuple[str, ...]:
    """The new memories of a packet that its reader saw: where it is not known what was given, all but those that `arrived` since
    the pass began.
    """
    shown = kept_walk.shown(plan.keys) if kept_walk else None
    return tuple(identity for identity in plan.due.new if identity not in arrived) if shown is None else shown


def _by_name(settled_packets: Iterable[SettledPacket]) -> dict[ledger.PacketName, frozenset[str]]:
    return {ledger.packet_name(packet.label): frozenset(map(ledger.known, packet.ids)) for packet in settled_packets}


def is_idle(vault: Context, entry: Entry) -> bool:
    """Whether an open pass was walked packet by packet and left: the next call ends it, so that it counts as ended."""
    kept_walk = walk(vault.root, entry.id)
    return kept_walk is not None and vault.clock.now() - moment(kept_walk.at) >= IDLE


def pending(vault: Context) -> Planned:
    """The packets that wait: what is left of the open pass, else what a pass would consist of, kept until the catalogue changes.
    Indexes must be fresh.
    """
    known = passes(vault)
    entry = known.open
    if entry is not None and not is_idle(vault, entry):
        return of_pass(vault, entry)

    def made() -> Planned:
        touched = Touched()
        if entry is None:
            _touch_new(vault, known, touched)
            return planned(vault, touched, known)
        ended = outcome(vault, entry)
        regions = regions_of(vault.index.catalog)
        for batch in (ended.unread, *unread_batches(vault, known)):
            touched.add_entries(vault, batch, regions)
        return planned(vault, touched, replace(known, open=None), ending=ended.settled())

    over = skipped(vault.root, entry.id) if entry else None
    return vault.index.catalog.derived(("pending", entry.id if entry else None, over), made)


def changed_pairs(vault: Context) -> list[PacketPlan]:
    """The pairs that share enough and something new, whether or not it is their turn, best first. Indexes must be fresh."""
    known = passes(vault)
    regions = regions_of(vault.index.catalog)
    touched = Touched()
    if known.open is not None:
        touched.add_entries(vault, items_of(vault, known.open), regions)
    else:
        _touch_new(vault, known, touched)
    done = written_packets(vault, known.open, regions) if known.open else ()
    plans = [
        _plan(packet, packet.due.worth()) for keys, packet in Finder(vault, known).changed(touched).items() if keys not in done
    ]
    return sorted(plans, key=lambda plan: (-plan.worth, plan.label))


def is_placed(vault: Context, entry: Entry) -> bool:
    """Whether a memory stands in a packet: by its own subjects, or by those of an understanding that it was related to."""
    return bool(entry.subjects) or any(spoken_of(vault, entry, regions_of(vault.index.catalog)))


def related_to(vault: Context, view: Entry) -> list[Entry]:
    """The memories related to an understanding, or to one that it replaces if written later than it."""
    related = vault.index.catalog.pointing_at_each(
        [version.id for version in lineage(vault.index.catalog, view)], ("related_to",)
    )
    return [
        entry
        for target, pointing in related.items()
        for _, entry in pointing
        if target == view.id or entry.created_sort_key > view.created_sort_key
    ]


def written_packets(vault: Context, pass_entry: Entry, regions: Regions) -> set[tuple[str, ...]]:
    """The packets of a pass for which an understanding was written in it."""
    packets = set()
    written = written_in(vault, pass_entry)
    last = max((entry.created_sort_key[0] for entry in written), default=None)
    for entry in written:
        keys = tuple(sorted(region.key for region in regions.of(entry)))
        # It comes last, always: of what was understood after it, it says nothing.
        if entry.type == "orientation":
            packets.update([ORIENTATION] if entry.created_sort_key[0] == last else [])
        elif entry.type in ("single_subject", "relationship"):
            packets.add(keys)
    return packets


def written_in(vault: Context, entry: Entry) -> list[Entry]:
    """The understandings that carry a pass's id, in the order in which they were written."""
    entries = [entry for _, entry in vault.index.catalog.pointing_at(entry.id, ("pass",))]
    return sorted(entries, key=lambda entry: (entry.created_sort_key[0], entry.path))


def _plan(packet: Eligible, worth: float) -> PacketPlan:
    return PacketPlan(
        regions=packet.regions, due=packet.due, observations=packet.observations, understanding=packet.understanding, worth=worth
    )


def _undated(vault: Context, identities: Sequence[str]) -> bool:
    return bool(identities) and any(ageless(vault.index.catalog, kind) for kind in MEMORIES)


def _counts(entry: Entry) -> bool:
    """Whether a record can be new to a pass: evidence, or a synthesis about subjects that was not written in one."""
    if entry.record_class is RecordClass.OBSERVATION:
        return True
    return not entry.text("pass") and bool(entry.subjects)


def _some_days_before(moment: str) -> str:
    parsed = parse_time(moment)
    return stamp(parsed - _SLACK) if parsed else ""


class DueCount(Struct):
    """The counts of what waits for a pass, or in the open one: packets, and the observations that are new in any of them."""

    packets: int
    observations: int


def waiting_in_words(observations: int, packets: int) -> str:
    """The amount that waits, in words."""
    return f"{counted(observations, 'observation')} in {counted(packets, 'packet')}" if packets else "nothing"


def due(vault: Context) -> DueCount:
    """Count the packets that wait and their new observations. Indexes must be fresh."""
    waits = pending(vault).next
    return DueCount(len(waits), len({identity for plan in waits for identity in plan.due.current}))


def _touch_new(vault: Context, known: Passes, touched: Touched) -> None:
    """Collect what no pass has read touches, while none is open."""
    catalog = vault.index.catalog
    regions = regions_of(catalog)
    ids = unread_ids(vault, known)
    observations = set(ids.observations)
    if ids.doubtful or len(observations) <= _FEW:
        for batch in unread_batches(vault, known):
            touched.add_entries(vault, batch, regions)
        return
    # The tags of many are read at once and without their heads.
    tags = tagging(catalog)
    heads = [head for head, _ in catalog.pairs("related_to") if head in observations]
    for number, identity, _, _ in ages(catalog, RecordClass.OBSERVATION):
        if identity in observations:
            keys = tags.get(number, frozenset())
            if len(keys) > MOST_TAGS:
                heads.append(identity)  # which of them make pairs depends on their order
            else:
                touched.add(tuple(keys))
    for batch in batches_of(catalog, heads):
        touched.add_entries(vault, batch, regions)
