"""The scope of a rule, and the words that rules share."""

from __future__ import annotations

from collections.abc import Sequence

from vault_tool.model.ids import SHOWN_PREFIX
from vault_tool.model.snapshot import Entry, Snapshot
from vault_tool.model.types import Registry
from vault_tool.util.structs import Struct
from vault_tool.util.text import one_line

_SHOWN = 3


class Scope(Struct):
    """A vault at one moment: its notes, its types, and the ids that a person had forgotten."""

    snapshot: Snapshot
    registry: Registry
    forgotten: frozenset[str] = frozenset()

    def first(self, identity: str) -> Entry | None:
        """A record of that id; of copies the owner's, else the one whose path sorts first."""
        entries = self.snapshot.by_id.get(identity)
        return min(entries, key=lambda entry: (entry.pulled, entry.path)) if entries else None


def short(identity: str) -> str:
    """An id as people read it."""
    return identity[:SHOWN_PREFIX]


def named(entry: Entry) -> str:
    """A record as people read it: short id and title."""
    return f"{short(entry.id)} `{one_line(entry.title, 40)}`"


def listed(names: Sequence[str]) -> str:
    """At most three names, each on one line, and how many more there are."""
    more = len(names) - _SHOWN
    return ", ".join(map(one_line, names[:_SHOWN])) + (f" and {more} more" if more > 0 else "")
