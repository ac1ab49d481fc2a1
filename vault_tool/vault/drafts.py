"""Drafts: the notes of the inbox that wait for a person, without those that a killed review had made memories already."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from vault_tool.errors import Refused
from vault_tool.files import reader
from vault_tool.files.inbox import INBOX, Inbox
from vault_tool.files.parse import parse
from vault_tool.model.ids import canonical
from vault_tool.util.text import normal_body
from vault_tool.vault.context import Context

Draft = tuple[str, bytes]

_ID = re.compile(rb"^id:[ \t]*[\"']?([0-9A-Fa-f-]{32,36})", re.MULTILINE)

# A write looks at no more than so many drafts; a review looks at all of them.
_FEW = 100


def undecided(vault: Context) -> list[Draft]:
    """The name and the bytes of every draft that waits, in the order of their names."""
    drafts = Inbox(vault.root).notes()
    done = _accepted(vault, drafts)
    return [one for one in drafts if one not in done]


def finished(vault: Context) -> list[str]:
    """The ids of the drafts that are memories already."""
    return list(_accepted(vault, Inbox(vault.root).notes()).values())


def finish_accepted(vault: Context, few: bool = False) -> None:
    """Take away the drafts that are memories already, which a killed review left; the caller holds the write lock.

    With `few` nothing is looked at where many wait.
    """
    with suppress(OSError):
        if few and len(os.listdir(vault.local.place / INBOX)) > _FEW:
            return
    inbox = Inbox(vault.root)
    for draft, identity in _accepted(vault, inbox.notes()).items():
        inbox.decide(identity, "accepted", vault.now())
        inbox.discard(identity, *draft)


def _accepted(vault: Context, drafts: list[Draft]) -> dict[Draft, str]:
    """Those of the drafts whose id and text a memory of the vault has, with that id."""
    found = {}
    catalog = vault.with_withheld().index.catalog if drafts else None
    for draft in drafts:
        said = _ID.search(draft[1])
        identity = canonical(said[1].decode()) if said else None
        if catalog is None or not identity:
            continue
        # Of bodies alone it is asked where the memory is its owner's: what others sent decides nothing here.
        if any(_says(vault, entry.path, draft, not entry.pulled) for entry in catalog.get(identity)):
            found[draft] = identity
    return found


def _says(vault: Context, path: str, draft: Draft, by_body: bool) -> bool:
    """Whether a file says what a draft says; with `by_body` its head may have been changed since."""
    with suppress(OSError, Refused):
        data = reader.read(vault.root, path)
        types = vault.settings.types
        return data == draft[1] or (
            by_body and normal_body(parse(path, data, types).body) == normal_body(parse(path, draft[1], types).body)
        )
    return False
