"""The one decision, for every door, whether a record may be shown, by the purpose of showing it."""

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

# In the order of the checks: the first reason that holds and matters for the purpose is given.
Reason = Literal[
    "other_user",  # it is about another user
    "no_consent",  # consent to it was refused or withdrawn
    "ledger",  # the ledger of a pass names memories of all users, and a single user asks
    "no_memory",  # a subject, link or ledger is not an answer
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
        # A caller who names a record gets it, in any status.
        "named": _HIDDEN,
        # A search and a list leave out the past, but show pages that every session reads.
        "searched": _HIDDEN | _PAST,
        "listed": _HIDDEN | _PAST,
        # An answer leaves out memories that the session has seen.
        "asked": _HIDDEN | _PAST | {"no_memory", "kept", "shown"},
        # A memory that comes along with an answer may have been seen before.
        "along": _HIDDEN | _PAST | {"no_memory", "kept"},
        # The second check of records that may answer or come along, once their beliefs are known.
        "ranked": frozenset({"disbelieved"}),
        "ranked_unasked": frozenset({"disbelieved", "voted_down"}),
        # The newest memories of a conversation, shown without a question.
        "recent": frozenset({"expired", "disbelieved"}),
        # The present content of a subject, a region or a page.
        "present": _HIDDEN | {"expired", "superseded"},
        # Evidence: an observation stays evidence, even if an understanding says that it replaces it.
        "observed": _HIDDEN | {"expired"},
        "past": _PAST,
    }
)
"""The reasons for which a record is left out, by purpose. A record that only hidden records lead to is not a row of the asker's
catalogue (`viewing.py`); a forgotten record is a row of no catalogue.
"""


def _no(_: Entry) -> bool:
    return False


class Request(Struct):
    """The asker, the time and the filters: all that the decision depends on beside the record and the purpose.

    `user` is None for the vault's owner, who sees the memories of all users. `withheld` are the ids that are shown to no caller,
    `superseded` has the replacements of each understanding, `kinds` are the types that were asked for, `shown` the ids that the
    session has seen. The functions say what is believed of a record, and whether a person reviewed it.
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
    """The reason why a record is not shown for a purpose; None if it is shown."""
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
    """Whether an entry is a page for every session's start that the owner has to review first."""
    if entry.type not in KEPT_TYPES or entry.record_class is not RecordClass.UNDERSTANDING:
        return False
    replacing = authority.authority(authority.replacing(entry.type), authority.by_origin(entry.origin))
    return replacing is not authority.Effect.ALLOWED and not reviewed(entry)
