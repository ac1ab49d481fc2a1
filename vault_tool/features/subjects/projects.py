"""`project`: how the project of a folder is called, so that a page is for what is worked on there."""

from __future__ import annotations

from pathlib import Path

from vault_tool import machine
from vault_tool.errors import UsageError
from vault_tool.features.subjects.subjects import create_subjects
from vault_tool.files import layout
from vault_tool.index import timeline
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.folder_project import is_known, known_name, named_above, project_of
from vault_tool.vault.operation import Saved
from vault_tool.vault.request import looks, of_the_whole, verb

_LONGEST = 200


class FolderName(Struct, kw_only=True):
    """A folder of this machine, and what its project is called."""

    folder: str
    project: str


class FolderProjects(Saved, kw_only=True):
    """The project of a folder, with how it is known; `results` are all folders that were named on this machine.

    `known_by` is `name`, `repository` or nothing; `known` says whether the vault knows the project, by a subject or by memories
    that name it: else the folder's page is that of all. `created` is the subject that was made for a new name.
    """

    folder: str
    project: str
    known_by: str
    known: bool
    created: str | None = None
    projects: tuple[str, ...]
    results: tuple[FolderName, ...]


@verb
@of_the_whole
@looks
def project(vault: Context, name: str | None = None, *, folder: str = ".") -> FolderProjects:
    """Tell which project a folder is of, or name it (on this machine), an empty name taking that back.

    Without a name a folder has that of its git repository, by its remote: work trees and subfolders are one project. A page
    (`core`, the start of a session) is for the project of the folder it is asked from. A new name gets a subject.
    """
    path = Path(folder or ".").expanduser().resolve()
    if not path.is_dir():
        raise UsageError(f"there is no folder {one_line(str(path), 200)}", "name one that is there")
    where = str(path)
    saved: Saved = Saved()
    created = None
    if name is not None:
        name = known_name(vault, _checked(name))
        if name and not is_known(vault, name):
            outcome = create_subjects(vault, [{"name": name, "role": "project"}])
            saved, created = outcome, outcome.results[0].id
        machine.name_project(vault.local.place / layout.CONFIG_FILE, where, name)
        vault = vault.reopened()
    named, recorded = vault.machine.projects, timeline.projects(vault.index.catalog)
    current = project_of(vault, where)
    return FolderProjects(
        **saved.fields(),
        folder=where,
        project=current,
        known_by=("name" if named_above(vault, where) else "repository") if current else "",
        known=bool(current) and is_known(vault, current),
        created=created,
        projects=tuple(sorted({*vault.settings.projects, *named.values(), *recorded}, key=str.casefold)),
        results=tuple(FolderName(folder=path, project=called) for path, called in sorted(named.items())),
    )


def _checked(name: str) -> str:
    name = name.strip()
    if len(name) > _LONGEST or not name.isprintable():
        hint = f"give a shorter one: {step('project', name=...)}"
        raise UsageError(f"a project's name is one line of at most {_LONGEST} characters", hint)
    return name
