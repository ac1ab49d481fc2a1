"""`moved`: which note of the folder around the vault one that is gone has become, where that could not be told."""

from __future__ import annotations

from collections.abc import Iterator
from os.path import normpath, relpath
from pathlib import Path

from vault_tool.errors import NotFound, Refused, UsageError
from vault_tool.files.layout import AROUND, is_around
from vault_tool.index.refresh.served_notes import ServedNotes
from vault_tool.model.ids import canonical
from vault_tool.model.problems import Problem, warning
from vault_tool.util.hints import step
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line
from vault_tool.vault.context import Context
from vault_tool.vault.pending import caught_up
from vault_tool.vault.request import of_the_whole, verb

# So many notes are named that a lost one may be.
_NAMED = 3


class MovedNote(Struct, kw_only=True):
    """A note of the folder around that keeps the id which another path had, with its marks and links."""

    id: str
    was: str
    path: str
    title: str


@verb
@of_the_whole
def moved(vault: Context, was: str, path: str) -> MovedNote:
    """Say that the note `was` (its path or its id), which is gone, is now the one at `path`: what is on it is found there.

    Both are of the folder around the vault, which is not written. Refused where the old one is still there, or the new one
    has marks or links of its own.
    """
    if vault.notes_folder is None:
        raise UsageError("this vault serves no folder around it", "of its own notes each keeps its id under any name")
    with caught_up(vault, "moved"):
        notes = ServedNotes(vault.root)
        identity, old = _lost(vault, notes, was)
        new = next(
            (reading for reading in _readings(vault, path) if (entry := vault.index.catalog.by_path(reading)) is not None), ""
        )
        entry = vault.index.catalog.by_path(new) if new else None
        if entry is None:
            raise NotFound(f"no note of the folder is at {one_line(path, 80)}", f"give its path, as {step('search')} prints it")
        if entry.id in notes.notes and entry.id != identity:
            raise Refused(f"{new} has marks or links of its own", "name another note, or take these away first")
        notes.assign(identity, new)
        notes.save(strict=True)
        vault.index.refresh(full=True)
    return MovedNote(id=identity, was=old, path=new, title=entry.title)


def lost_notes(vault: Context) -> Iterator[Problem]:
    """Notes of the folder around that have marks or links and are gone, each with those that it may be now."""
    if vault.notes_folder is None:
        return
    notes = ServedNotes(vault.root)
    gone = notes.lost()
    if not gone:
        return
    paths = [entry.path for entry in vault.index.catalog.snapshot().entries if is_around(entry.path)]
    for _, note in sorted(gone.items(), key=lambda pair: pair[1].path):
        named = notes.candidates(note, paths)[:_NAMED]
        command = step("moved", was=note.path, path=named[0] if named else ...)
        hint = f"it may be {' or '.join(named)}: {command} says so" if named else f"{command} says which note it is now"
        yield warning(note.path, 0, "served-note-gone", "a note with marks or links on it is not there any more", hint)


def _lost(vault: Context, notes: ServedNotes, was: str) -> tuple[str, str]:
    """The id and the old path of the note that is meant."""
    gone = notes.lost()
    named = canonical(was) or ""
    paths = {*_readings(vault, was)}
    for identity, note in notes.notes.items():
        if named == identity or note.path in paths:
            if identity not in gone:
                raise Refused(
                    f"{note.path} is there, with its marks and links", f"name one that is gone: {step('doctor')} lists them"
                )
            return identity, note.path
    catalog = vault.index.catalog
    # Nothing was written down of it, as in a new clone; but something refers to it.
    if named and not catalog.get(named) and (list(catalog.pointing_at(named)) or catalog.signals(named)):
        return named, ""
    raise NotFound(f"no note that is gone is called {one_line(was, 80)}", f"{step('doctor')} lists them")


def _readings(vault: Context, path: str) -> Iterator[str]:
    """The paths that a written path may stand for: from the vault's root, from here, or from the folder around."""
    folder = vault.root.parent
    for base in (vault.root, Path.cwd(), folder):
        reading = relpath(normpath(base / path), folder)
        if not reading.startswith(".."):
            yield f"{AROUND}{Path(reading).as_posix()}"
