"""Soul, protocol and orientation: which of each kind is served, and why another is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from vault_tool.model.problems import Severity
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import KEPT_TYPES, RecordClass
from vault_tool.verbs import resolve
from vault_tool.verbs.context import Context


@dataclass(frozen=True, slots=True)
class KeptKind:
    """The understandings of one such type: `good` ones that nothing good replaces, the newest last; and what is not served.

    `refused` says of each head of the others why not: it came by somebody else's commit, or has faults.
    """

    good: tuple[Entry, ...]
    refused: Mapping[str, str]

    def live(self, moment: datetime) -> tuple[Entry, ...]:
        """The good ones whose time is not over; the last is the one that is served."""
        return tuple(entry for entry in self.good if not entry.expired(moment))


def kept_kinds(vault: Context) -> dict[str, KeptKind]:
    """Each of the types with what is served of it; a replacement counts only where it can itself be served."""
    return {kind: _kind(vault, vault.index.catalog.of_class(RecordClass.UNDERSTANDING, kind)) for kind in KEPT_TYPES}


def warnings(vault: Context, kinds: Mapping[str, KeptKind], moment: datetime) -> tuple[str, ...]:
    """What its owner should settle: more than one of a kind, and what is not served."""
    found = []
    for kind, one in kinds.items():
        live = one.live(moment)
        if len(live) > 1:
            ids = ", ".join(resolve.short(vault, entry.id) for entry in live)
            found.append(f"there are {len(live)} of {kind} ({ids}), and the newest is served: write one that supersedes them all")
        found += [
            f"a {kind} is not served, {reason}: look at it (`vt show {resolve.short(vault, identity)}`)"
            for identity, reason in one.refused.items()
        ]
    return tuple(found)


def _kind(vault: Context, entries: Sequence[Entry]) -> KeptKind:
    reasons = {entry.path: reason for entry in entries if (reason := _fault(vault, entry))}
    good = [entry for entry in entries if entry.path not in reasons]
    replaces = {entry.id: entry.texts("supersedes") for entry in entries}
    replaced: set[str] = set()
    for entry in good:
        replaced |= _behind(entry.id, replaces)
    heads = sorted((entry for entry in good if entry.id not in replaced), key=lambda entry: entry.by_created)
    # What a good one replaced is settled, and what another bad one replaced need not be named as well.
    settled = replaced.union(*(_behind(entry.id, replaces) for entry in entries if entry.path in reasons))
    refused = {entry.id: reasons[entry.path] for entry in entries if entry.path in reasons and entry.id not in settled}
    return KeptKind(tuple(heads), refused)


def _behind(identity: str, replaces: Mapping[str, Sequence[str]]) -> set[str]:
    """All that one replaces, also by way of others; itself never, though they name each other in a circle."""
    found: set[str] = set()
    waiting = [*replaces.get(identity, ())]
    while waiting:
        one = waiting.pop()
        if one != identity and one not in found:
            found.add(one)
            waiting.extend(replaces.get(one, ()))
    return found


def _fault(vault: Context, entry: Entry) -> str:
    """Why it is not served; empty when it is."""
    if entry.pulled:
        return f"because its origin is {entry.origin}"
    if len(vault.index.catalog.get(entry.id)) > 1:
        return "because another file has its id"
    # What stands in the file now is not what is served: that is the last text that was committed.
    if not entry.stale and (found := vault.index.catalog.problems_of(entry.path, Severity.ERROR)):
        return f"because it has faults ({found[0].message})"
    return ""
