"""The times that a text names: days, weeks, months, seasons, years, as such or as seen from a day; in four languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta
from functools import lru_cache

from msgspec.structs import replace

from vault_tool.recall import time_words as words
from vault_tool.util.structs import Struct

# How much it counts to be of a time that is named, by how many days that is at most: many memories are of a year.
_WORTH = ((2, 1.0), (10, 0.9), (45, 0.8), (130, 0.6))
_LONG = 0.3

# What is told in so many days after a time is often of it, and counts this part.
AFTER_DAYS, AFTER = 8, 0.6

# The part that counts of a month or season that is named without a year, where it is not the last one.
_ANY_YEAR = 0.75

# A title that was made of a text begins like it.
_TOLD_BY = 60

# From where what has no day sees relative times: far from any that is asked for.
_NEVER = date(1, 6, 1)

# Of a longer text the beginning is read.
_READ = 600

_MONTHS_A_YEAR, _SHORT = 12, 4


class Span(Struct):
    """Days from `first` until before `over`; `worth` (0..1) is how much it counts to be of them, `lags` whether what is
    told soon after may be of them too, and `yearly` says that they are meant of any year.
    """

    first: date
    over: date
    worth: float
    lags: bool = True
    yearly: bool = False

    @property
    def days(self) -> int:
        """How many days it has."""
        return (self.over - self.first).days

    def holds(self, day: date) -> float:
        """How much it counts to have been observed on a day."""
        share = 0.0
        for span in self._in_years_of(day):
            if span.first <= day < span.over:
                return span.worth
            if span.lags and span.over <= day and (day - span.over).days < AFTER_DAYS:
                share = AFTER * span.worth
        return share

    def meets(self, other: Span) -> float:
        """How much it counts to be about another time, which must be no longer than this one or a few days."""
        if other.yearly or other.days > max(self.days, _WORTH[1][0]):
            return 0.0
        meets = any(span.first < other.over and other.first < span.over for span in self._in_years_of(other.first))
        return self.worth if meets else 0.0

    def _in_years_of(self, day: date) -> tuple[Span, ...]:
        if not self.yearly:
            return (self,)
        shift = day.year - self.first.year
        return tuple(replace(self, first=_shifted(self.first, by), over=_shifted(self.over, by)) for by in (shift, shift - 1))


class Times(Struct):
    """The times that a question names, the `rest` of it, the `share` of its telling words that they are, and whether no other
    tells anything: `what happened on 7 May 2023?`."""

    spans: tuple[Span, ...]
    rest: str
    share: float
    alone: bool = False

    @property
    def most(self) -> float:
        """The least share that counts as being in the first span, in whatever year."""
        return _ANY_YEAR * self.spans[0].worth

    def holds(self, days: Iterable[date], about: Iterable[Span] = ()) -> float:
        """How much it counts (0..1) that a memory was observed on one of these days, or is about these times."""
        shares = [span.holds(day) for span in self.spans for day in days]
        return max([*shares, *(span.meets(other) for other in about for span in self.spans)], default=0.0)


def read(text: str, now: date) -> tuple[tuple[Span, ...], str]:
    """The times that a text names, seen from a day, and what else it says."""
    plain, places = _plain(text[:_READ])
    matches: list[tuple[int, int, tuple[Span, ...]]] = []
    for match in words.pattern().finditer(plain):
        try:
            spans = tuple(_spans(match, plain, now))
        except (ValueError, OverflowError):
            continue  # 31 April, a thousand years ago
        if spans:
            # What leads to a month or a year belongs to what bounds it: `since`, `by`.
            begins = match.start(
                "bare" if match["bare"] and not _is_relative(match["mwhich"]) else "only" if match["only"] else 0
            )
            matches.append((begins, match.end(), spans))
    named: list[Span] = []
    rest, at = [], 0
    for start, end, several in _joined(matches, plain):
        turned, begins = _related(plain, start, several)
        named += turned
        rest.append(text[places[at] : places[max(at, begins)]])
        at = end
    return tuple(dict.fromkeys(named)), " ".join(" ".join((*rest, text[places[at] :])).split())


@lru_cache(maxsize=4096)
def about(title: str, beginning: str, as_of: str, day: date | None = None) -> tuple[Span, ...]:
    """The times that a memory is about: those that its title and its beginning name, seen from the day of its observation, and
    that as of which it says so.
    """
    texts = (beginning if beginning.startswith(title[:_TOLD_BY]) else f"{title}. {beginning}", as_of)
    return tuple(span for text in texts if text and words.names_some(text) for span in read(text, day or _NEVER)[0])


def _plain(text: str) -> tuple[str, list[int]]:
    """The text in lower case, without accents and commas, blanks alike; and where each of its letters stands in it."""
    letters: list[str] = []
    places: list[int] = []
    for place, letter in enumerate(text):
        if letter.isspace() or letter == ",":
            plain_text = " " if letters and letters[-1] != " " else ""
        elif letter.isascii():
            plain_text = letter.lower()
        else:
            parts = unicodedata.normalize("NFKD", letter.replace("’", "'")).casefold()
            plain_text = "".join(character for character in parts if not unicodedata.combining(character))
        letters.extend(plain_text)
        places.extend([place] * len(plain_text))
    return "".join(letters), [*places, len(text)]


def _spans(match: re.Match[str], plain: str, now: date) -> Iterator[Span]:
    """The times that a place of a text names: several where it can be read in several ways."""
    groups = match.groupdict()
    if text := groups["iso"]:
        yield _day(date(int(text[:4]), int(text[5:7]), int(text[8:])))
    elif text := groups["isomonth"]:
        yield _month(int(text[:4]), int(text[5:]))
    elif text := groups["dots"]:
        day, month, year = map(int, text.split("."))
        yield _day(date(year, month, day))
    elif text := groups["slashes"]:
        first, second, year = map(int, text.split("/"))
        for month, day in {(first, second), (second, first)}:
            if month <= 12:
                yield _day(date(year, month, day))
    elif text := groups["signs"]:
        numbers = list(map(int, re.findall(r"\d+", text)))
        yield _day(date(*numbers)) if len(numbers) == 3 else _month(*numbers) if len(numbers) == 2 else _year(*numbers)
    elif groups["day"] or groups["mday"]:
        day, until = int(groups["day"] or groups["mday"]), int(groups["day2"] or groups["mday2"] or 0)
        month = words.MONTH_OF[(groups["month"] or groups["mmonth"]).rstrip(".")]
        yield from _of_year(groups["year"] or groups["mmyear"], now, lambda year: _days(year, month, day, until or day))
    elif groups["monthly"]:
        yield _part(_month(int(groups["myear"]), words.MONTH_OF[groups["monthly"].rstrip(".")]), groups["part"] or "")
    elif season := groups["season"]:
        yield from _season(words.SEASON_OF[season], groups, match, plain, now)
    elif groups["quarter"]:
        yield _months(int(groups["qyear"]), 3 * int(groups["quarter"]) - 2, 3)
    elif groups["named_ago"]:
        yield _day(now - timedelta(days=words.AGO_OF[groups["named_ago"]]))
    elif groups["overunit"]:
        length = _count(groups["overcount"]) * words.LENGTHS[words.UNIT_OF[groups["overunit"]]]
        yield _span(now - timedelta(days=length), now + timedelta(days=1), lags=False)
    elif unit := groups["agounit"] or groups["vorunit"]:
        yield _around(now, -_count(groups["agocount"] or groups["vorcount"]), words.UNIT_OF[unit])
    elif unit := groups["unit"] or groups["lunit"]:
        yield _unit(now, words.UNIT_OF[unit], -1 if groups["llast"] else _step(groups["which"]))
    elif groups["weekday"]:
        yield _weekday(now, words.DAY_OF[groups["weekday"]], 1 if _step(groups["wwhich"] or "last") > 0 else -1)
    elif bare := groups["bare"]:
        yield from _bare_month(bare, groups, now)
    elif groups["only"]:
        yield _year(int(groups["only"]))


def _bare_month(bare: str, groups: dict[str, str | None], now: date) -> Iterator[Span]:
    month, which = words.MONTH_OF[bare], groups["mwhich"] or ""
    if not which and (len(bare) < 4 or bare in words.ALSO_WORDS) and not groups["mlast"]:
        return
    if bare in ("mar", "jan", "dec", "sep", "mars", "mayo") and which not in ("en", "de", "this", "last", "next"):
        return
    if groups["mlast"] or re.fullmatch(words.LAST, which):
        yield _latest(now, lambda year: _month(year, month), over=True)
    elif re.fullmatch(words.NEXT, which):
        yield next(span for span in (_month(now.year, month), _month(now.year + 1, month)) if span.first > now)
    else:
        yield from _of_year(None, now, lambda year: _month(year, month))


def _season(month: int, groups: dict[str, str | None], match: re.Match[str], plain: str, now: date) -> Iterator[Span]:
    which = groups["sthis"] or ""
    if groups["syear"]:
        yield _months(int(groups["syear"]), month, 3)
    elif groups["slast"] or re.fullmatch(words.LAST, which):
        yield _latest(now, lambda year: _months(year, month, 3), over=True)
    elif which or re.search(words.IN_THE, plain[: match.start()]):
        # `spring boot`, `to fall`: other words.
        yield from _of_year(None, now, lambda year: _months(year, month, 3))


def _of_year(year: str | None, now: date, make: Callable[[int], Span]) -> Iterator[Span]:
    """The span of the year that is named; without one, that of the last year and of any year."""
    if year:
        yield make(int(year))
        return
    latest = _latest(now, make)
    yield latest
    yield replace(latest, worth=_ANY_YEAR * latest.worth, yearly=True)


def _latest(now: date, make: Callable[[int], Span], *, over: bool = False) -> Span:
    """The last one that has begun, or is over."""
    for year in range(now.year, now.year - 9, -1):
        try:
            span = make(year)
        except ValueError:
            continue  # 29 February
        if (span.over if over else span.first) <= now:
            return span
    raise ValueError(now)


def _joined(matches: Sequence[tuple[int, int, tuple[Span, ...]]], plain: str) -> Iterator[tuple[int, int, tuple[Span, ...]]]:
    """The same, two ends of a time as one: `between 11 and 15 August`, `from May to July 2023`."""
    at = 0
    while at < len(matches):
        start, end, spans = matches[at]
        at += 1
        if at < len(matches):
            then, stop, others = matches[at]
            joint = plain[end:then].strip()
            first, last = spans[0], others[0]
            if len(spans) > 1 and len(others) == 1:
                first = replace(first, first=_shifted(first.first, last.first.year - first.first.year))
            joins = joint in words.TO or (joint in words.AND and re.search(words.RANGE, plain[:start]))
            if joins and first.first < last.over:
                at, end, spans = at + 1, stop, (_span(first.first, last.over),)
        yield start, end, spans


def _related(plain: str, start: int, spans: tuple[Span, ...]) -> tuple[tuple[Span, ...], int]:
    """The times, as what stands before them turns them (`the week before 3 August`), and where that begins."""
    before = plain[:start]
    if relation := words.before().search(before):
        related = tuple(_beside(span, relation["count"], relation["unit"], relation["way"]) for span in spans if span.days <= 31)
        if related:
            return related, relation.start()
    if relation := re.search(words.BOUND, before):
        return tuple(bound for span in spans for bound in _bounds(span, relation["way"])), relation.start()
    while relation := re.search(words.OPENED, before):
        before = before[: relation.start()]
    return spans, len(before)


def _bounds(span: Span, way: str) -> Iterator[Span]:
    """A time that is the end or the beginning of what is asked for; what was of it, or just then, counts most."""
    if span.yearly:
        return
    if way in words.UPTO:
        yield replace(span, lags=False)
        yield Span(date.min, span.over, _LONG, lags=False)
    elif way in words.BACK:
        yield Span(date.min, span.first, _LONG, lags=False)
        yield replace(span, worth=AFTER * span.worth)
    else:
        yield Span(span.first, date.max, _LONG, lags=False)
        yield span


def _beside(span: Span, count: str | None, unit: str, way: str) -> Span:
    """`the week before` a time, `two weeks before`, `the Sunday before`, `the week of`, `the second week of`."""
    later = way in words.LATER
    if unit in words.DAY_OF:
        return _weekday(span.over - timedelta(days=1) if later else span.first, words.DAY_OF[unit], 1 if later else -1)
    name = words.UNIT_OF[unit]
    length = timedelta(days=words.LENGTHS[name])
    if way in ("of", "in"):
        if count == "last":
            return _span(span.over - length, span.over)
        if count in words.NTH:
            return _span(span.first + words.NTH[count] * length, span.first + (words.NTH[count] + 1) * length)
        return _unit(span.first, name, 0) if span.days == 1 and name != "day" else span
    count = None if count in ("last", *words.NTH) else count
    if count and _count(count) > 1:
        return _around(span.first, _count(count) if later else -_count(count), name)
    return _span(span.over, span.over + length) if later else _span(span.first - length, span.first)


def _span(first: date, over: date, *, lags: bool = True) -> Span:
    length = (over - first).days
    return Span(first, over, next((worth for days, worth in _WORTH if length <= days), _LONG), lags)


def _day(day: date) -> Span:
    return _span(day, day + timedelta(days=1))


def _days(year: int, month: int, day: int, until: int) -> Span:
    return _span(date(year, month, day), date(year, month, max(day, until)) + timedelta(days=1))


def _month(year: int, month: int) -> Span:
    return _months(year, month, 1)


def _months(year: int, month: int, count: int) -> Span:
    end = month - 1 + count
    return _span(date(year, month, 1), date(year + end // 12, end % 12 + 1, 1))


def _year(year: int) -> Span:
    return _months(year, 1, 12)


def _part(span: Span, part: str) -> Span:
    """The beginning, the middle or the end of a month."""
    if not part:
        return span
    third = timedelta(days=10)
    if part in ("mid", "mitte"):
        return _span(span.first + third, span.over - third)
    half = timedelta(days=15 if "half" in part else 12)
    late = part in ("late", "end", "ende", "second half")
    return _span(span.over - half, span.over) if late else _span(span.first, span.first + half)


def _unit(day: date, unit: str, by: int) -> Span:
    """The week, month or year of a day, or one of those beside it."""
    if unit == "day":
        return _day(day + timedelta(days=by))
    if unit in ("week", "weekend"):
        monday = day - timedelta(days=day.weekday() - 7 * by)
        return _span(monday + timedelta(days=5 if unit == "weekend" else 0), monday + timedelta(days=7))
    if unit == "year":
        return _year(day.year + by)
    length = 3 if unit == "quarter" else 1
    at = day.year * 12 + (day.month - 1) // length * length + by * length
    return _months(at // 12, at % 12 + 1, length)


def _around(day: date, by: int, unit: str) -> Span:
    """About so many days, weeks, months or years from a day: the vaguer the longer ago."""
    length = words.LENGTHS[unit]
    middle = day + timedelta(days=by * length)
    slack = timedelta(days=0 if unit == "day" and abs(by) < words.LENGTHS["week"] else 1 if unit == "day" else length // 3 + 1)
    return _span(middle - slack, middle + slack + timedelta(days=1))


def _weekday(day: date, weekday: int, way: int) -> Span:
    """The next such day of the week after a day, or the last one before it."""
    by = (weekday - day.weekday()) % 7 or 7
    return _day(day + timedelta(days=by if way > 0 else by - 7 if by < 7 else -7))


def _is_relative(which: str | None) -> bool:
    """Whether it is `last`, `this` or `next`."""
    return bool(re.fullmatch(f"{words.LAST}|{words.THIS}|{words.NEXT}", which or ""))


def _step(which: str | None) -> int:
    return -1 if re.fullmatch(words.LAST, which or "") else 1 if re.fullmatch(words.NEXT, which or "") else 0


def _count(text: str | None) -> int:
    return int(text) if text and text.isdigit() else words.COUNT_OF[text or "a"]


def _shifted(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:
        return day.replace(year=day.year + years, day=28)
