"""Commands of the contracts: `op` takes requests as JSON; `read`, `write` and `update` take them as options."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from vault_tool.belief.fold import Move
from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Body, Heading, degraded, detail_fields, fields, source
from vault_tool.cli.names import MEMORY, NARROWS, SHARE, takes
from vault_tool.cli.options import TEXT, Call, Short, authored, command, standard_input, writes
from vault_tool.cli.saved import commit_of, saved_as
from vault_tool.errors import Exit, UsageError
from vault_tool.features.contracts import read as reading
from vault_tool.features.contracts import update as updating
from vault_tool.features.contracts import write as writing
from vault_tool.features.contracts.lines import outcomes
from vault_tool.features.contracts.op import OpAnswer
from vault_tool.features.contracts.schemas import schema, schemas
from vault_tool.model.fields import GIVEN

KINDS = click.Choice(("problem", "solution", "failed_tactic", "fact", "preference", "change"))
ALL_SCHEMAS = "all"

# Most bytes of one run's requests.
_MOST = 64 * 2**20


@command("op", "vt op < request.json", "vt op requests.jsonl", "vt op --schema memory.write.request")
@click.argument("source", default="-", metavar="[FILE]", help="A file of requests; - or nothing for standard input.")
@click.option("--schema", "named", is_flag=False, flag_value=ALL_SCHEMAS, metavar="[NAME]", help="Print the contracts, or one.")
@writes
@authored
def op(call: Call, source: str, named: str | None) -> Exit:
    """Answer JSON requests by contract.

    A request is one object, or one a line. The answer is JSON in any case: `ok`, and where that is false `errors`, all
    at once, each with the JSON pointer of its place. The exit code is that of the first request that was not done.
    """
    if named is not None:
        output.write(output.to_json(schemas() if named == ALL_SCHEMAS else schema(named)))
        return Exit.DONE
    with call.open_vault() as vault:
        return _emit_outcomes(list(outcomes(vault, _requests(source))), call.lean)


@command("read", "vt read 'migration fails on an existing column' --kind failed_tactic --kind solution")
@click.argument("query", type=TEXT, help="What it is about; - for standard input.")
@click.option("--mode", type=click.Choice(("targeted", "ambient")), default="targeted", show_default=True, help="How strict.")
@takes(
    reading.read,
    "kinds",
    "limit",
    "context_problem_id",
    *NARROWS,
    kinds={"flags": "--kind -k", "type": KINDS, "metavar": None},
    limit={"type": click.IntRange(1, 100)},
)
@click.option("--hops", "semantic_hops", type=click.IntRange(0, 3), default=2, show_default=True, help="How far chains go.")
@takes(reading.read, "include_global", "include_doubtful")
def read(call: Call, **given: Any) -> Exit:
    """Read memories by contract, with their belief.

    What a targeted read answers counts as used, once a session.
    """
    with call.open_vault() as vault:
        return call.emit(reading.read(vault, **given), _read, vault)


@command("write", "vt write 'The column exists already.' --kind fact --confidence 0.8 --evidence file:db/schema.sql@9f3c1e2")
@click.argument("text", type=TEXT, help="The text, or - for standard input.")
@click.option("--kind", "-k", type=KINDS, required=True, help="What it is.")
@takes(writing.write, "confidence")
@click.option("--scope", type=click.Choice(("repo", "global")), default="repo", show_default=True, help="Which vault.")
@takes(writing.write, *(field.contract for field in GIVEN if field.contract and field.name not in ("type", "confidence")))
@click.option("--related", "related_memory_ids", type=MEMORY, multiple=True, help="A memory that it is related to.")
@takes(writing.write, "subject_names", "ask", "dry_run")
@writes
@authored
def write(call: Call, **given: Any) -> Exit:
    """Write a memory by contract.

    What is known already is strengthened instead: it gains the subjects and links that it lacks and is marked as useful.
    """
    with call.open_vault() as vault:
        return call.emit(writing.write(vault, **given), _written, vault)


@command("update", "vt update a1b2c3 --truth 0.2 --confidence 0.9 --why 'It was renamed.' --evidence commit:9f3c1e2")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="The memory.")
@click.option("--truth", type=SHARE, help="Where its truth should be, 0 to 1; needs --evidence.")
@click.option("--utility", type=SHARE, help="Where its utility should be, 0 to 1.")
@click.option("--confidence", type=SHARE, required=True, help="How sure that is, 0 to 1.")
@click.option("--why", "rationale", required=True, help="Why.")
@click.option("--evidence", "evidence_refs", multiple=True, metavar="REF", help="What shows it, e.g. test:test_redis.")
@click.option("--problem", "context_problem_id", type=MEMORY, default="", help="The problem that the utility is for.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and write nothing.")
@writes
@authored
def update(call: Call, memory_id: str, truth: float | None, utility: float | None, dry_run: bool, **said: Any) -> Exit:
    """Move a memory's truth or utility by a step.

    One session, and one author in one day, move a value by at most 0.15. The memory itself stays as it is.
    """
    problem = said.pop("context_problem_id")
    shared = {name: list(value) if name == "evidence_refs" else value for name, value in said.items()}
    true = None if truth is None else {"target": truth, **shared}
    useful = None if utility is None else {"target": utility, **shared, **({"context_problem_id": problem} if problem else {})}
    with call.open_vault() as vault:
        mode = "dry_run" if dry_run else "commit"
        return call.emit(updating.update(vault, memory_id, truth=true, utility=useful, mode=mode), _updated, vault)


def _requests(source: str) -> bytes:
    """The bytes of a file, or of standard input: a line that is no text is answered like any other bad one."""
    if source == "-":
        return standard_input(_MOST)
    file = Path(source)
    if not file.is_file() or file.stat().st_size > _MOST:
        raise UsageError(f"{source} is no file of requests", "name a file of at most 64 MiB, or pipe it in: `vt op < FILE`")
    return file.read_bytes()


def _emit_outcomes(found: Sequence[OpAnswer], in_lines: bool) -> Exit:
    """Print the answers: one as a document, several one a line."""
    if len(found) == 1 and not in_lines:
        output.write(output.to_json(found[0].answer))
    else:
        for one in found:
            output.write(json.dumps(json.loads(output.to_json(one.answer)), ensure_ascii=False) + "\n")
    return next((one.exit for one in found if one.exit), Exit.DONE)


def _read(found: reading.Read, short: Short) -> Iterator[Block]:
    for one in found.results:
        yield from _memory(one, short)
        yield ""
    yield from [] if found.results else ["nothing found"]
    yield from degraded(found.degraded)
    yield from [found.notice] if found.results else []


def _memory(one: reading.ReadMemory, short: Short) -> Iterator[Block]:
    yield Heading(f"{short(one.memory_id)}  {one.title}")
    yield fields(
        ("kind", one.kind if one.scope == "repo" else f"{one.kind}, {one.scope}"),
        ("truth", f"{one.truth:.2f}"),
        ("utility", f"{one.utility:.2f}"),
        ("found by", "; ".join(one.why)),
        ("evidence", "; ".join(one.evidence_refs) + (" (moved)" if one.evidence_moved else "")),
        ("caution", one.caution),
        ("solved since by", short(one.solved_by) if one.solved_by else ""),
        ("status", "; ".join(one.status_words(short))),
        ("from", source(one.origin, one.model or "", reviewed=one.reviewed)),
    )
    yield Body(one.text)
    yield detail_fields(one.details, short, but="failure_mode" if one.caution else "")


def _written(made: writing.WriteAnswer, short: Short) -> Iterator[Block]:
    yield from saved_as(
        made.memory_id or "",
        _became(made),
        made.path,
        short,
        made,
        ("kind", made.resolved.kind),
        ("scope", made.resolved.scope),
        ("subjects", made.subject_names),
        ("new subjects", made.subjects_created),
        ("nearly the same", "; ".join(f"{short(one.memory_id)} {one.text}" for one in made.similar)),
    )


def _became(made: writing.WriteAnswer) -> str:
    if made.needs_review:
        return "would wait for review" if made.dry_run else "waits for review"
    if made.duplicate_of:
        added = f"; added: {'; '.join(made.added)}" if made.added else ""
        return f"known already: {'it would be ' if made.dry_run else ''}strengthened{added}"
    return "would be written" if made.dry_run else "written"


def _updated(made: updating.Updated, short: Short) -> Iterator[Block]:
    yield f"{short(made.memory_id)}{'  nothing was written' if made.mode == 'dry_run' else ''}"
    shown = (("truth", made.truth), ("utility", made.utility), ("utility overall", made.global_utility))
    yield fields(
        *((name, _moved(move)) for name, move in shown if move),
        ("for the problem", short(made.context_problem_id) if made.context_problem_id else ""),
        ("commit", commit_of(made)),
    )


def _moved(move: Move) -> str:
    return f"{move.before:.2f} -> {move.after:.2f}{f' ({move.reason})' if move.reason else ''}"
