"""Authority: the effect of an act, by the kind of writer and by the writer of the text that it is about."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from vault_tool.model.signals import Signal, SignalKind, withdrawals
from vault_tool.model.snapshot import Entry, is_from_others, is_trusted
from vault_tool.model.types import KEPT_TYPES

_OWNER = "owner"


class Writer(StrEnum):
    """The kinds of writer: the vault's owner, an agent in the owner's name, and other people.

    An imported memory counts as an agent's, because the owner brought it but did not write it. This machine's settings name
    the people whom the owner trusts.
    """

    OWNER = "owner"
    AGENT = "agent"
    TRUSTED = "trusted"
    OTHERS = "others"


class Act(StrEnum):
    """The acts on a memory."""

    OVERTAKE = "overtake by a change, supersede"
    VOTE = "vote"
    WEIGHT = "pin, importance above the type's"
    HIDE = "keep off the page of a session's start"
    IDENTITY = "soul, protocol"
    ORIENTATION = "orientation"
    TOMBSTONE = "tombstone"
    TAG = "tag, subject, related_to"


class Effect(StrEnum):
    """The effect of an act, in order: done; both texts stay; the owner decides; none; refused; only shown, with its author."""

    ALLOWED = "allowed"
    CONTESTED = "contested"
    WAITS = "waits"
    NO_EFFECT = "no effect"
    REFUSED = "refused"
    TOLD = "told"


class Party(NamedTuple):
    """A writer, with the address of the commit's author if the text came with another person's commit."""

    writer: Writer
    name: str = ""


OWNER = Party(Writer.OWNER)
AGENT = Party(Writer.AGENT)

# The writers on whose texts an act is done; "own" means the writer's own text, "nothing" that there is no text yet.
_ALL = frozenset({*Writer, "own", "nothing"})
_NONE: frozenset[str] = frozenset()
_OWN: frozenset[str] = frozenset({"own"})
_BROUGHT: frozenset[str] = frozenset({Writer.TRUSTED, Writer.OTHERS})
_UNWRITTEN: frozenset[str] = frozenset({"nothing"})
_NOT_THE_OWNERS = _BROUGHT | {Writer.AGENT, "nothing"}

# For each act and writer: the writers on whose texts it is done, and its effect on other texts.
_TABLE: Mapping[Act, Mapping[Writer, tuple[frozenset[str], Effect]]] = {
    Act.OVERTAKE: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_NOT_THE_OWNERS, Effect.CONTESTED),
        Writer.TRUSTED: (_BROUGHT, Effect.CONTESTED),
        Writer.OTHERS: (_OWN, Effect.CONTESTED),
    },
    Act.VOTE: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_ALL, Effect.ALLOWED),
        Writer.TRUSTED: (_ALL, Effect.ALLOWED),
        Writer.OTHERS: (_BROUGHT, Effect.TOLD),
    },
    Act.WEIGHT: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_NONE, Effect.WAITS),
        Writer.TRUSTED: (_BROUGHT, Effect.NO_EFFECT),
        Writer.OTHERS: (_NONE, Effect.NO_EFFECT),
    },
    Act.HIDE: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_NONE, Effect.REFUSED),
        Writer.TRUSTED: (_BROUGHT, Effect.TOLD),
        Writer.OTHERS: (_BROUGHT, Effect.TOLD),
    },
    Act.IDENTITY: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_NONE, Effect.WAITS),
        Writer.TRUSTED: (_UNWRITTEN, Effect.WAITS),
        Writer.OTHERS: (_NONE, Effect.WAITS),
    },
    Act.ORIENTATION: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_ALL, Effect.ALLOWED),
        Writer.TRUSTED: (_UNWRITTEN, Effect.WAITS),
        Writer.OTHERS: (_NONE, Effect.WAITS),
    },
    Act.TOMBSTONE: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_NONE, Effect.REFUSED),
        Writer.TRUSTED: (_BROUGHT, Effect.WAITS),
        Writer.OTHERS: (_OWN, Effect.WAITS),
    },
    Act.TAG: {
        Writer.OWNER: (_ALL, Effect.ALLOWED),
        Writer.AGENT: (_ALL, Effect.ALLOWED),
        Writer.TRUSTED: (_ALL, Effect.ALLOWED),
        Writer.OTHERS: (_NONE, Effect.TOLD),
    },
}


def authority(act: Act, writer: Party, target: Party | None = None) -> Effect:
    """The effect of a writer's act; `target` is the party whose text it is about, None if there is no text yet."""
    done_of, elsewhere = _TABLE[act][writer.writer]
    if target is None:
        return Effect.ALLOWED if "nothing" in done_of else elsewhere
    own = "own" in done_of and target == writer
    return Effect.ALLOWED if own or target.writer in done_of else elsewhere


@lru_cache(maxsize=512)
def by_origin(origin: str) -> Party:
    """The party of an origin in a head or signal, as the catalogue has it once the author was found in the history."""
    if origin in ("", _OWNER):
        return OWNER
    if is_trusted(origin):
        return Party(Writer.TRUSTED, origin)
    return Party(Writer.OTHERS, origin) if is_from_others(origin) else AGENT


def writer_of(entry: Entry, reviewed: bool) -> Party:
    """The party that a memory counts as written by: the owner after a review."""
    return OWNER if reviewed else by_origin(entry.origin)


def replacing(kind: str) -> Act:
    """The act of writing an understanding of a type in place of another of that type."""
    if kind not in KEPT_TYPES:
        return Act.OVERTAKE
    return Act.ORIENTATION if kind == "orientation" else Act.IDENTITY


def replaces(newer: Entry, older: Entry, newer_reviewed: bool, older_reviewed: bool) -> Effect:
    """The effect of a newer understanding on one that it claims to supersede.

    Another person may replace their own text, of a kept type too; a separate check decides whether the newer one is served.
    """
    writer, target = writer_of(newer, newer_reviewed), writer_of(older, older_reviewed)
    own = bool(writer.name) and writer == target
    act = replacing(newer.type) if newer.type == older.type and not own else Act.OVERTAKE
    return authority(act, writer, target)


def review_mark(entry: Entry) -> str:
    """A digest of everything that a review of a text covers: its words, and its effect on other memories."""
    acts = [sorted(entry.texts(name)) for name in ("change_targets", "supersedes")]
    content = repr((entry.type, entry.title, entry.body_hash, acts, entry.head.get("pinned"), entry.head.get("importance")))
    return "seen:" + hashlib.blake2b(content.encode("utf-8", "replace"), digest_size=12).hexdigest()


def weights(entry: Entry, usual: float, reviewed: bool) -> tuple[bool, float]:
    """Whether a memory is pinned, and its importance (0..1), within its writer's authority; `usual` is the type's importance."""
    importance = entry.number("importance")
    if not entry.pinned and (importance is None or importance <= usual):
        return False, usual if importance is None else importance
    party = writer_of(entry, reviewed)
    # An imported memory keeps the weight that it had at its source.
    if entry.origin == "import" or authority(Act.WEIGHT, party, party) is Effect.ALLOWED:
        return entry.pinned, usual if importance is None else importance
    return False, usual if importance is None else min(importance, usual)


def is_off_the_page(entry: Entry, reviewed: bool) -> bool:
    """Whether a person hid a memory from the page of a session's start; a pin that counts overrides that."""
    return entry.not_at_start and not weights(entry, 1.0, reviewed)[0]


def counts(signal: Signal, target: Party) -> bool:
    """Whether a signal moves the values of its target; if not, it is only shown, with its author's name."""
    return not is_from_others(signal.origin) or authority(Act.VOTE, by_origin(signal.origin), target) is Effect.ALLOWED


def contributor_of(origin: str) -> str:
    """The name and address in the origin of a memory from another person's commit; empty for one that was written here."""
    return origin.partition("(")[2].removesuffix(")") if is_from_others(origin) else ""


def is_review(signal: Signal) -> bool:
    """Whether a signal is a review by the owner; one from an agent or another person does not count."""
    return signal.kind is SignalKind.REVIEWED and signal.origin == _OWNER


def vouches(signal: Signal, entry: Entry) -> bool:
    """Whether a signal is the owner's review of this text; for another person's text, it has to name the reviewed version."""
    return is_review(signal) and (not entry.pulled or review_mark(entry) in signal.evidence)


def reviewed_at(signals: Sequence[Signal], entry: Entry) -> str:
    """The time of the owner's last valid review of a memory's present text, from its signals in order; empty if there is none.

    A later signal can take a review back, and a still later one can take that withdrawal back.
    """
    gone = withdrawals(signals)
    return max((signal.at for signal in signals if signal.id not in gone and vouches(signal, entry)), default="")
