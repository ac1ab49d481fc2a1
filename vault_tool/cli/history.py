"""Commands about what git remembers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from vault_tool.cli.blocks import Block, Diff, Heading, fields, table
from vault_tool.cli.names import MEMORY
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import SHOWN_COMMIT, commit_of, problem_table
from vault_tool.errors import Exit
from vault_tool.files.git import LogEntry
from vault_tool.verbs import history as verbs


@command("log", "vt log", "vt log a1b2c3 --limit 5")
@click.argument("memory_id", type=MEMORY, metavar="[ID]", default="", help="A memory; none for the whole vault.")
@click.option("--limit", "-n", type=click.IntRange(1), default=20, show_default=True, help="Most commits.")
def log(call: Call, memory_id: str, limit: int) -> Exit:
    """Show the commits of the vault or of a memory.

    Newest first.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.log(vault, limit, memory_id=memory_id), _log, vault)


@command("history", "vt history a1b2c3")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="Any member of the chain.")
def history(call: Call, memory_id: str) -> Exit:
    """Show the revisions of a memory, newest first.

    That is the chain of understandings that supersede each other, each with the commits that touched its file.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.history(vault, memory_id), _history, vault)


@command("diff", "vt diff", "vt diff a1b2c3 --since HEAD~5")
@click.argument("memory_id", type=MEMORY, metavar="[ID]", default="", help="A memory; none for the whole vault.")
@click.option("--since", metavar="COMMIT", help="All changes since this commit.")
def diff(call: Call, memory_id: str, since: str | None) -> Exit:
    """Show what changed and is not committed.

    With --since, what changed since a commit.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.diff(vault, memory_id, since=since), _difference, vault)


@command("commit", "vt commit", "vt commit vault/subjects/redis.md --message 'Redis: say which version'")
@click.argument("paths", nargs=-1, type=click.Path(), help="Files; none for all of the vault's.")
@click.option("--message", "-m", default="", help="The subject of the commit; else the notes' names.")
def commit(call: Call, paths: tuple[str, ...], message: str) -> Exit:
    """Commit hand edits.

    Files with conflict markers and notes that cannot be read are left, and named.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.commit(vault, paths, message=message), _gathered, vault)


def _log(found: verbs.Log, short: Short) -> Iterator[Block]:
    yield _commits(found.results, "no commits yet")


def _commits(commits: Sequence[LogEntry], empty: str) -> Block:
    rows = [(one.commit[:SHOWN_COMMIT], one.at, one.author, one.subject) for one in commits]
    return table(("commit", "at", "author", "subject"), rows, empty=empty)


def _history(found: verbs.History, short: Short) -> Iterator[Block]:
    for number, one in enumerate(found.results):
        yield from [""] if number else []
        yield Heading(f"{short(one.id)}  {one.title}{'' if one.active else ' (superseded)'}")
        origin = ", ".join(filter(None, (one.origin, one.model, one.created)))
        yield fields(("summary", one.summary), ("reason", one.reason), ("from", origin), ("path", one.path))
        yield _commits(one.commits, "not committed")


def _difference(found: verbs.Difference, short: Short) -> Iterator[Block]:
    if found.since is None:
        yield table(("state", "path"), [(one.state, one.path) for one in found.pending], empty="everything is committed")
    if found.text:
        yield Diff(found.text.rstrip("\n"))


def _gathered(made: verbs.Gathered, short: Short) -> Iterator[Block]:
    if made.paths:
        yield table(("committed",), [(path,) for path in made.paths])
        yield fields(("commit", commit_of(made)))
    elif not made.left:
        yield "everything is committed"
    if made.left:
        yield problem_table(made.left, "")
