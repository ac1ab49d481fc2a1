"""Checks of parameters that several verbs share: each says in one line what is wrong and what would be right."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from typing import Any, TypeVar

from vault_tool.errors import UsageError
from vault_tool.model.details import is_word
from vault_tool.model.fields import PARAMETERS, Field, annotation, unsaid
from vault_tool.model.types import UNKNOWN_WEIGHT, Registry, meant_type, near_type
from vault_tool.util.clock import parse_time
from vault_tool.util.hints import option
from vault_tool.util.text import one_line

_Function = TypeVar("_Function", bound=Callable[..., Any])

_SPAN = re.compile(r"(\d{1,4})([hdwmy])", re.ASCII | re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "w": 7 * 24, "m": 30 * 24, "y": 365 * 24}
_PART = re.compile(r"(\d{4})(?:-(\d{2}))?", re.ASCII)
_DAYS_AGO = {"today": 0, "yesterday": 1}
_LONGEST = 100 * _HOURS["y"]
_NAMED_SPAN = re.compile(r"(this|last) (week|month|year)", re.IGNORECASE)
_DATE_LENGTH = 10


def require_units(**values: float | None) -> None:
    """UsageError naming the first of `values` that is given and not in 0..1."""
    for name, value in values.items():
        if value is not None and not 0 <= value <= 1:
            raise UsageError(f"{name} must be from 0 to 1, not {value:g}", f"for example {name} 0.8")


def require_limit(limit: int | None) -> None:
    """UsageError for a limit under which nothing could be returned; None is no limit."""
    if limit is not None and limit < 1:
        raise UsageError(f"limit must be 1 or more, not {limit}", f"for example {option('limit', 5)}")


def require_word(field: Field, text: str) -> str:
    """The value of a field of one word as it is kept; UsageError for what is no word."""
    word = one_line(text)
    if not is_word(word):
        hint = f"one of {', '.join(field.words)}, or a word of your own"
        raise UsageError(f"`{one_line(word, 40)}` is no {field.name}", hint)
    return word


def require_moment(text: str, now: datetime, *, ends: bool = False) -> datetime:
    """The moment that a text names: a date or time, a month, a year, `today`, `yesterday`, `this week`, `last month` (weeks begin
    on Monday), or a span back from `now` (`7d`).

    A day, week, month or year that `ends` something is the end of it. UsageError for what is no time.
    """
    try:
        moment = _moment(text.strip(), now, ends)
    except OverflowError:
        moment = None
    if moment is None:
        hint = "write it like 2026-11-20, 2026-11, 7d (h, d, w, m, y), yesterday, last week or 2026-11-20T10:00:00+00:00"
        raise UsageError(f"`{one_line(text, 40)}` is not a time", hint)
    return moment


def require_span(text: str) -> timedelta:
    """The span that a text names (`14d`; h, d, w, m, y). UsageError for what is none, or longer than a hundred years."""
    span = _SPAN.fullmatch(text.strip())
    hours = int(span[1]) * _HOURS[span[2].lower()] if span else 0
    if not 0 < hours <= _LONGEST:
        raise UsageError(f"`{one_line(text, 40)}` is no span of time", "write it like 14d (h, d, w, m, y)")
    return timedelta(hours=hours)


def _moment(text: str, now: datetime, ends: bool) -> datetime | None:
    if span := _SPAN.fullmatch(text):
        return now - timedelta(hours=int(span[1]) * _HOURS[span[2].lower()])
    if named := _NAMED_SPAN.fullmatch(text):
        first, over = _span(named[2].lower(), now, back=named[1].lower() == "last")
        return over - timedelta(microseconds=1) if ends else first
    if text.casefold() in _DAYS_AGO:
        text = (now - timedelta(days=_DAYS_AGO[text.casefold()])).date().isoformat()
    part = _PART.fullmatch(text)
    begins = parse_time(f"{part[1]}-{part[2] or '01'}-01" if part else text)
    if begins is None or not ends or not (part or len(text) == _DATE_LENGTH):
        return begins
    if part is None:
        return begins + timedelta(days=1, microseconds=-1)
    # Some day of the next month, or year, and back to its first.
    return (begins + timedelta(days=31 if part[2] else 366)).replace(day=1) - timedelta(microseconds=1)


def _span(unit: str, now: datetime, *, back: bool) -> tuple[datetime, datetime]:
    """When this week, month or year (with `back` the one before) began, and when the next begins."""
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        monday = day - timedelta(days=day.weekday() + 7 * back)
        return monday, monday + timedelta(days=7)

    def first(moment: datetime) -> datetime:
        return moment.replace(day=1) if unit == "month" else moment.replace(day=1, month=1)

    begins = first(first(day) - timedelta(days=1)) if back else first(day)
    return begins, first(begins + timedelta(days=32 if unit == "month" else 367))


def spelled_out(function: _Function) -> _Function:
    """Give a function whose `**rest` are fields of an observation, or filters, the signature that has them one by one."""
    plain = inspect.signature(function)
    *own, rest = plain.parameters.values()
    first = [parameter for parameter in own if parameter.kind is not inspect.Parameter.KEYWORD_ONLY]
    named = [
        inspect.Parameter(field.parameter, inspect.Parameter.KEYWORD_ONLY, default=unsaid(field), annotation=annotation(field))
        for field in PARAMETERS[rest.annotation]
    ]
    vars(function)["__signature__"] = plain.replace(parameters=[*first, *named, *own[len(first) :]])
    return function


def require_no_slip(types: Registry, type: str, used: Callable[[], Collection[str]], name: str = "kind") -> None:
    """UsageError for a type that is unknown here, not `used` yet, and nearly one of the known types."""
    if types.spec(type).known or type in (names := used()):
        return

    if near := near_type(type, sorted({*types.observations(), *names})):
        keep = f"say {option(name, near)}; a type of your own that is new needs {option('new_type', True)}"
        raise UsageError(f"`{one_line(type, 40)}` is no type here yet, and nearly `{near}`", keep)


def unknown_type(types: Registry, type: str) -> tuple[str, ...]:
    """The remark on a type that a vault does not know: it may be meant, or mistyped."""
    if types.spec(type).known:
        return ()
    known = types.observations()
    near = near_type(type, known) or meant_type(type)
    # One that is near says enough; else all of them are what to choose from.
    meant = f"; did you mean {near}?" if near else f" (the types are {', '.join(known)}; vault.toml may name more)"
    return (f"`{type}` is not a type of this vault: it is kept as an observation of weight {UNKNOWN_WEIGHT:g}{meant}",)
