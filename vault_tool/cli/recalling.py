"""The commands that ask the memory: a question, and what comes to mind unasked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
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
    named,
    source,
    sourced,
    status_lines,
    table,
    where,
)
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import TEXT, Call, Short, command
from vault_tool.errors import Exit
from vault_tool.features.recall.recall import Bundle, SubjectView, Understood
from vault_tool.features.recall.recall import recall as recall_verb
from vault_tool.model.parameter_table import NARROWS
from vault_tool.recall.passage import with_passage
from vault_tool.util.text import beginning, one_line
from vault_tool.vault.retrieval.query import Explanation, Recalled

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
@takes(recall_verb, "problem", "budget", "include_global", "vaults", "doubtful", "chats", "explain", "as_of")
@click.option("--why-not", type=MEMORY, metavar="ID", default="", help="Say at which stage this memory fell out.")
@click.option("--no-count", "count", flag_value=False, default=True, help="Count nothing as used or seen: only look.")
def recall(call: Call, query: str, of_session: str | None, **options: Any) -> Exit:
    """Ask the memory a question, or for a subject.

    By words and by meaning, with what was said around it and what it is linked to. A result marked weak shares little
    with the question: check it, or take it as no answer.
    """
    with call.open_vault() as vault:
        answer = recall_verb(vault, query, session=of_session, **options)
        return call.emit(answer, _answer, vault)


def _answer(answer: Bundle | SubjectView, short: Short) -> Iterator[Block]:
    yield from _subject(answer, short) if isinstance(answer, SubjectView) else _bundle(answer, short)


def _bundle(bundle: Bundle, short: Short) -> Iterator[Block]:
    titles = {memory.id: memory.title for memory in bundle.results}
    best = next(
        (memory for memory in bundle.results if bundle.best_answer is not None and memory.id == bundle.best_answer.id), None
    )
    if best is not None and bundle.best_answer is not None:
        yield from _best(best, bundle.best_answer.content, short, titles)
    elif bundle.results:
        yield "Nothing fits well; the nearest are:"
    if rows := [_row(memory, short, titles, bundle.query) for memory in bundle.results if memory is not best]:
        yield from [""] if best is not None else []
        yield from sourced(("id", "type", "title", "match", "from", "why"), rows, right=["match"], empty="")
    elif best is None:
        yield "nothing comes to mind"
    for memory in bundle.results:
        yield from warnings_of(memory, short)
    if bundle.why_not is not None:
        yield ""
        yield from _explanation(bundle.why_not, short)
    if any(memory.factors for memory in bundle.results):
        yield ""
        yield _factors(bundle.results, short)
    if chats := getattr(bundle, "chats", ()):
        yield ""
        yield table(("conversation", "day", "passage"), [(chat.path, chat.created[:10], chat.passage) for chat in chats])
    yield from degraded(bundle.degraded)
    if bundle.results:
        yield bundle.notice


def _best(best: Recalled, content: str, short: Short, titles: Mapping[str, str]) -> Iterator[Block]:
    """The answer, whole, with what the table says of the others."""
    yield Heading(best.title)
    if content.strip().rstrip(".") != best.title.rstrip("."):
        name = named(best, short, best.id)
        yield from _text(content, name)
        yield from [f"{best.cut}: `vt get {name}` reads all"] if best.cut else []
    name, kind, _, match, _, why = _row(best, short, titles)
    origin = source(best.origin, best.model or "", best.created, reviewed=best.reviewed)
    yield fields(
        ("id", name), ("type", kind), ("subjects", best.subjects), ("match", match), ("why", why), ("from", origin),
        ("caution", best.caution),
    )  # fmt: skip
    yield detail_fields(best.details, short, but="failure_mode" if best.caution else "")


def warnings_of(memory: Recalled, short: Short) -> Iterator[str]:
    """Warnings beside a memory: that it did not work, was overtaken, or is questioned."""
    name = named(memory, short, memory.id)
    if memory.caution:
        yield f"{name} {memory.caution}"
    if memory.solved_by:
        yield f"{name} was solved since by {named(memory, short, memory.solved_by)}"
    yield from status_lines(name, memory, partial(named, memory, short))


def _row(memory: Recalled, short: Short, titles: Mapping[str, str], question: str = "") -> tuple[str, ...]:
    of_global = memory.scope == "global" and not memory.vaults
    marks = [mark for mark, is_so in ((f"weak ({memory.weak_why})", memory.weak), ("global", of_global)) if is_so]
    marks += [where(memory)] if memory.vaults else []
    if memory.like_it:
        marks.append(f"{len(memory.like_it)} more like it")
    name = memory.id[:8] if of_global else named(memory, short, memory.id)
    # What stands in a line above or below is named by its id alone.
    led = titles.get(memory.of or "", "")
    why = [reason.replace(led, short(memory.of)) if led and memory.of else reason for reason in memory.why]
    return (
        name,
        memory.type,
        with_passage(memory.title, memory.content, question),
        f"{memory.match:.2f}",
        source(memory.origin, reviewed=memory.reviewed),
        one_line(", ".join([*marks, *why]), _BRIEF),
    )


def _explanation(why: Explanation, short: Short) -> Iterator[Block]:
    """Why one memory is not among the results, or where it is."""
    place = f"{why.place} of {why.of}" if why.place else ""
    match = (
        ""
        if why.match is None
        else f"{why.match:.2f}{f' (weak: {why.weak_why})' if why.weak else ''}, of {why.least or 0:.2f} that it takes"
    )
    yield Heading(f"{'Where' if why.stage == 'answered' else 'Why not'}: {why.title or why.id}")
    yield fields(
        ("id", short(why.id)),
        ("stage", why.stage),
        ("reason", why.reason),
        ("place", place),
        ("match", match),
    )


def _factors(results: Sequence[Recalled], short: Short) -> Block:
    """A column a result, a row a factor: what each added or multiplied."""
    names = list(dict.fromkeys(name for memory in results for name in (memory.factors or {})))
    shown = results[:8]
    rows = [(name, *(_number((memory.factors or {}).get(name)) for memory in shown)) for name in names]
    columns = ("factor", *(short(memory.id) if memory.scope == "repo" else memory.id[:8] for memory in shown))
    return table(columns, rows, right=columns[1:])


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _subject(view: SubjectView, short: Short) -> Iterator[Block]:
    yield Heading(view.subject.name)
    yield fields(("id", short(view.subject.id)), ("summary", view.subject.summary), ("tags", view.subject.tags))
    for title, understanding in (
        ("What is understood of it", view.single_subject_understanding),
        ("Its own place", view.structural_understanding),
    ):
        yield from _understood(title, understanding, short)
    yield ""
    rows = [
        (
            short(observation.id),
            observation.kind,
            observation.observed_at[:10],
            in_a_cell(observation.content, observation.details, short, _SEEN),
        )
        for observation in view.recent_observations
    ]
    yield table(("id", "type", "observed", "what was seen"), rows, empty="nothing was observed of it yet")
    for seen in view.recent_observations:
        yield from status_lines(short(seen.id), seen, short)
    yield view.notice


def _understood(title: str, understanding: Understood | None, short: Short) -> Iterator[Block]:
    if understanding is not None:
        yield ""
        yield Heading(f"{title} ({short(understanding.id)})")
        yield from _text(understanding.content or understanding.summary, short(understanding.id))
        yield from status_lines(short(understanding.id), understanding, short)


def _text(content: str, name: str) -> Iterator[Block]:
    """A memory's text, its beginning alone where it is long."""
    if len(content) <= _LONGEST:
        yield Body(content)
        return
    shown = beginning(content, _LONGEST)
    yield Body(shown)
    yield f"{len(content) - len(shown) + 1} more characters: `vt get {name}`"
