"""The packets of a pass with their texts, as they are read before an understanding is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from vault_tool.consolidation.packets import Cut, fitted, shortened
from vault_tool.errors import NotFound, UsageError
from vault_tool.features.consolidation.consolidating import PacketHead, head_of, open_pass, start
from vault_tool.features.consolidation.passes import (
    ORIENTATION,
    PacketPlan,
    Planned,
    label,
    of_pass,
    related_to,
    written_in,
)
from vault_tool.features.consolidation.skipped_packets import pass_over
from vault_tool.index.relations import Regions, holding_place, regions_of, successors
from vault_tool.model.details import Details
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import normal_name, one_line
from vault_tool.util.text import tokens as text_tokens
from vault_tool.vault import resolve
from vault_tool.vault.answers import HYPOTHESIS_NOTICE, HasStatus, body_of
from vault_tool.vault.context import Context
from vault_tool.vault.facts import Memory
from vault_tool.vault.lean import NOTICE, Short, lean_details, lean_tokens, without_empty
from vault_tool.vault.open_pass import passes
from vault_tool.vault.pending import held
from vault_tool.vault.request import Answer, looks, of_the_whole, verb
from vault_tool.vault.statuses import statuses

# The most tokens of a packet's texts, unless a budget is given.
PACKET_TOKENS = 4000

FEWEST_TOKENS = 200

# So many of the packets that are left stand beside the next one: each step would repeat all of them.
AHEAD = 5

# The current understanding, and in a pair those of both sides, get at most one part in so many of a packet.
_CURRENT_SHARE = 3


class PacketObservation(HasStatus, kw_only=True):
    """One observation of a packet; `new` ones come first, `whole` is false where the budget cut its text."""

    id: str
    type: str
    content: str
    details: Details
    subjects: tuple[str, ...]
    observed: str
    new: bool
    whole: bool

    def lean(self, short: Short) -> dict[str, Any]:
        """The fields that a synthesis needs."""
        return without_empty({
            "id": short(self.id), "type": self.type, "content": self.content, **lean_details(self.details, short),
            "subjects": self.subjects, "observed": self.observed[:10], "new": self.new, "cut": not self.whole,
            **self.lean_status(short),
        })  # fmt: skip


class Current(Struct, kw_only=True):
    """An active understanding that a packet's reader should know."""

    id: str
    type: str
    subjects: tuple[str, ...]
    summary: str
    content: str
    generation: int | None
    updated: str
    whole: bool

    def lean(self, short: Short) -> dict[str, Any]:
        """The fields that a synthesis needs."""
        return without_empty({
            "id": short(self.id), "type": self.type, "summary": self.summary, "content": self.content,
            "subjects": self.subjects, "updated": self.updated[:10], "cut": not self.whole,
        })  # fmt: skip


class Packet(Struct, kw_only=True):
    """The material for one understanding. `left_out` observations did not fit; `next_step` settles it.

    `tokens` is how many it takes in the lean form.
    """

    type: str
    label: str
    subjects: tuple[str, ...]
    trivial: bool
    new_count: int
    observation_count: int
    value: float
    current: Current | None
    sides: tuple[Current, ...]
    new_understandings: tuple[Current, ...]
    observations: tuple[PacketObservation, ...]
    left_out: int
    tokens: int = 0
    next_step: str

    def lean(self, short: Short) -> dict[str, Any]:
        """Its texts, and the command that settles it."""
        return without_empty({
            "label": self.label, "type": self.type, "trivial": self.trivial, "new": self.new_count,
            "of": self.observation_count, "current": self.current and self.current.lean(short),
            "sides": [side.lean(short) for side in self.sides],
            "new_understandings": [understanding.lean(short) for understanding in self.new_understandings],
            "observations": [observation.lean(short) for observation in self.observations], "left_out": self.left_out or None,
            "next_step": self.next_step,
        })  # fmt: skip


class PassStep(Answer, kw_only=True):
    """Where a pass stands: the packet that comes next (None when all are settled or passed over), and some after it.

    `remaining` counts the packets that are left, `trivial` those of them that are trivial; `packets` are the first of them.
    `pass_id` is None where no pass is open and nothing is new. `began` says that this call began the pass.
    """

    pass_id: str | None
    generation: int
    began: bool = False
    packet: Packet | None
    remaining: int
    trivial: int = 0
    packets: tuple[PacketHead, ...]
    notice: str = HYPOTHESIS_NOTICE

    def lean(self, short: Short) -> dict[str, Any]:
        """The packet, and what is left after it."""
        return without_empty({
            "pass_id": self.pass_id and short(self.pass_id), "packet": self.packet and self.packet.lean(short),
            "remaining": self.remaining, "trivial": self.trivial or None,
            "next": [packet.label for packet in self.packets if self.packet is None or packet.label != self.packet.label],
            "notice": NOTICE if self.packet else "",
        })  # fmt: skip


@verb
@of_the_whole
def consolidate(
    vault: Context, *, packet: str = "", skip: Sequence[str] = (), skip_trivial: bool = False, tokens: int = PACKET_TOKENS
) -> PassStep:
    """The next packet of the pass that is open, or of a new one where it is done (or there is none) and anything is new.

    `skip` passes over packets by their labels first, `skip_trivial` all those that share too little. `packet` asks for one
    by its label. Write its understanding with `pass_id`, and call again; `end_consolidation` completes the ledger.
    """
    _require_room(tokens)
    walk, began = None, False
    # What the indexes know of without a comparison only says where it is made: here, or where a pass is begun.
    if passes(vault).open is not None:
        vault.fresh()
        walk = _Walk(vault, pass_entry) if (pass_entry := passes(vault).open) else None
    if walk is None or not walk.open:
        started = start(vault)
        begun = started.answer
        began = begun.began
        if started.entry is None:
            return PassStep(pass_id=None, generation=begun.generation, packet=None, remaining=0, packets=())
        walk = _Walk(vault, started.entry, started.packets, started.regions)
    if skip or skip_trivial:
        walk = walk.without(skip, trivial=skip_trivial)
    return replace(walk.at(packet, tokens), began=began)


@verb
@looks
def next_packet(vault: Context, pass_id: str = "", *, packet: str = "", tokens: int = PACKET_TOKENS) -> PassStep:
    """The next packet of a pass (by default the open one), or the one labelled `packet`, within `tokens`.

    A packet is settled by the understanding that is written in the pass, or passed over. Nothing is written.
    """
    _require_room(tokens)
    return _Walk(vault, open_pass(vault, pass_id)).at(packet, tokens)


@verb
@looks
def skip_packets(vault: Context, pass_id: str = "", *, packets: Sequence[str] = (), trivial: bool = False) -> PassStep:
    """Pass over packets of a pass by their labels, and with `trivial` all that share too little to say anything.

    That is remembered on this machine, and stands in the ledger once the pass ends.
    """
    return _Walk(vault, open_pass(vault, pass_id)).without(packets, trivial=trivial).step(None)


def _require_room(tokens: int) -> None:
    """Raise UsageError for a packet that could hold nothing."""
    if tokens < FEWEST_TOKENS:
        raise UsageError(f"a packet of {tokens} tokens holds nothing", f"give at least {FEWEST_TOKENS}")


class _Walk:
    """One pass while it is walked through: its packets with their regions (looked up where not known), and which are done."""

    def __init__(self, vault: Context, entry: Entry, packets: Planned | None = None, regions: Regions | None = None) -> None:
        self.vault = vault
        self.entry = entry
        self.regions = regions or regions_of(vault.index.catalog)
        packets = packets or of_pass(vault, entry)
        self.done = packets.answered
        self.plans = [*packets.all, *packets.left]
        self.open = packets.next

    @property
    def next(self) -> PacketPlan | tuple[str, ...] | None:
        """The packet that comes next: the orientation once all others are done."""
        if self.open:
            return self.open[0]
        # Nothing else says where we are otherwise than before.
        is_changed = written_in(self.vault, self.entry) or self._related_to_orientation()
        return ORIENTATION if is_changed and ORIENTATION not in self.done else None

    def without(self, packets: Sequence[str], *, trivial: bool) -> _Walk:
        """The same walk after passing over the named packets, and with `trivial` those that share little."""
        named = [plan.keys if isinstance(plan, PacketPlan) else plan for plan in map(self.labelled, packets)]
        light = [plan.keys for plan in self.plans if plan.trivial and trivial]
        # What was passed over is read and written as a whole: of two processes at it, one would lose its own.
        with held(self.vault, "consolidate"):
            pass_over(self.vault.root, self.entry.id, [*named, *light])
        return _Walk(self.vault, self.entry, regions=self.regions)

    def at(self, packet: str, tokens: int) -> PassStep:
        """The answer with the named packet, or with the next one."""
        chosen = self.labelled(packet) if packet else self.next
        return self.step(None if chosen is None else self.filled(chosen, tokens))

    def labelled(self, text: str) -> PacketPlan | tuple[str, ...]:
        """The packet named `text`: its label as printed, or its subjects with an `x` between them."""
        wanted_key = _key(text)
        if wanted_key == _key(label(())):
            return ORIENTATION
        packet = next((plan for plan in self.plans if _key(plan.label) == wanted_key), None)
        if packet is None:
            raise NotFound(
                f"this pass has no packet `{one_line(text, 60)}`", f"{step('consolidate', listed=True)} shows its packets"
            )
        return packet

    def step(self, packet: Packet | None) -> PassStep:
        """The answer about this walk."""
        return PassStep(
            pass_id=self.entry.id,
            generation=self.entry.generation or 0,
            packet=packet,
            remaining=len(self.open),
            trivial=sum(plan.trivial for plan in self.open),
            packets=tuple(map(head_of, self.open[:AHEAD])),
        )

    def filled(self, plan: PacketPlan | tuple[str, ...], tokens: int) -> Packet:
        """A packet with its texts."""
        if not isinstance(plan, PacketPlan):
            return self._orientation(tokens)
        current, sides, others = self._known(plan, tokens)
        empty = Packet(
            type=plan.due.kind,
            label=plan.label,
            subjects=plan.names,
            trivial=plan.trivial,
            new_count=len(plan.due.current),
            observation_count=plan.observations,
            value=plan.worth,
            current=current,
            sides=sides,
            new_understandings=others,
            observations=(),
            left_out=plan.observations,
            next_step=self._advice(plan),
        )
        evidence, new = self._evidence(plan)
        return self._with_evidence(empty, evidence, tokens, new)

    def _known(self, plan: PacketPlan, tokens: int) -> tuple[Current | None, tuple[Current, ...], tuple[Current, ...]]:
        """The current understanding of a packet, in a pair those of both sides, and the other new ones about it."""
        paired = len(plan.regions) > 1
        each = (self.regions.understandings([region], "single_subject")[:1] for region in plan.regions if paired)
        sides = [entry for side in each for entry in side]
        new = set(plan.due.new)
        shown = {entry.id for entry in sides} | ({plan.understanding.id} if plan.understanding else set())
        others = [
            entry
            for entry in self.regions.members(*plan.regions)
            if entry.record_class is RecordClass.UNDERSTANDING and entry.id in new - shown
        ]
        count = len(sides) + len(others) + bool(plan.understanding)
        room = tokens // _CURRENT_SHARE // max(1, count)
        current = self._current(plan.understanding, room) if plan.understanding else None
        return current, tuple(self._current(side, room) for side in sides), tuple(self._current(other, room) for other in others)

    def _evidence(self, plan: PacketPlan) -> tuple[list[Entry], set[str]]:
        """The observations of a packet: first what was said of the current understanding, whatever it is tagged with, then the
        new ones, then the newest. Beside them the ids of the new ones.
        """
        new = set(plan.due.new)
        related = {e.path: e for e in related_to(self.vault, plan.understanding)} if plan.understanding else {}
        known = {e.path: e for e in self.regions.members(*plan.regions) if e.record_class is RecordClass.OBSERVATION}
        observations = sorted({**known, **related}.values(), key=lambda e: e.observed_sort_key, reverse=True)
        observations.sort(key=lambda e: (e.path not in related, e.id not in new))
        return observations, new

    def _with_evidence(
        self, packet: Packet, observations: Sequence[Entry], tokens: int, new: Collection[str] | None = None
    ) -> Packet:
        """The packet with as many observations as it has room for, and what it takes then; without `new` all of them are."""
        room = tokens - lean_tokens(packet)
        texts = _texts(self.vault, observations, room)
        status_by_path = statuses(self.vault, observations[: len(texts)])

        def evidence(place: int, cut: Cut) -> PacketObservation:
            entry = observations[place]
            return _evidence(self.vault, entry, cut, new is None or entry.id in new, status_by_path[entry.path])

        cuts = fitted(texts, room, lambda place, cut: lean_tokens(evidence(place, cut)) + 1)
        shown = tuple(evidence(place, cut) for place, cut in enumerate(cuts))
        whole = replace(packet, observations=shown, left_out=len(observations) - len(shown))
        return replace(whole, tokens=lean_tokens(whole))

    def _current(self, entry: Entry, room: int) -> Current:
        cut = shortened(body_of(self.vault, entry), room)
        return Memory(self.vault, entry).told(Current, content=cut.text, whole=cut.whole)

    def _orientation(self, tokens: int) -> Packet:
        """The last packet: where we are now, beside what the pass wrote."""
        newest = self._newest_orientation()
        written = written_in(self.vault, self.entry)
        related = self._related_to_orientation()
        room = tokens // (3 if related else 2)
        share = room // max(1, len(written))
        current = self._current(newest, room) if newest else None
        understandings = tuple(self._current(entry, share) for entry in written)
        empty = Packet(
            type="orientation",
            label=label(ORIENTATION),
            subjects=(),
            trivial=False,
            new_count=len(written),
            observation_count=len(related),
            value=0.0,
            current=current,
            sides=(),
            new_understandings=understandings,
            observations=(),
            left_out=len(related),
            next_step=self._orientation_advice(newest),
        )
        return self._with_evidence(empty, related, tokens)

    def _newest_orientation(self) -> Entry | None:
        held = holding_place(self.vault.index.catalog, "orientation", ())
        return max(
            (e for e in held if not successors(self.vault.index.catalog, e.id)), key=lambda e: e.created_sort_key, default=None
        )

    def _related_to_orientation(self) -> list[Entry]:
        """The memories related to the orientation, newest first."""
        newest = self._newest_orientation()
        return sorted(related_to(self.vault, newest), key=lambda e: e.observed_sort_key, reverse=True) if newest else []

    def _orientation_advice(self, newest: Entry | None) -> str:
        ends = step("end_consolidation", pass_id=self._short(self.entry))
        if newest is None:
            return ends
        return f"{self._revision(newest)}\nor, if it still says where things stand: {ends}"

    def _advice(self, plan: PacketPlan) -> str:
        """The calls that settle a packet and that pass it over."""
        settling = self._revision(plan.understanding, source_observation_ids=...) if plan.understanding else self._first(plan)
        return f"{settling}\nor, to pass it over: {step('consolidate', skip=[plan.label])}"

    def _first(self, plan: PacketPlan) -> str:
        names, entry = list(plan.names), self._short(self.entry)
        return step(
            "create_understanding", content=..., subject_names=names, summary=..., source_observation_ids=..., pass_id=entry
        )

    def _revision(self, old: Entry, **more: object) -> str:
        entry = self._short(self.entry)
        known = self._short(old)
        return step("update_understanding", understanding_id=known, new_content=..., new_summary=..., **more, pass_id=entry)

    def _short(self, entry: Entry) -> str:
        return resolve.short(self.vault, entry.id)


def _texts(vault: Context, entries: Iterable[Entry], room: int) -> list[str]:
    """The first bodies, read one by one up to the one with which they are `room` tokens or more."""
    texts: list[str] = []
    for entry in entries:
        if room <= 0:
            break
        texts.append(body_of(vault, entry))
        room -= text_tokens(texts[-1])
    return texts


def _evidence(vault: Context, entry: Entry, cut: Cut, new: bool, status: HasStatus) -> PacketObservation:
    return Memory(vault, entry, status).told(PacketObservation, content=cut.text, new=new, whole=cut.whole)


def _key(text: str) -> tuple[str, ...]:
    return tuple(normal_name(part) for part in text.replace(" x ", " × ").split("×"))
