"""Time as the vault writes it: UTC, ISO 8601 with an offset, whole seconds."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

# Of a day in UTC, as the end of what lasts through it.
_LAST_SECOND = "T23:59:59+00:00"
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_STAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\+00:00", re.ASCII)
_DAY_LENGTH = len("2026-11-20")
_SINCE_1990 = 631_152_000
_END_OF_TIME = 10_000_000_000
_BEFORE_ALL, _AFTER_ALL = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Clock:
    """Where the present comes from; tests put another in its place."""

    def now(self) -> datetime:
        """The present, in UTC."""
        return datetime.now(UTC)


class FixedClock(Clock):
    """A clock that stands still until it is told to move; for tests and for pages made as of a date."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        """The moment that it was set to."""
        return self._at

    def advance(self, by: timedelta) -> None:
        """Move the moment."""
        self._at += by


def stamp(moment: datetime) -> str:
    """`moment` as text: `2026-11-20T10:00:00+00:00`."""
    return moment.astimezone(UTC).replace(microsecond=0).isoformat()


def parse_time(text: str) -> datetime | None:
    """The moment that `text` names, in UTC, or None.

    A date alone is its midnight, and a time without an offset is taken as UTC: nobody's local zone can be known later. A bare
    number is one of seconds or milliseconds since 1970, from 1990 to next year, or a day or minute written without marks.
    """
    cleaned = text.strip()
    if cleaned.isdecimal() and cleaned.isascii():
        return _of_digits(cleaned)
    try:
        if len(cleaned) == _DAY_LENGTH and _DATE.fullmatch(cleaned):
            day = date.fromisoformat(cleaned)
            return datetime(day.year, day.month, day.day, tzinfo=UTC)
        moment = datetime.fromisoformat(cleaned)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


_DIGITS = re.compile(r"(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?", re.ASCII)


def _of_digits(digits: str) -> datetime | None:
    latest = datetime.now(UTC).year + 1
    if len(digits) <= 15:
        for divisor in (1, 1000):
            seconds = int(digits) / divisor
            if _SINCE_1990 <= seconds < _END_OF_TIME:
                named = datetime.fromtimestamp(int(seconds), UTC)
                return named if named.year <= latest else None
    written = _DIGITS.fullmatch(digits)
    if written is None or not 1800 <= int(written[1]) <= 2200:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in written.groups())
    try:
        return datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def end_of(text: str) -> datetime | None:
    """The first moment at which what lasts until `text` is over, or None: a day alone is through its last instant."""
    named = parse_time(text)
    if named is None:
        return None
    if _DATE.fullmatch(text.strip()):
        return _later(named, timedelta(days=1))
    # As `until` writes a day.
    return _later(named, timedelta(seconds=1)) if (named.hour, named.minute, named.second) == (23, 59, 59) else named


def _later(moment: datetime, by: timedelta) -> datetime:
    """A moment that is so much later, or the last one that there is: others write the end of the year 9999 for no end."""
    return moment + by if _AFTER_ALL - moment > by else _AFTER_ALL


def until(text: str) -> str | None:
    """`text` as `stamp` writes the moment until which it lasts, or None: of a day alone its last second."""
    return f"{text.strip()}{_LAST_SECOND}" if _DATE.fullmatch(text.strip()) and parse_time(text) else stamped(text)


def by_day(text: str) -> str:
    """The end that `until` wrote as it is told: an end of a day by that day alone."""
    return text.removesuffix(_LAST_SECOND)


@lru_cache(maxsize=256)  # a note says when it was written, observed and changed, and mostly means one moment
def stamped(text: str) -> str | None:
    """`text` as `stamp` writes the moment that it names, or None."""
    if _STAMP.fullmatch(text):
        # What we wrote ourselves, and so nearly all: read only for whether there is such a day and hour.
        try:
            datetime.fromisoformat(text)
        except ValueError:
            return None
        return text
    named = parse_time(text)
    return stamp(named) if named else None


def moment(text: str) -> datetime:
    """The moment that `text` names, for sorting: texts of two zones compare wrongly, and what names none is the oldest."""
    return parse_time(text) or _BEFORE_ALL


def days_between(earlier: datetime, later: datetime) -> float:
    """The days from `earlier` to `later`, never negative: clocks of two machines may disagree."""
    return max(0.0, (later - earlier).total_seconds() / 86400)
