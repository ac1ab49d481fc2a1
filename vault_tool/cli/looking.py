"""Commands that read memories: one by one, and by their links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from vault_tool.belief.fold import Belief, said_by
from vault_tool.cli.blocks import Block, Body, Heading, detail_fields, fields, source, status_lines, table
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


@command("get", "vt get a1b2c3", "vt get a1b2c3 --json")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="An id or a prefix of one, a path, or a subject's name.")
def get(call: Call, memory_id: str) -> Exit:
    """Read one memory whole; it counts as used."""
    with call.open_vault() as vault:
        return call.emit(verb.get(vault, memory_id), _memory, vault)


@command("show", "vt show a1b2c3 --belief", "vt show a1b2c3 --timeline", "vt show a1b2c3 --source --json")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="An id or a prefix of one, a path, or a subject's name.")
@click.option("--belief", is_flag=True, help="Also what truth and utility rest on.")
@click.option("--timeline", is_flag=True, help="Also each judgement with what it did, when it fades, and who was shown it.")
@click.option("--source", is_flag=True, help="Also its whole file, and the hash that `vt edit --text` asks for.")
def show(call: Call, **given: Any) -> Exit:
    """Look at a memory without counting it as used."""
    with call.open_vault() as vault:
        return call.emit(verb.show(vault, **given), _memory, vault)


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
        *_weighed(memory),
        ("evidence", "evidence moved" if memory.evidence_moved and not memory.belief else ""),
        ("turn", memory.head.get("turn")),
        ("path", memory.path),
    )
    yield from status_lines(short(memory.id), memory, short)
    yield ""
    yield Body(memory.content)
    # Its problem is among the links.
    yield detail_fields(memory.details, short, but="problem")
    if memory.consents:
        yield ""
        yield consent_table(memory.consents)
    if memory.relations:
        yield ""
        yield _links(memory.relations, short)
    if memory.belief:
        yield ""
        yield _belief(memory.belief, short)
    if memory.belief and memory.evidence:
        yield table(("evidence", "state", "detail"), [(one.reference, one.state.value, one.detail) for one in memory.evidence])
    if memory.posterior:
        shown = ((one.mean, one.low, one.high) for one in memory.posterior.values())
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


def _timeline(found: Timeline) -> Iterator[Block]:
    rows = [
        (one.at, one.mark.value, one.by, f"{one.of} {one.moved:+.3f}" if one.of else "", f"{one.truth:.2f}", f"{one.utility:.2f}",
         one_line("; ".join(filter(None, (one.reason, one.limited, _taken_back(one)))), _REASON))
        for one in found.steps
    ]  # fmt: skip
    yield table(("when", "what", "by", "moved", "truth", "utility", "why"), rows, empty="nobody judged it yet")
    if found.fades:
        yield fields(("if nobody uses it", _fades(found.fades)), ("if used today", _fades(found.fades_if_used)))
    if found.shown:
        sessions = [(one.session, one.first, one.last, ", ".join(one.how)) for one in found.shown]
        yield table(("shown to session", "first", "last", "by"), sessions)


def _taken_back(one: Step) -> str:
    return f"taken back at {one.withdrawn_at}" if one.withdrawn_at else ""


def _fades(found: Sequence[Reached]) -> str:
    return ", ".join(f"{one.standing.value} from {one.at[:10]}" for one in found)


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


def _relations(found: verb.Relations, short: Short) -> Iterator[Block]:
    yield Heading(found.title)
    yield _links(found.results, short)


def _links(relations: Sequence[verb.Relation], short: Short) -> Block:
    rows = [
        (
            short(r.id), f"{'->' if r.direction == 'out' else '<-'} {r.relation}", r.title, r.why,
            "" if r.strength is None else f"{r.strength:.2f}", short(r.edge_id) if r.edge_id else "",
        )
        for r in relations
    ]  # fmt: skip
    names = ("id", "link", "title", "why", "strength", "its id")
    # What is tagged, superseded or evidence is joined by no note of its own.
    count = len(names) if any(r.edge_id for r in relations) else 4
    return table(names[:count], [row[:count] for row in rows], empty="no links")
