"""The project of a folder, and the projects that a vault knows."""

from __future__ import annotations

import os
from pathlib import Path

from vault_tool.files.local_trust import repositories
from vault_tool.files.repository_name import repository_name
from vault_tool.generate.core_project import CoreProject
from vault_tool.index import timeline
from vault_tool.index.relations import declared_projects
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import CoreSection, RecordClass
from vault_tool.util.text import normal_name
from vault_tool.vault import resolve, seen
from vault_tool.vault.context import Context


def project_of(vault: Context, folder: str) -> str:
    """The name of a folder's project: as it was named on this machine, else by its repository; empty without either.

    A repository that holds the vault itself is no project of it: there the whole vault is about it.
    """
    if not folder:
        return ""
    real = os.path.realpath(folder)
    if named := named_above(vault, real):
        return named
    repo = next(repositories(Path(real)), None)
    if repo is None or _holds(str(repo.work_tree), str(vault.root.resolve())):
        return ""
    return known_name(vault, repository_name(repo))


def client_project(vault: Context, folder: str) -> str:
    """The project of a client that names this folder: its project, else the folder's name.

    A folder that holds the vault itself is no project of it.
    """
    real = os.path.realpath(folder)
    if project := project_of(vault, folder):
        return project
    has_own = any(repositories(Path(real))) or _holds(real, str(vault.root.resolve()))
    return "" if has_own else known_name(vault, Path(real).name)


def known_name(vault: Context, name: str) -> str:
    """A project's name as the vault writes it, by its subject or by the memories that name it; else as it is given."""
    normal = normal_name(name)
    if not normal:
        return ""
    subject = resolve.subject(vault, name)
    if subject is not None:
        return subject.title
    return next((each for each in timeline.projects(vault.index.catalog) if normal_name(each) == normal), name)


def is_known(vault: Context, name: str) -> bool:
    """Whether the vault knows a project of this name: then a page can be made for it."""
    normal = normal_name(name)
    known = {*vault.settings.projects, *vault.machine.projects.values(), *timeline.projects(vault.index.catalog)}
    return bool(normal) and (normal in map(normal_name, known) or resolve.subject(vault, name) is not None)


def core_project(vault: Context, name: str) -> CoreProject | None:
    """The project of this name as a page is made for it; None for a name that the vault does not know."""
    if not is_known(vault, name):
        return None
    catalog = vault.index.catalog
    names = frozenset((*resolve.names_for(vault, name), normal_name(name)))
    others = {normal_name(each) for each in vault.machine.projects.values()}
    # What others brought takes none of our memories off a page.
    others |= {normal_name(each) for each in timeline.own_projects(catalog)}
    own = (entry for entry in catalog.of_class(RecordClass.SUBJECT) if not entry.pulled)
    others |= {normal_name(each) for each in declared_projects(vault.settings.projects, own)}
    return CoreProject(names, frozenset(others - names))


class ProjectPlace:
    """Says of memories whether they are of other projects than one."""

    def __init__(self, vault: Context, project: CoreProject) -> None:
        self._vault = vault
        self._project = project
        self._types = vault.settings.types
        self._sessions: dict[str, bool] = {}

    def is_elsewhere(self, entry: Entry) -> bool:
        """Whether a memory is of other projects alone; where work was left, also by the session that says so."""
        if self._project.is_elsewhere(entry):
            return True
        left = self._types.spec(entry.type).section is CoreSection.WHERE_LEFT
        return left and not self._project.has(entry) and self._was_elsewhere(entry.text("session"))

    def _was_elsewhere(self, session: str) -> bool:
        """Whether a session of this machine worked on another project."""
        if session not in self._sessions:
            state = seen.of(self._vault, session)
            self._sessions[session] = bool(state and state.project and normal_name(state.project) not in self._project.names)
        return self._sessions[session]


def recent_projects(vault: Context, most: int) -> tuple[str, ...]:
    """The projects that sessions of this machine worked on lately, the latest first."""
    sessions = sorted(seen.all_known(vault), key=lambda session: session.touched, reverse=True)
    return tuple(dict.fromkeys(session.project for session in sessions if session.project))[:most]


def named_above(vault: Context, folder: str) -> str:
    """The name that a folder, or the nearest above it, was given on this machine; empty where none was."""
    above = [path for path in vault.machine.projects if _holds(path, folder)]
    return vault.machine.projects[max(above, key=len)] if above else ""


def _holds(above: str, folder: str) -> bool:
    return f"{folder}{os.sep}".startswith(f"{above.rstrip(os.sep)}{os.sep}")
