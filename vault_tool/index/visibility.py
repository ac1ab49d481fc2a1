"""Whether a record is told: one decision for every door, by what it would be told for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Literal

from msgspec import field

from vault_tool.model import authority
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, MEMORIES, RecordClass
from vault_tool.util.structs import Struct

# In the order in which they are looked for: the first that holds, and that matters for the purpose, is the reason.
Reason = Literal[
    "other_user",  # it is about another user
    "no_consent",  # consent to it was refused or withdrawn
    "ledger",  # the ledger of a pass names memories of anybody, and one user asks
    "no_memory",  # a subject, link or ledger answers nothing
    "waiting",  # its owner has to see it first
    "expired",
    "superseded",
    "kept",  # every session reads it anyway
    "shown",  # this session has seen it
    "disbelieved",
    "voted_down",  # session after session found it useless
]

Purpose = Literal[
    "named", "searched", "listed", "asked", "along", "ranked", "ranked_unasked", "recent", "present", "observed", "past"
]

_HIDDEN: frozenset[Reason] = frozenset({"other_user", "no_consent", "ledger"})
_PAST: frozenset[Reason] = frozenset({"waiting", "expired", "superseded"})

MATTERS: Mapping[Purpose, frozenset[Reason]] = MappingProxyType(
    {
        # Who names a record is told of it: its status says what it is.
        "named": _HIDDEN,
        # A search and a list hide nothing that is so; what every session reads they have too.
        "searched": _HIDDEN | _PAST,
        "listed": _HIDDEN | _PAST,
        # An answer: what the session knows already is none.
        "asked": _HIDDEN | _PAST | {"no_memory", "kept", "shown"},
        # What comes with an answer: it may have been seen before.
        "along": _HIDDEN | _PAST | {"no_memory", "kept"},
        # What is left when beliefs are looked up, of those that may answer or come along.
        "ranked": frozenset({"disbelieved"}),
        "ranked_unasked": frozenset({"disbelieved", "voted_down"}),
        # What a conversation said last comes unasked.
        "recent": frozenset({"expired", "disbelieved"}),
        # What a subject, a region or a page holds now.
        "present": _HIDDEN | {"expired", "superseded"},
        # Evidence: what an understanding says that it replaces may be an observation, which stays.
        "observed": _HIDDEN | {"expired"},
        "past": _PAST,
    }
)
"""For each purpose the reasons for which a record is left out. What only hidden records lead to is no row of the asker's
catalogue either (`viewing.py`); what was forgotten is no row of any.
"""


def _no(_: Entry) -> bool:
    return False


class Request(Struct):
    """The asker, the time and the purpose: everything that decides beside the record itself.

    `user` is None for whoever keeps the vault, who is told of everybody's. `withheld` are the ids that nobody is told of,
    `superseded` what replaces an understanding, `kinds` the types that were asked for, `shown` what the session has seen.
    The rest is what is believed of a record, and whether a person vouches for it.
    """

    user: str | None = None
    withheld: Collection[str] = ()
    now: datetime | None = None
    superseded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: Collection[str] = ()
    shown: Collection[str] = ()
    disbelieved: Callable[[Entry], bool] = _no
    voted_down: Callable[[Entry], bool] = _no
    reviewed: Callable[[Entry], bool] = _no


def visible(entry: Entry, request: Request, purpose: Purpose) -> Reason | None:
    """Why a record is not told for a purpose; None where it is."""
    matters = MATTERS[purpose]
    if request.user is not None and "other_user" in matters:
        if entry.text("user") not in ("", request.user):
            return "other_user"
        if entry.record_class is RecordClass.CONSOLIDATION:
            return "ledger"
    if request.withheld and "no_consent" in matters and entry.id in request.withheld:
        return "no_consent"
    if "no_memory" in matters and entry.record_class not in MEMORIES:
        return "no_memory"
    if entry.type in KEPT_TYPES and "waiting" in matters and waits(entry, request.reviewed):
        return "waiting"
    if request.now is not None and "expired" in matters and entry.expired(request.now):
        return "expired"
    if entry.id in request.superseded and "superseded" in matters:
        return "superseded"
    if entry.type in KEPT_TYPES and "kept" in matters and entry.type not in request.kinds:
        return "kept"
    if request.shown and "shown" in matters and entry.id in request.shown:
        return "shown"
    if "disbelieved" in matters and request.disbelieved(entry):
        return "disbelieved"
    return "voted_down" if "voted_down" in matters and request.voted_down(entry) else None


def waits(entry: Entry, reviewed: Callable[[Entry], bool]) -> bool:
    """Whether it is a page that is read at each session's start and that its owner has to see first."""
    if entry.type not in KEPT_TYPES or entry.record_class is not RecordClass.UNDERSTANDING:
        return False
    replacing = authority.authority(authority.replacing(entry.type), authority.by_origin(entry.origin))
    return replacing is not authority.Effect.ALLOWED and not reviewed(entry)
