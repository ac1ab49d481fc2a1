"""The commands that ask the memory: a question, and what comes to mind unasked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from vault_tool.cli.blocks import (
    Block,
    Body,
    Heading,
    degraded,
    detail_fields,
    fields,
    in_a_cell,
    source,
    sourced,
    status_lines,
    table,
)
from vault_tool.cli.names import MEMORY, NARROWS, takes
from vault_tool.cli.options import TEXT, Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.recall.recall import Bundle, SubjectView, Understood
from vault_tool.features.recall.recall import recall as recall_verb
from vault_tool.util.text import beginning, one_line
from vault_tool.vault.retrieval.query import Fate, Recalled

_BRIEF = 160
_SEEN = 400
# Most characters of a memory that a person is shown here: the rest is one command away, and JSON carries it whole.
_LONGEST = 2000


@command(
    "recall",
    "vt recall 'why do redis connections drop?'",
    "vt recall Redis",
    "vt recall 'connection timeouts' --kind solution --since 2026-01-01 --explain",
    "vt recall 'what did we say of the harbour?' --user u-7f3a",
    "vt recall 'why do redis connections drop?' --why-not 5f0c2d --no-count",
)
@click.argument("query", type=TEXT, metavar="QUESTION", help="A question, or a subject's name; - for standard input.")
@takes(recall_verb, "limit")
@click.option(
    "--profile",
    type=click.Choice(("targeted", "ambient", "core")),
    default="targeted",
    show_default=True,
    help="How strict: asked, unprompted, always loaded.",
)
@takes(recall_verb, "kinds", *NARROWS)
@click.option("--of-session", metavar="ID", help="Only what this conversation wrote.")
@click.option("--hops", type=click.IntRange(0, 3), default=0, show_default=True, help="How far what is merely alike is followed.")
@takes(recall_verb, "problem", "budget", "include_global", "doubtful", "explain")
@click.option("--why-not", type=MEMORY, metavar="ID", default="", help="Say at which stage this memory fell out.")
@click.option("--no-count", "count", flag_value=False, default=True, help="Count nothing as used or seen: only look.")
def recall(call: Call, query: str, of_session: str | None, **given: Any) -> Exit:
    """Ask the memory a question, or for a subject.

    By words and by meaning, with what was said around it and what it is linked to. A result marked weak shares little
    with the question: check it, or take it as no answer.
    """
    with call.open_vault() as vault:
        answer = recall_verb(vault, query, session=of_session, **given)
        return call.emit(answer, _answer, vault)


def _answer(found: Bundle | SubjectView, short: Short) -> Iterator[Block]:
    yield from _subject(found, short) if isinstance(found, SubjectView) else _bundle(found, short)


def _bundle(found: Bundle, short: Short) -> Iterator[Block]:
    titles = {one.id: one.title for one in found.results}
    best = next((one for one in found.results if found.best_answer is not None and one.id == found.best_answer.id), None)
    if best is not None and found.best_answer is not None:
        yield from _best(best, found.best_answer.content, short, titles)
    elif found.results:
        yield "Nothing fits well; the nearest are:"
    if rows := [_row(one, short, titles) for one in found.results if one is not best]:
        yield from [""] if best is not None else []
        yield from sourced(("id", "type", "title", "match", "from", "why"), rows, right=["match"], empty="")
    elif best is None:
        yield "nothing comes to mind"
    for one in found.results:
        yield from warnings_of(one, short)
    if found.why_not is not None:
        yield ""
        yield from _fate(found.why_not, short)
    if any(one.factors for one in found.results):
        yield ""
        yield _factors(found.results, short)
    yield from degraded(found.degraded)
    if found.results:
        yield found.notice


def _best(best: Recalled, content: str, short: Short, titles: Mapping[str, str]) -> Iterator[Block]:
    """The answer, whole, with what the table says of the others."""
    yield Heading(best.title)
    if content.strip().rstrip(".") != best.title.rstrip("."):
        yield from _text(content, short(best.id) if best.scope == "repo" else best.id)
    name, kind, _, match, _, why = _row(best, short, titles)
    said = source(best.origin, best.model or "", best.created, reviewed=best.reviewed)
    yield fields(
        ("id", name), ("type", kind), ("subjects", best.subjects), ("match", match), ("why", why), ("from", said),
        ("caution", best.caution),
    )  # fmt: skip
    yield detail_fields(best.details, short, but="failure_mode" if best.caution else "")


def warnings_of(one: Recalled, short: Short) -> Iterator[str]:
    """Warnings beside a memory: that it did not work, was overtaken, or is questioned."""
    name = short(one.id) if one.scope == "repo" else one.id
    if one.caution:
        yield f"{name} {one.caution}"
    named = short if one.scope == "repo" else str
    if one.solved_by:
        yield f"{name} was solved since by {named(one.solved_by)}"
    yield from status_lines(name, one, named)


def _row(one: Recalled, short: Short, titles: Mapping[str, str]) -> tuple[str, ...]:
    marks = [mark for mark, is_so in ((f"weak: {one.weak_why}", one.weak), ("global", one.scope == "global")) if is_so]
    if one.like_it:
        marks.append(f"{len(one.like_it)} more like it")
    name = short(one.id) if one.scope == "repo" else one.id[:8]
    # What stands in a line above or below is named by its id alone.
    led = titles.get(one.of or "", "")
    why = [reason.replace(led, short(one.of)) if led and one.of else reason for reason in one.why]
    return (
        name,
        one.type,
        one.title,
        f"{one.match:.2f}",
        source(one.origin, reviewed=one.reviewed),
        one_line(", ".join([*marks, *why]), _BRIEF),
    )


def _fate(found: Fate, short: Short) -> Iterator[Block]:
    """Why one memory is not among the results, or where it is."""
    place = f"{found.place} of {found.of}" if found.place else ""
    match = (
        ""
        if found.match is None
        else f"{found.match:.2f}{f' (weak: {found.weak_why})' if found.weak else ''}, of {found.least or 0:.2f} that it takes"
    )
    yield Heading(f"{'Where' if found.stage == 'answered' else 'Why not'}: {found.title or found.id}")
    yield fields(("id", short(found.id)), ("stage", found.stage), ("reason", found.reason), ("place", place), ("match", match))


def _factors(results: Sequence[Recalled], short: Short) -> Block:
    """A column a result, a row a factor: what each added or multiplied."""
    names = list(dict.fromkeys(name for one in results for name in (one.factors or {})))
    shown = results[:8]
    rows = [(name, *(_number((one.factors or {}).get(name)) for one in shown)) for name in names]
    columns = ("factor", *(short(one.id) if one.scope == "repo" else one.id[:8] for one in shown))
    return table(columns, rows, right=columns[1:])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _subject(found: SubjectView, short: Short) -> Iterator[Block]:
    yield Heading(found.subject.name)
    yield fields(("id", short(found.subject.id)), ("summary", found.subject.summary), ("tags", found.subject.tags))
    for title, one in (
        ("What is understood of it", found.single_subject_understanding),
        ("Its own place", found.structural_understanding),
    ):
        yield from _understood(title, one, short)
    yield ""
    rows = [
        (short(one.id), one.kind, one.observed_at[:10], in_a_cell(one.content, one.details, short, _SEEN))
        for one in found.recent_observations
    ]
    yield table(("id", "type", "observed", "what was seen"), rows, empty="nothing was observed of it yet")
    for seen in found.recent_observations:
        yield from status_lines(short(seen.id), seen, short)
    yield found.notice


def _understood(title: str, one: Understood | None, short: Short) -> Iterator[Block]:
    if one is not None:
        yield ""
        yield Heading(f"{title} ({short(one.id)})")
        yield from _text(one.content or one.summary, short(one.id))
        yield from status_lines(short(one.id), one, short)


def _text(content: str, name: str) -> Iterator[Block]:
    """A memory's text, its beginning alone where it is long."""
    if len(content) <= _LONGEST:
        yield Body(content)
        return
    shown = beginning(content, _LONGEST)
    yield Body(shown)
    yield f"{len(content) - len(shown) + 1} more characters: `vt get {name}`"
