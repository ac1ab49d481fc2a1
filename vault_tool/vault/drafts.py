"""Drafts: the notes of the inbox that wait for a person, without those that were decided and left there by a kill."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from vault_tool.errors import Refused
from vault_tool.files import layout, reader
from vault_tool.files.inbox import INBOX, About, Inbox
from vault_tool.files.parse import parse
from vault_tool.model.ids import canonical
from vault_tool.util.text import normal_body
from vault_tool.vault.context import Context

Draft = tuple[str, bytes]

_ID = re.compile(rb"^id:[ \t]*[\"']?([0-9A-Fa-f-]{32,36})", re.MULTILINE)

_USER = re.compile(rb"^user:[ \t]*[^\s\"']", re.MULTILINE)

# A write looks at no more than so many drafts; a review looks at all of them.
_FEW = 100


def undecided(vault: Context) -> list[Draft]:
    """The name and the bytes of every draft that waits, in the order of their names."""
    drafts = Inbox(vault.root).notes()
    done = _decided(vault, drafts)
    return [draft for draft in drafts if draft not in done]


def count(vault: Context) -> int:
    """How many drafts wait that are about no user: who is shown the number may be anybody."""
    return sum(_USER.search(data) is None for _, data in undecided(vault))


def finished(vault: Context) -> list[str]:
    """The ids of the drafts that are memories already."""
    return [identity for identity, verdict in _decided(vault, Inbox(vault.root).notes()).values() if verdict == "accepted"]


def finish_decided(vault: Context, few: bool = False) -> None:
    """Take away the drafts that were decided, which a killed review or a forgetting elsewhere left.

    The caller holds the write lock. With `few` nothing is looked at where many wait.
    """
    with suppress(OSError):
        if few and len(os.listdir(vault.local.place / INBOX)) > _FEW:
            return
    inbox = Inbox(vault.root)
    verdicts = inbox.decided()
    for draft, (identity, verdict) in _decided(vault, inbox.notes()).items():
        if verdicts.get(identity) != verdict:
            inbox.decide(identity, verdict, vault.now())
        inbox.discard(identity, *draft)


def wait_again(vault: Context, identity: str, name: str, data: bytes, about: About) -> None:
    """Put a draft that was decided back to where it waited, under its name where no other draft has that."""
    inbox = Inbox(vault.root)
    # A killed call may have put it back already.
    taken = {layout.name_key(other) for other, text in inbox.notes() if _id_in(text) != identity}
    # First of all: what was refused and lies in the inbox is taken out of it.
    inbox.decide(identity, "restored", vault.now())
    inbox.put(identity, name if layout.name_key(name) not in taken else f"{identity}.md", data, about)


def other_text(vault: Context, identity: str, data: bytes) -> str:
    """The name of a draft that waits under an id with another text than `data`; empty where none does."""
    types = vault.settings.types
    body = normal_body(parse(identity, data, types).body)
    own = ((name, text) for name, text in undecided(vault) if _id_in(text) == identity)
    return next((name for name, text in own if normal_body(parse(name, text, types).body) != body), "")


def _decided(vault: Context, drafts: list[Draft]) -> dict[Draft, tuple[str, str]]:
    """The drafts that are decided, with id and verdict: a memory of the vault has their id and text, they were
    refused, or what has their id was forgotten, maybe on another machine.
    """
    decided: dict[Draft, tuple[str, str]] = {}
    if not drafts:
        return decided
    inbox, catalog, forgotten = Inbox(vault.root), vault.whole_index.catalog, vault.forgotten()
    verdicts = inbox.decided()
    for draft in drafts:
        identity = _id_in(draft[1])
        if not identity:
            continue
        # What was said of a draft is struck off last: one that was refused, and has nothing of it, was put here again by hand.
        refused = verdicts.get(identity) == "refused" and inbox.about(identity).verb
        if identity in forgotten or refused:
            decided[draft] = identity, "refused"
        # Of bodies alone it is asked where the memory is its owner's: what others sent decides nothing here.
        elif any(_says(vault, entry.path, draft, not entry.pulled) for entry in catalog.get(identity)):
            decided[draft] = identity, "accepted"
    return decided


def _id_in(data: bytes) -> str | None:
    match = _ID.search(data)
    return canonical(match[1].decode()) if match else None


def _says(vault: Context, path: str, draft: Draft, by_body: bool) -> bool:
    """Whether a file says what a draft says; with `by_body` its head may have been changed since."""
    with suppress(OSError, Refused):
        data = reader.read(vault.root, path)
        types = vault.settings.types
        return data == draft[1] or (
            by_body and normal_body(parse(path, data, types).body) == normal_body(parse(path, draft[1], types).body)
        )
    return False
