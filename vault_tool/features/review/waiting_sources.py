"""The sources of understandings that wait: what each rests on, and a person's choice of them before it is accepted."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from vault_tool.errors import NotFound, UsageError
from vault_tool.files import frontmatter
from vault_tool.files.frontmatter import Set
from vault_tool.files.inbox import Inbox
from vault_tool.files.parse import record
from vault_tool.model.records import Understanding
from vault_tool.vault import drafts, person
from vault_tool.vault.context import Context

_ACT = "choose what a waiting memory rests on"


def waiting_sources(vault: Context) -> Mapping[str, tuple[str, ...]]:
    """The ids of the sources of each understanding that waits, by its id."""
    return {draft.id: draft.sources for _, _, draft in _drafts(person.acting(vault, _ACT)) if draft.sources}


def drop_sources(vault: Context, identity: str, gone: Collection[str]) -> None:
    """Take sources out of an understanding that waits; it goes on waiting. Raises UsageError where none would be left."""
    vault = person.acting(vault, _ACT)
    for name, data, draft in _drafts(vault):
        if draft.id == identity:
            left = [source for source in draft.sources if source not in gone]
            if not left:
                raise UsageError(f"{draft.title or identity}: nothing is ticked that it rests on", "tick one, or reject it")
            inbox = Inbox(vault.root)
            inbox.put(draft.id, name, frontmatter.edit(data, [Set("sources", left)]), inbox.about(draft.id))
            return
    raise NotFound(f"no understanding with the id {identity[:36]} waits", "look at what does")


def _drafts(vault: Context) -> Iterator[tuple[str, bytes, Understanding]]:
    for name, data in drafts.undecided(vault):
        draft = record(name, data, vault.settings.types)
        if isinstance(draft, Understanding):
            yield name, data, draft
