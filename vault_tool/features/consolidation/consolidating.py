"""Passes of consolidation: begin one, end one, and what waits for the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain

from msgspec.structs import replace

from vault_tool.consolidation import ledger
from vault_tool.consolidation.ledger import Ledger, LedgerLine
from vault_tool.errors import NotFound, VaultError
from vault_tool.features.consolidation.given_packets import walk
from vault_tool.features.consolidation.passes import (
    ORIENTATION,
    Outcome,
    PacketPlan,
    Planned,
    due,
    is_idle,
    is_placed,
    of_pass,
    outcome,
    pending,
    plans,
    settled_with_nothing,
    unread,
    unread_batches,
    written_in,
)
from vault_tool.files import frontmatter, reader
from vault_tool.index.relations import Regions, regions_of, supersession
from vault_tool.index.timeline import unlinked_count
from vault_tool.model.ids import new_id
from vault_tool.model.records import Consolidation
from vault_tool.model.signals import EpisodeEntry
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, normal_name
from vault_tool.vault import generated_pages, resolve
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, body_of
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.open_pass import Passes, items_of, passes
from vault_tool.vault.operation import Operation, Saved, SavedAnswer, writing
from vault_tool.vault.request import Answer, looks, of_the_whole, verb, within

# So many packets of a kind an answer lists: in a large vault a pass may have a thousand.
LISTED = 20

# The type of the log's entries about passes.
PASS = "consolidation"


class RecentActivity(Struct, kw_only=True):
    """Activity since the last consolidation, by the subjects that it is about, those with most of it first.

    `since` is None before the first pass, and `more_subjects` are not named.
    """

    since: str | None
    subjects_with_new_observations: tuple[str, ...]
    subjects_with_new_understandings: tuple[str, ...]
    more_subjects: int = 0


class PacketHead(Struct, kw_only=True):
    """One packet without its texts; `done` says that it was settled or passed over in this pass."""

    type: str
    label: str
    subjects: tuple[str, ...]
    new_count: int
    observation_count: int
    trivial: bool
    existing_understanding: str | None
    value: float
    done: bool = False


class Begun(SavedAnswer, kw_only=True):
    """A pass: `began` is false where one was open and is taken up again, or where nothing is new and none was made.

    `packets` are the first in the order of the walk, and `more` counts the others.
    """

    id: str | None
    generation: int
    began: bool
    new_count: int
    packets: tuple[PacketHead, ...]
    more: int = 0
    unplaced: tuple[str, ...] = ()
    path: str = ""


class Ended(SavedAnswer, kw_only=True):
    """A pass whose ledger is complete."""

    id: str
    generation: int
    written: tuple[str, ...]
    superseded: tuple[str, ...]
    skipped: tuple[str, ...]
    left: tuple[str, ...]
    before: dict[str, int]
    after: dict[str, int]
    path: str


class Pending(Answer, kw_only=True):
    """Subjects and intersections with content that no pass has settled since the last, in the order of their worth.

    `pass_id` names the pass that is open, and then the packets are what is left of it; `arrived` counts what was
    written since it began. `more` counts the packets that are not listed, `trivial` the trivial pairs of all.
    """

    generation: int
    since: str | None
    pending_consolidation_count: int
    due_packets: int
    pass_id: str | None
    arrived: int
    subjects: tuple[PacketHead, ...]
    intersections: tuple[PacketHead, ...]
    more: int
    trivial: int
    notice: str = HYPOTHESIS_NOTICE


class PassLine(Struct, kw_only=True):
    """One pass: `ended` says that its ledger is complete."""

    id: str
    generation: int
    created: str
    session: str
    ended: bool


class PassList(Answer, kw_only=True):
    """The passes, the newest first, of `total` that there are."""

    results: tuple[PassLine, ...]
    total: int


class Started(Struct):
    """A pass that was begun or taken up: the answer about it, its entry (None where there is nothing to do), its packets, and
    the regions that these were planned by: a pass changes none.
    """

    answer: Begun
    entry: Entry | None
    packets: Planned
    regions: Regions


@verb
@looks
@of_the_whole
def list_passes(vault: Context, *, limit: int = LISTED) -> PassList:
    """The consolidation passes, the newest first; each one's ledger is its text."""
    known = passes(vault)
    newest = sorted(known.all, key=lambda entry: (entry.generation or 0, entry.created_sort_key, entry.id), reverse=True)
    results = tuple(
        Memory(vault, entry).told(PassLine, generation=entry.generation or 0, ended=ledger.read(body_of(vault, entry)).ended)
        for entry in newest[:limit]
    )
    return PassList(results=results, total=len(newest))


def recent_activity(vault: Context, most: int | None = None) -> RecentActivity | None:
    """The activity since the last pass began, by at most so many subjects; None without any. Indexes must be fresh.

    Kept until the catalogue changes: after an import most of a vault is unread.
    """
    return vault.index.catalog.derived(("recent activity", most), lambda: _activity(vault, most))


def _activity(vault: Context, most: int | None) -> RecentActivity | None:
    known = passes(vault)
    regions = regions_of(vault.index.catalog)
    counts: dict[RecordClass, Counter[str]] = {RecordClass.OBSERVATION: Counter(), RecordClass.UNDERSTANDING: Counter()}
    any_new = False
    for entry in chain.from_iterable(unread_batches(vault, known)):
        any_new = True
        counts[entry.record_class].update({region.name for region in regions.of(entry)})
    if not any_new:
        return None
    observed, understood = counts.values()
    of = observed + understood
    names = sorted(of, key=lambda name: (-of[name], normal_name(name)))
    shown = names[:most]
    return RecentActivity(
        since=known.last or None,
        subjects_with_new_observations=tuple(name for name in shown if name in observed),
        subjects_with_new_understandings=tuple(name for name in shown if name in understood),
        more_subjects=len(names) - len(shown),
    )


@verb
@looks
@of_the_whole
def get_pending_consolidation(vault: Context, *, limit: int | None = LISTED) -> Pending:
    """List the packets that a pass would settle now, or those left of the open one, without their texts.

    At most `limit` subjects and as many intersections are listed.
    """
    known = passes(vault)
    open_entry = known.open if known.open and not is_idle(vault, known.open) else None
    arrived = sum(map(len, unread_batches(vault, known))) if open_entry else 0
    heads = [head_of(plan) for plan in pending(vault).next]
    waits = due(vault)
    subjects = [head for head in heads if head.type == "single_subject"][:limit]
    intersections = [head for head in heads if head.type == "relationship"][:limit]
    return Pending(
        generation=known.generation,
        since=known.last or None,
        pending_consolidation_count=waits.observations,
        due_packets=waits.packets,
        pass_id=open_entry.id if open_entry else None,
        arrived=arrived,
        subjects=tuple(subjects),
        intersections=tuple(intersections),
        more=len(heads) - len(subjects) - len(intersections),
        trivial=sum(head.trivial for head in heads),
    )


@verb
@of_the_whole
def begin_consolidation(vault: Context) -> Begun:
    """Begin a pass over what is new, or take up the open one where nothing new came; nothing to do touches nothing.

    Where an open pass was left unfinished and more came, its ledger is completed, and the new pass takes over what it
    left. The generation is one higher from then on.
    """
    if walk(vault.root) is not None:
        vault.fresh()
        end_idle(vault)
    return start(vault, empty=True).answer


def start(vault: Context, *, again: bool = False, empty: bool = False) -> Started:
    """Begin a pass as `begin_consolidation` does, for a caller who goes on with it; `again` with packets once left empty, and
    `empty` where there is something new, though too little for a packet, and no pass is open.
    """
    with writing(vault, "consolidate") as op:
        known = passes(vault)
        regions = regions_of(vault.index.catalog)
        fresh = unread(vault, known)
        closed = replace(known, open=None)
        result = outcome(vault, known.open) if known.open else None
        ending = result.settled() if result else None
        fresh = [*fresh, *(settled_with_nothing(vault, known) if again else ())]
        packets = plans(vault, fresh, closed, again=again, ending=ending)
        if not (packets.next or _unplaced(vault, fresh) or (empty and fresh and not known.open)):
            return _resumed(vault, known, regions)
        entries = list({entry.path: entry for entry in (*(result.unread if result else ()), *fresh)}.values())
        if known.open and result:
            _complete(op, known.open, result)
        if len(entries) > len(fresh):
            packets = plans(vault, entries, closed, again=again, ending=ending)
        record = _began(op, known, entries, packets.next)
        saved = op.carry_out(f"pass {record.generation}", [record.id])
    return _begun(vault, saved, record, entries, packets, regions)


def end_idle(vault: Context) -> str:
    """End a pass that was walked packet by packet and left; returns the sentence about it. Indexes must be fresh."""
    entry = passes(vault).open
    kept_walk = walk(vault.root, entry.id) if entry else None
    if entry is None or kept_walk is None or not is_idle(vault, entry):
        return ""
    end_consolidation(vault, entry.id)
    return f"the pass before was idle since {kept_walk.at[:16]} and is ended; what it wrote stays"


@verb
@of_the_whole
def end_consolidation(vault: Context, pass_id: str = "", *, core: bool = True) -> Ended:
    """Complete the ledger of a pass (by default the open one): what it wrote, replaced, passed over and left.

    With `core` CORE.md is made anew as well, in a commit of its own, if more than its date would change.
    """
    with writing(vault, "consolidate") as op:
        entry = open_pass(vault, pass_id)
        completed = _complete(op, entry, outcome(vault, entry))
        saved = op.carry_out(f"pass {completed.number} ended", [entry.id])
    return Ended(
        **saved.fields(*(_refreshed(vault) if core else ())),
        id=entry.id,
        generation=completed.number,
        written=tuple(line.id for line in completed.written),
        superseded=tuple(line.id for line in completed.superseded),
        skipped=tuple(packet.label for packet in completed.skipped),
        left=completed.left,
        before=dict(completed.before),
        after=dict(completed.after),
        path=entry.path,
    )


def _refreshed(vault: Context) -> tuple[str, ...]:
    """Make CORE.md, which says what the pass came to; what keeps it from being written is a remark, for the pass is ended."""
    try:
        with within(vault):
            generated_pages.make_core(vault)
    except VaultError as fault:
        return (f"CORE.md is as it was: {fault.marked}",)
    return ()


def open_pass(vault: Context, pass_id: str = "") -> Entry:
    """The pass that is meant, or the open one; NotFound with what to type where there is none. Indexes must be fresh."""
    if pass_id:
        return resolve.find(vault, pass_id, (RecordClass.CONSOLIDATION,))
    open_entry = passes(vault).open
    if open_entry is None:
        raise NotFound("no pass of consolidation is open", f"{step('consolidate')} begins one where anything is new")
    return open_entry


def head_of(plan: PacketPlan, done: Collection[tuple[str, ...]] = ()) -> PacketHead:
    """A packet as results list it."""
    return PacketHead(
        type=plan.due.kind,
        label=plan.label,
        subjects=plan.names,
        new_count=len(plan.due.current),
        observation_count=plan.observations,
        trivial=plan.trivial,
        existing_understanding=plan.understanding.id if plan.understanding else None,
        value=plan.worth,
        done=plan.keys in done,
    )


def _resumed(vault: Context, known: Passes, regions: Regions) -> Started:
    """The answer where nothing new came: the open pass as it stands, or nothing at all."""
    open_entry = known.open
    entries = items_of(vault, open_entry) if open_entry else []
    planned = of_pass(vault, open_entry) if open_entry else Planned()
    packets = planned.all
    answer = Begun(
        id=open_entry.id if open_entry else None,
        generation=known.generation,
        began=False,
        new_count=len(entries),
        packets=tuple(head_of(plan, planned.answered) for plan in packets[:LISTED]),
        more=len(packets[LISTED:]),
        unplaced=_unplaced(vault, entries),
        path=open_entry.path if open_entry else "",
    )
    return Started(answer, open_entry, planned, regions)


def _begun(
    vault: Context,
    saved: Saved,
    record: Consolidation,
    entries: Sequence[Entry],
    packets: Planned,
    regions: Regions,
) -> Started:
    written = next(iter(vault.index.catalog.get(record.id)), None)
    answer = Begun(
        **saved.fields(),
        id=record.id,
        generation=record.generation or 0,
        began=True,
        new_count=len(entries),
        packets=tuple(head_of(plan) for plan in packets.next[:LISTED]),
        more=len(packets.next[LISTED:]),
        unplaced=_unplaced(vault, entries),
        path=written.path if written else "",
    )
    return Started(answer, written, packets, regions)


def _began(op: Operation, known: Passes, entries: Sequence[Entry], packets: Sequence[PacketPlan]) -> Consolidation:
    """Plan the new pass's file, with its ledger as far as it is known at the beginning."""
    vault = op.vault
    number = known.generation + 1
    started = Ledger(
        number=number,
        begun=vault.now(),
        new=_lines(entries),
        packets=tuple(map(_described, packets)),
        before=_counts(vault),
    )
    who = vault.who
    record = Consolidation(
        id=new_id(), type="consolidation", body=ledger.body(started), created=vault.now(), generation=number,
        parents=tuple(sorted(entry.id for entry in known.heads)), session=who.session, model=who.model, origin=who.origin,
    )  # fmt: skip
    path = op.create(record)
    summary = f"{len(entries)} new, {counted(len(packets), 'packet')}"
    op.log_entry(EpisodeEntry(at=vault.now(), title=f"Pass {number} begun", type=PASS, path=path, summary=summary))
    return record


def _complete(op: Operation, entry: Entry, result: Outcome) -> Ledger:
    """Plan the completed ledger of a pass that comes to this; its head stays as it is."""
    vault = op.vault
    text = body_of(vault, entry)
    written = written_in(vault, entry)
    entries = items_of(vault, entry)
    completed = Ledger(
        number=entry.generation or 0,
        begun=entry.text("created"),
        new=_lines(entries),
        packets=ledger.packets(text),
        before=ledger.before(text),
        ended=vault.now(),
        written=_lines(written),
        superseded=_lines(_replaced(vault, written)),
        settled=result.written,
        skipped=result.skipped,
        left=tuple(plan.label for plan in result.left),
        unread=_lines(result.unread),
        after=_counts(vault),
        new_as_written=ledger.new_as_written(text),
    )
    old = reader.read(vault.root, entry.path)
    # The head stays byte for byte: a person may have written into it.
    new = old[: frontmatter.split(old).body_start] + ledger.body(completed).encode("utf-8")
    op.rewrite(entry.path, old, new)
    summary = f"{len(completed.written)} written, {len(completed.superseded)} superseded, {len(completed.left)} left"
    op.log_entry(
        EpisodeEntry(at=vault.now(), title=f"Pass {completed.number} ended", type=PASS, path=entry.path, summary=summary)
    )
    return completed


def _replaced(vault: Context, written: Iterable[Entry]) -> list[Entry]:
    own = {entry.id for entry in written}
    olds = dict.fromkeys(old for entry in written for old in entry.texts("supersedes") if old not in own)
    return [entry for old in olds for entry in vault.index.catalog.get(old)]


def _lines(entries: Iterable[Entry]) -> tuple[LedgerLine, ...]:
    return tuple(LedgerLine(entry.id, entry.title) for entry in entries)


def _described(plan: PacketPlan) -> str:
    trivial = ", trivial" if plan.trivial else ""
    return f"{plan.label}: {len(plan.due.current)} new of {plan.observations}{trivial}"


def _unplaced(vault: Context, entries: Iterable[Entry]) -> tuple[str, ...]:
    """New evidence that is in no packet: to be placed by a person or an agent, if anywhere."""
    return tuple(entry.id for entry in entries if not is_placed(vault, entry))


def _counts(vault: Context) -> dict[str, int]:
    catalog = vault.index.catalog
    by_class: Counter[str] = Counter()
    for (record_class, _), count in catalog.count_by_type().items():
        by_class[record_class] += count
    gone = supersession(catalog)
    known = catalog.ids_of_class(RecordClass.UNDERSTANDING)
    return {
        "subjects": by_class[RecordClass.SUBJECT.value],
        "observations": by_class[RecordClass.OBSERVATION.value],
        "active understandings": sum(identity not in gone for identity in known),
        "observations placed nowhere": unlinked_count(catalog),
    }


__all__ = [
    "ORIENTATION", "Begun", "Ended", "PacketHead", "Pending", "RecentActivity", "begin_consolidation", "end_consolidation",
    "get_pending_consolidation", "head_of", "open_pass", "recent_activity",
]  # fmt: skip
