"""Rules about who is who: ids, subjects' names, paths, the workspace, and pages that are no records."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from shlex import quote

from vault_tool.check.scope import Scope, listed, short
from vault_tool.model.problems import Problem, error, note, warning
from vault_tool.model.snapshot import own_id_for, owners_entry
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import shell, step
from vault_tool.util.text import one_line


def duplicate_id(scope: Scope) -> Iterable[Problem]:
    """Files that share an id: each is named with the others; where one is the owner's it keeps the id, and the copies are."""
    for identity, entries in scope.snapshot.by_id.items():
        own = owners_entry(entries) if len(entries) > 1 else None
        if own is not None:
            for entry in entries:
                if entry is not own:
                    message = f"has the id {short(identity)} of {own.path}, which keeps it; this copy is {entry.origin}"
                    yield error(entry.path, 0, "duplicate-id", message, own_id_for(entry.path))
        elif len(entries) > 1:
            for entry in entries:
                others = sorted(other.path for other in entries if other.path != entry.path)
                message = f"id {short(identity)} is also in {listed(others)}"
                yield error(entry.path, 0, "duplicate-id", message, own_id_for(entry.path))


def duplicate_subject_name(scope: Scope) -> Iterable[Problem]:
    """Subjects that answer to the same name or alias: writes that name it are refused until one of them gives way."""
    for name, entries in scope.snapshot.subjects_by_name.items():
        if len({entry.id for entry in entries}) > 1:
            ordered = sorted(entries, key=lambda entry: (entry.text("created"), entry.path))
            merge = step("merge_subjects", primary=ordered[0].title, duplicate=ordered[1].title)
            for entry in entries:
                others = sorted(other.path for other in entries if other is not entry)
                message = f"the subject name `{one_line(name, 40)}` is also claimed by {listed(others)}"
                hint = f"rename one or take the alias out of one; if they are one subject, {merge}"
                yield error(entry.path, 0, "duplicate-subject-name", message, hint)


def path_twins(scope: Scope) -> Iterable[Problem]:
    """Paths that differ only in case or in how their letters are composed: other systems keep only one of them."""
    twins: dict[str, list[str]] = defaultdict(list)
    for path in (*(entry.path for entry in scope.snapshot.entries), *scope.snapshot.pages):
        folded = path.lower() if path.isascii() else unicodedata.normalize("NFC", path).casefold()
        twins[folded].append(path)
    for paths in twins.values():
        for path in paths if len(paths) > 1 else ():
            others = sorted(other for other in paths if other != path)
            message = f"differs only in case or accents' encoding from {listed(others)}"
            yield warning(path, 0, "path-twins", message, f"rename it: {shell(f'git mv {_quoted(path)} NEW-NAME')}")


def workspaces(scope: Scope) -> Iterable[Problem]:
    """A vault has one workspace record: without it contracts cannot name the vault, with two its id is unclear."""
    paths = sorted(entry.path for entry in scope.snapshot.of_class(RecordClass.WORKSPACE))
    if not paths and scope.snapshot.entries:
        hint = f"{step('init')} writes it and leaves everything else alone"
        yield note("vault/workspace.md", 0, "no-workspace", "the vault has no workspace record", hint)
    for path in paths if len(paths) > 1 else ():
        others = [other for other in paths if other != path]
        hint = "keep one of them"
        yield warning(path, 0, "several-workspaces", f"the workspace is also described in {listed(others)}", hint)


def pages(scope: Scope) -> Iterable[Problem]:
    """Markdown files without the lines that make a record: searched as text, never changed."""
    # What parsing said of a head that is nearly a record's is more to the point.
    paths = {problem.path for problem in scope.snapshot.problems if problem.code == "page"}
    for path in scope.snapshot.pages:
        if path in paths:
            continue
        hint = f"{step('adopt', paths=path)} makes it a record; leave it if it is meant to be a page"
        yield note(path, 0, "page", "has no `id` and `type`: searched as text, but not a memory", hint)


def _quoted(text: str) -> str:
    """A word for a command line, quoted where a shell would part or expand it."""
    return quote(one_line(text))
