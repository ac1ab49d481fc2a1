"""The meaning of a note's links: the one answer that `related`, the page and `doctor` give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vault_tool.index.relations import names_of
from vault_tool.index.schema import link_name, linked_as, path_name, top_of
from vault_tool.model.snapshot import Entry
from vault_tool.util.note_links import is_path, led_to, readings, without_ending
from vault_tool.util.text import normal_name
from vault_tool.vault import resolve
from vault_tool.vault.context import Context


def meant(vault: Context, path: str, link: str) -> Sequence[Entry]:
    """The meaning of a link in the note at `path`: the first of its readings that names anything."""
    for reading in readings(link):
        if entries := _at_path(vault, path, reading) if is_path(reading) else _called(vault, path, reading):
            return entries
    return ()


def meant_by(vault: Context, entry: Entry) -> Sequence[Entry]:
    """All that a record links to, each once; a link to itself, to a part of it or by another of its names, is none."""
    by_path = {other.path: other for link in entry.links for other in meant(vault, entry.path, link) if other.id != entry.id}
    return tuple(by_path.values())


def linking(vault: Context, entry: Entry) -> Iterator[Entry]:
    """The records whose links mean this one."""
    names = {link_name(entry.path), link_name(entry.id), link_name(entry.title), *names_of(entry), *linked_as(entry)}
    for source in vault.index.catalog.linking(names - {""}):
        if source.id != entry.id and any(other.id == entry.id for other in meant_by(vault, source)):
            yield source


def _at_path(vault: Context, path: str, link: str) -> Sequence[Entry]:
    """The note at a path; else the one note of that file's name, which was moved."""
    full = led_to(link, path, top_of(path))
    if (entries := _by_path(vault, full)) is not None:
        return (entries,)
    named = vault.index.catalog.titled(link_name(full))
    return named if len(named) == 1 else ()


def _called(vault: Context, path: str, name: str) -> Sequence[Entry]:
    """The notes of a name: an id, a subject, a title, an alias, a file's name, with or without the folders above it."""
    bare = without_ending(name)
    if "/" in bare and (entries := _below(vault, path, bare)):
        return entries
    named = resolve.candidates(vault, bare) or vault.index.catalog.titled(link_name(bare))
    if len(named) < 2:
        return named
    folder = path.rpartition("/")[0]
    return [entry for entry in named if entry.path.rpartition("/")[0] == folder] or named


def _below(vault: Context, path: str, name: str) -> Sequence[Entry]:
    """The notes at a path from the root, from the folder whose notes belong together, or with it as their last parts."""
    for full in (name, f"{top_of(path)}/{name}"):
        if (entries := _by_path(vault, full)) is not None:
            return (entries,)
    ends = f"/{normal_name(name)}"
    return [entry for entry in vault.index.catalog.titled(link_name(name)) if path_name(entry.path).endswith(ends)]


def _by_path(vault: Context, path: str) -> Entry | None:
    """The record at a path, with the ending that it has there."""
    catalog = vault.index.catalog
    return catalog.by_path(path) or catalog.by_path(f"{without_ending(path)}.md")
