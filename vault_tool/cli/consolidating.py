"""Commands of consolidation: walk through a pass, begin one, and see what maintenance would pay."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Body, Heading, degraded, fields, in_a_cell, table
from vault_tool.cli.json_input import objects
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import TEXT, Call, Short, command, writes
from vault_tool.cli.saved import commit_of
from vault_tool.cli.setup import in_editor
from vault_tool.errors import Exit, NotFound, UsageError, VaultError
from vault_tool.features.consolidation import consolidating, drafting, packet_texts, report, round_trip
from vault_tool.features.consolidation.consolidating import Begun, Ended, PacketHead, Pending
from vault_tool.features.consolidation.packet_texts import Packet, PassStep
from vault_tool.features.consolidation.passes import waiting_in_words
from vault_tool.features.consolidation.report import ConsolidationReport
from vault_tool.features.consolidation.round_trip import NextPacket
from vault_tool.util.text import counted, one_line
from vault_tool.vault import checked
from vault_tool.vault.context import Context

KEYS = "e write it   s skip   t skip all trivial ones   d end the pass   q stop here"

# What an answer to a packet may hold: parameters of `consolidate_next`.
_ANSWER = ("packet", "content", "summary", "sources", "budget")

# Observations that a person sees before they open the packet in the editor, each in so many characters:
SHOWN = 12

WIDTH = 52

# Packets that the end of a pass names of those that were skipped or left.
SOME = 6


# The tokens that a packet may take.
_TOKENS = click.IntRange(packet_texts.FEWEST_TOKENS)


@command(
    "consolidate",
    "vt consolidate",
    "vt consolidate --json",
    "vt consolidate --skip Redis --json",
    "vt consolidate --done",
)
@takes(packet_texts.consolidate, "packet", "skip", "skip_trivial", "tokens", tokens={"type": _TOKENS})
@click.option("--list", "listed", is_flag=True, help="Only list the packets; begins no pass.")
@click.option(
    "--next",
    "request",
    is_flag=False,
    flag_value="",
    default=None,
    metavar="[FILE|-]",
    help="Answer the packet at hand with a request in JSON, and get the next.",
)
@click.option("--budget", type=click.IntRange(round_trip.FEWEST), metavar="TOKENS", help="With --next: most tokens of the pass.")
@click.option("--again", is_flag=True, help="With --next: ask again where nothing was to say.")
@click.option("--done", is_flag=True, help="End the pass: complete its ledger, make CORE.md.")
@writes
def consolidate(
    call: Call,
    packet: str,
    skip: tuple[str, ...],
    skip_trivial: bool,
    tokens: int,
    listed: bool,
    request: str | None,
    budget: int | None,
    again: bool,
    done: bool,
) -> Exit:
    """Turn what is new into understandings.

    A pass goes packet by packet: a subject's new observations beside what is understood of it, then pairs of subjects,
    then the orientation. In a terminal each packet is shown, and one key opens your editor on its understanding. Programs
    get the next packet, write with --pass, and call again. It may be left at any time: the pass is taken up again.
    """
    if request is None and (budget or again):
        raise UsageError("a budget is for packets one by one", "`vt consolidate --next --budget TOKENS`")
    answer = _request(request) if request is not None else {}
    with call.open_vault() as vault:
        if request is not None:
            parameters = {"budget": budget or 0, **answer}
            return call.emit(round_trip.consolidate_next(vault, **parameters, again=again), _next, vault)
        if done:
            return call.emit(consolidating.end_consolidation(vault), _ended, vault)
        if not listed or packet or skip or skip_trivial:
            step = packet_texts.consolidate(vault, packet=packet, skip=skip, skip_trivial=skip_trivial, tokens=tokens)
        if listed:
            return call.emit(consolidating.get_pending_consolidation(vault, limit=None), partial(_pending, whole=True), vault)
        asks = not call.json and sys.stdin.isatty() and sys.stdout.isatty()
        if asks and step.pass_id:
            return _walk(call, vault, step, tokens)
        return call.emit(step, _step, vault)


def _request(name: str) -> dict[str, Any]:
    """The answer to the packet at hand, from a file or from standard input; nothing where none is named."""
    if not name:
        return {}
    example = 'write it like {"packet": "f78597-3", "content": "...", "summary": "...", "sources": ["ef1824"]}'
    try:
        text = TEXT.convert(name, None, None) if name == "-" else Path(name).read_text(encoding="utf-8-sig")
        [packet] = objects(f"[{text}]", "packet")
    except (OSError, UnicodeDecodeError) as fault:
        raise NotFound(f"`{one_line(name, 60)}` cannot be read: {getattr(fault, 'strerror', '') or fault}", example) from fault
    except ValueError as fault:
        raise UsageError("an answer is one object of JSON", example) from fault
    kinds = checked.kinds_of(round_trip.consolidate_next)
    for field, value in packet.items():
        if field not in _ANSWER:
            raise UsageError(f"`{one_line(field, 40)}` is no part of an answer", f"its parts are {', '.join(_ANSWER)}")
        if kind_wanted := checked.type_error(kinds[field], value):
            raise UsageError(f"`{field}` must be {kind_wanted}", example)
    return dict(packet)


def _next(answer: NextPacket, short: Short) -> Iterator[Block]:
    if answer.written:
        waits = ", and waits for review" if answer.written.waits else ""
        yield f"{short(answer.written.id)} is written{waits}"
    if answer.said:
        yield answer.said
    if answer.packet is not None:
        yield f"packet {answer.packet.id}, {answer.left} after it; {answer.spent} of {answer.budget} tokens"
        yield Body(answer.packet.text)


@command("begin-consolidation", "vt begin-consolidation --json")
def begin_consolidation(call: Call) -> Exit:
    """Begin a pass, or take up the open one.

    Where nothing is new nothing is written.
    """
    with call.open_vault() as vault:
        return call.emit(consolidating.begin_consolidation(vault), _begun, vault)


@command("end-consolidation", "vt end-consolidation")
@click.argument("pass_id", type=MEMORY, metavar="[PASS]", default="", help="The pass; else the open one.")
def end_consolidation(call: Call, pass_id: str) -> Exit:
    """Complete the ledger of a pass, make CORE.md."""
    with call.open_vault() as vault:
        return call.emit(consolidating.end_consolidation(vault, pass_id), _ended, vault)


@command("list-passes", "vt list-passes", "vt list-passes --limit 3 --json")
@takes(consolidating.list_passes, "limit")
def list_passes(call: Call, limit: int) -> Exit:
    """List the passes, newest first.

    `vt show` of one shows its ledger: what was new, written, passed over and left.
    """
    with call.open_vault() as vault:
        return call.emit(consolidating.list_passes(vault, limit=limit), _passes, vault)


def _passes(passes: consolidating.PassList, short: Short) -> Iterator[Block]:
    rows = [
        (str(listed.generation), short(listed.id), listed.created[:16], "ended" if listed.ended else "open", listed.session)
        for listed in passes.results
    ]
    empty = "there was none yet: `vt consolidate` begins one"
    yield table(("pass", "id", "begun", "state", "session"), rows, right=["pass"], empty=empty)


@command("get-pending-consolidation", "vt get-pending-consolidation", "vt get-pending-consolidation --limit 5 --json")
@takes(consolidating.get_pending_consolidation, "limit")
def get_pending_consolidation(call: Call, limit: int) -> Exit:
    """Show what a pass would settle now."""
    with call.open_vault() as vault:
        return call.emit(consolidating.get_pending_consolidation(vault, limit=limit), _pending, vault)


@command("get-consolidation-report", "vt get-consolidation-report", "vt get-consolidation-report --limit 5 --json")
@takes(report.get_consolidation_report, "limit")
def get_consolidation_report(call: Call, limit: int) -> Exit:
    """Show what maintenance would pay, best first."""
    with call.open_vault() as vault:
        return call.emit(report.get_consolidation_report(vault, limit=limit), _report, vault)


def _walk(call: Call, vault: Context, step: PassStep, tokens: int) -> Exit:
    """Show each packet and do what its key says; what cannot be done is said, and the packet comes again."""
    output.say(f"pass {step.generation}: {_left(step)}")
    while step.packet is not None:
        call.emit(step, partial(_shown, width=WIDTH), vault)
        while True:
            output.say(KEYS)
            key = click.getchar().lower()
            if key == "q":
                output.say("the pass stays open: `vt consolidate` goes on")
                return Exit.DONE
            if key == "d":
                return call.emit(consolidating.end_consolidation(vault), _ended, vault)
            try:
                if _decided(call, vault, step, key):
                    break
            except VaultError as fault:
                output.say(output.error_line(fault.message, fault.hint))
        step = packet_texts.next_packet(vault, str(step.pass_id), tokens=tokens)
    return call.emit(consolidating.end_consolidation(vault, str(step.pass_id)), _ended, vault)


def _decided(call: Call, vault: Context, step: PassStep, key: str) -> bool:
    """Do what a key says of one packet; whether it is settled or passed over."""
    assert step.packet is not None and step.pass_id is not None  # the walk's own condition
    if key == "s":
        packet_texts.skip_packets(vault, step.pass_id, packets=[step.packet.label])
        return True
    if key == "t":
        before = step.remaining
        after = packet_texts.skip_packets(vault, step.pass_id, trivial=True).remaining
        output.say(f"{before - after} trivial pairs are passed over")
        return step.packet.trivial
    if key != "e":
        raise UsageError(f"`{key}` means nothing here", KEYS)
    settled = drafting.write_packet(vault, step.pass_id, step.packet, in_editor)
    call.emit(settled, _drafting_result, vault)
    return settled.id is not None


def _left(step: PassStep) -> str:
    light = f", {step.trivial} of them trivial" if step.trivial else ""
    return f"{counted(step.remaining, 'packet')} left{light}"


def _step(step: PassStep, short: Short) -> Iterator[Block]:
    if step.pass_id is None:
        yield "nothing is new since the last pass"
        return
    yield f"pass {step.generation} ({short(step.pass_id)}): {_left(step)}"
    if step.packet is None:
        yield "all packets are settled or passed over: `vt consolidate --done`"
        return
    yield from _shown(step, short)
    yield from step.packet.next_step.splitlines()


def _shown(step: PassStep, short: Short, width: int | None = None) -> Iterator[Block]:
    """A packet: whole, or as lines of `width` characters for a person who will see all of it in the editor."""
    packet = step.packet
    if packet is None:
        return
    yield ""
    yield Heading(_title(packet))
    if packet.current:
        yield f"understood now ({short(packet.current.id)}): {packet.current.summary}"
        yield Body(packet.current.content)
    for memory in (*packet.sides, *packet.new_understandings):
        yield f"{memory.type} of {', '.join(memory.subjects)}: {memory.summary}"
    chosen = packet.observations[:SHOWN] if width else packet.observations
    rows = [
        ("new" if memory.new else "", short(memory.id), memory.type, in_a_cell(memory.content, memory.details, short, width))
        for memory in chosen
    ]
    if rows:
        yield table(("", "id", "type", "observation"), rows)
    if len(chosen) < len(packet.observations):
        yield f"and {len(packet.observations) - len(chosen)} more: the editor shows all of them whole"
    if packet.left_out:
        yield f"{packet.left_out} older observations did not fit"


def _title(packet: Packet) -> str:
    if packet.type == "orientation":
        written = counted(packet.new_count, "understanding")
        return f"orientation: does it still say where things stand? ({written} written in this pass)"
    trivial = " (trivial: it may be chance)" if packet.trivial else ""
    new = counted(packet.new_count, "new memory", "new memories")
    return f"{packet.label}: {counted(packet.observation_count, 'observation')}, {new}{trivial}"


def _heads(heads: Sequence[PacketHead], more: int = 0, *, whole: bool = False) -> Iterator[Block]:
    """Packets as a table; those that are trivial are only counted unless the `whole` of it is wanted, like the `more` of them."""
    light = [] if whole else [head for head in heads if head.trivial and not head.done]
    rows = [
        (head.label, str(head.new_count), str(head.observation_count), f"{head.value:.2f}", _state(head))
        for head in heads
        if head not in light
    ]
    numbers = ("new", "observations", "value")
    yield table(("packet", *numbers, ""), rows, right=numbers, empty="no packets")
    if more:
        yield f"and {counted(more + len(light), 'packet')} more: `vt consolidate --list` shows them"
    elif light:
        yield f"and {counted(len(light), 'trivial pair')}, of one or two shared observations: `vt consolidate --list` shows them"


def _state(head: PacketHead) -> str:
    if head.done:
        return "done"
    understood = "" if head.existing_understanding else "nothing written yet"
    return ", ".join(part for part in ("trivial" if head.trivial else "", understood) if part)


def _begun(begun: Begun, short: Short) -> Iterator[Block]:
    if begun.id is None:
        yield "nothing is new since the last pass"
        return
    state = "begun" if begun.began else "open already"
    yield f"pass {begun.generation} ({short(begun.id)}) {state}: {begun.new_count} new"
    yield from _heads(begun.packets, begun.more)
    yield fields(
        ("about no subject", [short(subject) for subject in begun.unplaced]), ("path", begun.path), ("commit", commit_of(begun))
    )


def _ended(ended: Ended, short: Short) -> Iterator[Block]:
    yield f"pass {ended.generation} ended: {len(ended.written)} written, {len(ended.superseded)} superseded"
    rows = [(name, str(count), str(ended.after.get(name, ""))) for name, count in ended.before.items()]
    yield table(("", "before", "after"), rows, right=("before", "after"))
    yield fields(("skipped", _some(ended.skipped)), ("left", _some(ended.left)))
    yield fields(("path", ended.path), ("commit", commit_of(ended)))


def _some(labels: Sequence[str]) -> list[str]:
    more = len(labels) - SOME
    return [*labels[:SOME], *([f"and {more} more"] if more > 0 else [])]


def _drafting_result(settled: drafting.DraftOutcome, short: Short) -> Iterator[Block]:
    if settled.id is None:
        yield "nothing was written"
        return
    yield f"{short(settled.id)}  {settled.summary}"
    replaced = ", ".join(map(short, settled.superseded))
    yield fields(("rests on", counted(settled.sources, "observation")), ("supersedes", replaced), ("commit", commit_of(settled)))


def _pending(pending: Pending, short: Short, *, whole: bool = False) -> Iterator[Block]:
    since = f" since {pending.since[:10]}" if pending.since else ""
    waits = waiting_in_words(pending.pending_consolidation_count, pending.due_packets)
    yield f"generation {pending.generation}: {waits} to consolidate"
    if pending.pass_id:
        arrived = f", {pending.arrived} came{since}" if pending.arrived else ""
        yield f"pass {short(pending.pass_id)} is open{arrived}: `vt consolidate` goes on"
    yield from _heads((*pending.subjects, *pending.intersections), pending.more, whole=whole)


def _nowhere(count: int) -> str:
    return f"{counted(count, 'observation')} {'is' if count == 1 else 'are'} placed nowhere"


def _report(report: ConsolidationReport, short: Short) -> Iterator[Block]:
    waits = waiting_in_words(report.pending_consolidation_count, report.due_packets)
    yield f"generation {report.generation}: {waits} to consolidate, {_nowhere(report.counts['unlinked_observations'])}"
    for title, columns, rows in _lists(report, short):
        if rows:
            yield ""
            yield Heading(title)
            yield table(columns, rows)
    if report.stale_orientation:
        yield ""
        yield f"orientation ({short(report.stale_orientation.id)}) may be stale: {report.stale_orientation.reason}"
    yield from degraded(report.degraded)


_Rows = Sequence[tuple[str, ...]]


def _lists(report: ConsolidationReport, short: Short) -> Iterator[tuple[str, tuple[str, ...], _Rows]]:
    """The report's lists as tables, in the order in which they are worth looking at."""
    yield from _doubts(report, short)
    yield from _unsynthesised(report, short)
    yield from _loose_ends(report, short)


def _titled(report: ConsolidationReport, name: str, text: str) -> str:
    shown, count = len(getattr(report, name)), report.counts[name]
    return f"{text} ({count})" if shown == count else f"{text} ({shown} of {count})"


def _doubts(report: ConsolidationReport, short: Short) -> Iterator[tuple[str, tuple[str, ...], _Rows]]:
    """The contradictions and the questioned memories of a packet."""
    for group in report.contested_understandings:
        about = f" of {', '.join(group.subject_names)}" if group.subject_names else ""
        heads = [(short(head.id), head.summary) for head in group.heads]
        yield f"Contested: {group.kind}{about}", ("id", "summary"), heads
    yield (
        _titled(report, "questionable_items", "Questionable"),
        ("id", "kind", "title", "reason"),
        [(short(q.id), q.kind, q.title, q.reason) for q in report.questionable_items],
    )


def _unsynthesised(report: ConsolidationReport, short: Short) -> Iterator[tuple[str, tuple[str, ...], _Rows]]:
    """Subjects and intersections whose understanding is missing or out of date."""
    yield (
        _titled(report, "subjects_needing_understanding", "Subjects without an understanding"),
        ("subject", "observations"),
        [(s.name, str(s.observation_count)) for s in report.subjects_needing_understanding],
    )
    yield (
        _titled(report, "stale_understandings", "Stale understandings"),
        ("id", "subjects", "came since", "summary"),
        [(short(u.id), ", ".join(u.subject_names), str(u.new_observation_count), u.summary) for u in report.stale_understandings],
    )
    yield (
        _titled(report, "intersections_needing_synthesis", "Intersections that changed"),
        ("intersection", "size", "new", ""),
        [
            (
                f"{i.subject_a} × {i.subject_b}",
                str(i.intersection_size),
                str(i.new_generation_count),
                "trivial" if i.trivial else "",
            )
            for i in report.intersections_needing_synthesis
        ],
    )
    yield (
        _titled(report, "semantically_dense_intersections", "Dense intersections without a relationship understanding"),
        ("intersection", "size", "similarity"),
        [
            (f"{d.subject_a} × {d.subject_b}", str(d.intersection_size), _score(d.similarity_score))
            for d in report.semantically_dense_intersections
        ],
    )


def _loose_ends(report: ConsolidationReport, short: Short) -> Iterator[tuple[str, tuple[str, ...], _Rows]]:
    """Links that may be missing, and notes that were never taken up again."""
    yield (
        _titled(report, "contained_subjects", "Subjects that may be part of another: merge them, or say it in a structural note"),
        ("subject", "part of", "shared"),
        [(c.part, c.whole, f"{c.shared_count} of {c.part_count}") for c in report.contained_subjects],
    )
    yield (
        _titled(report, "edge_suggestions", "Links that may be missing"),
        ("from", "type", "to", "why"),
        [
            (f"{short(e.from_id)} {e.from_title}", e.type, f"{short(e.to_id)} {e.to_title}", e.why)
            for e in report.edge_suggestions
        ],
    )
    yield (
        _titled(report, "untouched_subjects", "Long untouched"),
        ("subject", "observations", "generations ago"),
        [(u.name, str(u.observation_count), str(u.generations_ago)) for u in report.untouched_subjects],
    )
    yield (
        _titled(report, "unlinked_observations", "Placed nowhere, newest first"),
        ("id", "subjects", "observation"),
        [(short(o.id), ", ".join(o.subject_names), o.content[:100]) for o in report.unlinked_observations],
    )
    yield _titled(report, "hygiene", "Hygiene"), ("id", "kind", "why"), [(short(h.id), h.kind, h.why) for h in report.hygiene]


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"
