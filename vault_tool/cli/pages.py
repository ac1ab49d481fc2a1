"""Commands that make pages out of memories: decay scores, CORE.md, REFLECTION.md."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from vault_tool.belief.decay import Standing
from vault_tool.cli import output
from vault_tool.cli.blocks import Block, Printed, fields, table
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit
from vault_tool.features.pages import pages
from vault_tool.generate.schedule import Schedule
from vault_tool.util.text import counted
from vault_tool.vault.folder_project import is_known, project_of
from vault_tool.vault.generated_pages import GeneratedPage


@command("decay", "vt decay --limit 20", "vt decay --standing fading --standing dormant")
@takes(pages.decay, "limit")
@click.option("--standing", "standings", type=click.Choice([each.value for each in Standing]), multiple=True, help="Only these.")
def decay(call: Call, limit: int, standings: tuple[str, ...]) -> Exit:
    """Show how far memories have faded, best first."""
    with call.open_vault() as vault, call.progress("scoring") as progress:
        return call.emit(pages.decay(vault, limit=limit, standings=standings, progress=progress), _decay, vault)


@command("core", "vt core", "vt core --print --budget 8000", "vt core --schedule")
@click.option("--budget", type=click.IntRange(1), help="Most characters; else the setting core_budget.")
@click.option("--print", "preview", is_flag=True, help="Only print it, as of now, for the project of this folder.")
@click.option("--project", metavar="NAME", default=None, help="The project that it is printed for; '' for all.")
@takes(pages.core, "as_of")
@click.option("--schedule", "scheduled", is_flag=True, help="Only print daily timers (systemd, cron): embed, core, reflect.")
def core(call: Call, budget: int | None, preview: bool, project: str | None, as_of: str | None, scheduled: bool) -> Exit:
    """Make CORE.md, the page that a prompt loads.

    It is committed if more than its date changed.
    """
    with call.open_vault() as vault:
        if scheduled:
            return call.emit(pages.schedule(vault, _program()), _schedule, vault)
        named = project
        if preview and project is None:
            project = call.project or project_of(vault, str(Path.cwd()))
        page = pages.core(vault, budget=budget, preview=preview, project=project, as_of=as_of)
        if preview and named and not is_known(vault, named):
            output.warn(f"nothing here is of the project `{named}`: this is the page of all")
        return call.emit(page, _text if preview else _page, vault)


@command("reflection", "vt reflection", "vt reflection --print")
@click.option("--print", "preview", is_flag=True, help="Only print it, with what this machine used today.")
def reflection(call: Call, preview: bool) -> Exit:
    """Make REFLECTION.md: themes and patterns.

    It is committed if more than its date changed.
    """
    with call.open_vault() as vault:
        return call.emit(pages.reflection(vault, preview=preview), _text if preview else _page, vault)


@command("reflect", "vt reflect", "vt reflect --dry-run")
@click.option("--dry-run", is_flag=True, help="Write nothing that is tracked.")
def reflect(call: Call, dry_run: bool) -> Exit:
    """Score, make both pages, say what moved."""
    with call.open_vault() as vault, call.progress("reflecting") as progress:
        return call.emit(pages.reflect(vault, dry_run=dry_run, progress=progress), _reflected, vault)


def _program() -> str:
    """The `vt` that runs now, by its whole path: a timer has no shell to find it."""
    return str(Path(sys.argv[0]).resolve()) if Path(sys.argv[0]).name.startswith("vt") else shutil.which("vt") or "vt"


def _schedule(schedule: Schedule, short: Short) -> Iterator[Block]:
    for job in schedule.jobs:
        yield f"# ~/.config/systemd/user/{job.service_name}"
        yield Printed(job.service)
        yield f"# ~/.config/systemd/user/{job.timer_name}"
        yield Printed(job.timer)
    yield "# then, with the timers that you want"
    yield from schedule.install
    yield ""
    yield "# or, by `crontab -e`"
    yield from (job.cron for job in schedule.jobs)


def _decay(decay: pages.Decay, short: Short) -> Iterator[Block]:
    rows = [
        (
            short(memory.id),
            memory.type,
            memory.title,
            "pinned" if memory.pinned else f"{memory.decay_score:.2f}",
            memory.standing,
            str(memory.access_count),
        )
        for memory in decay.results
    ]
    yield table(("id", "type", "title", "score", "standing", "used"), rows, right=("score", "used"), empty="no memories")
    yield _standings(decay.counts)


def _standings(counts: Mapping[str, int]) -> str:
    """How many were looked up lately, and how long ago the others: it orders, and takes none of them out of answers."""
    counted = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"by use: {counted}; all are found"


def _text(page: GeneratedPage, short: Short) -> Iterator[Block]:
    yield Printed(page.text.rstrip("\n"))


def _page(page: GeneratedPage, short: Short) -> Iterator[Block]:
    yield f"{page.path}: {page.characters} characters, {'changed' if page.changed else 'nothing but the date would change'}"
    yield fields(("commit", commit_of(page)))


def _reflected(done: pages.Reflection, short: Short) -> Iterator[Block]:
    yield counted(done.memories, "memory", "memories")
    yield _standings(done.counts)
    verb = "would change" if done.dry_run else "changed"
    yield fields((verb, done.pages or "nothing"), ("commit", commit_of(done)))
    yield from done.moved
