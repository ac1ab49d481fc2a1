"""The date of a foreign note: from the date fields of its head as people write them, else from its file's name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from vault_tool.util.clock import parse_time
from vault_tool.util.text import normal_name, unwrap_link

# The names, as they are compared, of the fields that say when a note was made; the first that reads as a date counts.
FIELDS = (
    "created", "created at", "createdat", "date created", "datecreated", "creation date", "created date", "date added",
    "date", "ms.date", "published", "publish date", "publishdate", "date published", "pubdate",
)  # fmt: skip

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})|(\d{1,2})([-/.])(\d{1,2})[-/.](\d{4})", re.ASCII)
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?[ \-](?:of )?([A-Za-z]{3,9})\.?,?[ \-](\d{4})", re.ASCII)
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", re.ASCII)
_WEEKDAY = re.compile(r"^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? ", re.IGNORECASE | re.ASCII)
_TIME = re.compile(
    r"[T, ]*(?:at )?(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)? ?([AaPp][Mm])? ?(Z|UTC|GMT|[+-]\d{2}:?\d{2})?", re.ASCII
)
_NAMED = re.compile(r"(\d{4})([-_.]?)(\d{2})\2(\d{2})(?:(?<=\d{8})(\d{2})(\d{2})(\d{2})?)?(?!\d)", re.ASCII)


def created(head: Mapping[str, object], stem: str) -> datetime | None:
    """The moment (UTC) that a head's date fields name, else the date that the file's name begins with, else None."""
    by_name = {normal_name(key): value for key, value in reversed(list(head.items()))}
    for field in FIELDS:
        value = by_name.get(field)
        while isinstance(value, list) and len(value) == 1:
            # An unquoted link, `[[2023-10-05]]`, is a list in a list to YAML.
            value = value[0]
        moment = read_date(value) if isinstance(value, str) else None
        if moment is not None:
            return moment
    named = _NAMED.match(stem)
    if named is None or not 1800 <= int(named[1]) <= 2200:
        return None
    return _moment(*(int(part or 0) for part in named.group(1, 3, 4, 5, 6, 7)))


def read_date(text: str) -> datetime | None:
    """The moment that `text` names, in UTC, or None; without an offset it is taken as UTC.

    Besides ISO 8601: `2023/10/05 14:30`, `10/05/2023` (month first, unless it cannot be), `5.10.2023`, `Oct 5th, 2023`,
    `5 October 2023`, `202310051430`, a link to a day, and times with `PM` or `+0800` after a space.
    """
    cleaned = _WEEKDAY.sub("", " ".join(unwrap_link(text).split()))
    if not cleaned or len(cleaned) > 60:
        return None
    for pattern, order in ((_NUMBERS, _by_numbers), (_DAY_FIRST, _by_day), (_MONTH_FIRST, _by_month)):
        match = pattern.match(cleaned)
        day = order(match) if match else None
        if match and day:
            return _at(day, cleaned[match.end() :])
    return parse_time(cleaned)


def _by_numbers(match: re.Match[str]) -> tuple[int, int, int] | None:
    year, month, day, first, mark, second, last = match.groups()
    if year:
        return int(year), int(month), int(day)
    leading, two = int(first), int(second)
    day_first = mark == "." or leading > 12
    return (int(last), two, leading) if day_first else (int(last), leading, two)


def _by_day(match: re.Match[str]) -> tuple[int, int, int] | None:
    month = _month(match[2])
    return (int(match[3]), month, int(match[1])) if month else None


def _by_month(match: re.Match[str]) -> tuple[int, int, int] | None:
    month = _month(match[1])
    return (int(match[3]), month, int(match[2])) if month else None


def _month(name: str) -> int:
    short = name[:3].lower()
    return _MONTHS.index(short) + 1 if short in _MONTHS else 0


def _at(day: tuple[int, int, int], rest: str) -> datetime | None:
    """A day with the time that follows it; anything else that follows means that the text is no date."""
    if not rest.strip(" ,"):
        return _moment(*day)
    match = _TIME.fullmatch(rest)
    if match is None:
        return None
    hour = int(match[1])
    if match[4]:
        hour = hour % 12 + (12 if match[4].lower() == "pm" else 0)
    moment = _moment(*day, hour, int(match[2]), int(match[3] or 0))
    return moment and (moment - _offset(match[5] or ""))


def _offset(text: str) -> timedelta:
    if text[:1] not in ("+", "-"):
        return timedelta(0)
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timedelta(minutes=minutes if text[0] == "+" else -minutes)


def _moment(year: int, month: int, day: int, hour: int = 0, minute: int = 0, second: int = 0) -> datetime | None:
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
