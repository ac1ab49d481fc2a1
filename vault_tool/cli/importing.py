"""Commands that take in what other tools keep."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from msgspec.structs import replace

from vault_tool.cli import output
from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.names import takes
from vault_tool.cli.options import Call, Short, VaultCommand, VaultGroup, command, standard_input, writes
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit, Refused, UsageError
from vault_tool.features.exports import restoring
from vault_tool.features.imports import foreign_export, markdown_folder, memory_graph
from vault_tool.features.imports.imported import Imported
from vault_tool.model.problems import Problem
from vault_tool.util.text import counted
from vault_tool.vault.person import at_terminal

SHOWN = 20
# As many kinds of problems, and files of each, are named to a person; `--json` names all.
NAMED = 3


def _is_path(word: str) -> bool:
    """Whether a word names a file or folder: one that is there, or that no command could be called."""
    return bool(Path(word).suffix) or Path(word).expanduser().exists()


class ImportGroup(VaultGroup):
    """The commands of `vt import`: what is no name of one is the export to take in, whichever it is of."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments; a usage error where there is none."""
        if not args and not ctx.resilient_parsing:
            raise click.UsageError("name the export to take in: `vt import FILE`", ctx)
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that is named, else the one that finds out by itself; a usage error where there is no such file."""
        if args[0] not in self.commands and not args[0].startswith("-") and _is_path(args[0]):
            return FOUND_OUT.name, FOUND_OUT, args
        if args[0] not in self.commands and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(
                f"there is no file {args[0]!r}, and no export is called so: known are {', '.join(self.commands)}", ctx
            )
        return super().resolve_command(ctx, args)


@click.group("import", cls=ImportGroup)
def import_() -> None:
    """Take in notes of other tools.

    `vt import FILE` finds out of which tool a file, folder or zip is.

    Whole notes only, a commit for each thousand. Run it again for what is new: nothing is taken in twice.
    """


@command("markdown", "vt import markdown ~/Notes --name notes", "vt import markdown vault/inbox --in-place")
@click.argument("folder", type=click.Path(), metavar="DIR", help="A folder of markdown files, such as an Obsidian vault.")
@click.option("--name", default="", help="The name of the import; else that of its folder.")
@click.option("--in-place", is_flag=True, help="Make records of the pages of a folder below vault/, where they are.")
@click.option("--type", default="general", show_default=True, metavar="TYPE", help="The type of notes that have none of ours.")
@takes(markdown_folder.import_markdown, "new_type", "subject_names")
@click.option("--for-project", "project", default="", metavar="NAME", help="The project or world that all are about.")
@click.option("--folder-tags/--no-folder-tags", default=True, show_default=True, help="Tag notes with their folders' names.")
@click.option("--attachments", is_flag=True, help="Copy the files that are no notes too.")
@click.option("--prune", is_flag=True, help="Remove the copies of notes that are gone, by a commit.")
@takes(markdown_folder.import_markdown, "dry_run")
def markdown(
    call: Call, folder: str, name: str, in_place: bool, type: str, subject_names: tuple[str, ...], project: str,
    folder_tags: bool, attachments: bool, prune: bool, dry_run: bool, new_type: bool,
) -> Exit:  # fmt: skip
    """Copy a folder of notes to vault/imported/.

    Its tree and every byte of its notes are kept; lines are added to heads, and what stood under their names is kept.
    """
    with call.open_vault() as vault, call.progress("importing") as progress:
        done = markdown_folder.import_markdown(
            vault, folder, name=name, in_place=in_place, type=type, subject_names=subject_names, project=project,
            folder_tags=folder_tags, attachments=attachments, prune=prune, dry_run=dry_run, new_type=new_type,
            progress=progress,
        )  # fmt: skip
        return call.emit(done, _imported, vault)


@command("cognitive-memory", "vt import cognitive-memory ~/.claude/memory --dry-run")
@click.argument("folder", type=click.Path(), metavar="DIR", help="The folder that holds `graph/`.")
@click.option("--name", default="", help="The name of the import; else that of its folder.")
@click.option("--for-project", "project", default="", metavar="NAME", help="The project or world that all are about.")
@takes(memory_graph.import_cognitive_memory, "dry_run")
def cognitive_memory(call: Call, folder: str, name: str, project: str, dry_run: bool) -> Exit:
    """Take in a memory that keeps a `graph/` of notes.

    Ids are kept, relations become edges, episodes become logs, access counts become use.
    """
    with call.open_vault() as vault, call.progress("importing") as progress:
        done = memory_graph.import_cognitive_memory(vault, folder, name=name, project=project, dry_run=dry_run, progress=progress)
        return call.emit(done, _imported, vault)


@contextmanager
def _pasted(source: str) -> Iterator[str]:
    """The path of an export; `-` is a private file of what standard input holds."""
    if source != "-":
        yield source
        return
    with tempfile.TemporaryDirectory(prefix="vt-import-") as folder:
        path = Path(folder) / "pasted.txt"
        path.write_bytes(standard_input())
        yield str(path)


def _of_an_export(kind: str, help: str, example: str, metavar: str, about: str) -> VaultCommand:
    """The command that takes in exports of one kind; without a kind, of whichever it is."""

    @command(kind or "FILE", example)
    @click.argument("source", type=click.Path(), metavar=metavar, help=about)
    @click.option("--name", default="", help=f"A name for the import; else {kind or 'its kind'}.")
    @takes(foreign_export.import_from, "since", "only", "subject_names", "chats", "all_kinds")
    @writes
    @takes(foreign_export.import_from, "dry_run")
    def imports(
        call: Call, source: str, name: str, since: str | None, only: str, subject_names: tuple[str, ...], chats: bool,
        all_kinds: bool, dry_run: bool,
    ) -> Exit:  # fmt: skip
        with _pasted(source) as path, call.open_vault() as vault, call.progress("importing") as progress:
            done = foreign_export.import_from(
                vault, path, kind=kind, name=name, since=since, only=only, subject_names=subject_names, chats=chats,
                all_kinds=all_kinds, dry_run=dry_run, progress=progress,
            )  # fmt: skip
            return call.emit(replace(done, source="standard input") if source == "-" else done, _imported, vault)

    imports.help = help
    # A list of commands has room for what it takes in.
    imports.short_help = f"{help.partition(' (')[0].partition(chr(10))[0].removesuffix('.')}."
    return imports


FOUND_OUT = _of_an_export("", "Take in an export, of whichever tool.", "vt import ~/Downloads/export.zip", "FILE", "The export.")


@command("jsonl", "vt import jsonl ~/vault.jsonl")
@click.argument("source", type=click.Path(), metavar="FILE", help="The file that `vt export jsonl` wrote.")
@click.option("--restore", "whole", is_flag=True, help="Make an empty vault what the other was, origins too.")
@click.option("--yes", is_flag=True, help="With --restore: do not ask.")
@click.option("--name", default="", help="A name for the import; else jsonl.")
@takes(foreign_export.import_from, "since", "only", "subject_names")
@writes
@takes(foreign_export.import_from, "dry_run")
def jsonl(
    call: Call, source: str, whole: bool, yes: bool, name: str, since: str | None, only: str, subject_names: tuple[str, ...],
    dry_run: bool,
) -> Exit:  # fmt: skip
    """Take in the memories of another vault.

    They become imports. With --restore, by a person and into an empty vault, notes and judgements are again what they were,
    byte for byte; a terminal is shown first how many are of which origin, and asked.
    """
    if yes and not whole:
        raise UsageError("--yes answers what --restore asks", "leave it out, or `vt import jsonl FILE --restore --yes`")
    with call.open_vault() as vault, call.progress("importing") as progress:
        if whole:
            # Without a terminal the verb itself refuses, unless this machine's settings answer for a person.
            if not (yes or dry_run) and at_terminal():
                meant = restoring.restore(vault, source, dry_run=True)
                if call.json:
                    raise Refused(
                        f"{counted(meant.files, 'file')} would be restored, and --json asks nothing",
                        "look with --dry-run, or leave --json out",
                    )
                call.emit(meant, _restored, vault)
                if not click.confirm("Restore them?", err=True):
                    output.say("nothing was restored")
                    return Exit.DONE
            return call.emit(restoring.restore(vault, source, dry_run=dry_run), _restored, vault)
        done = foreign_export.import_from(
            vault, source, kind="jsonl", name=name, since=since, only=only, subject_names=subject_names, dry_run=dry_run,
            progress=progress,
        )  # fmt: skip
        return call.emit(done, _imported, vault)


import_.add_command(jsonl)

_EXPORTS = (
    (
        "claude-code", "Take in Claude Code's memories (tried on invented ones only).",
        "Each file of a project's `memory` becomes a preference or fact of that project; CLAUDE.md and rules become pages.",
        "~/.claude/projects", "DIR", "`~/.claude`, its `projects`, or one of these.",
    ),
    (
        "claude", "Take in Claude's export (tried on invented ones only).",
        "Each paragraph of its memories becomes a fact or preference, a project a subject, its documents pages.",
        "~/Downloads/data-2026-11-25", "FILE", "The zip, a folder of several, or a file of it.",
    ),
    (
        "chatgpt", "Take in ChatGPT's export (tried on invented ones only).",
        "It holds conversations alone; for its memories see `vt import memories`.",
        "~/Downloads/chatgpt --chats", "FILE", "The zip, its folder, or its conversations.json.",
    ),
    (
        "claude-mem", "Take in claude-mem's database (tried on invented ones only).",
        "Summaries, decisions and fixes; the rest with --all-kinds.", "~/claude-mem.json", "FILE",
        "The database, or the JSON that its script writes.",
    ),
    (
        "server-memory", "Take in the memory server's graph (tried on invented ones only).",
        "Entities become subjects, observations and relations facts.", "~/memory.jsonl", "FILE",
        "Its memory.jsonl or memory.json.",
    ),
    (
        "mem0", "Take in mem0's memories (tried on invented ones only).",
        "Each is a fact or preference of its user; equal texts are taken once.", "~/mem0.json", "FILE",
        "The answer of `get_all`.",
    ),
    (
        "memories", "Take in pasted memories (tried on invented ones only).",
        "A line each, `[2026-03-01] - Prefers short answers.`, as assistants list them when asked.", "- < turn.txt", "FILE",
        "A text, or - for standard input.",
    ),
)  # fmt: skip

for _kind, _first, _more, _example, _metavar, _about in _EXPORTS:
    import_.add_command(_of_an_export(_kind, f"{_first}\n\n{_more}", f"vt import {_kind} {_example}", _metavar, _about))
import_.add_command(markdown)
import_.add_command(cognitive_memory)


def _restored(done: restoring.Restored, short: Short) -> Iterator[Block]:
    yield f"{'would restore' if done.dry_run else 'restored'} {counted(done.files, 'file')} from {done.source}"
    yield fields(
        ("origins", [f"{origin} {count}" for origin, count in sorted(done.origins.items())]),
        ("not read", len(done.problems) or None),
        ("last commit", commit_of(done)),
    )


def _imported(done: Imported, short: Short) -> Iterator[Block]:
    if done.form:
        yield f"{done.form} ({done.tried})"
    yield f"{'would import' if done.dry_run else 'imported'} {done.imported} from {done.source} into {done.target}"
    yield fields(
        ("updated", done.updated or None),
        ("moved", done.moved or None),
        ("unchanged", done.unchanged or None),
        ("gone", _first_of(done.gone, f"{done.pruned} removed" if done.pruned else "--prune removes their copies")),
        ("left as pages", done.pages or None),
        ("edges", done.edges or None),
        ("logs", done.episodes or None),
        ("counts of use", done.uses or None),
        ("changed on both sides", done.changed_on_both_sides),
        ("left out", [f"{reason} {count}" for reason, count in sorted(done.skipped.items())]),
        ("new subjects", done.subjects_created),
        ("attachments", _first_of(done.attachments, f"{done.attachments_copied} copied now")),
        ("commits", len(done.commits) or None),
        ("last commit", commit_of(done)),
        ("seconds", done.seconds),
        ("next", "`vt core` has CORE.md tell of them, `vt embed` finds them by meaning" if done.commits else None),
    )
    if done.problems:
        groups = _alike(done.problems)
        yield table(("severity", "where", "what", "what to do"), groups[:SHOWN])
        if len(groups) > SHOWN or len(groups) < len(done.problems):
            yield f"{counted(len(done.problems), 'problem')} of {counted(len(groups), 'kind')}: --json lists each"
    if done.known_problems:
        yield f"{counted(len(done.known_problems), 'problem')} that an earlier import told, still there: --json lists them"


def _alike(problems: Sequence[Problem]) -> list[tuple[str, str, str, str]]:
    """One row for all problems of a kind: the first few by name, and how many more there are."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault((problem.severity.value, problem.code), []).append(problem)
    return [(severity, _places(alike), alike[0].message, alike[0].hint) for (severity, _), alike in kinds.items()]


def _places(problems: Sequence[Problem]) -> str:
    """The files of some problems: the first few with a line, and how many more there are."""
    files = {problem.path: f"{problem.path}:{problem.line}" if problem.line else problem.path for problem in reversed(problems)}
    named = [files[path] for path in sorted(files)]
    return ", ".join(named[:NAMED]) + (f" and {len(named) - NAMED} more" if len(named) > NAMED else "")


def _first_of(names: Sequence[str], text: str) -> str:
    """How many there are, what is said of them, and the first three; nothing where there are none."""
    return f"{len(names)} ({text}): {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}" if names else ""
