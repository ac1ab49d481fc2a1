"""Commands that read memories: one by one, by their links, by their words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from vault_tool.belief.fold import Belief
from vault_tool.cli.blocks import Block, Body, Heading, degraded, fields, table
from vault_tool.cli.names import MEMORY, SUBJECT
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import short_ids
from vault_tool.errors import Exit
from vault_tool.verbs import look
from vault_tool.verbs.search import MODES, Found, SearchResults
from vault_tool.verbs.search import search as search_verb


@command("get", "vt get a1b2c3", "vt get a1b2c3 --json")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="An id or a prefix of one, a path, or a subject's name.")
def get(call: Call, memory_id: str) -> Exit:
    """Read one memory whole; it counts as used."""
    with call.open_vault() as vault:
        return call.emit(look.get(vault, memory_id), _memory, vault)


@command("show", "vt show a1b2c3 --belief")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="An id or a prefix of one, a path, or a subject's name.")
@click.option("--belief", is_flag=True, help="Also how truth and utility came about.")
def show(call: Call, memory_id: str, belief: bool) -> Exit:
    """Look at a memory without counting it as used."""
    with call.open_vault() as vault:
        return call.emit(look.show(vault, memory_id, belief=belief), _memory, vault)


@command("related", "vt related a1b2c3", "vt related a1b2c3 --type SOLVES --type ATTEMPTED")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="The memory.")
@click.option("--type", "types", multiple=True, metavar="TYPE", help="Only links of this type (SOLVES, supersedes, ...).")
def related(call: Call, memory_id: str, types: tuple[str, ...]) -> Exit:
    """Show what a memory is linked to.

    In both directions: edges, what supersedes what, evidence, problems and solutions, weak links.
    """
    with call.open_vault() as vault:
        return call.emit(look.related(vault, memory_id, types=types), _relations, vault)


@command("search", "vt search redis timeout", """vt search '"socket keepalive"' --kind solution --limit 5""")
@click.argument("words", nargs=-1, required=True, help='Words; "a phrase" in quotes and begin* are understood.')
@click.option("--limit", "-n", type=click.IntRange(1), default=10, show_default=True, help="Most results.")
@click.option("--kind", "--type", "-k", "kinds", multiple=True, metavar="TYPE", help="Only this type or class (page for pages).")
@click.option("--subject", "-s", "subject_names", type=SUBJECT, multiple=True, help="Only what is tagged with it.")
@click.option("--mode", type=click.Choice(MODES), default="auto", show_default=True, help="`text` for words alone.")
@click.option("--everything", is_flag=True, help="Superseded and expired memories too, by words.")
@click.option("--no-global", "include_global", is_flag=True, flag_value=False, default=True, help="Leave the global vault out.")
def search(call: Call, words: tuple[str, ...], **given: Any) -> Exit:
    """Find memories, subjects and pages.

    Memories by meaning and words, subjects and pages by their words; superseded and expired ones only with --everything.
    """
    with call.open_vault() as vault:
        return call.emit(search_verb(vault, " ".join(words), **given), _found, vault)


def _memory(memory: look.Memory, short: Short) -> Iterator[Block]:
    yield Heading(memory.title)
    yield fields(
        ("id", short(memory.id)),
        ("type", memory.type),
        ("subjects", memory.subjects),
        ("summary", memory.summary),
        ("superseded by", short_ids(memory.superseded_by, short)),
        ("from", _source(memory)),
        *_weighed(memory),
        ("evidence", "evidence moved" if memory.evidence_moved and not memory.belief else ""),
        ("path", memory.path),
    )
    yield ""
    yield Body(memory.content)
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
    yield ""
    yield memory.notice


def _named(value: str, short: Short) -> str:
    """The name of a posterior; a problem in it by its short id."""
    what, _, problem = value.rpartition(" ")
    return f"{what} {short(problem)}" if what else value


def _weighed(memory: look.Memory) -> Iterator[tuple[str, object]]:
    """What is believed of a memory and how present it is; a subject, an edge or a pass says nothing that could be believed."""
    if memory.kind in ("observation", "understanding"):
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
        ("voted down", f"{belief.against} sessions" if belief.against else ""),
        ("questioned", "; ".join(signal.rationale or signal.at for signal in belief.questionable)),
        ("last used", belief.last_accessed),
        ("reviewed", belief.reviewed_at),
    )


def _source(memory: look.Memory) -> str:
    said = (memory.origin, str(memory.head.get("model") or ""), memory.created)
    return ", ".join(part for part in said if part)


def _relations(found: look.Relations, short: Short) -> Iterator[Block]:
    yield Heading(found.title)
    yield _links(found.results, short)


def _links(relations: Sequence[look.Relation], short: Short) -> Block:
    rows = [(short(r.id), f"{'->' if r.direction == 'out' else '<-'} {r.relation}", r.title, r.why) for r in relations]
    return table(("id", "link", "title", "why"), rows, empty="no links")


def _found(found: SearchResults, short: Short) -> Iterator[Block]:
    rows = [_hit(hit, short) for hit in found.results]
    yield table(("id", "type", "title", "subjects", "score"), rows, right=["score"], empty="nothing found")
    yield from degraded(found.degraded)
    if found.results:
        yield found.notice


def _hit(hit: Found, short: Short) -> tuple[str, ...]:
    title = f"{hit.title} (as last committed)" if hit.stale else hit.title
    return short(hit.id) if hit.id else hit.path, hit.type, title, ", ".join(hit.subjects), f"{hit.score:.2f}"
