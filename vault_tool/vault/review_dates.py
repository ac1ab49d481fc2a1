"""Dates by which a person is to look at a memory again: when one is due, and what is told of one that was passed over."""

from __future__ import annotations

from datetime import datetime, timedelta

from vault_tool.model.snapshot import Entry
from vault_tool.util.clock import end_of, moment, parse_time

REVIEW_DUE = "review_due"
_INSTANT = timedelta(microseconds=1)


def review_due(entry: Entry, reviewed_at: str | None) -> datetime | None:
    """When a person is to have looked at a memory again; None where it says no date, or one looked on its day or later.

    A look before that day leaves the date as it is. Uses are no looks.
    """
    due = end_of(entry.text("review_by")) if "review_by" in entry.head else None
    if due is None:
        return None
    looked = parse_time(reviewed_at) if reviewed_at else None
    return due if looked is None or looked.date() < (due - _INSTANT).date() else None


def since_when(entry: Entry, reviewed_at: str | None) -> str:
    """The words for a memory whose date has passed: since when no person looked, counted from its writing."""
    looks = [look for look in (reviewed_at, entry.text("created")) if look and parse_time(look)]
    return f"nobody looked since {max(looks, key=moment)[:10]}" if looks else "nobody has looked at it"
