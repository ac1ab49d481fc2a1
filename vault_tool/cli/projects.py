"""`vt project`: how the project of a folder is called."""

from __future__ import annotations

from collections.abc import Iterator

import click

from vault_tool.cli.blocks import Block, fields, table
from vault_tool.cli.options import Call, Short, command
from vault_tool.cli.saved import commit_of
from vault_tool.errors import Exit
from vault_tool.features.subjects import projects
from vault_tool.features.subjects.projects import FolderProjects


@command("project", "vt project", "vt project Ferry", "vt project Ferry --folder .", "vt project --list")
@click.argument("name", metavar="[NAME]", required=False, help="The name to give; '' to take a name back.")
@click.option("--folder", metavar="DIR", default=".", help="The folder that is meant; else this one.")
@click.option("--list", "listed", is_flag=True, help="Show the folders that were named, and the projects that are known.")
def project(call: Call, name: str | None, folder: str, listed: bool) -> Exit:
    """Show or name the project of a folder.

    The page at the start of a session is for the project of the folder it starts in. A folder is of the project that
    its git repository is called after (by its remote, else by its own folder), or that it was given here, on this
    machine. A new name gets a subject.
    """
    with call.open_vault() as vault:
        return call.emit(projects.project(vault, name, folder=folder), _all if listed else _one, vault)


def _one(projects: FolderProjects, short: Short) -> Iterator[Block]:
    if projects.created:
        yield f"{projects.project} is a new project: its subject is {short(projects.created)}"
    how = {"name": "by the name that was given here", "repository": "by its repository"}.get(projects.known_by, "")
    yield f"{projects.folder}: {projects.project}, {how}" if projects.project else f"{projects.folder}: no project"
    if projects.project and not projects.known:
        yield f"nothing in the vault is of {projects.project} yet: a page that is made here is that of all"
    if projects.created:
        yield fields(("commit", commit_of(projects)))


def _all(projects: FolderProjects, short: Short) -> Iterator[Block]:
    yield table(
        ("folder", "project"), [(folder.folder, folder.project) for folder in projects.results], empty="no folder was named"
    )
    yield fields(("known projects", projects.projects or "none"))
