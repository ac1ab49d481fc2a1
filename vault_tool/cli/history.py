"""Commands about what git remembers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from vault_tool.cli.blocks import Block, Diff, Heading, fields, source, status_lines, table, with_status
from vault_tool.cli.names import MEMORY, takes
from vault_tool.cli.options import Call, Short, command, writes
from vault_tool.cli.saved import SHOWN_COMMIT, commit_of, problem_table
from vault_tool.errors import Exit
from vault_tool.features.history import history as verbs
from vault_tool.features.history import undo as taking_back
from vault_tool.files.git import LogEntry


@command("log", "vt log", "vt log a1b2c3 --limit 5")
@click.argument("memory_id", type=MEMORY, metavar="[ID]", default="", help="A memory; none for the whole vault.")
@takes(verbs.log, "limit")
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

    It is the chain of understandings that supersede each other, each with the commits that touched its file.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.history(vault, memory_id), _history, vault)


@command("diff", "vt diff", "vt diff a1b2c3 --since HEAD~5", "vt diff --of HEAD")
@click.argument("memory_id", type=MEMORY, metavar="[ID]", default="", help="A memory; none for the whole vault.")
@click.option("--since", metavar="COMMIT", help="All changes since this commit.")
@click.option("--of", metavar="COMMIT", help="The changes of this one commit.")
def diff(call: Call, memory_id: str, since: str | None, of: str | None) -> Exit:
    """Show what changed and is not committed.

    With --since, what changed since a commit; with --of, what one commit changed.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.diff(vault, memory_id, since=since, of=of), _difference, vault)


@command("commit", "vt commit", "vt commit vault/subjects/redis.md --message 'Redis: say which version'")
@click.argument("paths", nargs=-1, type=click.Path(), help="Files; none for all of the vault's.")
@click.option("--message", "-m", default="", help="The subject of the commit; else the notes' names.")
@writes
def commit(call: Call, paths: tuple[str, ...], message: str) -> Exit:
    """Commit hand edits.

    Files with conflict markers and notes that cannot be read are left, and named.
    """
    with call.open_vault() as vault:
        return call.emit(verbs.commit(vault, paths, message=message), _gathered, vault)


@command("undo", "vt undo", "vt undo a1b2c3", "vt undo 9f3c1e2")
@click.argument(
    "target",
    type=MEMORY,
    metavar="[ID|COMMIT]",
    default="",
    help="A memory that the operation created, or its commit; else the newest.",
)
@writes
def undo(call: Call, target: str) -> Exit:
    """Take back one operation.

    A new commit removes what it created, restores what it edited and takes back what it said of memories. A draft that it
    accepted waits for review again. Subjects still in use stay, and so do the logs and the generated pages. A file changed
    since is refused. An undo can be undone. Only a person may do this.
    """
    with call.open_vault() as vault:
        return call.emit(taking_back.undo(vault, target), _undone, vault)


def _log(log: verbs.Log, short: Short) -> Iterator[Block]:
    yield _commits(log.results, "no commits yet")


def _commits(commits: Sequence[LogEntry], empty: str) -> Block:
    rows = [(commit.commit[:SHOWN_COMMIT], commit.at, commit.author, commit.subject) for commit in commits]
    return table(("commit", "at", "author", "subject"), rows, empty=empty)


def _history(history: verbs.History, short: Short) -> Iterator[Block]:
    for number, version in enumerate(history.results):
        yield from [""] if number else []
        yield Heading(f"{short(version.id)}  {with_status(version.title, version)}")
        yield from status_lines(short(version.id), version, short)
        origin = source(version.origin, version.model, version.created, reviewed=version.reviewed)
        yield fields(("summary", version.summary), ("reason", version.reason), ("from", origin), ("path", version.path))
        yield _commits(version.commits, "not committed")


def _difference(difference: verbs.Difference, short: Short) -> Iterator[Block]:
    if difference.since is None and difference.of is None:
        yield table(
            ("state", "path"), [(change.state, change.path) for change in difference.pending], empty="everything is committed"
        )
    if difference.text:
        yield Diff(difference.text.rstrip("\n"))


def _gathered(gathered: verbs.Gathered, short: Short) -> Iterator[Block]:
    if gathered.paths:
        yield table(("committed",), [(path,) for path in gathered.paths])
        yield fields(("commit", commit_of(gathered)))
    elif not gathered.left and not gathered.reason:
        yield "everything is committed"
    if gathered.left:
        yield problem_table(gathered.left, "")


def _undone(undone: taking_back.Undone, short: Short) -> Iterator[Block]:
    yield f"{undone.undone[:SHOWN_COMMIT]}  {undone.subject}"
    yield table(("undone", "path"), [*(("removed", p) for p in undone.removed), *(("restored", p) for p in undone.restored)])
    yield from (f"{short(target)}: what was said of it is taken back" for target in undone.unmarked)
    yield from (f"{short(draft)}: waits for review again" for draft in undone.waiting)
    if undone.kept:
        yield table(("kept", "why"), [(change.path, change.reason) for change in undone.kept])
    yield fields(("commit", commit_of(undone)))
