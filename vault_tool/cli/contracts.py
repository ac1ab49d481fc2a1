"""Commands of the contracts: `op` takes requests as JSON; `read`, `write` and `update` take them as options."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from vault_tool.belief.fold import Move
from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Body, Heading, degraded, detail_fields, fields, named, source
from vault_tool.cli.names import MEMORY, SHARE, takes
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
from vault_tool.model.parameter_table import NARROWS
from vault_tool.util.vault_names import vaults_in_words

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
@click.argument("query", type=TEXT, help="The topic; - for standard input.")
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
@takes(reading.read, "include_global", "vaults", "include_doubtful")
def read(call: Call, **options: Any) -> Exit:
    """Read memories by contract, with their belief.

    Memories in the answer of a targeted read count as used, once a session.
    """
    with call.open_vault() as vault:
        return call.emit(reading.read(vault, **options), _read, vault)


@command("write", "vt write 'The column exists already.' --kind fact --confidence 0.8 --evidence file:db/schema.sql@9f3c1e2")
@click.argument("text", type=TEXT, help="The text, or - for standard input.")
@click.option("--kind", "-k", type=KINDS, required=True, help="Its kind.")
@takes(writing.write, "confidence")
@click.option("--scope", type=click.Choice(("repo", "global")), default="repo", show_default=True, help="Which vault.")
@takes(writing.write, *(field.contract for field in GIVEN if field.contract and field.name not in ("type", "confidence")))
@click.option("--related", "related_memory_ids", type=MEMORY, multiple=True, help="A memory that it is related to.")
@takes(writing.write, "subject_names", "ask", "dry_run")
@writes
@authored
def write(call: Call, **options: Any) -> Exit:
    """Write a memory by contract.

    A memory that is there already is strengthened instead: it gains the subjects and links that it lacks and is marked as useful.
    """
    with call.open_vault() as vault:
        return call.emit(writing.write(vault, **options), _written, vault)


@command("update", "vt update a1b2c3 --truth 0.2 --confidence 0.9 --why 'It was renamed.' --evidence commit:9f3c1e2")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="The memory.")
@click.option("--truth", type=SHARE, help="Where its truth should be, 0 to 1; needs --evidence.")
@click.option("--utility", type=SHARE, help="Where its utility should be, 0 to 1.")
@click.option("--confidence", type=SHARE, required=True, help="How sure that is, 0 to 1.")
@click.option("--why", "rationale", required=True, help="Why.")
@click.option("--evidence", "evidence_refs", multiple=True, metavar="REF", help="Evidence for it, e.g. test:test_redis.")
@click.option("--problem", "context_problem_id", type=MEMORY, default="", help="The problem that the utility is for.")
@click.option("--dry-run", is_flag=True, help="Say what would happen, and write nothing.")
@writes
@authored
def update(call: Call, memory_id: str, truth: float | None, utility: float | None, dry_run: bool, **options: Any) -> Exit:
    """Move a memory's truth or utility by a step.

    One session, and one author in one day, move a value by at most 0.15. The memory itself stays as it is.
    """
    problem = options.pop("context_problem_id")
    shared = {name: list(value) if name == "evidence_refs" else value for name, value in options.items()}
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


def _emit_outcomes(answers: Sequence[OpAnswer], in_lines: bool) -> Exit:
    """Print the answers: one as a document, several one a line."""
    if len(answers) == 1 and not in_lines:
        output.write(output.to_json(answers[0].answer))
    else:
        for answer in answers:
            output.write(json.dumps(json.loads(output.to_json(answer.answer)), ensure_ascii=False) + "\n")
    return next((answer.exit for answer in answers if answer.exit), Exit.DONE)


def _read(answer: reading.Read, short: Short) -> Iterator[Block]:
    for memory in answer.results:
        yield from _memory(memory, short)
        yield ""
    yield from [] if answer.results else ["nothing found"]
    yield from degraded(answer.degraded)
    yield from [answer.notice] if answer.results else []


def _memory(memory: reading.ReadMemory, short: Short) -> Iterator[Block]:
    yield Heading(f"{named(memory, short, memory.memory_id)}  {memory.title}")
    yield fields(
        ("kind", memory.kind if memory.scope == "repo" or memory.vaults else f"{memory.kind}, {memory.scope}"),
        ("vault", vaults_in_words(memory.vaults)),
        ("truth", f"{memory.truth:.2f}"),
        ("utility", f"{memory.utility:.2f}"),
        ("found by", "; ".join(memory.why)),
        ("evidence", "; ".join(memory.evidence_refs) + (" (moved)" if memory.evidence_moved else "")),
        ("caution", memory.caution),
        ("solved since by", named(memory, short, memory.solved_by) if memory.solved_by else ""),
        ("status", "; ".join(memory.status_words(partial(named, memory, short)))),
        ("from", source(memory.origin, memory.model or "", reviewed=memory.reviewed)),
    )
    yield Body(memory.text)
    yield detail_fields(memory.details, short, but="failure_mode" if memory.caution else "")


def _written(written: writing.WriteAnswer, short: Short) -> Iterator[Block]:
    yield from saved_as(
        written.memory_id or "",
        _became(written),
        written.path,
        short,
        written,
        ("kind", written.resolved.kind),
        ("scope", written.resolved.scope),
        ("subjects", written.subject_names),
        ("new subjects", written.subjects_created),
        ("nearly the same", "; ".join(f"{short(twin.memory_id)} {twin.text}" for twin in written.similar)),
    )


def _became(written: writing.WriteAnswer) -> str:
    if written.needs_review:
        return "would wait for review" if written.dry_run else "waits for review"
    if written.duplicate_of:
        added = f"; added: {'; '.join(written.added)}" if written.added else ""
        return f"known already: {'it would be ' if written.dry_run else ''}strengthened{added}"
    return "would be written" if written.dry_run else "written"


def _updated(updated: updating.Updated, short: Short) -> Iterator[Block]:
    yield f"{short(updated.memory_id)}{'  nothing was written' if updated.mode == 'dry_run' else ''}"
    shown = (("truth", updated.truth), ("utility", updated.utility), ("utility overall", updated.global_utility))
    yield fields(
        *((name, _moved(move)) for name, move in shown if move),
        ("for the problem", short(updated.context_problem_id) if updated.context_problem_id else ""),
        ("commit", commit_of(updated)),
    )


def _moved(move: Move) -> str:
    return f"{move.before:.2f} -> {move.after:.2f}{f' ({move.reason})' if move.reason else ''}"
