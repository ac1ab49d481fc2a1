"""Keeping what a set knows of the notes' texts up to date with the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vault_tool.config import Config
from vault_tool.files import git
from vault_tool.index.rebuild import Index
from vault_tool.index.schema import titles_of
from vault_tool.index.vectors import texts
from vault_tool.index.vectors.vector_ledger import Note
from vault_tool.index.vectors.vector_set import VectorSet

_READ_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Notes:
    """The notes of one vault, read when they are asked for; `now` gives seconds since the epoch."""

    root: Path
    index: Callable[[], Index]
    settings: Config
    repo: git.Repo | None
    now: Callable[[], float]

    def count(self) -> int:
        """How many notes are to be embedded."""
        return texts.count(self.index().catalog)

    def state(self) -> str:
        """What changes when the catalogue does."""
        catalog = self.index().catalog
        return f"{catalog.meta('nonce')} {catalog.seq()}"

    def unread(self, vectors: VectorSet) -> int:
        """How many notes a set does not know as they are now."""
        return len(texts.PendingTexts(self.index().catalog, vectors.ledger()).to_read)

    def texts(self, paths: Sequence[str], window: int) -> Iterator[Mapping[bytes, str]]:
        """The texts of some notes by their keys, a note at a time and in this order."""
        for start in range(0, len(paths), _READ_AT_ONCE):
            some = paths[start : start + _READ_AT_ONCE]
            read = {note.path: dict(zip(note.keys, found, strict=True)) for note, found in self._read(some, window)}
            yield from (read[path] for path in some if path in read)

    def links(self, paths: Sequence[str]) -> Mapping[str, int]:
        """How many records link to each of these notes; those that nothing links to are left out."""
        catalog = self.index().catalog
        named = {path: titles_of(entry) for path, entry in catalog.by_paths(paths).items()}
        counts = catalog.link_counts(set().union(*named.values()))
        found = {path: max((counts.get(name, 0) for name in names), default=0) for path, names in named.items()}
        return {path: count for path, count in found.items() if count}

    def noted(self, vectors: VectorSet, window: int, limit: int | None) -> int:
        """Bring what the set knows of the notes' texts up to date, at most `limit` notes; how many were left."""
        vectors.examine()
        form = texts.form(window)
        if vectors.ledger().meta("form") != form:
            with vectors.writing() as ledger, ledger.transaction():
                ledger.forget_all_notes()
                ledger.say(form=form, window=str(window), mark="")
        outlook = texts.PendingTexts(self.index().catalog, vectors.ledger())
        todo = outlook.to_read if limit is None else outlook.to_read[:limit]
        for start in range(0, len(todo), _READ_AT_ONCE):
            notes = [note for note, _ in self._read(todo[start : start + _READ_AT_ONCE], window)]
            with vectors.writing() as ledger, ledger.transaction():
                ledger.put_notes(notes, self.now())
        left = len(outlook.to_read) - len(todo)
        if outlook.to_forget or (not left and vectors.ledger().meta("mark") != outlook.mark):
            with vectors.writing() as ledger, ledger.transaction():
                ledger.drop_notes(outlook.to_forget, self.now())
                if not left:
                    ledger.say(mark=outlook.mark)
        return left

    def _read(self, paths: Sequence[str], window: int) -> Iterator[tuple[Note, tuple[str, ...]]]:
        return texts.read(self.root, self.settings.types, self.repo, paths, window)
