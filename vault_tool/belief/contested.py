"""Which understandings stand against each other: several active ones where there should be one."""

from __future__ import annotations

from collections import defaultdict

from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import KEPT_TYPES, RecordClass

_Place = tuple[str, str, frozenset[str]]


def contested(snapshot: Snapshot) -> tuple[tuple[Entry, ...], ...]:
    """Groups of more than one active understanding of the same type, subjects and user, the newest of each first.

    A soul, protocol or orientation belongs to the vault, whatever subjects it is tagged with. The copies of one id
    are one understanding. What names no subject cannot be compared.
    """
    groups: dict[_Place, list[Entry]] = defaultdict(list)
    for entry in snapshot.of_class(RecordClass.UNDERSTANDING):
        if snapshot.active(entry):
            place = _place(snapshot, entry)
            if place is not None:
                groups[place].append(entry)
    found = (newest_first(group) for group in groups.values() if len({entry.id for entry in group}) > 1)
    return tuple(sorted(found, key=lambda group: group[0].path))


def newest_first(entries: list[Entry]) -> tuple[Entry, ...]:
    """Entries from the newest to the oldest; of equals the one with the larger id counts as newer, on every machine."""
    return tuple(sorted(entries, key=lambda entry: (entry.by_created, entry.path), reverse=True))


def _place(snapshot: Snapshot, entry: Entry) -> _Place | None:
    if entry.type in KEPT_TYPES:
        return entry.type, entry.text("user"), frozenset()
    subjects = frozenset(snapshot.subject_key(name) for name in entry.subjects)
    return (entry.type, entry.text("user"), subjects) if subjects else None
