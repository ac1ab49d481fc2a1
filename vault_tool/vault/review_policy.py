"""The review policy: which new memories wait for a person's consent, and the inbox that holds them until then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Literal

from vault_tool.files import layout
from vault_tool.files.inbox import INBOX, About, Inbox
from vault_tool.files.parse import record as record_in
from vault_tool.files.placing import place
from vault_tool.files.render import render
from vault_tool.model import authority
from vault_tool.model.records import Edge, Record
from vault_tool.model.types import RecordClass
from vault_tool.util.hints import if_there, step
from vault_tool.util.structs import Struct
from vault_tool.util.text import body_hash, normal_body
from vault_tool.vault import asked_reviews, no_return, screening
from vault_tool.vault.context import Context
from vault_tool.vault.drafts import undecided

Policy = Literal["auto", "review"]

# The remark to the writer of a held memory. It names the command for the review if the door has one, and the terminal as its
# place, because a program that calls it is refused.
WAITS = "waits for a person's review" + if_there(f": {step('review')} at a terminal")

ASKED = "its writer asks for a person's review"
OBSERVATIONS_WAIT = "agents' observations are reviewed in this vault (`write_policy`)"
UNDERSTANDINGS_WAIT = "agents' understandings are reviewed in this vault (`understanding_policy`)"
IDENTITY_WAITS = "only its owner says what a vault's soul and protocol are"


class QueuedForReview(Struct):
    """A memory that waits: its id, its file below `_local/inbox/`, and the reason.

    `duplicate_of` is its own id if the same text was waiting already, or if this memory was decided before; then nothing
    was written.
    """

    id: str
    path: str
    reason: str
    duplicate_of: str | None = None


def policy(vault: Context, record: Record) -> Policy:
    """Whether a record may be written at once or must wait for a person, by the vault's settings and by its class.

    The owner's records need no consent, and neither do subjects and links, which claim nothing by themselves. A soul or a
    protocol by any other writer waits, whatever the settings say.
    """
    # The record's own origin comes first: an agent's record stays the agent's, even if the owner's process writes the queue.
    origin = vault.counted_origin(getattr(record, "origin", "") or vault.who.origin)
    if origin == "owner":
        return "auto"
    if waits_by_its_type(record, origin):
        return "review"
    return "auto" if asked_reviews.words(vault).isdisjoint((record.type, record.record_class.value)) else "review"


def why_waits(vault: Context, record: Record) -> str:
    """The reason why a record waits: its type, or a setting."""
    if waits_by_its_type(record, vault.counted_origin(getattr(record, "origin", "") or vault.who.origin)):
        return IDENTITY_WAITS
    if record.record_class.value in asked_reviews.words(vault):
        return UNDERSTANDINGS_WAIT if record.record_class is RecordClass.UNDERSTANDING else OBSERVATIONS_WAIT
    return f"agents' memories of type {record.type} are reviewed in this vault (`review`)"


def waits_by_its_type(record: Record, origin: str) -> bool:
    """Whether a record is a soul, protocol or orientation whose writer has no authority to write one."""
    act = authority.replacing(record.type)
    return act is not authority.Act.OVERTAKE and authority.authority(act, authority.by_origin(origin)) is authority.Effect.WAITS


def hold(
    vault: Context,
    record: Record,
    reason: str,
    context: Mapping[str, str] | None = None,
    *,
    verb: str = "",
    edges: Sequence[Edge] = (),
    screen: bool = True,
) -> QueuedForReview:
    """Keep a record in the inbox instead of the vault, on the disk when this returns.

    The record is not a memory yet: it is not searched, not recalled, not in git, and it supersedes nothing. `context` are
    facts that help a person to judge it; `edges` are written with it once it is accepted. Raises Refused for a text that
    looks like a secret, unless `screen` is off because the record waits for that very reason.
    """
    inbox = Inbox(vault.root)
    waiting = _waiting_twin(vault, inbox, record)
    if waiting is not None:
        return waiting
    # A repeated turn gives its candidates the same ids, so a candidate that a person refused does not come again.
    if record.id in inbox.decided() or no_return.is_buried(vault, record.id):
        return QueuedForReview(record.id, "", reason, record.id)
    no_return.refuse(vault, record)
    data = render(record)
    if screen and not vault.allow_secrets:
        screening.refuse_secrets(vault, [screening.new_note(data)])
    taken = {layout.name_key(name) for name, _ in inbox.notes()}
    placed = place(record, {}, lambda path: layout.name_key(PurePosixPath(path).name) in taken)
    notes = tuple(render(edge).decode("utf-8") for edge in edges)
    about = About(vault.now(), verb, reason, dict(context or {}), notes)
    return QueuedForReview(record.id, inbox.put(record.id, PurePosixPath(placed).name, data, about), reason)


def waiting(vault: Context) -> int:
    """The number of memories in the inbox; any caller may know the number, but not the texts."""
    return len(undecided(vault))


def _waiting_twin(vault: Context, inbox: Inbox, record: Record) -> QueuedForReview | None:
    """The waiting memory with this id or with the same texts."""
    # A word that both must have: to parse every waiting memory for every new one would take minutes for a thousand.
    word = max(normal_body(record.body).split(), key=len, default="").encode("utf-8", "replace")
    for name, data in undecided(vault):
        if word not in data and record.id.encode() not in data:
            continue
        other = record_in(f"{INBOX}/{name}", data, vault.settings.types)
        if other is not None and (other.id == record.id or _texts_of(other) == _texts_of(record)):
            return QueuedForReview(other.id, f"{INBOX}/{name}", inbox.about(other.id).reason, other.id)
    return None


def _texts_of(record: Record) -> tuple[str, ...]:
    texts = (getattr(record, name, "") for name in ("title", "problem", "project", "user"))
    lists = ("\n".join(getattr(record, name, ())) for name in ("steps", "preconditions", "postconditions"))
    acts = (*sorted(getattr(record, "supersedes", ())), *sorted(getattr(record, "change_targets", ())))
    return body_hash(record.body) or record.id, record.type, *texts, *lists, *acts
