"""A pass in one round trip a packet: an answer to the packet at hand goes in, and the next packet comes out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from vault_tool.consolidation.packets import shortened
from vault_tool.errors import NotFound, UsageError
from vault_tool.features.consolidation import consolidating
from vault_tool.features.consolidation.given_packets import Given, Walk, keep, walk
from vault_tool.features.consolidation.passes import ORIENTATION, PacketPlan, label, of_pass, pending, written_in
from vault_tool.features.consolidation.skipped_packets import pass_over
from vault_tool.features.understandings.understandings import understand
from vault_tool.files.layout import LOCAL
from vault_tool.files.local_trust import place
from vault_tool.generate.escape import unframed
from vault_tool.generate.starter import is_starter
from vault_tool.index import seals
from vault_tool.index.relations import holding_place, regions_of, successors
from vault_tool.index.timeline import entries_of
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util import atomic
from vault_tool.util.hints import option, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import counted, one_line
from vault_tool.util.text import tokens as text_tokens
from vault_tool.vault import resolve
from vault_tool.vault.answers import body_of
from vault_tool.vault.contests import all_overtaken
from vault_tool.vault.context import Context
from vault_tool.vault.lean import Short, without_empty
from vault_tool.vault.open_pass import passes
from vault_tool.vault.pending import held
from vault_tool.vault.request import Answer, of_the_whole, verb

# The most tokens of all packets of a pass, unless a budget is given, and of one packet.
BUDGET = 3000
PACKET = 800
FEWEST = 200

# The present text has at least one part in so many of a packet, and the lines that say what is cut so many tokens.
_HEAD_LEAST, _FRAME = 5, 20

# Kept of a budget for the orientation, which comes last: one part in so many, at most so much.
_LAST_SHARE, _LAST = 5, 300

# The text that says that there is nothing to say.
NOTHING = "none"


class WrittenPacket(Struct, kw_only=True):
    """The understanding that a packet came to: what it replaced, and whether it waits for a person first."""

    id: str
    replaced: tuple[str, ...]
    waits: bool


class GivenPacket(Struct, kw_only=True):
    """A packet to be answered: its id, what it is about ("" for the orientation), and its text with what that takes."""

    id: str
    subject: str
    tokens: int
    text: str


class NextPacket(Answer, kw_only=True):
    """The understanding written of the packet before, and the next packet; None with `said` at the end of the pass.

    `left` counts the packets after this one, `spent` the tokens of all so far, `budget` the most of them.
    """

    written: WrittenPacket | None = None
    packet: GivenPacket | None = None
    left: int = 0
    spent: int = 0
    budget: int = BUDGET
    said: str = ""
    pass_id: str | None = None
    warnings: tuple[str, ...] = ()

    def lean(self, short: Short) -> dict[str, Any]:
        """The packet, and where the pass stands."""
        written = self.written and without_empty({
            "id": short(self.written.id), "replaced": [*map(short, self.written.replaced)], "waits": self.written.waits,
        })  # fmt: skip
        packet = self.packet and {
            "id": self.packet.id, "subject": self.packet.subject, "tokens": self.packet.tokens, "text": self.packet.text,
        }  # fmt: skip
        stands = {"packet": packet or None, "left": self.left, "spent": self.spent, "budget": self.budget}
        return {**without_empty({"written": written}), **stands, **without_empty({"said": self.said, "warnings": self.warnings})}


@verb
@of_the_whole
def consolidate_next(
    vault: Context,
    *,
    packet: str = "",
    content: str = "",
    summary: str = "",
    sources: Sequence[str] = (),
    budget: int = 0,
    again: bool = False,
) -> NextPacket:
    """Answer the packet at hand, and get the next one, until none is left or the `budget` of tokens is spent (3000 by default).

    `content` is the text that the packet comes to, `summary` its one line, `sources` the ids that it rests on: of the packet or
    of the present text, all of the packet if left out. `none` as content says that there is nothing to say. Without an answer
    the packet at hand comes. The first call begins a pass where anything is due, the last one ends it, and 30 idle minutes do.
    `again` asks once more for the packets of which there was nothing to say. A text is not written where something new came
    for its packet meanwhile: then that comes again.
    """
    if budget and budget < FEWEST:
        raise UsageError(f"a budget of {budget} tokens holds no packet", f"give at least {FEWEST}")
    # What is at hand is read, answered and kept as one: of two agents in one pass each finds what the other left.
    with seals.lock(_own_folder(vault) / "packets.lock", vault.lock_wait(), "the pass of consolidation"):
        return _called(vault, packet, content, summary, sources, budget, again)


def _own_folder(vault: Context) -> Path:
    folder = place(vault.root) / LOCAL
    with atomic.storage(LOCAL):
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _called(
    vault: Context, packet: str, content: str, summary: str, sources: Sequence[str], budget: int, again: bool
) -> NextPacket:
    vault.fresh()
    ended = consolidating.end_idle(vault)
    open_pass = passes(vault).open
    kept_walk = walk(vault.root, open_pass.id) if open_pass else None
    trip = _Trip(vault, open_pass, kept_walk)
    if packet or content:
        return trip.answered(packet, content, summary, sources, budget)
    if ended and trip.walk is None:
        trip.message = ended
    return trip.begun(budget, again)


class _Trip:
    """One call: the pass that is open and what is kept of it."""

    def __init__(self, vault: Context, open_pass: Entry | None, kept_walk: Walk | None) -> None:
        self.vault = vault
        self.open_pass = open_pass
        self.walk = kept_walk
        self.message = ""
        self.written: WrittenPacket | None = None
        self.warnings: tuple[str, ...] = ()

    @property
    def at_hand(self) -> Given | None:
        """The packet that was given and not answered."""
        last = self.walk.given[-1] if self.walk and self.walk.given else None
        return None if last is None or last.settled else last

    def begun(self, budget: int, again: bool) -> NextPacket:
        """The answer to a call without one: the packet at hand, or the first of a new pass."""
        if self.walk is not None and budget:
            self.walk = replace(self.walk, budget=budget)
        if self.at_hand is not None:
            return self._same(self.at_hand)
        if self.open_pass is None:
            if not again and not pending(self.vault).next:
                return NextPacket(said=self.message or "nothing is due: what is new is too little yet", budget=budget or BUDGET)
            started = consolidating.start(self.vault, again=again)
            self.open_pass = started.entry
            if self.open_pass is None or not started.packets.all:
                self._close()
                return NextPacket(said=self.message or "nothing is due: what is new is too little yet", budget=budget or BUDGET)
        if self.walk is None:
            self.walk = Walk(self.open_pass.id, self.vault.now(), budget or BUDGET, again=again)
            # What is asked again is planned by what is kept.
            self._keep()
        return self._next()

    def answered(self, packet: str, content: str, summary: str, sources: Sequence[str], budget: int) -> NextPacket:
        """The answer to a call with one."""
        at_hand = self.at_hand
        if at_hand is None:
            raise NotFound("no packet is at hand", f"{step('consolidate_next')} gives the next one")
        if packet and packet != at_hand.id:
            raise NotFound(f"`{one_line(packet, 40)}` is not the packet at hand: that is {at_hand.id}", _answer(at_hand))
        assert self.walk is not None and self.open_pass is not None  # a packet at hand is of a pass that is open
        if budget:
            self.walk = replace(self.walk, budget=budget)
        if not content.strip():
            return self._same(at_hand)
        if not packet:
            raise UsageError(f"it is not said which packet the text is for: {at_hand.id} is at hand", _answer(at_hand))
        if content.strip().rstrip(".").casefold() == NOTHING:
            pass_over(self.vault.root, self.open_pass.id, [at_hand.keys])
            return self._settled(at_hand)
        plan = self._plan(at_hand)
        if (change := self._change(at_hand, plan)) is not None:
            self.message = f"not written: {change}, so the packet comes again"
            return self._give(plan)
        if not summary.strip():
            raise UsageError(
                f"the text for {at_hand.id} has no summary", f"say its one line with {option('summary', 'one line')}"
            )
        self._write(at_hand, plan, content, summary, self._sources(at_hand, plan, sources))
        return self._settled(at_hand)

    def _plan(self, answered: Given) -> PacketPlan | None:
        """The packet as it is now; None for the orientation, and where nothing of it is new any more."""
        assert self.open_pass is not None
        packets = of_pass(self.vault, self.open_pass)
        return next((plan for plan in (*packets.all, *packets.left) if plan.keys == answered.keys), None)

    def _change(self, answered: Given, plan: PacketPlan | None) -> str | None:
        """The reason why an answer is out of date: something new that its reader has not seen; None where nothing changed."""
        if not answered.keys:
            newest = self._orientation()
            return None if answered.understanding == (newest.id if newest else "") else "the orientation was rewritten meanwhile"
        if plan is None:
            return "its memories are gone or settled otherwise"
        if answered.understanding != (plan.understanding.id if plan.understanding else ""):
            return "its present text was replaced meanwhile"
        came = len(set(plan.due.new) - set(answered.new))
        return f"{counted(came, 'new memory', 'new memories')} came meanwhile" if came else None

    def _sources(self, answered: Given, plan: PacketPlan | None, named: Sequence[str]) -> tuple[str, ...]:
        if plan is None:
            return ()
        old = all_overtaken(self.vault)
        shown = entries_of(self.vault.index.catalog, answered.shown)
        if not named:
            return tuple(entry.id for entry in shown if entry.path not in old)
        present = plan.understanding.texts("sources") if plan.understanding else ()
        entries = tuple(entry.id for entry in resolve.find_all(self.vault, named, (RecordClass.OBSERVATION,)))
        for identity in entries:
            if identity not in (*answered.shown, *present):
                raise UsageError(
                    f"{resolve.short(self.vault, identity)} is neither in packet {answered.id} nor a source of its present text",
                    f"name ids of the packet, or leave {option('sources')} out for all of them",
                )
        return entries

    def _write(self, answered: Given, plan: PacketPlan | None, content: str, summary: str, sources: Sequence[str]) -> None:
        assert self.open_pass is not None
        kind = None if plan else "orientation"
        why = "" if plan else "after a pass of consolidation"
        names = plan.names if plan else ()
        understanding = understand(self.vault, names, content, summary, sources, answered.understanding, kind=kind, why=why)
        self.written = WrittenPacket(id=understanding.id, replaced=understanding.superseded, waits=understanding.pending_review)
        self.warnings = understanding.warnings
        if understanding.pending_review or not understanding.pass_id:
            # It waits for a person, or is what was there already: either way the packet is answered.
            pass_over(self.vault.root, self.open_pass.id, [answered.keys])

    def _settled(self, answered: Given) -> NextPacket:
        """The next packet, once this one is answered."""
        assert self.walk is not None
        done = replace(answered, settled=True)
        self.walk = replace(self.walk, given=(*self.walk.given[:-1], done))
        self._keep()
        return self._next()

    def _next(self) -> NextPacket:
        assert self.walk is not None and self.open_pass is not None
        waits = of_pass(self.vault, self.open_pass).next
        room = self.walk.budget - self.walk.spent
        if waits and room - (min(_LAST, self.walk.budget // _LAST_SHARE) if self.walk.given else 0) >= self._least(waits[0]):
            return self._give(waits[0])
        if waits:
            self.message = (
                self.message or f"the budget is spent: {counted(len(waits), 'packet waits', 'packets wait')} for another pass"
            )
        if self._orientation_is_due() and room >= FEWEST // 2:
            return self._give(None)
        self._close()
        message = self.message or "that was the last: the pass is ended"
        return self._answer(None, len(waits), message)

    def _least(self, plan: PacketPlan) -> int:
        """The fewest tokens that a packet takes: all of it, or as much as one packet may."""
        assert self.walk is not None
        return min(PACKET, text_tokens(self._text(plan, PACKET)[0])) if self.walk.given else FEWEST

    def _orientation_is_due(self) -> bool:
        assert self.walk is not None and self.open_pass is not None
        answered = any(not packet.keys and packet.settled for packet in self.walk.given)
        return not answered and any(entry.type != "orientation" for entry in written_in(self.vault, self.open_pass))

    def _close(self) -> None:
        if self.open_pass is not None:
            ended = consolidating.end_consolidation(self.vault, self.open_pass.id)
            self.warnings = (*self.warnings, *ended.warnings)

    def _same(self, answered: Given) -> NextPacket:
        """The packet at hand once more: what was sent already is not counted again."""
        plan = self._plan(answered) if answered.keys else None
        if answered.keys and plan is None:
            return self._settled(answered)
        self._keep()
        if self._change(answered, plan) is not None:
            return self._give(plan)
        text, _, _ = self._text(plan, PACKET)
        return self._answer(
            GivenPacket(id=answered.id, subject=self._subject(plan), tokens=text_tokens(text), text=text), self._left()
        )

    def _give(self, plan: PacketPlan | None) -> NextPacket:
        assert self.walk is not None and self.open_pass is not None
        room = max(FEWEST // 2, min(PACKET, self.walk.budget - self.walk.spent))
        text, new, shown = self._text(plan, room)
        number = len(self.walk.given) + 1
        newest = plan.understanding if plan else self._orientation()
        packet = Given(
            f"{resolve.short(self.vault, self.open_pass.id)}-{number}", plan.keys if plan else ORIENTATION, new, shown,
            newest.id if newest else "",
        )  # fmt: skip
        cost = text_tokens(text)
        self.walk = replace(self.walk, spent=self.walk.spent + cost, given=(*self.walk.given, packet))
        self._keep()
        return self._answer(GivenPacket(id=packet.id, subject=self._subject(plan), tokens=cost, text=text), self._left())

    def _left(self) -> int:
        """How many packets come after the one at hand, the orientation not counted."""
        assert self.open_pass is not None
        at_hand = self.walk.given[-1] if self.walk and self.walk.given else None
        waits = of_pass(self.vault, self.open_pass).next
        return sum(at_hand is None or plan.keys != at_hand.keys for plan in waits)

    def _keep(self) -> None:
        assert self.walk is not None
        with held(self.vault, "consolidate"):
            keep(self.vault.root, replace(self.walk, at=self.vault.now()))

    def _answer(self, packet: GivenPacket | None, left: int, message: str = "") -> NextPacket:
        assert self.walk is not None and self.open_pass is not None
        return NextPacket(
            written=self.written, packet=packet, left=left, spent=self.walk.spent, budget=self.walk.budget,
            said=message or self.message, pass_id=self.open_pass.id, warnings=self.warnings,
        )  # fmt: skip

    def _subject(self, plan: PacketPlan | None) -> str:
        return plan.label if plan else label(ORIENTATION)

    def _text(self, plan: PacketPlan | None, room: int) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """A packet's text in at most `room` tokens, the ids of what is new in it, and of what of that is shown."""
        if plan is None:
            entries: list[Entry] = [e for e in written_in(self.vault, self._open()) if e.type != "orientation"]
            rows = [(entry, entry.text("summary")) for entry in entries]
        else:
            entries = entries_of(self.vault.index.catalog, plan.due.new)
            related = {identity for identity, _ in self.vault.index.catalog.pairs("related_to")}
            entries.sort(key=lambda entry: (entry.id not in related, entry.observed_sort_key))
            rows = [(entry, body_of(self.vault, entry)) for entry in entries]
        old = all_overtaken(self.vault)
        longest = max(40, room // 3)
        every: list[tuple[str, int]] = []
        for entry, text in rows:
            was = "was: " if entry.path in old else ""
            head_of_line = f"{resolve.short(self.vault, entry.id)} {was}{entry.type} {entry.observed[:10]} "
            line = head_of_line + shortened(unframed(one_line(text)), longest).text
            every.append((line, text_tokens(line) + 1))
        # What is new has the greater part, for the present text is a `get` away. What is written for the orientation stands for
        # all of the former one, so more of that is shown.
        lines_cost = sum(cost for _, cost in every) + _FRAME
        head = list(self._head(plan, max(room // _HEAD_LEAST, min(room - lines_cost, room * 3 // 4)) if plan else room * 3 // 4))
        shown: list[str] = []
        lines: list[str] = []
        left = room - text_tokens("\n".join(head)) - _FRAME
        for (entry, _), (line, cost) in zip(rows, every, strict=True):
            left -= cost
            if left < 0 and shown:
                break
            lines.append(line)
            shown.append(entry.id)
        if len(shown) < len(rows):
            more = len(rows) - len(shown)
            lines.append(f"({more} more did not fit: they stay new.)" if plan else f"({more} more of this pass are not shown.)")
        return "\n".join((*head, *lines)), tuple(entry.id for entry, _ in rows), tuple(shown)

    def _open(self) -> Entry:
        assert self.open_pass is not None
        return self.open_pass

    def _head(self, plan: PacketPlan | None, room: int) -> Iterator[str]:
        if plan is None:
            yield "Where things stand after this pass, in a few sentences:"
            newest = self._orientation()
            if newest is not None and not is_starter("orientation", body_of(self.vault, newest)):
                yield self._so_far(newest, room)
            return
        yield f"{unframed(_about(plan))}: {len(plan.due.current)} new."
        if plan.understanding is not None:
            yield self._so_far(plan.understanding, room)
        elif len(plan.regions) > 1:
            for side in of_sides(self.vault, plan):
                named = unframed(", ".join(side.subjects))
                yield f"{named} ({resolve.short(self.vault, side.id)}): {unframed(side.text('summary'))}"

    def _so_far(self, entry: Entry, room: int) -> str:
        short = resolve.short(self.vault, entry.id)
        present = shortened(unframed(body_of(self.vault, entry).strip()), room)
        return f"So far ({short}): {present.text}{'' if present.whole else f' (cut: get {short} has the rest)'}"

    def _orientation(self) -> Entry | None:
        held = holding_place(self.vault.index.catalog, "orientation", ())
        return max(
            (e for e in held if not successors(self.vault.index.catalog, e.id)), key=lambda e: e.created_sort_key, default=None
        )


def _about(plan: PacketPlan) -> str:
    """The subject of a packet, and of a pair what its text is to tell of both."""
    return " and ".join(plan.names) + ", what connects them" if len(plan.names) > 1 else plan.label


def of_sides(vault: Context, plan: PacketPlan) -> Iterator[Entry]:
    """The present understandings of both sides of a pair."""
    regions = regions_of(vault.index.catalog)
    for region in plan.regions:
        yield from regions.understandings([region], "single_subject")[:1]


def _answer(packet: Given) -> str:
    return f"answer it: {step('consolidate_next', packet=packet.id, content=..., summary=...)}"


__all__ = ["BUDGET", "GivenPacket", "NextPacket", "WrittenPacket", "consolidate_next"]
