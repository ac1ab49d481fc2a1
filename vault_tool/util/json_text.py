"""JSON that others wrote: read strictly, and looked through for what no file, git or database can hold."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import isfinite
from typing import Any

import msgspec
import orjson

from vault_tool.util.structs import Struct
from vault_tool.util.text import HALF_A_CHARACTER, is_unicode, one_line

# Values nested deeper are refused: code that walks them would run out of stack, and no caller means them.
MOST_LEVELS = 100

_BOM = b"\xef\xbb\xbf"
_WIDEST = 2**63


class Flaw(Struct):
    """The reason why a value cannot be stored: the keys and indexes that lead to it, what is wrong, and what to do."""

    place: tuple[str | int, ...]
    message: str
    hint: str


def json_fields(value: object) -> dict[str, Any] | None:
    """A result as an object of JSON, None for what is no struct; `record_class` is its `class`, a word that Python keeps."""
    if not isinstance(value, msgspec.Struct):
        return None
    names, seldom = _names(type(value))
    values = {name: getattr(value, attribute) for name, attribute in names}
    for name in seldom:
        if not values[name]:
            del values[name]
    return values


def seldom_told(result: type[msgspec.Struct]) -> tuple[str, ...]:
    """The names in JSON of those fields of a result that are there only where they say something: its `told_where_any`."""
    return tuple(map(json_name, getattr(result, "told_where_any", ())))


@cache
def _names(result: type[msgspec.Struct]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    return tuple((json_name(name), name) for name in told_fields(result)), seldom_told(result)


def told_fields(result: type[msgspec.Struct]) -> list[str]:
    """The fields of a result in the order in which they are told: `freshness` stands before its `stands_before`."""
    names = list(result.__struct_fields__)
    if "freshness" in names and (before := getattr(result, "stands_before", "")):
        names.remove("freshness")
        names.insert(names.index(before) if before in names else len(names), "freshness")
    return names


def json_name(attribute: str) -> str:
    """The name in JSON of a field of a result."""
    return "class" if attribute == "record_class" else attribute


def read_own(data: bytes) -> Any:
    """The value of a file or line of ours that anybody may have changed; ValueError for anything but strict JSON.

    Half a surrogate pair, NaN, infinities and nesting without end are no strict JSON, and never come out of it.
    """
    return orjson.loads(data.removeprefix(_BOM))


def read_given(text: str) -> Any:
    """The value of a caller's text; ValueError, in words for the caller, for no JSON, and for a key that stands twice.

    What it holds is looked through by `flaw_in`, which names the place.
    """
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def flaw_in(value: object) -> Flaw | None:
    """The first thing in a value, however deep, that cannot be stored: half a character, no number, nesting without end."""
    waiting: list[tuple[tuple[str | int, ...], object]] = [((), value)]
    while waiting:
        place, part = waiting.pop()
        if isinstance(part, str):
            if not is_unicode(part):
                return Flaw(place, *HALF_A_CHARACTER)
        elif isinstance(part, (int, float)):
            if not -_WIDEST <= part < _WIDEST and (isinstance(part, int) or not isfinite(part)):
                return Flaw(place, "is no number that can be kept", "give a finite number")
        elif isinstance(part, (Mapping, Collection)) and not isinstance(part, (bytes, bytearray)):
            if len(place) >= MOST_LEVELS:
                return Flaw(place[:3], "is nested too deeply", "give plain objects and lists")
            waiting.extend(reversed([*_inside(place, part)]))
    return None


def shown_place(place: Sequence[str | int]) -> str:
    """Where in a value something is, as a program would write it: `[0].content`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{one_line(part, 40)}" for part in place)


def _inside(place: tuple[str | int, ...], container: Collection[object]) -> list[tuple[tuple[str | int, ...], object]]:
    if not isinstance(container, Mapping):
        return [((*place, number), value) for number, value in enumerate(container)]
    # A key is looked at where its object is: it is in no place of its own.
    return [*((place, key) for key in container), *(((*place, str(key)), value) for key, value in container.items())]


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {json.dumps(twice)} stands twice in one object")
    return members


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON's")
