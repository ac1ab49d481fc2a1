"""Commands that read memories: one by one, and by their links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from vault_tool.belief.fold import Belief, said_by
from vault_tool.cli.blocks import Block, Body, Heading, detail_fields, fields, source, status_lines, table, with_status
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import consent_table
from vault_tool.errors import Exit
from vault_tool.features.reading import get as verb
from vault_tool.model.signals import REFUSALS
from vault_tool.util.text import counted, one_line

if TYPE_CHECKING:
    from vault_tool.belief.steps import Reached, Step
    from vault_tool.features.reading.memory_timeline import Timeline

_REASON = 200


@command("get", "vt get a1b2c3", "vt get a1b2c3 --json", "vt get a1b2c3 --part 2")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="An id or a prefix of one, a path, or a subject's name.")
@takes(verb.get, "part", "as_of")
def get(call: Call, memory_id: str, part: int | None, as_of: str | None) -> Exit:
    """Read one memory whole; it counts as used."""
    with call.open_vault() as vault:
        return call.emit(verb.get(vault, memory_id, part, as_of=as_of), _memory, vault)


@command("show", "vt show a1b2c3 --belief", "vt show a1b2c3 --timeline", "vt show a1b2c3 --source --json")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="An id or a prefix of one, a path, or a subject's name.")
@click.option("--belief", is_flag=True, help="Also what truth and utility rest on.")
@click.option("--timeline", is_flag=True, help="Also each judgement with what it did, when it fades, and who was shown it.")
@click.option("--source", is_flag=True, help="Also its whole file, and the hash that `vt edit --text` asks for.")
def show(call: Call, **options: Any) -> Exit:
    """Look at a memory without counting it as used."""
    with call.open_vault() as vault:
        return call.emit(verb.show(vault, **options), _memory, vault)


@command("related", "vt related a1b2c3", "vt related a1b2c3 --type SOLVES --type ATTEMPTED")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="The memory.")
@takes(verb.related, "types")
def related(call: Call, memory_id: str, types: tuple[str, ...]) -> Exit:
    """Show what a memory is linked to.

    In both directions: edges, what supersedes what, evidence, problems and solutions, weak links.
    """
    with call.open_vault() as vault:
        return call.emit(verb.related(vault, memory_id, types=types), _relations, vault)


def _memory(memory: verb.Memory, short: Short) -> Iterator[Block]:
    short = partial("{}:{}".format, memory.vault) if memory.vault else short
    yield Heading(memory.title)
    yield fields(
        ("id", short(memory.id)),
        ("type", memory.type),
        ("subjects", memory.subjects),
        ("summary", memory.summary),
        ("solved since by", short(memory.solved_by) if memory.solved_by else ""),
        ("from", _source(memory)),
        ("put by others", "; ".join(memory.put_by_others)),
        ("consent", f"{memory.consent}: told to nobody" if memory.consent in REFUSALS else memory.consent),
        ("at start", "not given to a session" if memory.not_at_start else ""),
        *_weighed(memory),
        ("evidence", "evidence moved" if memory.evidence_moved and not memory.belief else ""),
        ("turn", memory.head.get("turn")),
        ("path", memory.path),
    )
    yield from status_lines(short(memory.id), memory, short)
    yield ""
    yield Body(memory.content)
    if memory.part:
        yield f"part {memory.part} of {memory.parts}"
    # Its problem is among the links.
    yield detail_fields(memory.details, short, but="problem")
    if memory.consents:
        yield ""
        yield consent_table(memory.consents)
    if memory.relations:
        yield ""
        yield from _links(memory.relations, short)
    if memory.belief:
        yield ""
        yield _belief(memory.belief, short)
    if memory.belief and memory.evidence:
        yield table(
            ("evidence", "state", "detail"),
            [(evidence.reference, evidence.state.value, evidence.detail) for evidence in memory.evidence],
        )
    if memory.posterior:
        shown = ((estimate.mean, estimate.low, estimate.high) for estimate in memory.posterior.values())
        rows = [(_named(name, short), *map("{:.2f}".format, row)) for name, row in zip(memory.posterior, shown, strict=True)]
        yield table(("as a Beta posterior", "mean", "5 %", "95 %"), rows, right=["mean", "5 %", "95 %"])
    if memory.timeline:
        yield ""
        yield from _timeline(memory.timeline)
    if memory.source:
        yield ""
        yield fields(("hash", memory.source.hash))
        yield Body(memory.source.text)
    yield ""
    yield memory.notice


def _timeline(timeline: Timeline) -> Iterator[Block]:
    rows = [
        (step.at, step.mark.value, step.by, f"{step.of} {step.moved:+.3f}" if step.of else "", f"{step.truth:.2f}",
         f"{step.utility:.2f}", one_line("; ".join(filter(None, (step.reason, step.limited, _taken_back(step)))), _REASON))
        for step in timeline.steps
    ]  # fmt: skip
    yield table(("when", "what", "by", "moved", "truth", "utility", "why"), rows, empty="nobody judged it yet")
    if timeline.fades:
        yield fields(("if nobody uses it", _fades(timeline.fades)), ("if used today", _fades(timeline.fades_if_used)))
    if timeline.shown:
        sessions = [(session.session, session.first, session.last, ", ".join(session.how)) for session in timeline.shown]
        yield table(("shown to session", "first", "last", "by"), sessions)


def _taken_back(step: Step) -> str:
    return f"taken back at {step.withdrawn_at}" if step.withdrawn_at else ""


def _fades(reached: Sequence[Reached]) -> str:
    return ", ".join(f"{change.standing.value} from {change.at[:10]}" for change in reached)


def _named(value: str, short: Short) -> str:
    """The name of a posterior; a problem in it by its short id."""
    what, _, problem = value.rpartition(" ")
    return f"{what} {short(problem)}" if what else value


def _weighed(memory: verb.Memory) -> Iterator[tuple[str, object]]:
    """A memory's truth and standing; empty for a subject, an edge or a pass, which hold no belief."""
    if memory.record_class in ("observation", "understanding"):
        yield "truth", memory.truth
        yield "utility", memory.utility
        yield "used", _times(memory.access_count)
        yield "standing", f"{memory.standing} ({memory.decay_score:.2f})"


def _times(count: int) -> str:
    return "never" if not count else "once" if count == 1 else f"{count} times"


def _belief(belief: Belief, short: Short) -> Block:
    return fields(
        ("truth", belief.truth),
        ("utility", belief.utility),
        *((f"utility for {short(problem)}", value) for problem, value in belief.by_problem.items()),
        ("useful", belief.useful),
        ("voted down", counted(belief.against, "session") if belief.against else ""),
        ("questioned", "; ".join(dict.fromkeys(signal.rationale or signal.at for signal in belief.questionable))),
        ("questioned by others", "; ".join(dict.fromkeys(map(said_by, belief.told)))),
        ("last used", belief.last_accessed),
        ("reviewed", belief.reviewed_at),
    )


def _source(memory: verb.Memory) -> str:
    return source(memory.origin, str(memory.head.get("model") or ""), memory.created, reviewed=memory.reviewed)


def _relations(relations: verb.Relations, short: Short) -> Iterator[Block]:
    yield Heading(relations.title)
    yield from status_lines(short(relations.id), relations, short)
    yield from _links(relations.results, short)


def _links(relations: Sequence[verb.Relation], short: Short) -> Iterator[Block]:
    rows = [
        (
            short(r.id), f"{'->' if r.direction == 'out' else '<-'} {r.relation}", with_status(r.title, r), r.why,
            "" if r.strength is None else f"{r.strength:.2f}", short(r.edge_id) if r.edge_id else "",
        )
        for r in relations
    ]  # fmt: skip
    names = ("id", "link", "title", "why", "strength", "its id")
    # What is tagged, superseded or evidence is joined by no note of its own.
    count = len(names) if any(r.edge_id for r in relations) else 4
    yield table(names[:count], [row[:count] for row in rows], empty="no links")
    for other in {relation.id: relation for relation in relations}.values():
        yield from status_lines(short(other.id), other, short)
