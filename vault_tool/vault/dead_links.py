"""Links that lead nowhere: each name or path that no note has is told once, with how many notes link to it."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vault_tool.files import layout
from vault_tool.index.schema import link_name, path_name, top_of
from vault_tool.model.ids import canonical
from vault_tool.model.problems import Problem, note
from vault_tool.util.note_links import is_path, led_to, readings, targets
from vault_tool.util.text import counted, normal_name, one_line
from vault_tool.vault import link_meaning
from vault_tool.vault.context import Context

# Files that are no memories, and that a link may lead to all the same.
_OTHER_FILES = ("unreadable", "episode", "conflict", "other")


def dead_links(vault: Context) -> Iterator[Problem]:
    """The links of notes that lead nowhere: to no memory, subject, page or other file."""
    catalog = vault.index.catalog
    known_names = {
        name for page in catalog.pages() for name in (normal_name(page.title), link_name(page.path), path_name(page.path))
    }
    for path in (*(path for kind in _OTHER_FILES for path in catalog.of_kind(kind)), layout.CORE_FILE, layout.REFLECTION_FILE):
        known_names |= {link_name(path), path_name(path)}
    forgotten = vault.forgotten()
    dead: dict[str, tuple[str, str, list[str]]] = {}
    for entry in catalog.with_unknown_links():
        for link in entry.links:
            full = led_to(link, entry.path, top_of(entry.path)) if is_path(link) else ""
            names = {path_name(full)} if full else {link_name(reading) for reading in readings(link)}
            identity = "" if full else canonical(targets(link)[-1])
            if names & known_names or identity in forgotten or link_meaning.meant(vault, entry.path, link):
                continue
            if full and os.path.lexists(vault.root / full):
                continue
            shown = full or targets(link)[-1]
            key = path_name(full) if full else normal_name(shown)
            dead.setdefault(key, (shown, full, []))[2].append(entry.path)
    for shown, full, sources in dead.values():
        many = len(dict.fromkeys(sources))
        what = "no note lies at" if full else "no note is called"
        message = f"{what} `{one_line(shown, 80)}`, to which {counted(many, 'note')} {'links' if many == 1 else 'link'}"
        yield note(sources[0], 0, "dead-link", message, "mend the link, or write the note")
