"""Dates ahead of the clock: what is told of notes that have one, and which are read again once the clock says something else.

A date is what a head or a file's name says. A file's own time is none, and a date that is ahead by less than a day is as good as
now: clocks of two machines differ, and a day alone is of another zone.
"""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from vault_tool.errors import Refused
from vault_tool.files import reader
from vault_tool.files.layout import is_around
from vault_tool.importing.dates import FIELDS
from vault_tool.index.catalog import Catalog
from vault_tool.model.problems import DATED_AHEAD, Problem, note
from vault_tool.model.snapshot import Entry
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import parse_time, stamp

_DATES = ("created", "observed")
_NEAR = timedelta(days=1)


def dates(entry: Entry, now: datetime) -> dict[str, datetime]:
    """The dates of an observation that are ahead of the clock, by the names of their fields.

    Of other records none counts: one understanding follows another by what it supersedes, and a starter text is of its vault.
    """
    moments: dict[str, datetime] = {}
    if entry.record_class is not RecordClass.OBSERVATION:
        return moments
    # A note of the folder around that says no date has its file's time in the place of one.
    by_file = stamp(datetime.fromtimestamp(entry.mtime_ns / 1_000_000_000, UTC)) if is_around(entry.path) else ""
    for name in _DATES:
        value = entry.head.get(name)
        if isinstance(value, str) and value != by_file and (at := parse_time(value)) is not None and at > now + _NEAR:
            moments[name] = at
    return moments


def problem(root: Path | None, path: str, ahead: dict[str, datetime]) -> Problem:
    """The problem of a note with dates ahead of the clock: the first of them, and its line."""
    line, name = next(((line, name) for name in ahead if (line := _line(root, path, name))), (0, ""))
    day = ahead[name or next(iter(ahead))].date().isoformat()
    return note(path, line, DATED_AHEAD, f"`{name}` says {day}" if name else f"its name says {day}")


def to_read_again(catalog: Catalog, now: datetime) -> set[str]:
    """The notes whose dates count otherwise by the clock of now than by the one by which they were taken in."""
    paths = set(catalog.with_problem(DATED_AHEAD))
    paths.update(entry.path for entry in catalog.snapshot().entries if dates(entry, now))
    return paths


def _line(root: Path | None, path: str, name: str) -> int:
    with suppress(OSError, Refused):
        if root is not None:
            names = "|".join(map(re.escape, FIELDS)).replace("\\ ", "[ _-]") if is_around(path) else name
            field = re.compile(rf"[\"']?(?:{names})[\"']?\s*:".encode(), re.IGNORECASE)
            lines = reader.read(root, path).split(b"\n")
            return next((number for number, line in enumerate(lines, 1) if field.match(line)), 0)
    return 0
