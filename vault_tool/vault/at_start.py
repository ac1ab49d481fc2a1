"""The line of a head that keeps a memory off the page of a session's start: how it is written and taken away."""

from __future__ import annotations

from vault_tool.files.frontmatter import Change, Remove, Set
from vault_tool.model.snapshot import Entry

FIELD = "not_at_start"


def hidden(entry: Entry) -> list[Change]:
    """The changes of a head that take a memory off the page; a pin, which brings it back, goes."""
    return [Set(FIELD, True), *([Remove("pinned")] if entry.pinned else [])]


def given_again(entry: Entry) -> list[Change]:
    """The changes of a head that bring a memory back to the page, also of one that an importance of 0 hid."""
    names = (FIELD,) * (FIELD in entry.head) + ("importance",) * (entry.number("importance") == 0)
    return [Remove(name) for name in names]


def put_by(entry: Entry) -> str:
    """By whom the line is there, where it is another's and counts for nothing; empty elsewhere."""
    return next((value.by for value in entry.put_by_others if value.field == FIELD and not value.taken), "")
