"""Changes of the notes since the last report, whichever process took them into the indexes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from vault_tool.files.layout import AROUND, VAULT
from vault_tool.index.catalog import NOTES, UNREADABLE, Catalog, Known
from vault_tool.model.problems import Problem, Severity
from vault_tool.util.structs import Struct

_BELOW = (f"{VAULT}/", AROUND)

ADDED, MODIFIED, MOVED, REMOVED, PROBLEM = "added", "modified", "moved", "removed", "problem"


class NoteChange(Struct):
    """One logical change of one note; `was` is where a moved one stood, `line` and `message` tell of a problem."""

    change: str
    path: str
    title: str = ""
    was: str = ""
    line: int = 0
    message: str = ""


class ChangeFeed:
    """Remembers what the notes were when it was last asked."""

    def __init__(self, catalog: Catalog) -> None:
        self._known = _notes(catalog.all_files())

    def kind(self, path: str) -> str:
        """The class of a file at the last report; empty for a file that was not there."""
        known = self._known.get(path)
        return known.kind if known else ""

    def holds(self, path: str) -> bool:
        """Whether a note was there when it was last told of."""
        return path in self._known

    def of(self, catalog: Catalog, paths: Collection[str] | None = None) -> list[NoteChange]:
        """The changes among `paths` (None: everywhere) since the last report, sorted by path."""
        now = _notes(catalog.all_files() if paths is None else catalog.files(paths))
        before = self._known if paths is None else {path: self._known[path] for path in paths if path in self._known}
        changes = sorted(_changes(before, now), key=lambda change: change.path)
        for path in before.keys() - now.keys():
            self._known.pop(path)
        self._known.update(now)
        return _with_titles(catalog, changes, now) if changes else []


def _notes(files: Mapping[str, Known]) -> dict[str, Known]:
    return {path: known for path, known in files.items() if known.kind in NOTES and path.startswith(_BELOW)}


def _changes(before: Mapping[str, Known], now: Mapping[str, Known]) -> Iterator[NoteChange]:
    """The differences; a note that is gone here and stands there with the same content was moved."""
    gone: dict[str, list[str]] = {}
    for path, was in before.items():
        if path not in now:
            gone.setdefault(was.hash, []).append(path)
    for path, known in now.items():
        old = before.get(path)
        if old is None:
            sources = gone.get(known.hash) if known.hash else None
            yield NoteChange(MOVED, path, was=sources.pop(0)) if sources else NoteChange(ADDED, path)
        elif old.hash != known.hash:
            yield NoteChange(MODIFIED, path)
    yield from (NoteChange(REMOVED, path) for paths in gone.values() for path in paths)


def _with_titles(catalog: Catalog, changes: Iterable[NoteChange], now: Mapping[str, Known]) -> list[NoteChange]:
    """The same with titles, and with what is wrong in the notes that changed."""
    listed = list(changes)
    paths = [change.path for change in listed if change.change != REMOVED]
    entries = catalog.by_paths(paths)
    problems = _problems(catalog, set(paths))
    titled: list[NoteChange] = []
    for change in listed:
        known = now.get(change.path)
        if known is None or known.kind != UNREADABLE:
            entry = entries.get(change.path)
            page = catalog.page(change.path) if entry is None and known is not None else None
            title = entry.title if entry else page.title if page else ""
            titled.append(NoteChange(change.change, change.path, title, change.was))
        wrong = problems.get(change.path, ())
        titled.extend(NoteChange(PROBLEM, change.path, line=problem.line, message=problem.message) for problem in wrong)
    return titled


def _problems(catalog: Catalog, paths: Collection[str]) -> dict[str, list[Problem]]:
    problems: dict[str, list[Problem]] = {}
    for problem in catalog.problems() if catalog.counts().problems else ():
        if problem.path in paths and problem.severity is not Severity.NOTE:
            problems.setdefault(problem.path, []).append(problem)
    return problems
