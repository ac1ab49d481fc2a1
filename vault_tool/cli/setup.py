"""Commands that make a vault, set it up, and let a person write in it by hand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from msgspec.structs import replace

from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.embedding import offer_model
from vault_tool.cli.names import MEMORY, TYPES, takes
from vault_tool.cli.options import TEXT, Call, Short, command, usual_origin, writes
from vault_tool.cli.saved import commit_of, problem_table, saved_as
from vault_tool.errors import Exit, UsageError
from vault_tool.features.editing import editing
from vault_tool.features.setup import global_choice, setup
from vault_tool.machine import PROVIDERS, is_loopback
from vault_tool.util.text import counted
from vault_tool.vault.person import at_terminal


@command("init", "vt init ~/memory --name 'My memory'", "vt init --separate")
@click.argument("folder", type=click.Path(file_okay=False), default="", metavar="[DIR]", help="The folder; else this one.")
@click.option("--name", default="", help="The vault's name; else the folder's.")
@click.option("--description", default="", help="Its purpose.")
@click.option("--separate", is_flag=True, help="A repository of its own, also inside another one.")
@click.option("--no-git", is_flag=True, help="Run no `git init`.")
@click.option("--notes", type=click.Choice(setup.NOTES), metavar="here|own", help="Serve the notes that are there, or not.")
@click.option("--commit", is_flag=True, help="Keep the vault in the repository that the folder is in.")
def init(
    call: Call, folder: str, name: str, description: str, separate: bool, no_git: bool, notes: str | None, commit: bool
) -> Exit:
    """Make a folder a vault.

    A second run adds what is missing and leaves the rest as it is. Git is started unless the folder is in a
    work tree already; inside a repository with commits it asks, or needs --separate or --commit. In a folder of notes
    (Obsidian's, say) it asks, too: with --notes here they are served where they are and never written, and the vault is a
    folder beside them, with a repository of its own.
    """
    who = call.origin or usual_origin()
    has_global = global_choice.present(os.environ) is not None
    path = folder or call.vault or "."
    notes = notes or _asked_about(call, path)
    if not (notes == "here" or separate or commit):
        separate, commit = _asked_where(call, path)
    created = setup.init(
        path, name=name, description=description, separate=separate, no_git=no_git, notes=notes, commit=commit, who=who
    )
    offers = bool(created.created) and not created.around and not inside(created) and not has_global
    at_hand = not call.json and sys.stdin.isatty() and sys.stderr.isatty()
    outcome = call.emit(created, lambda initialised, short: _initialised(initialised, offers and not at_hand))
    if offers and at_hand and click.confirm("Use it in every folder that has no vault of its own?", default=True, err=True):
        with replace(call, vault=created.root).open_vault() as vault:
            global_choice.make_global(vault, created.root)
    if created.created:
        offer_model(call, created.root)
    return outcome


@command(
    "config", "vt config", "vt config core_budget 8000", "vt config global ~/memory", "vt config vault team ~/team-vault",
    "vt config --provider openai --openai-key -",
)  # fmt: skip
@click.argument("name", metavar="[NAME]", default="", help="One setting; none for all.")
@click.argument("value", metavar="[VALUE]", required=False, help="The value to set.")
@click.argument("folder", metavar="[DIR]", required=False, help="With `vault NAME`: the folder of the vault called so.")
@click.option("--remove", is_flag=True, help="With `vault NAME`: have no vault called so.")
@click.option("--provider", type=click.Choice(PROVIDERS), metavar="WHO", help=f"This machine's embedder: {', '.join(PROVIDERS)}.")
@click.option("--model", metavar="NAME", help="Its model; '' for the usual one.")
@click.option("--openai-key", type=TEXT, metavar="KEY", help="The key; - reads it from standard input.")
@click.option("--openai-url", metavar="URL", help="Where OpenAI, or what speaks like it, answers.")
@click.option("--ollama-host", metavar="URL", help="Where Ollama answers.")
@click.option("--models", metavar="DIR", help="The folder that holds all-MiniLM-L6-v2.")
@click.option("--vectors", metavar="WHICH", help="exact, chroma, or a Chroma server: URL, or URL/TENANT/DATABASE.")
@click.option("--vectors-token", type=TEXT, metavar="TOKEN", help="Its token; - reads it from standard input.")
@click.option("--owners", metavar="ADDRESSES", help="The owner's addresses in commits, else git's user.email.")
@click.option("--trusted", metavar="ADDRESSES", help="People whose word is told as theirs; *@example.org is a domain.")
@click.option("--owners-sign", type=click.Choice(("on", "off")), metavar="on|off", help="Only signed commits are the owner's.")
@click.option(
    "--unattended",
    is_flag=False,
    flag_value="on",
    type=click.Choice(("on", "off")),
    metavar="on|off",
    help="Whether commands answer for a person where none stands at them.",
)
@click.option("--owner", type=click.Choice(("on", "off")), metavar="on|off", help="Whether a background process may run.")
def config(call: Call, name: str, value: str | None, folder: str | None, remove: bool, **machine: str | None) -> Exit:
    """Show the settings, or set one.

    The vault's are in vault.toml, which keeps every other byte. This machine's (the options) are in _config.json,
    which git ignores and only you can read; a key is never shown. `global` is the vault that is found where no folder
    above is one, and read beside each other one; `vault team DIR` calls another one team, for `--with team`. Owners,
    keys, addresses and what follows of them are for a person to set.
    """
    machine_settings = {option: text.strip() for option, text in machine.items() if text is not None}
    if name == global_choice.NAME and value:
        # Where it is said for the first time, no vault is found from here but the one that is named.
        call = replace(call, vault=value)
    with call.open_vault() as vault:
        vectors = machine_settings.get("vectors", "")
        if "://" in vectors and not is_loopback(vectors) and at_terminal():
            question = f"{vectors} gets the vectors of this vault's notes, never their texts or names. Go on?"
            if not click.confirm(question, err=True):
                return Exit.DONE
        settings = setup.config(vault, name, value, machine=machine_settings, folder=folder, remove=remove)
        if machine_settings.get("owner") == "off":
            from vault_tool.owner.spawning import leave_background  # 10 ms, for this setting alone

            leave_background(vault.root)
        return call.emit(settings, _settings, vault)


@command("new", "vt new decision --title 'Stay on Postgres' --subject Homelab")
@click.argument("type", metavar="TYPE", help=f"The type: {TYPES}; subject, single_subject, relationship.")
@takes(editing.new, "title", "subject_names")
@writes
def new(call: Call, type: str, title: str, subject_names: tuple[str, ...]) -> Exit:
    """Write a note in your editor.

    It is checked and committed; a note that cannot be used is kept as a draft.
    """
    with call.open_vault() as vault:
        return call.emit(editing.new(vault, type, in_editor, title=title, subject_names=subject_names), _written, vault)


@command("edit", "vt edit a1b2c3", "vt edit a1b2c3 --text - --was 0f3ac1 < note.md")
@click.argument("memory_id", type=MEMORY, metavar="ID", help="The note.")
@click.option(
    "--text", type=TEXT, default=None, help="Its whole new file, head and all, in place of the editor; - for standard input."
)
@click.option("--was", metavar="HASH", default="", help="The hash of the file that the text was made from: `vt show --source`.")
@writes
def edit(call: Call, memory_id: str, text: str | None, was: str) -> Exit:
    """Edit a note; it counts as reviewed.

    It is checked and committed; one that cannot be read any more is kept as you left it, and not committed. A text that is
    given is refused where it cannot be read, and where the file was saved since.
    """
    with call.open_vault() as vault:
        editor = in_editor if text is None else None
        return call.emit(editing.edit(vault, memory_id, editor, text=text, was=was), _written, vault)


@command("adopt", "vt adopt vault/inbox/idea.md --type insight")
@click.argument("paths", nargs=-1, required=True, type=click.Path(), help="Pages below vault/.")
@click.option(
    "--type", default="general", show_default=True, metavar="TYPE", help=f"The type of observation they become: {TYPES}."
)
@writes
def adopt(call: Call, paths: tuple[str, ...], type: str) -> Exit:
    """Make records of pages.

    A page is a markdown file whose head lacks an id or a type; only those lines are added.
    """
    with call.open_vault() as vault:
        return call.emit(editing.adopt(vault, paths, type=type), _adopted, vault)


def in_editor(path: Path) -> None:
    """Open a file in $VISUAL or $EDITOR and wait."""
    try:
        click.edit(filename=str(path))
    except click.ClickException as fault:
        reason = fault.format_message().rstrip(".")
        raise UsageError(f"{reason[:1].lower()}{reason[1:]}", "set EDITOR to a program that waits until you are done") from fault


def _asked_about(call: Call, path: str) -> str:
    """The answer at the terminal about where a folder's notes stay; empty without notes or without a terminal."""
    notes = setup.notes_in(Path(path).expanduser())
    if not notes or call.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return ""
    question = f"{notes}. Serve them where they are, and keep the vault in {setup.free_home(Path(path).expanduser()).name}/?"
    return "here" if click.confirm(question, default=True, err=True) else "own"


def _asked_where(call: Call, path: str) -> tuple[bool, bool]:
    """Whether a new vault inside another repository gets one of its own, or is committed to that one, as answered at the
    terminal; neither without a repository or without a terminal.
    """
    repo = setup.repository_around(Path(path).expanduser())
    if repo is None or call.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False, False
    inside = f"{path} is in the repository {repo.work_tree}."
    if repo.prefix and click.confirm(f"{inside} Give the vault a repository of its own?", default=True, err=True):
        return True, False
    return False, click.confirm(f"{inside} Commit the vault to its checked-out branch?", default=False, err=True)


def inside(created: setup.Initialised) -> bool:
    """Whether a vault is a folder of a project's repository, which is then what it is for."""
    return bool(created.repository) and created.repository != created.root


def _initialised(created: setup.Initialised, offers: bool) -> Iterator[Block]:
    yield f"{created.name} is a vault at {created.root}"
    yield fields(
        ("written", counted(len(created.created), "file") if created.created else "nothing: all was there"),
        ("serves", created.around),
        ("repository", created.repository),
        ("commit", commit_of(created)),
        ("found", "from its own folder; `vt config global .` typed in it has it found from every other" if offers else ""),
    )


def _settings(settings: setup.ShownSettings, short: Short) -> Iterator[Block]:
    rows = [
        (setting.name, _formatted(setting.value), "" if setting.value == setting.default else "set", setting.sentence)
        for setting in settings.results
    ]
    if rows:
        yield table(("setting", "value", "", "meaning"), rows)
        yield fields(("path", settings.path), ("commit", commit_of(settings)))
    if settings.machine:
        yield table(
            ("of this machine", "value", "set in", "meaning"),
            [(setting.name, setting.value, setting.source, setting.sentence) for setting in settings.machine],
        )
        yield fields(("path", settings.machine_path))


def _formatted(value: object) -> str:
    if isinstance(value, dict):
        # A perspective's text would fill the table; its name says enough.
        return ", ".join(name if isinstance(text, str) else f"{name} = {_formatted(text)}" for name, text in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _written(saved: editing.SavedNote, short: Short) -> Iterator[Block]:
    if not saved.changed:
        yield "nothing was changed"
        return
    yield from saved_as(saved.id or "", saved.title, saved.path, short, saved, ("type", saved.type))
    if saved.problems:
        yield problem_table(saved.problems, "")


def _adopted(adopted: editing.Adopted, short: Short) -> Iterator[Block]:
    rows = [(short(note.id or ""), note.type, note.title, note.path) for note in adopted.results]
    yield table(("id", "type", "title", "path"), rows)
    yield fields(("commit", commit_of(adopted)))
