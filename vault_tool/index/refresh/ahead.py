"""Dates ahead of the clock: the problems of notes with such a date, and the notes to read again as the clock moves on.

A date is given in a head or in a file's name; the time of a file itself is not a date. A date that is ahead by less than a day
counts as it is written, because clocks and time zones differ. The result must not depend on the moment when a note was taken
in, so every decision by the clock is repeated once the clock would decide differently. Records other than observations are
checked only if they came from other people, because one understanding follows another by `supersedes`, not by its date.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from vault_tool.errors import Refused
from vault_tool.files import reader
from vault_tool.files.layout import is_around
from vault_tool.importing.dates import FIELDS
from vault_tool.index.catalog import Catalog
from vault_tool.index.refresh.diff import NEAR
from vault_tool.model.problems import DATED_AHEAD, Problem, note
from vault_tool.model.snapshot import Entry, is_from_others
from vault_tool.model.types import RecordClass
from vault_tool.util.clock import parse_time, stamp

TIMES = ("created", "observed", "updated")


def moments(entry: Entry, now: datetime) -> dict[str, datetime]:
    """The times of a record that are ahead of the clock, by the names of their fields."""
    times = {name: parse_time(entry.text(name)) for name in TIMES}
    return {name: at for name, at in times.items() if at is not None and at > now}


def late(times: Mapping[str, datetime], now: datetime) -> dict[str, datetime]:
    """The times that are ahead by more than a day, and so do not count as they are written."""
    return {name: at for name, at in times.items() if at > now + NEAR}


def dates(entry: Entry, now: datetime) -> dict[str, datetime]:
    """The dates of an observation that are a problem because they are ahead of the clock, by the names of their fields.

    Other records have no such problem: one understanding follows another by `supersedes`, and starter texts come with the vault.
    """
    times = late(moments(entry, now), now) if entry.record_class is RecordClass.OBSERVATION else {}
    if not times:
        return times
    # A note of the folder around without a date has its file's time instead.
    by_file = _file_time(entry) if is_around(entry.path) else ""
    return {name: at for name, at in times.items() if entry.head.get(name) != by_file}


def problem(root: Path | None, path: str, ahead: dict[str, datetime]) -> Problem:
    """The problem of a note with dates ahead of the clock: it names the first of them and its line."""
    line, name = next(((line, name) for name in ahead if (line := _line(root, path, name))), (0, ""))
    day = ahead[name or next(iter(ahead))].date().isoformat()
    return note(path, line, DATED_AHEAD, f"`{name}` says {day}" if name else f"its name says {day}")


def placed(catalog: Catalog) -> set[str]:
    """The files with a time that a commit's time may have replaced: a move of HEAD can change it."""
    return {*catalog.with_problem(DATED_AHEAD), *catalog.of_kind("signals")}


def to_read_again(catalog: Catalog, now: datetime) -> tuple[set[str], str]:
    """The files whose times may count differently by the present clock, and the latest time of the others that is ahead of it.

    An observation with a date too far ahead is found by its problem. Judgements and records from other people have no such
    problem, so all of these are read again.
    """
    paths, latest = placed(catalog), ""
    for entry in catalog.snapshot().entries:
        times = moments(entry, now)
        is_observation = entry.record_class is RecordClass.OBSERVATION
        brought = not is_observation and is_from_others(entry.origin)
        if brought or _at_midnight(entry) or (is_observation and late(times, now)):
            paths.add(entry.path)
        elif is_observation:
            latest = max(latest, *map(stamp, times.values()), "")
    return paths, latest


def _file_time(entry: Entry) -> str:
    return stamp(datetime.fromtimestamp(entry.mtime_ns / 1_000_000_000, UTC))


def _at_midnight(entry: Entry) -> bool:
    """Whether a note of the folder around may have the beginning of a day instead of its file's time."""
    return is_around(entry.path) and any(
        str(entry.head.get(name, "")).endswith("T00:00:00+00:00") and str(entry.head[name]) < _file_time(entry) for name in TIMES
    )


def _line(root: Path | None, path: str, name: str) -> int:
    with suppress(OSError, Refused):
        if root is not None:
            names = "|".join(map(re.escape, FIELDS)).replace("\\ ", "[ _-]") if is_around(path) else name
            field = re.compile(rf"[\"']?(?:{names})[\"']?\s*:".encode(), re.IGNORECASE)
            lines = reader.read(root, path).split(b"\n")
            return next((number for number, line in enumerate(lines, 1) if field.match(line)), 0)
    return 0
